//! The summary at the end of a crawl.

mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crawl::{Counts, CrawlContext, Focus, LinkProgress, Reasons, Responses, SeedCounts, Telemetry};
use inspect::PageCounts;
use journal::{CutSum, LinkCounts, ReasonKind};
use messages::{pasted, printable};
use policy::Requisites;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use store::FrontierStats;

/// The summary. Its field names are the public format of `--summary json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    /// Reason for the end: `exhausted`, `max-pages`, `max-time`, `max-size`, `min-harvest`,
    /// `interrupted` or `fault`.
    pub(crate) finished: &'static str,
    #[serde(flatten)]
    pub(crate) all: PageCounts,
    /// The same share for the last 500 pages of this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) recent_harvest: Option<f64>,
    pub(crate) bytes: u64,
    pub(crate) hosts: u64,
    /// Requisites that were fetched; `None` if the crawl does not fetch requisites. Of the counts
    /// above, only the bytes include requisites.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requisites: Option<u64>,
    /// Requisites that could not be fetched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) requisites_missing: Option<u64>,
    /// Distinct URLs that were seen but not visited, by [`ReasonKind`]. URLs of links that were
    /// never queued are only counted for this session.
    pub(crate) skipped: BTreeMap<&'static str, u64>,
    /// Kinds in `skipped` whose count is a lower bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) skipped_at_least: Vec<&'static str>,
    /// Visits that a limit cut, and the links that it cost, by name of the limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) limits: BTreeMap<&'static str, CutSum>,
    /// Archived documents whose text and links are not read, by format.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) not_read: BTreeMap<&'static str, u64>,
    /// Checked links that leave the scope, of all sessions; `None` if none were checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<LinkCounts>,
    /// Progress of checking links in this session.
    #[serde(skip)]
    link_progress: LinkProgress,
    /// Duplicates that were still kept.
    pub(crate) kept_duplicates: u64,
    /// URLs not visited yet.
    pub(crate) queued: u64,
    /// Queued URLs of hosts that are down: the crawl stopped waiting for these hosts, and the same
    /// command requests the URLs again.
    pub(crate) unreachable: u64,
    /// Hosts that are down, with the last failure in this session; at most a thousand.
    pub(crate) unreachable_hosts: BTreeMap<String, String>,
    /// Duration of this session. The counts above are for the whole crawl.
    pub(crate) seconds: f64,
    /// For this session.
    pub(crate) pages_per_second: f64,
    /// For this session.
    #[serde(flatten, serialize_with = "write_counts")]
    pub(crate) counts: Counts,
    /// Visits of this session by the status of their last response.
    pub(crate) statuses: BTreeMap<u16, u64>,
    /// Visits of this session by media type.
    pub(crate) types: BTreeMap<String, u64>,
    /// True if no seed could be fetched, in this session or before, and no URL is left to try.
    #[serde(skip)]
    pub(crate) no_seed_fetched: bool,
    /// The first failed seeds with their causes; only for a crawl without pages.
    #[serde(skip)]
    failed_seeds: Vec<(String, String)>,
    #[serde(skip)]
    more_failed_seeds: u64,
    /// Pages of this session.
    #[serde(skip)]
    new_pages: u64,
    /// Excluded visits that count as skipped.
    #[serde(skip)]
    excluded_and_skipped: u64,
    #[serde(skip)]
    seeds: SeedCounts,
    #[serde(skip)]
    failed_by: Reasons,
    #[serde(skip)]
    excluded_by: Reasons,
}

/// Location of a crawl, as named in commands.
pub(crate) enum CrawlPlace {
    /// A directory contains the whole crawl.
    Directory(PathBuf),
    /// A store contains its state, and the directory of each node an archive. This is a node's
    /// directory.
    Store(PathBuf),
}

impl CrawlPlace {
    fn archives(&self) -> String {
        match self {
            Self::Directory(directory) => format!("{}/archive", shown(directory)),
            Self::Store(directory) => format!(
                "the archives of all nodes; the archive of this node is {}/archive",
                shown(directory)
            ),
        }
    }
}

impl fmt::Display for CrawlPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => formatter.write_str(&pasted(directory)),
            // The URL may contain a password.
            Self::Store(_) => formatter.write_str("--store URL"),
        }
    }
}

fn shown(directory: &Path) -> String {
    printable(&directory.display().to_string())
}

impl Summary {
    /// Summarizes a session, given the crawl's statistics `before` it.
    pub(crate) fn new(
        finished: &'static str,
        before: &FrontierStats,
        context: &CrawlContext,
        took: Duration,
    ) -> Self {
        let after = context.frontier.stats();
        let (totals, focus) = (&after.totals, context.focus.as_ref());
        let has_requisites = totals.requisites + totals.requisites_missing > 0;
        let fetches_requisites =
            has_requisites || context.policy.page_requisites != Requisites::Off;
        let seconds = took.as_secs_f64();
        let (skipped, skipped_at_least) = skipped(&after, &context.telemetry);
        let Responses {
            statuses,
            types,
            failed,
            excluded,
        } = context.telemetry.responses();
        let new_pages = totals.pages.saturating_sub(before.totals.pages);
        Self {
            finished,
            all: PageCounts {
                off_topic: focus.map(|_| totals.off_topic),
                harvest: focus.and_then(|_| totals.harvest()).map(round),
                ..PageCounts::from(totals)
            },
            recent_harvest: focus.and_then(Focus::recent_harvest),
            bytes: totals.bytes,
            hosts: after.hosts,
            requisites: fetches_requisites.then_some(totals.requisites),
            requisites_missing: fetches_requisites.then_some(totals.requisites_missing),
            skipped,
            skipped_at_least,
            limits: totals.limits_by_name(),
            not_read: totals.unread_formats_by_name(),
            links: None,
            link_progress: context.telemetry.links().unwrap_or_default(),
            seconds: round(seconds),
            pages_per_second: round(new_pages as f64 / seconds.max(0.001)),
            kept_duplicates: totals.kept_duplicates,
            queued: after.queued,
            unreachable: after.unreachable,
            unreachable_hosts: unreachable_hosts(context),
            counts: context.telemetry.counts(),
            statuses,
            types,
            no_seed_fetched: false,
            failed_seeds: Vec::new(),
            more_failed_seeds: 0,
            new_pages,
            excluded_and_skipped: totals.skipped.iter().sum(),
            seeds: context.telemetry.seeds().counts(),
            failed_by: failed,
            excluded_by: excluded,
        }
    }

    /// Records that no seed could be fetched, with the first seeds and the total number.
    pub(crate) fn set_failed_seeds(&mut self, first: Vec<(String, String)>, all: u64) {
        self.no_seed_fetched = true;
        self.more_failed_seeds = all.saturating_sub(first.len() as u64);
        self.failed_seeds = first;
    }
}

/// Serializes the counts of a session that the text shows.
fn write_counts<S: Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = [
        ("not_modified", counts.not_modified),
        ("private_addresses", counts.private_addresses),
        ("links_nofollow", counts.links_nofollow),
        ("links_of_other_dates", counts.links_of_other_dates),
        ("links_too_many", counts.links_too_many),
        ("retries", counts.retries),
    ];
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (name, count) in fields {
        map.serialize_entry(name, &count)?;
    }
    map.end()
}

/// Counts the URLs that were seen but not visited, and names the kinds whose count is a lower
/// bound.
fn skipped(
    after: &FrontierStats,
    telemetry: &Telemetry,
) -> (BTreeMap<&'static str, u64>, Vec<&'static str>) {
    let (mut counts, mut at_least) = (BTreeMap::new(), Vec::new());
    for kind in ReasonKind::ALL {
        let links = telemetry.unvisited(kind);
        let queued = after.queued.saturating_sub(after.unreachable);
        let settled = match kind {
            ReasonKind::Cut => after.totals.lost_links(),
            _ => after.totals.skipped[kind as usize],
        };
        let count = settled + links.urls + queued_of(kind, queued);
        if kind != ReasonKind::Cut || count > 0 {
            counts.insert(kind.as_str(), count);
        }
        if links.at_least {
            at_least.push(kind.as_str());
        }
    }
    (counts, at_least)
}

/// Returns the hosts that the crawl has given up on, with the last failure.
fn unreachable_hosts(context: &CrawlContext) -> BTreeMap<String, String> {
    let down = context.telemetry.down().into_iter();
    down.filter(|(host, _)| context.pacer.pace(host).is_past_last_chance(false))
        .map(|(host, failure)| (host.to_string(), failure))
        .collect()
}

/// Returns the number of queued URLs that count as skipped by this kind.
fn queued_of(kind: ReasonKind, queued: u64) -> u64 {
    match kind {
        ReasonKind::Limit => queued,
        _ => 0,
    }
}

/// Rounds to a thousandth.
fn round(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}
