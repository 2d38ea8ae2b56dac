//! `crawler unpack`: archives as files that a browser opens without a server.
//!
//! Pages are written as UTF-8: their links are rewritten as text, and a charset that only the
//! header of an answer has would be lost. All other files are byte for byte what a browser sees,
//! without content codings.

mod captures;
mod tree;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use bytesize::ByteSize;
use rayon::prelude::*;
use serde::Serialize;
use sinks::warc::{Record, WarcReader};
use unpack::{FileKind, LinkCounts, rewrite_css, rewrite_html};
use web::{page_text, sheet_text};

use self::captures::{Targets, UnpackedFile};
use self::tree::Tree;
use super::archives::inputs::{self, Input};
use super::archives::merged::{InputIndex, scratch};
use super::{exit_code, warn};
use crate::args::UnpackArgs;
use crate::cli_error::{CliError, usage};
use crate::machine;
use crate::output::{self, Format};
use crate::progress::SlowProgress;

/// The largest record that is unpacked, and the largest content in it, in bytes.
const MAX_FILE: usize = 1 << 30;

/// Records that are named if they cannot be read; more are counted.
const NAMED: u64 = 10;

/// The summary.
#[derive(Default, Serialize)]
struct Summary {
    files: u64,
    bytes: u64,
    /// Links that lead to files.
    links_to_files: u64,
    /// Links that lead to the web.
    links_to_web: u64,
    /// URLs without a file of their own whose links lead to that of another: redirects, and pages
    /// that were left out as duplicates.
    redirected: u64,
    /// Pages whose content is in none of the inputs.
    without_content: u64,
    /// Records that cannot be read.
    unreadable: u64,
    /// The file of the first page.
    start: Option<String>,
}

pub(crate) fn run(args: &UnpackArgs) -> Result<ExitCode, CliError> {
    let inputs = inputs::open(&args.inputs, false)?;
    inputs::keep_apart(&inputs, &args.output)?;
    let tree = Tree::begin(&args.output, args.force)?;
    let mut index = InputIndex::of(&inputs, &scratch(&args.output), true)?;
    index.warn();
    let targets = Targets::of(&inputs, &mut index)?;
    if targets.files.is_empty() {
        return Err(usage("the archives have no page").with_remedy(
            "pages are answers with status 200, and resources; `crawler index` lists what there is",
        ));
    }
    let unpacking = Unpacking {
        targets: &targets,
        tree: &tree,
        done: Mutex::new((Summary::default(), SlowProgress::new("files written"))),
    };
    let written = targets.files.par_iter();
    written.try_for_each(|file| unpacking.file(file))?;
    let done = unpacking.done.into_inner();
    let (mut summary, progress) = done.unwrap_or_else(PoisonError::into_inner);
    drop(progress);
    let (files, bytes) = tree.complete(machine::clock().now())?;
    summary.files = files;
    summary.bytes = bytes;
    summary.redirected = targets.redirected;
    summary.without_content = targets.without_content;
    let start = start(&inputs, &targets).map(|file| args.output.join(file));
    summary.start = start.map(|file| file.display().to_string());
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &summary),
        Format::Table => summary.write(out, &args.output),
    })?;
    Ok(exit_code(index.is_whole() && summary.unreadable == 0))
}

/// Returns the file of the first seed of a crawl that has one, or of the first page.
fn start<'t>(inputs: &[Input], targets: &'t Targets) -> Option<&'t str> {
    let crawls = inputs.iter().filter_map(Input::crawl);
    let mut seeds = crawls.filter_map(|crawl| crawl.extent.main_page.as_ref());
    let of_seed = seeds.find_map(|(url, _)| targets.file_of(url));
    let is_page = |file: &&UnpackedFile| file.kind == FileKind::Html;
    of_seed.or_else(|| {
        let page = targets.files.iter().find(is_page)?;
        targets.names.get(&page.url)
    })
}

impl Summary {
    fn write(&self, out: &mut dyn io::Write, output: &Path) -> io::Result<()> {
        let size = ByteSize(self.bytes).display().iec();
        writeln!(out, "{}: {} files, {size}", output.display(), self.files)?;
        let some = |count: u64| (count > 0).then(|| count.to_string());
        output::columns(
            out,
            &[
                ("links to files", Some(self.links_to_files.to_string())),
                ("links to the web", Some(self.links_to_web.to_string())),
                ("redirects and duplicates", some(self.redirected)),
                ("without content", some(self.without_content)),
                ("unreadable", some(self.unreadable)),
                ("begin at", self.start.clone()),
            ],
        )
    }
}

/// The work on all files.
struct Unpacking<'a> {
    targets: &'a Targets,
    tree: &'a Tree,
    done: Mutex<(Summary, SlowProgress)>,
}

/// The content of a record.
struct Content {
    content_type: Option<String>,
    bytes: Bytes,
}

impl Unpacking<'_> {
    /// Writes a file with its links converted. A record that cannot be read is counted.
    fn file(&self, file: &UnpackedFile) -> Result<(), CliError> {
        let Some(path) = self.targets.names.get(&file.url) else {
            return Ok(());
        };
        let content = self.content(file);
        let links = match &content {
            Ok(content) => {
                let (bytes, links) = self.converted(file, path, content);
                self.tree.write(path, &bytes)?;
                links
            }
            Err(_) => LinkCounts::default(),
        };
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let (summary, progress) = &mut *done;
        progress.step();
        summary.links_to_files += links.inward;
        summary.links_to_web += links.outward;
        if let Err(trouble) = content {
            summary.unreadable += 1;
            if summary.unreadable <= NAMED {
                warn(&format!("{}: {trouble}", file.url));
            }
        }
        Ok(())
    }

    /// Returns the bytes of a file, and the counts of its links.
    fn converted(&self, file: &UnpackedFile, path: &str, content: &Content) -> (Bytes, LinkCounts) {
        let link = |url: &str| self.targets.link(path, url);
        let content_type = content.content_type.as_deref();
        let rewritten = match file.kind {
            FileKind::Html => {
                let text = page_text(&content.bytes, content_type, tld(&file.url));
                rewrite_html(&text, &file.url, &link).ok()
            }
            FileKind::Css => {
                let text = sheet_text(&content.bytes, content_type);
                Some(rewrite_css(&text, &file.url, &link))
            }
            FileKind::Svg | FileKind::Other => None,
        };
        match rewritten {
            Some(rewritten) => {
                let links = rewritten.links;
                (rewritten.into_bytes().into(), links)
            }
            None => (content.bytes.clone(), LinkCounts::default()),
        }
    }

    /// Reads the content of a record, without its content codings.
    fn content(&self, file: &UnpackedFile) -> Result<Content, String> {
        let path = &self.targets.paths[file.place.file];
        let reader = WarcReader::open_at(path, file.place.offset);
        let mut reader: WarcReader<BufReader<File>> = reader.map_err(|fault| fault.to_string())?;
        let record = reader.next_record(MAX_FILE);
        let record = record.map_err(|fault| fault.to_string())?;
        let record = record.ok_or("its record is missing")?;
        if record.block.len() as u64 != record.block_length {
            return Err(format!(
                "its record has {} bytes; at most {MAX_FILE} are unpacked",
                record.block_length
            ));
        }
        Content::of(record)
    }
}

impl Content {
    fn of(record: Record) -> Result<Self, String> {
        if record.kind() == "resource" {
            return Ok(Self {
                content_type: record.field("Content-Type").map(str::to_owned),
                bytes: record.block.into(),
            });
        }
        let answer = record.http().ok_or("its record has no answer of HTTP")?;
        let body = Bytes::from(answer.body().into_owned()).into();
        let decoded = fetch::decode(&answer.headers, &body, MAX_FILE as u64);
        if decoded.truncated {
            return Err(format!("its content has more than {MAX_FILE} bytes"));
        }
        Ok(Self {
            content_type: web::content_type(&answer.headers),
            bytes: decoded.bytes,
        })
    }
}

/// Returns the last label of the host of a URL.
fn tld(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("//")?;
    let host = rest.split(['/', ':', '?']).next()?;
    host.rsplit('.').next()
}
