//! The counts of a crawl, for `crawler status`. A view of [`CrawlStatistics`]; works while the
//! crawl runs.

pub mod hosts;

use std::collections::BTreeMap;
use std::path::Path;

use crawl::control_file;
use journal::CutSum;
use messages::{CommandError, printable};
use serde::Serialize;
use setup::control::{self, ControlInForce};
use setup::limits;
use statistics::{CrawlStatistics, NameCounts, REDIRECTED};
use store::PatternState;
use web::Timestamp;

use super::page_counts::PageCounts;
use crate::leftovers;
use crate::leftovers::Leftover;

/// The counts of a crawl. Field names are the same as in the summary.
#[derive(Debug, Default, Serialize)]
pub struct Status {
    /// Counts of pages by fate.
    #[serde(flatten)]
    pub counts: PageCounts,
    /// Length of what was received.
    pub bytes: u64,
    /// Number of hosts.
    pub hosts: u64,
    /// Number of requisites.
    pub requisites: u64,
    /// Number of requisites that could not be fetched.
    pub requisites_missing: u64,
    /// Number of queued URLs.
    pub queued: u64,
    /// Number of queued pages that are quarantined.
    pub quarantined: u64,
    /// Queued URLs of hosts that are down, and the last failure per host.
    pub unreachable: u64,
    /// Hosts that are down, with their last failures.
    pub unreachable_hosts: BTreeMap<String, String>,
    /// URL patterns closed because they bring nothing new, and the number of URLs left out for that
    /// reason.
    pub closed_patterns: u64,
    /// Number of URLs left out because of closed patterns.
    pub left_out_by_pattern: u64,
    /// Links that were left out as traps, by rule.
    pub left_out_links: BTreeMap<String, u64>,
    /// Visits that a limit cut, and the links that it cost, by the limit's name.
    pub limits: BTreeMap<&'static str, CutSum>,
    /// Archived documents whose text and links are not read, by format.
    pub not_read: BTreeMap<&'static str, u64>,
    /// Time of the beginning.
    pub begun_at: Option<String>,
    /// Time of the last visit.
    pub last_visit_at: Option<String>,
    /// Content of the control.toml in effect; `None` without the file.
    pub control: Option<toml::Table>,
    /// Leftover files, which `crawler clean` removes.
    pub leftovers: Vec<Leftover>,
    /// Excluded URLs that redirect to pages of the crawl: nothing is missing.
    pub redirected: u64,
    /// The control.toml in effect, in words.
    #[serde(skip)]
    pub control_in_words: Option<String>,
    /// Failures by kind.
    #[serde(skip)]
    pub failed_by: Option<String>,
    /// Exclusions by reason.
    #[serde(skip)]
    pub excluded_by: Option<String>,
    /// Status codes.
    #[serde(skip)]
    pub statuses: Option<String>,
    /// Media types.
    #[serde(skip)]
    pub types: Option<String>,
}

impl Status {
    /// Returns the counts of the crawl in `directory`, and its leftover files.
    pub fn read(directory: &Path, state: &Path) -> Result<Self, CommandError> {
        let (statistics, _) = CrawlStatistics::read(state)?;
        let mut status = Self::of(&statistics);
        if let Some(ControlInForce { table, overrides }) = control::last_in_force(directory)? {
            status.control_in_words = Some(control_file::describe(&overrides));
            status.control = Some(table);
        }
        // A file that disappears meanwhile was only in use briefly.
        status.leftovers = leftovers::find(directory).unwrap_or_default();
        Ok(status)
    }

    /// Returns the counts of a crawl that are in its journal.
    fn of(statistics: &CrawlStatistics) -> Self {
        let counts = statistics.counts();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut status = Self {
            counts: PageCounts::from(counts),
            bytes: counts.bytes,
            hosts: counts.hosts,
            requisites: counts.requisites,
            requisites_missing: counts.requisites_missing,
            queued: counts.queued,
            quarantined: counts.quarantined,
            left_out_links: statistics.left_out_links().clone(),
            limits: limits::by_name(statistics.totals()),
            not_read: limits::unread_by_name(statistics.totals()),
            begun_at: text(counts.begun_at),
            last_visit_at: text(counts.last_visit_at),
            redirected: statistics.exclusion_reasons().count(REDIRECTED),
            failed_by: named(statistics.failure_kinds(), None),
            excluded_by: named(statistics.exclusion_reasons(), Some(REDIRECTED)),
            statuses: named(statistics.status_codes(), None),
            types: named(statistics.types(), None),
            ..Self::default()
        };
        for (host, figures) in statistics.hosts() {
            let is_down = figures.pace.is_past_last_chance(figures.sums.pages > 0);
            if is_down && figures.waiting > 0 {
                status.unreachable += figures.waiting;
                let failure = figures.last_failure.as_deref().unwrap_or_default();
                let named = (host.to_string(), failure.to_owned());
                status.unreachable_hosts.extend([named]);
            }
        }
        for report in statistics.patterns().reports() {
            status.closed_patterns += u64::from(report.state == PatternState::Closed);
            status.left_out_by_pattern += report.left_out;
        }
        status
    }
}

/// Maximum number of names listed; the rest are counted.
const LISTED: usize = 6;

/// Lists the largest counts, except the count of `without`; `None` without any.
fn named(counts: &NameCounts, without: Option<&str>) -> Option<String> {
    let mut sorted = counts.sorted();
    sorted.retain(|(name, _)| Some(*name) != without);
    let listed = sorted.iter().take(LISTED);
    let mut listed: Vec<String> = listed
        .map(|(name, count)| format!("{} ({count})", printable(name)))
        .collect();
    let more: u64 = sorted.iter().skip(LISTED).map(|(_, count)| count).sum();
    if more + counts.other() > 0 {
        listed.push(format!("others ({})", more + counts.other()));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
}
