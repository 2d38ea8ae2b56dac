//! Compares the archive of a node with the rows of its terms: each visit that the node settled must
//! be in its archive, and each visit in the archive before its end must be settled.
//!
//! The rows of the node's terms are in the same order as its archive. So a replica of these rows is
//! compared with the archive just like a journal.

use std::path::Path;

use messages::CommandError;
use serde::Serialize;
use settings::{Settings, control_in_force, crawl_directory};

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

/// Compares the archive in `directory` with a replica of the rows of its node.
pub fn compare(directory: &Path, replica: &Path, node: &str) -> Result<Report, CommandError> {
    let settings = Settings::of_crawl(replica)?;
    let archive_directory = crawl_directory::archive(directory);
    let mut findings = Findings::default();
    let politeness = Politeness::new(&settings, control_in_force::shortest_delays(directory)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut findings);
    let rows = crawl_directory::state(replica);
    archive.read(&rows, &Journal::of_durable_visits())?;
    let (archive, politeness, end) = archive.end();
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut findings)?,
        None => index::Counts::default(),
    };
    Ok(Report {
        agrees: findings.count == 0,
        node: node.to_owned(),
        archive,
        index,
        politeness,
        findings_total: findings.count,
        findings,
    })
}
