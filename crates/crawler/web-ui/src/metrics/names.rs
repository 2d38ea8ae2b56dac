//! The names of the metrics, each with its kind and its meaning.
//!
//! Invariant: names are stable, because dashboards and alerts of others use them. Units are base
//! units, in the name (Prometheus, Metric and label naming).

/// A metric.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name, with the suffix of its kind.
    pub name: &'static str,
    /// Its kind.
    pub kind: MetricKind,
    /// Its labels.
    pub labels: &'static str,
    /// Its meaning, as a sentence without its full stop.
    pub help: &'static str,
}

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A count that grows. It shrinks only if visits are revoked; monitoring systems interpret this
    /// as a restart.
    Counter,
    /// A value that goes up and down.
    Gauge,
}

impl MetricKind {
    /// Returns the word of the format.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
        }
    }
}

impl Metric {
    /// Returns the name to register: the writer adds the suffix of counters.
    pub(super) fn registered(&self) -> &'static str {
        self.name.strip_suffix("_total").unwrap_or(self.name)
    }
}

const fn counter(name: &'static str, labels: &'static str, help: &'static str) -> Metric {
    Metric {
        name,
        kind: MetricKind::Counter,
        labels,
        help,
    }
}

const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric {
        name,
        kind: MetricKind::Gauge,
        labels: "",
        help,
    }
}

pub(super) const PAGES: Metric = counter(
    "crawler_pages_total",
    "verdict",
    "Fetched pages, by verdict",
);
pub(super) const FAILED: Metric = counter(
    "crawler_failures_total",
    "",
    "URLs that could not be fetched",
);
pub(super) const EXCLUDED: Metric = counter(
    "crawler_excluded_total",
    "",
    "URLs excluded by a rule, such as robots.txt",
);
pub(super) const RECEIVED: Metric = counter(
    "crawler_received_bytes_total",
    "",
    "Payload bytes received, including requisites",
);
pub(super) const QUEUED: Metric = gauge("crawler_queued_urls", "Queued URLs");
pub(super) const IN_FLIGHT: Metric = gauge(
    "crawler_in_flight_urls",
    "URLs in flight; 0 when no process runs the crawl",
);
pub(super) const QUARANTINED: Metric = gauge(
    "crawler_quarantined_urls",
    "URLs quarantined after two crashes during their visit",
);
pub(super) const HOSTS: Metric = gauge("crawler_hosts", "Hosts with at least one page");
pub(super) const LAST_VISIT: Metric = gauge(
    "crawler_last_visit_timestamp_seconds",
    "Time of the last visit, in seconds since 1970; 0 before the first visit",
);
pub(super) const RUNNING: Metric = gauge(
    "crawler_running",
    "1 if a process has the crawl open for writing, otherwise 0",
);
pub(super) const MEMORY: Metric = gauge(
    "crawler_process_resident_memory_bytes",
    "Resident memory of the crawl's process; 0 without a process",
);
pub(super) const BROWSER: Metric = gauge(
    "crawler_browser_memory_bytes",
    "Memory of the crawl's browser, with shared pages counted once; 0 without a browser",
);
pub(super) const ARCHIVE: Metric = gauge("crawler_archive_bytes", "Bytes of the archive's files");
pub(super) const FREE: Metric = gauge(
    "crawler_disk_free_bytes",
    "Free bytes of the disk that the archive is on",
);

/// All metrics, in the order of the documentation.
pub const METRICS: [Metric; 14] = [
    PAGES,
    FAILED,
    EXCLUDED,
    RECEIVED,
    QUEUED,
    IN_FLIGHT,
    QUARANTINED,
    HOSTS,
    LAST_VISIT,
    RUNNING,
    MEMORY,
    BROWSER,
    ARCHIVE,
    FREE,
];
