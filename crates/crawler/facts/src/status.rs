//! The counts of a crawl, for `crawler status`. A view of [`CrawlStatistics`]; works while the
//! crawl runs.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io;
use std::path::Path;

use journal::{CutSum, LinkChecks, LinkCounts};
use messages::{CommandError, fault, printable};
use serde::{Deserialize, Serialize};
use statistics::{CrawlStatistics, NameCounts, REDIRECTED};
use store::PatternState;
use web::Timestamp;

use crate::leftovers::{self, Leftover};
use crate::page_counts::PageCounts;

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
    /// URL patterns closed because they bring nothing new, and the number of URLs excluded for that
    /// reason.
    pub closed_patterns: u64,
    /// Number of URLs excluded because of closed patterns.
    pub excluded_by_pattern: u64,
    /// Links that were excluded as traps, by rule.
    pub excluded_links: BTreeMap<String, u64>,
    /// Visits that a limit cut, and the links that it cost, by the limit's name.
    pub limits: BTreeMap<&'static str, CutSum>,
    /// Archived documents whose text and links are not read, by format.
    pub not_read: BTreeMap<&'static str, u64>,
    /// Checked links that leave the scope; `None` if none were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkCounts>,
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
        status.control = control_in_effect(state).map_err(|error| fault(&error))?;
        status.links = LinkChecks::counts(directory)?;
        // A file that disappears meanwhile was only in use briefly.
        status.leftovers = leftovers::find(directory).unwrap_or_default();
        Ok(status)
    }

    /// Returns the counts of a crawl that are in its journal.
    fn of(statistics: &CrawlStatistics) -> Self {
        let counts = statistics.counts();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut status = Self {
            counts: PageCounts::from(&counts.totals),
            bytes: counts.totals.bytes,
            hosts: counts.hosts,
            requisites: counts.totals.requisites,
            requisites_missing: counts.totals.requisites_missing,
            queued: counts.queued,
            quarantined: counts.quarantined,
            excluded_links: statistics.excluded_links().clone(),
            limits: statistics.totals().limits_by_name(),
            not_read: statistics.totals().unread_formats_by_name(),
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
            status.excluded_by_pattern += report.excluded;
        }
        status
    }
}

/// The record of the control file, which `crawl` writes.
#[derive(Deserialize)]
struct ControlRecord {
    /// The text of the file; `None` without the file.
    text: Option<String>,
}

/// Returns the control file that is in effect in a crawl, or was when it last ran.
fn control_in_effect(state: &Path) -> io::Result<Option<toml::Table>> {
    let path = state.join("control.json");
    let record = match std::fs::read(&path) {
        Ok(record) => record,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let wrong = |error: &dyn Display| io::Error::other(format!("{}: {error}", path.display()));
    let record: ControlRecord = serde_json::from_slice(&record).map_err(|error| wrong(&error))?;
    let Some(text) = record.text else {
        return Ok(None);
    };
    let table = toml::from_str(&text);
    table.map(Some).map_err(|error| wrong(&error.message()))
}

/// Maximum number of names listed; the rest are counted.
const LISTED: usize = 6;

/// Lists the largest counts, except the count of `without`; `None` if there are none.
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
