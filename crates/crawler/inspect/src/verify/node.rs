//! Compares the archive of a node with the store of its crawl: each visit that the node settled
//! must be in its archive, and each visit in the archive before its end must be settled.
//!
//! The rows of the node's terms are in the same order as its archive. So a replica of these rows is
//! compared with the archive just like a journal.

use std::path::Path;

use messages::{CommandError, usage};
use serde::Serialize;
use settings::{Settings, control_in_force, crawl_directory};
use setup::shared::NodeReplica;
use sinks::warc::name_of;
use store::DirectoryLock;

use super::archive::{self, Archive};
use super::journal::Journal;
use super::politeness::{self, Politeness};
use super::{Findings, index};

/// The result of the comparison.
#[derive(Serialize)]
pub struct Report {
    /// True if nothing was found.
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
    /// Number of findings.
    pub findings_total: u64,
    /// The first findings.
    pub findings: Findings,
}

/// Compares the archive in `directory` with the crawl in the store at `url`.
pub fn check(directory: &Path, url: &str) -> Result<Report, CommandError> {
    let state = crawl_directory::any_state_of(directory)?;
    // Held until the end: the node must not run meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let archive_directory = crawl_directory::archive(directory);
    let replica = match crawl_directory::node_file(directory)? {
        Some(node_file) => NodeReplica::of_node_file(url, node_file)?,
        // An imported crawl.
        None => {
            let files = crawl_directory::archive_files(&archive_directory).unwrap_or_default();
            let names = files.iter().filter_map(|path| name_of(path));
            let names: Vec<String> = names.map(str::to_owned).collect();
            NodeReplica::of_archive(url, &names)?
        }
    };
    let Some(replica) = replica else {
        let shown = directory.display();
        return Err(usage(format!(
            "{shown} is not the directory of a node of this crawl"
        ))
        .with_remedy("give the store of its crawl, and the directory that was given to --out"));
    };
    let settings = Settings::of_crawl(&replica.directory)?;
    let mut findings = Findings::default();
    let politeness = Politeness::new(&settings, control_in_force::shortest_delays(directory)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut findings);
    let rows = crawl_directory::state(&replica.directory);
    archive.read(&rows, &Journal::of_durable_visits())?;
    let (archive, politeness, end) = archive.end();
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut findings)?,
        None => index::Counts::default(),
    };
    Ok(Report {
        agrees: findings.count == 0,
        node: replica.node.clone(),
        archive,
        index,
        politeness,
        findings_total: findings.count,
        findings,
    })
}
