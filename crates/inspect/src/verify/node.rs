//! Compares the archive of a node with the store of its crawl: each visit that the node settled
//! must be in its archive, and each visit in the archive before its end must be settled.
//!
//! The rows of the node's terms are in the same order as its archive. So a mirror of these rows is
//! compared with the archive just like a journal.

use std::path::Path;

use messages::{CommandError, usage};
use serde::Serialize;
use setup::settings::Settings;
use setup::shared::NodeMirror;
use setup::{control, crawl_directory};
use sinks::warc::name_of;
use store::DirectoryLock;

use super::archive::{self, Archive};
use super::journal::Journal;
use super::politeness::{self, Politeness};
use super::{Complaints, index};

/// The result of the comparison.
#[derive(Serialize)]
pub struct Report {
    /// True if there is no complaint.
    pub agrees: bool,
    /// Name of the node.
    pub node: String,
    /// Counts of the archive.
    #[serde(flatten)]
    pub archive: archive::Counts,
    /// Counts of the index.
    #[serde(flatten)]
    pub index: index::Counts,
    /// Counts of requests.
    pub politeness: politeness::Counts,
    /// Number of complaints.
    pub complaints_in_all: u64,
    /// The first complaints.
    pub complaints: Complaints,
}

/// Compares the archive in `directory` with the crawl in the store at `url`.
pub fn check(directory: &Path, url: &str) -> Result<Report, CommandError> {
    let state = crawl_directory::any_state_of(directory)?;
    // Held until the end: the node must not run meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let archive_directory = crawl_directory::archive(directory);
    let mirror = match crawl_directory::node_mark(directory)? {
        Some(mark) => NodeMirror::of_mark(url, mark)?,
        // An imported crawl.
        None => {
            let files = crawl_directory::archive_files(&archive_directory).unwrap_or_default();
            let names = files.iter().filter_map(|path| name_of(path));
            let names: Vec<String> = names.map(str::to_owned).collect();
            NodeMirror::of_archive(url, &names)?
        }
    };
    let Some(mirror) = mirror else {
        let shown = directory.display();
        return Err(usage(format!(
            "{shown} is not the directory of a node of this crawl"
        ))
        .with_remedy("give the store of its crawl, and the directory that was given to --out"));
    };
    let settings = Settings::of_crawl(&mirror.directory)?;
    let mut complaints = Complaints::default();
    let politeness = Politeness::new(&settings, control::shortest_delays(directory)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut complaints);
    let rows = crawl_directory::state(&mirror.directory);
    archive.read(&rows, &Journal::of_durable_visits())?;
    let (archive, politeness, end) = archive.end();
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut complaints)?,
        None => index::Counts::default(),
    };
    Ok(Report {
        agrees: complaints.count == 0,
        node: mirror.node.clone(),
        archive,
        index,
        politeness,
        complaints_in_all: complaints.count,
        complaints,
    })
}
