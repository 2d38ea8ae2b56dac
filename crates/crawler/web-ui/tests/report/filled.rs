//! A report with one string wherever a crawl puts text from the web.

use std::time::Duration;

use journal::{Limit, Totals};
use statistics::{Counts, VisitSums};
use web::{Timestamp, WaitReason};
use web_ui::{
    Cluster, Clusters, Count, CutVisits, Duplicate, ExcludedLinks, Failures, HostLine, HostSums,
    Hosts, ListedUrl, Pattern, PatternExample, Patterns, Point, Politeness, Report, ReportCounts,
    Setting, Skipped, SkippedKind, Timeline, UrlList, Verdicts, caps, cut,
};

/// The number of items in each list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Three.
    Few,
    /// As many as the list may have.
    Most,
}

impl Size {
    fn of(self, most: usize) -> usize {
        match self {
            Self::Few => most.min(3),
            Self::Most => most,
        }
    }

    /// Returns a list of equal items.
    fn list<T: Clone>(self, most: usize, item: T) -> Vec<T> {
        vec![item; self.of(most)]
    }
}

/// The largest count.
const MANY: u64 = 1 << 52;

const VISITS: VisitSums = VisitSums {
    pages: MANY,
    unique: MANY / 4,
    changed: MANY / 4,
    duplicates: MANY / 4,
    off_topic: MANY / 4,
    failed: MANY / 4,
    excluded: MANY / 4,
    bytes: MANY,
};

/// Returns a report with a string in every place, cut as crawls' strings are.
pub(crate) fn filled(string: &str, size: Size) -> Report {
    let (url, text) = (cut(string, caps::URL), cut(string, caps::TEXT));
    let value = cut(string, caps::VALUE);
    let at = Timestamp::from_millis(1_790_000_000_000);
    let sums = HostSums {
        visits: VISITS,
        waiting: MANY,
    };
    let duplicate = Duplicate {
        url: url.clone(),
        verdict: "near-duplicate",
        distance: Some(3),
        resemblance: Some(0.9),
        reason: text.clone(),
    };
    let listed = ListedUrl {
        url: url.clone(),
        via: Some(url.clone()),
        at,
        status: Some(503),
        reason: text.clone(),
    };
    let urls = |most| UrlList {
        total: MANY,
        listed: size.list(most, listed.clone()),
    };
    let counts = ReportCounts {
        counts: size.list(
            caps::NAMES,
            Count {
                name: text.clone(),
                count: MANY >> 8,
            },
        ),
        other: 1,
    };
    Report {
        title: text.clone(),
        notices: size.list(caps::NOTICES, value.clone()),
        summary: Counts {
            totals: Totals {
                pages: MANY,
                unique: MANY / 4,
                changed: MANY / 4,
                exact_duplicates: MANY / 4,
                near_duplicates: MANY / 4,
                judged: MANY,
                off_topic: MANY / 4,
                kept_duplicates: 1,
                failed: 1,
                excluded: 1,
                bytes: MANY,
                requisites: 1,
                requisites_missing: 1,
                ..Totals::default()
            },
            hosts: MANY,
            queued: MANY,
            quarantined: 1,
            begun_at: Some(at),
            last_visit_at: Some(at + Duration::from_secs(3_600)),
        },
        settings: size.list(
            caps::SETTINGS,
            Setting {
                name: text.clone(),
                value: value.clone(),
                is_changed: true,
            },
        ),
        timeline: timeline(size),
        hosts: Hosts {
            total: MANY,
            listed: size.list(
                caps::HOSTS,
                HostLine {
                    host: text.clone(),
                    sums,
                    delay: 1.5,
                    why: WaitReason::CrawlDelay,
                    crawl_delay: Some(30.0),
                    last_failure: Some(text.clone()),
                },
            ),
            others: 2,
            rest: sums,
        },
        verdicts: Verdicts {
            rules: counts.clone(),
            of_earlier: 1,
            kept: 1,
            distances: vec![MANY; 65],
            resemblances: vec![MANY; 101],
        },
        clusters: Clusters {
            total: MANY,
            larger: MANY,
            listed: size.list(
                caps::CLUSTERS,
                Cluster {
                    original: url.clone(),
                    of_earlier: true,
                    duplicates: MANY,
                    examples: vec![duplicate; caps::EXAMPLES],
                },
            ),
        },
        status_codes: counts.clone(),
        types: counts.clone(),
        languages: counts.clone(),
        failures: Failures {
            total: MANY,
            kinds: counts.clone(),
            newest: size.list(caps::FAILURES, listed.clone()),
        },
        broken_links: urls(caps::BROKEN_LINKS),
        redirects: urls(caps::PROBLEMS),
        truncated: urls(caps::PROBLEMS),
        need_scripts: urls(caps::PROBLEMS),
        skipped: Skipped {
            kinds: size.list(
                9,
                SkippedKind {
                    kind: "duplicate-links",
                    meaning: "its URL pattern is closed",
                    count: MANY >> 8,
                },
            ),
            reasons: counts.clone(),
            links: size.list(
                caps::NAMES,
                ExcludedLinks {
                    rule: text,
                    links: MANY >> 8,
                },
            ),
            limits: size.list(
                Limit::ALL.len(),
                CutVisits {
                    limit: "max-links-per-page",
                    loss: "links beyond it",
                    visits: MANY >> 8,
                    lost: MANY >> 8,
                },
            ),
            not_read: counts,
        },
        patterns: Patterns {
            closed: MANY,
            excluded: MANY,
            listed: size.list(
                caps::PATTERNS,
                Pattern {
                    pattern: url.clone(),
                    state: "closed",
                    visited: MANY,
                    new: MANY,
                    repeated: MANY,
                    excluded: MANY,
                    examples: vec![
                        PatternExample {
                            url: url.clone(),
                            original: Some(url),
                        };
                        caps::EXAMPLES
                    ],
                },
            ),
        },
        politeness: Politeness {
            requests: MANY,
            hosts: MANY,
            compared: MANY,
            too_soon: MANY,
            findings: size.list(caps::NOTICES, value),
        },
    }
}

fn timeline(size: Size) -> Timeline {
    let point = |minute: usize| Point {
        at: Timestamp::from_millis(1_790_000_000_000 + minute as u64 * 60_000),
        sums: VISITS,
        queued: MANY,
    };
    Timeline {
        seconds_per_point: 60.0,
        points: (0..size.of(caps::POINTS)).map(point).collect(),
    }
}
