//! Hosts, and the check that they were asked politely.

use serde::Serialize;
use statistics::VisitSums;
use web::WaitReason;

/// Sums over visits to some hosts, and what waits for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HostSums {
    /// The sums over their visits.
    #[serde(flatten)]
    pub visits: VisitSums,
    /// URLs that wait.
    pub waiting: u64,
}

impl HostSums {
    /// Adds the statistics of other hosts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.visits += other.visits;
        self.waiting += other.waiting;
    }
}

/// A host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostLine {
    /// Its name, cut.
    pub host: String,
    /// Its statistics.
    #[serde(flatten)]
    pub sums: HostSums,
    /// The wait after its last answer, in seconds.
    pub delay: f64,
    /// The longest of the reasons for that wait.
    pub why: WaitReason,
    /// The `Crawl-delay` of its robots.txt, in seconds.
    pub crawl_delay: Option<f64>,
    /// The reason of its last failure, cut.
    pub last_failure: Option<String>,
}

/// Hosts, by descending number of pages. At most [`crate::caps::HOSTS`] are listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hosts {
    /// Hosts with at least one queued URL.
    pub total: u64,
    /// The hosts.
    pub listed: Vec<HostLine>,
    /// The number of hosts that are not listed.
    pub others: u64,
    /// Their statistics, added up.
    pub rest: HostSums,
}

impl Hosts {
    /// Returns the number of hosts that are listed.
    pub(crate) fn shown(&self) -> u64 {
        self.listed.len() as u64
    }

    /// Returns the maximum number of pages per host.
    pub(crate) fn most(&self) -> u64 {
        let pages = self.listed.iter().map(|host| host.sums.visits.pages);
        pages.max().unwrap_or(0)
    }
}

/// The check of the waits between requests, by the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Politeness {
    /// Requests that are known: the last one of each archived visit.
    pub requests: u64,
    /// Hosts that they were sent to.
    pub hosts: u64,
    /// Requests that were compared with an earlier one to the same host.
    pub compared: u64,
    /// Compared requests that came too soon.
    pub too_soon: u64,
    /// The first such requests, in words.
    pub findings: Vec<String>,
}
