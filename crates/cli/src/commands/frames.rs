//! `crawler frames`: the frames of hosts, as the crawl has learned them: blocks that do not count
//! when pages are compared (`docs/adr/0029`).
//!
//! The crawl remembers blocks by their hashes, in a file that it writes when a session ends. The
//! texts of the blocks come from the host's kept pages in the archive.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};
use std::path::Path;

use comparison::{HostFrame, Role};
use crawl::LearnedFrames;
use journal::VisitRecord;
use serde::Serialize;
use web::{Host, PageUrl};

use crate::args::FramesArgs;
use crate::cli_error::{CliError, usage};
use crate::crawl_directory;
use crate::output::{self, Format, counted, grouped};
use crate::read_again::ArchivedPages;
use crate::settings::Settings;
use crate::terminal::{pasted, printable, say};

/// Number of a host's last kept pages whose blocks are shown.
const PAGES: usize = 64;

/// A host with a frame.
#[derive(Serialize)]
struct FrameOfHost<'a> {
    host: &'a str,
    /// Number of kept pages that the crawl learned the frame from.
    pages: u32,
    /// Number of places whose text changes on its own.
    changing: usize,
}

/// A block that does not count.
#[derive(Serialize)]
struct ShownBlock {
    role: &'static str,
    /// Number of kept pages that contain it. `None` for text in a place that changes on its own.
    pages: Option<u32>,
    block: String,
}

pub(crate) fn run(args: &FramesArgs) -> Result<(), CliError> {
    let directory = &args.directory;
    let state = crawl_directory::state_of(directory)?;
    let learned = LearnedFrames::read(&state).map_err(|error| {
        usage(format!(
            "cannot read the boilerplate of {}: {error}",
            directory.display()
        ))
        .with_remedy("the next run of the crawl learns it again")
    })?;
    let frames = learned.hosts;
    if frames.is_empty() {
        let message = format!(
            "the crawl in {} has not learned any boilerplate",
            directory.display()
        );
        let remedy = "boilerplate is written when a run ends, and not with --resemblance, \
            --duplicate-scope, --per-cluster, --since or --against";
        return Err(usage(message).with_remedy(remedy));
    }
    let format = Format::or_fitting(args.format);
    let Some(host) = &args.host else {
        return list(frames, format);
    };
    let known = frames.iter().find(|(known, _)| known.as_str() == host);
    let Some((host, frame)) = known else {
        let message = format!("the crawl has not learned any boilerplate of {host}");
        let remedy = format!("`crawler frames {}` lists the hosts", pasted(directory));
        return Err(usage(message).with_remedy(remedy));
    };
    let blocks = blocks(directory, &state, host, frame)?;
    output::to_stdout(|out| blocks.iter().try_for_each(|block| block.write(format, out)))
}

/// Returns the frames that the crawl with this state has learned. If they cannot be read, prints a
/// warning, and pages are compared as on an unknown site.
pub(super) fn learned_frames(state: &Path) -> LearnedFrames {
    LearnedFrames::read(state).unwrap_or_else(|error| {
        let error = printable(&error);
        say(&format!(
            "warning: compared without the boilerplate of hosts: {error}"
        ));
        LearnedFrames::default()
    })
}

fn list(mut frames: Vec<(Host, HostFrame)>, format: Format) -> Result<(), CliError> {
    frames.sort_by(|(one, of_one), (other, of_other)| {
        (Reverse(of_one.pages()), one.as_str()).cmp(&(Reverse(of_other.pages()), other.as_str()))
    });
    output::to_stdout(|out| {
        frames.iter().try_for_each(|(host, frame)| {
            let frame = FrameOfHost {
                host: host.as_str(),
                pages: frame.pages(),
                changing: frame.changing_places(),
            };
            frame.write(format, out)
        })
    })
}

/// Returns the blocks that do not count on the last kept pages of a host.
fn blocks(
    directory: &Path,
    state: &Path,
    host: &Host,
    frame: &HostFrame,
) -> Result<Vec<ShownBlock>, CliError> {
    let mut rows: VecDeque<VisitRecord> = VecDeque::new();
    for row in journal::rows(state)? {
        let row = row?;
        if final_url(&row).host() == *host && row.has_page() {
            rows.push_back(row);
            if rows.len() > PAGES {
                rows.pop_front();
            }
        }
    }
    let archived = ArchivedPages::of(&Settings::of_crawl(directory)?);
    let main_content = archived.archive.rules.main_content;
    let mut shown: HashMap<String, Option<u32>> = HashMap::new();
    archived.read_all(
        &mut rows.into_iter().collect(),
        |row| row,
        |row, document| {
            let Some(document) = document else {
                return Ok::<(), CliError>(());
            };
            let url = final_url(&row).as_str();
            let page = reading::compared_page(url, &document, main_content);
            for (block, role) in frame.roles(&page) {
                let pages = match role {
                    Role::Frame(pages) => Some(pages),
                    Role::Changing => None,
                    Role::Content => continue,
                };
                shown.insert(block.text.clone(), pages);
            }
            Ok(())
        },
    )?;
    let mut shown: Vec<_> = shown.into_iter().collect();
    shown.sort_by(|(one, of_one), (other, of_other)| (of_other, one).cmp(&(of_one, other)));
    let shown = shown.into_iter().map(|(block, pages)| ShownBlock {
        role: if pages.is_some() { "frame" } else { "changes" },
        pages,
        block,
    });
    Ok(shown.collect())
}

fn final_url(row: &VisitRecord) -> &PageUrl {
    row.final_url.as_ref().unwrap_or(&row.url)
}

fn places(changing: usize) -> String {
    match changing {
        1 => "1 place that changes on its own".to_owned(),
        _ => format!("{changing} places that change on their own"),
    }
}

impl FrameOfHost<'_> {
    fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Json => output::json_line(out, self),
            Format::Table => writeln!(
                out,
                "{}: {}, {}",
                printable(self.host),
                counted(self.pages.into(), "kept page"),
                places(self.changing),
            ),
        }
    }
}

impl ShownBlock {
    fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Json => output::json_line(out, self),
            Format::Table => {
                let pages = self
                    .pages
                    .map_or_else(|| "changes".to_owned(), |pages| grouped(pages.into()));
                writeln!(out, "{pages:>8}  {}", printable(&self.block))
            }
        }
    }
}
