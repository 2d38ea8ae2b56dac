//! Checks that archive, journal and tables agree, for `crawler verify`.
//!
//! Seven readings that never write to the crawl:
//! - `journal`: the internal consistency of the journal, in chronological order;
//! - `archive`: the journal against the archive, visit by visit, and the times of the requests to
//!   each host (`politeness`);
//! - `unsettled_tail`: the archive after the journal's end;
//! - `links`: the links of archived pages against the journal;
//! - `index`: the archive and its index;
//! - `search`: the search index against the visits, if there is one;
//! - `store::audit`: the tables against the journal.
//!
//! A WACZ is checked separately (`wacz`), and so is the archive of a node (`node`): a shared crawl
//! has its archives on the nodes.

mod archive;
mod index;
mod journal;
mod links;
pub mod node;
mod politeness;
mod requests;
mod search;
mod unsettled_tail;
pub mod wacz;

use std::path::Path;

use messages::CommandError;
use serde::Serialize;
use settings::{Settings, control_in_force, crawl_directory};
use store::DirectoryLock;

use self::archive::Archive;
use self::journal::Journal;
use self::politeness::Politeness;
pub use self::requests::{CheckedRequests, JournalPoliteness};
use crate::journal::damaged;
use crate::page_counts::PageCounts;

/// Maximum number of findings whose texts are kept; the rest are counted.
const MAX_FINDINGS: usize = 1_000;

/// All findings; the texts of the first `MAX_FINDINGS`.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub struct Findings {
    /// The first texts.
    pub texts: Vec<String>,
    /// The number of all findings.
    #[serde(skip)]
    pub count: u64,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, finding: impl Into<String>) {
        self.count += 1;
        if self.texts.len() < MAX_FINDINGS {
            self.texts.push(finding.into());
        }
    }
}

/// The result of all checks of a crawl.
#[derive(Serialize)]
pub struct Report {
    /// True if nothing was found.
    pub agrees: bool,
    /// Counts of pages.
    #[serde(flatten)]
    pub pages: PageCounts,
    /// Number of hosts.
    pub hosts: u64,
    /// Number of queued pages.
    pub queued: u64,
    /// Queued pages that are quarantined because the crawler crashed while visiting them.
    pub quarantined: u64,
    /// Number of records in the journal.
    pub journal_records: u64,
    /// Number of URLs that were seen.
    pub urls_seen: u64,
    /// Revoked visits: their pages were or will be visited again.
    pub revoked: u64,
    /// Counts of the archive.
    #[serde(flatten)]
    pub archive: archive::Counts,
    /// Counts of what the archive has after the journal.
    #[serde(flatten)]
    pub behind: unsettled_tail::Counts,
    /// Counts of links.
    #[serde(flatten)]
    pub links: links::Counts,
    /// Counts of the index.
    #[serde(flatten)]
    pub index: index::Counts,
    /// Counts of the search index.
    #[serde(flatten)]
    pub search: search::Counts,
    /// Counts of requests.
    pub politeness: politeness::Counts,
    /// Number of findings.
    pub findings_total: u64,
    /// The first findings.
    pub findings: Findings,
}

/// Runs all checks of the crawl in `directory`.
pub fn check(directory: &Path) -> Result<Report, CommandError> {
    let state = crawl_directory::state_of(directory)?;
    // Held until the last reading: the crawl must not change meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let damaged = damaged(directory);
    let mut findings = Findings::default();
    let journal = Journal::read(&state, &mut findings).map_err(damaged)?;
    let settings = Settings::of_crawl(directory)?;
    let archive_directory = crawl_directory::archive(directory);
    let politeness = Politeness::new(&settings, control_in_force::shortest_delays(&settings.out)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut findings);
    archive.read(&state, &journal).map_err(damaged)?;
    let (archive, politeness, end) = archive.end();
    if archive.lost_visits > 0 {
        findings.add(format!(
            "{} settled visits are not in the archive: they were lost before they reached the \
             disk, as in a power cut, and are repeated when the crawl is continued",
            archive.lost_visits
        ));
    }
    let behind = unsettled_tail::check(&settings, end.as_ref(), &journal, &mut findings)?;
    let links = links::check(&state, &settings, &journal, &mut findings)?;
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut findings)?,
        None => index::Counts::default(),
    };
    let search = search::check(directory, &state, &mut findings).map_err(damaged)?;
    let audit = store::audit(&state).map_err(damaged)?;
    for finding in &audit.findings {
        findings.add(format!("tables: {finding}"));
    }
    Ok(Report {
        agrees: findings.count == 0,
        pages: PageCounts::from(&audit.totals),
        hosts: audit.hosts,
        queued: audit.queued,
        quarantined: audit.quarantined,
        journal_records: journal.records,
        urls_seen: audit.urls_seen,
        revoked: journal.revoked,
        archive,
        behind,
        links,
        index,
        search,
        politeness,
        findings_total: findings.count,
        findings,
    })
}
