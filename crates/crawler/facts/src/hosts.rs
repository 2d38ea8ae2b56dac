//! The pace of each host with its reason, for `crawler status --hosts`. A view of
//! [`CrawlStatistics`].

use std::net::IpAddr;
use std::path::Path;

use messages::CommandError;
use serde::Serialize;
use settings::{Settings, crawl_directory, rules};
use statistics::{CrawlStatistics, HostStatistics};
use web::{Host, Timestamp, WaitReason};

/// Columns of CSV and workbooks.
pub const COLUMNS: &[&str] = &[
    "host",
    "pages",
    "waiting",
    "failed",
    "failures",
    "crawl_delay",
    "crawl_delay_obeyed",
    "retry_after",
    "delay",
    "why",
    "answered_at",
    "ready_at",
    "address",
    "last_failure",
];

/// A line of the output for a host.
#[derive(Debug, Serialize)]
pub struct Line<'a> {
    /// The host.
    pub host: &'a str,
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Pages that are not settled.
    pub waiting: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// Number of failures and requests to slow down in a row, after the last response.
    pub failures: u32,
    /// Crawl-delay of its robots.txt, in seconds, and the part that is obeyed.
    pub crawl_delay: Option<f64>,
    /// The part of its Crawl-delay that is obeyed, in seconds.
    pub crawl_delay_obeyed: Option<f64>,
    /// Retry-After of its last response, in seconds.
    pub retry_after: Option<f64>,
    /// Wait after its last response, in seconds, and the reason that determines it.
    pub delay: f64,
    /// The reason that determines the wait.
    pub why: WaitReason,
    /// Time of its last response.
    pub answered_at: Option<String>,
    /// Earliest time of the next request, including the wait of its group if hosts share a pace.
    pub ready_at: Option<String>,
    /// Its address.
    pub address: Option<IpAddr>,
    /// Its last failure.
    pub last_failure: Option<&'a str>,
}

/// The hosts of a crawl, and the settings that pace them.
pub struct PacedHosts {
    statistics: CrawlStatistics,
    settings: Settings,
}

impl PacedHosts {
    /// Reads the journal of the crawl in `directory`.
    pub fn read(directory: &Path) -> Result<Self, CommandError> {
        let state = crawl_directory::state_of(directory)?;
        let settings = Settings::of_crawl(directory)?;
        let (statistics, _) = CrawlStatistics::read(&state)?;
        Ok(Self {
            statistics,
            settings,
        })
    }

    /// Returns a line per host, sorted by descending number of pages.
    pub fn lines(&self) -> Vec<Line<'_>> {
        lines(&self.statistics, &self.settings)
    }
}

/// Returns a line per host, sorted by descending number of pages.
pub fn lines<'s>(statistics: &'s CrawlStatistics, settings: &Settings) -> Vec<Line<'s>> {
    let mut hosts: Vec<(&Host, &HostStatistics)> = statistics.hosts().collect();
    hosts.sort_unstable_by(|(one, left), (other, right)| {
        let order = right.sums.pages.cmp(&left.sums.pages);
        order
            .then(right.waiting.cmp(&left.waiting))
            .then(one.cmp(other))
    });
    let rules = rules::pacing(settings);
    let line = |(host, status): (&'s Host, &'s HostStatistics)| {
        let (pace, rules) = (&status.pace, rules.of_host(host));
        let obeyed = pace.crawl_delay.map(|delay| rules.obeyed(delay));
        Line {
            host: host.as_str(),
            pages: status.sums.pages,
            waiting: status.waiting,
            failed: status.sums.failed,
            failures: pace.failures,
            crawl_delay: pace.crawl_delay.map(|delay| delay.as_secs_f64()),
            crawl_delay_obeyed: obeyed.map(|delay| delay.as_secs_f64()),
            retry_after: pace.retry_after.map(|wait| wait.as_secs_f64()),
            delay: pace.wait.max(rules.delay).as_secs_f64(),
            why: pace.why,
            answered_at: known(pace.answered),
            ready_at: known(pace.ready),
            address: pace.address,
            last_failure: status.last_failure.as_deref(),
        }
    };
    hosts.into_iter().map(line).collect()
}

/// Formats a time; `None` if it is unknown.
fn known(at: Timestamp) -> Option<String> {
    (at != Timestamp::default()).then(|| at.to_string())
}
