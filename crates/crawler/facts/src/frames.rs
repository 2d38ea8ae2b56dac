//! The frames of hosts, as the crawl has learned them: blocks that do not count
//! when pages are compared (`docs/adr/0029`).
//!
//! The crawl remembers blocks by their hashes, in a file that it writes when a session ends. The
//! texts of the blocks come from the host's kept pages in the archive.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;

use comparison::{HostFrame, Role};
use journal::VisitRecord;
use messages::{CommandError, printable, say, usage};
use policy::{FramesByHost, LearnedFrames};
use serde::Serialize;
use settings::read_again::ArchivedPages;
use settings::{Settings, crawl_directory};
use web::{Host, PageUrl, SharedLines};

/// Number of a host's last kept pages whose blocks are shown.
const PAGES: usize = 64;

/// A block that does not count.
#[derive(Serialize)]
pub struct ShownBlock {
    /// `frame` or `changes`.
    pub role: &'static str,
    /// Number of kept pages that contain it. `None` for text in a place that changes on its own.
    pub pages: Option<u32>,
    /// The text of the block.
    pub block: String,
}

/// Returns the frames that the crawl in `directory` has learned.
///
/// # Errors
/// They cannot be read, or there are none.
pub fn of_crawl(directory: &Path) -> Result<Vec<(Host, HostFrame)>, CommandError> {
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
    Ok(frames)
}

/// Returns the frames that the crawl with this state has learned. If they cannot be read, prints a
/// warning, and pages are compared as on an unknown site.
pub(crate) fn learned_frames(state: &Path) -> LearnedFrames {
    LearnedFrames::read(state).unwrap_or_else(|error| {
        let error = printable(&error);
        say(&format!(
            "warning: compared without the boilerplate of hosts: {error}"
        ));
        LearnedFrames::default()
    })
}

/// Returns the lines that the pages of each host share, as the crawl with this state has learned
/// them, to be left out at both ends of texts.
#[must_use]
pub fn shared_lines(state: &Path) -> Arc<dyn SharedLines> {
    Arc::new(FramesByHost::from(learned_frames(state)))
}

/// Returns the blocks that do not count on the last kept pages of a host.
pub fn blocks(
    directory: &Path,
    host: &Host,
    frame: &HostFrame,
) -> Result<Vec<ShownBlock>, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    let mut visits: VecDeque<VisitRecord> = VecDeque::new();
    for visit in journal::visits(&state)? {
        let visit = visit?;
        if final_url(&visit).host() == *host && visit.has_page() {
            visits.push_back(visit);
            if visits.len() > PAGES {
                visits.pop_front();
            }
        }
    }
    let archived = ArchivedPages::of(&Settings::of_crawl(directory)?);
    let main_content = archived.archive.rules.main_content;
    let mut shown: HashMap<String, Option<u32>> = HashMap::new();
    archived.read_all(
        &mut visits.into_iter().collect(),
        |visit| visit,
        |visit, document| {
            let Some(document) = document else {
                return Ok::<(), CommandError>(());
            };
            let url = final_url(&visit).as_str();
            let page = reading::compared_page(url, &document, main_content);
            for (block, role) in frame.roles(&page) {
                let pages = match role {
                    Role::Frame(pages) => Some(pages),
                    Role::Changing => None,
                    Role::Content => continue,
                };
                shown.insert(block.text.to_owned(), pages);
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

fn final_url(visit: &VisitRecord) -> &PageUrl {
    visit.final_url.as_ref().unwrap_or(&visit.url)
}
