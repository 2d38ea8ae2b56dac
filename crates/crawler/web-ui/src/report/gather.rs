//! The sections of a report, filled from the statistics of a crawl.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::time::Duration;

use journal::{Fate, ReasonKind, Record, VisitRecord};
use statistics::{
    CrawlStatistics, HostStatistics, LinkStatistics, NameCounts, Newest, RecentVisit,
};
use store::{PatternReport, PatternState};
use web::UrlKey;

use super::{
    Cluster, Clusters, CutVisits, Duplicate, ExcludedLinks, Failures, HostLine, HostSums, Hosts,
    ListedUrl, Pattern, PatternExample, Patterns, Point, Politeness, Report, ReportCounts, Setting,
    Skipped, SkippedKind, Timeline, UrlList, Verdicts,
};
use crate::caps;
use crate::format::{cut, natural};
use crate::min_delays::MinDelays;

/// Everything in a report that the statistics do not have.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// The crawl in words.
    pub title: String,
    /// Remarks on what could not be read.
    pub notices: Vec<String>,
    /// The settings of the last session.
    pub settings: Vec<Setting>,
    /// The shortest waits of hosts.
    pub min_delays: MinDelays,
    /// Links to pages that do not exist.
    pub broken_links: UrlList,
    /// The check of waits between requests.
    pub politeness: Politeness,
}

impl Report {
    /// Makes the report of a crawl. Lists and texts are cut as [`caps`] says.
    #[must_use]
    pub fn of(statistics: &CrawlStatistics, beside: Beside) -> Self {
        let Beside {
            title,
            mut notices,
            settings,
            min_delays,
            broken_links,
            mut politeness,
        } = beside;
        notices.truncate(caps::NOTICES);
        politeness.findings.truncate(caps::NOTICES);
        Self {
            title: cut(&title, caps::TEXT),
            notices: notices.iter().map(|text| cut(text, caps::VALUE)).collect(),
            summary: *statistics.counts(),
            settings: self::settings(settings),
            timeline: timeline(statistics),
            hosts: hosts(statistics, &min_delays),
            verdicts: verdicts(statistics),
            clusters: clusters(statistics),
            status_codes: report_counts(statistics.status_codes()),
            types: report_counts(statistics.types()),
            languages: report_counts(statistics.languages()),
            failures: failures(statistics),
            broken_links,
            redirects: urls(statistics, Newest::Redirects),
            truncated: urls(statistics, Newest::Truncated),
            need_scripts: urls(statistics, Newest::NeedScripts),
            skipped: skipped(statistics),
            patterns: patterns(statistics, caps::PATTERNS),
            politeness: Politeness {
                findings: politeness
                    .findings
                    .iter()
                    .map(|text| cut(text, caps::VALUE))
                    .collect(),
                ..politeness
            },
        }
    }
}

/// Cuts the settings to what is shown.
pub(crate) fn settings(mut settings: Vec<Setting>) -> Vec<Setting> {
    settings.truncate(caps::SETTINGS);
    for setting in &mut settings {
        setting.name = cut(&setting.name, caps::TEXT);
        setting.value = cut(&setting.value, caps::VALUE);
    }
    settings
}

/// Gathers the section `timeline`.
pub(crate) fn timeline(statistics: &CrawlStatistics) -> Timeline {
    let points = statistics.timeline();
    let span = points.first().map_or(Duration::ZERO, |point| point.span);
    let points = points.iter().map(|point| Point {
        at: point.at,
        sums: point.sums,
        queued: point.queued,
    });
    Timeline::of(points, span)
}

fn hosts(statistics: &CrawlStatistics, min_delays: &MinDelays) -> Hosts {
    let sums = |figures: &HostStatistics| HostSums {
        visits: figures.sums,
        waiting: figures.waiting,
    };
    let known = statistics
        .hosts()
        .map(|(host, figures)| ((host, figures), sums(figures)));
    let mut known: Vec<_> = known.collect();
    known.sort_unstable_by_key(|((host, _), sums)| {
        (
            Reverse(sums.visits.pages),
            Reverse(sums.waiting),
            host.as_str(),
        )
    });
    let others = known.split_off(known.len().min(caps::HOSTS));
    let mut rest = sums(statistics.other_hosts());
    others.iter().for_each(|(_, sums)| rest.add(sums));
    let listed = known.into_iter().map(|((host, figures), sums)| HostLine {
        host: cut(host.as_str(), caps::TEXT),
        sums,
        delay: figures.pace.wait.max(min_delays.of(host)).as_secs_f64(),
        why: figures.pace.why,
        crawl_delay: figures.pace.crawl_delay.map(|delay| delay.as_secs_f64()),
        last_failure: figures
            .last_failure
            .as_deref()
            .map(|reason| cut(reason, caps::TEXT)),
    });
    let listed: Vec<HostLine> = listed.collect();
    Hosts {
        total: (listed.len() + others.len()) as u64,
        listed,
        others: others.len() as u64,
        rest,
    }
}

/// Gathers the section `verdicts`.
pub(crate) fn verdicts(statistics: &CrawlStatistics) -> Verdicts {
    let rules = statistics.verdict_rules();
    let rules = [
        ("the same bytes", rules.same_bytes),
        ("the same text", rules.same_text),
        ("nearly the same text", rules.near),
        ("near the page that it calls canonical", rules.by_canonical),
        (
            "the same content, compared block by block",
            rules.same_content,
        ),
    ];
    Verdicts {
        rules: ReportCounts::of(rules, 0),
        of_earlier: statistics.verdict_rules().of_earlier,
        kept: statistics.verdict_rules().kept,
        distances: statistics.distances().to_vec(),
        resemblances: statistics.resemblances().to_vec(),
    }
}

/// Gathers the section `clusters`.
pub(crate) fn clusters(statistics: &CrawlStatistics) -> Clusters {
    let mut largest = statistics.clusters().largest();
    largest.retain(|cluster| cluster.duplicates > 1);
    largest.sort_by(|one, other| {
        let order = other.duplicates.cmp(&one.duplicates);
        order.then_with(|| natural(one.original.as_str(), other.original.as_str()))
    });
    let listed = largest
        .into_iter()
        .take(caps::CLUSTERS)
        .map(|cluster| Cluster {
            original: cut(cluster.original.as_str(), caps::URL),
            of_earlier: cluster.of_earlier,
            duplicates: cluster.duplicates,
            examples: cluster
                .examples
                .iter()
                .take(caps::EXAMPLES)
                .map(duplicate)
                .collect(),
        });
    Clusters {
        total: statistics.clusters().count(),
        larger: statistics.clusters().larger(),
        listed: listed.collect(),
    }
}

fn duplicate(visit: &RecentVisit) -> Duplicate {
    Duplicate {
        url: cut(&visit.url, caps::URL),
        verdict: visit.verdict.as_str(),
        distance: visit.distance,
        resemblance: visit.resemblance,
        reason: cut(visit.reason.as_deref().unwrap_or_default(), caps::TEXT),
    }
}

/// Gathers counts by name.
pub(crate) fn report_counts(counts: &NameCounts) -> ReportCounts {
    ReportCounts::of(counts.sorted(), counts.other())
}

/// Gathers the failures. Broken links have a section of their own.
fn failures(statistics: &CrawlStatistics) -> Failures {
    let newest = statistics.newest(Newest::Failures);
    let newest = newest.filter(|visit| !visit.is_requisite && !is_gone(visit.status));
    Failures {
        total: statistics.totals().failed,
        kinds: report_counts(statistics.failure_kinds()),
        newest: newest.take(caps::FAILURES).map(in_report).collect(),
    }
}

/// Gathers the newest visits of a kind.
fn urls(statistics: &CrawlStatistics, kind: Newest) -> UrlList {
    let newest = statistics.newest(kind).take(caps::PROBLEMS);
    UrlList {
        total: statistics.total_of(kind),
        listed: newest.map(in_report).collect(),
    }
}

fn in_report(visit: &RecentVisit) -> ListedUrl {
    listed_url(visit, caps::URL)
}

/// Returns a visit as lists show it, with URLs of at most `most` bytes.
pub(crate) fn listed_url(visit: &RecentVisit, most: usize) -> ListedUrl {
    ListedUrl {
        url: cut(&visit.url, most),
        via: visit.via.as_ref().map(|via| cut(via, most)),
        at: visit.at,
        status: visit.status,
        reason: cut(&problem(visit), caps::TEXT),
    }
}

/// Says what is wrong with a visit.
pub(crate) fn problem(visit: &RecentVisit) -> String {
    let losses = visit.cuts.iter();
    let losses = losses.map(|limit| format!("{limit}: {}", limit.loss()));
    let losses: Vec<String> = losses.collect();
    match (&visit.reason, &visit.target) {
        (Some(reason), _) if !visit.verdict.is_page() => reason.to_string(),
        (_, Some(target)) => format!("redirects to {target}"),
        _ if !losses.is_empty() => losses.join("; "),
        _ if visit.needs_scripts => "next to no text without its scripts".to_owned(),
        (reason, None) => reason.as_deref().unwrap_or_default().to_owned(),
    }
}

/// Gathers the section `skipped`.
pub(crate) fn skipped(statistics: &CrawlStatistics) -> Skipped {
    let waiting = statistics.counts().queued;
    let waiting = SkippedKind {
        kind: "waiting",
        meaning: "it is queued",
        count: waiting,
    };
    let kinds = statistics.skipped().map(|(kind, count)| SkippedKind {
        kind: kind.as_str(),
        meaning: meaning(kind),
        count,
    });
    let kinds = std::iter::once(waiting).chain(kinds);
    let links = statistics.excluded_links().iter();
    Skipped {
        kinds: kinds.filter(|kind| kind.count > 0).collect(),
        reasons: report_counts(statistics.exclusion_reasons()),
        links: links
            .take(caps::NAMES)
            .map(|(rule, links)| ExcludedLinks {
                rule: cut(rule, caps::TEXT),
                links: *links,
            })
            .collect(),
        limits: limits(statistics),
        not_read: not_read(statistics),
    }
}

fn limits(statistics: &CrawlStatistics) -> Vec<CutVisits> {
    let limits = statistics.totals().limits();
    let limits = limits.map(|(limit, sum)| CutVisits {
        limit: limit.as_str(),
        loss: limit.loss(),
        visits: sum.visits,
        lost: sum.lost,
    });
    limits.collect()
}

fn not_read(statistics: &CrawlStatistics) -> ReportCounts {
    let formats = statistics.totals().unread_formats();
    ReportCounts::of(
        formats.map(|(format, count)| (format.noun(count), count)),
        0,
    )
}

/// Returns the meaning of a kind of reasons, for a URL that was queued.
const fn meaning(kind: ReasonKind) -> &'static str {
    match kind {
        ReasonKind::DuplicateLinks => "only duplicates link to it",
        ReasonKind::Pattern => "its URL pattern is closed",
        ReasonKind::Scope => "it is out of scope, or excluded by an expression",
        ReasonKind::Limit => "its pattern reached its maximum number of pages",
        ReasonKind::Robots => "robots.txt forbids it",
        ReasonKind::Trap => "it looks like a trap",
        ReasonKind::Page => "the page asks not to be archived",
        ReasonKind::Other => "another reason",
        ReasonKind::Cut => "it is beyond a limit of the page that links to it",
    }
}

/// Gathers the patterns that are not open, and lists at most `most`.
pub(crate) fn patterns(statistics: &CrawlStatistics, most: usize) -> Patterns {
    let (mut closed, mut excluded) = (0, 0);
    let mut reports: Vec<PatternReport<'_>> = Vec::new();
    for report in statistics.patterns().reports() {
        closed += u64::from(report.state == PatternState::Closed);
        excluded += report.excluded;
        if report.state != PatternState::Open || report.excluded > 0 {
            reports.push(report);
        }
    }
    reports.sort_by_key(|report| {
        let is_closed = report.state == PatternState::Closed;
        let order = (Reverse(is_closed), Reverse(report.excluded));
        (order, report.host, report.pattern.as_str())
    });
    Patterns {
        closed,
        excluded,
        listed: reports.iter().take(most).map(pattern).collect(),
    }
}

fn pattern(report: &PatternReport<'_>) -> Pattern {
    let examples = report.examples.iter().take(caps::EXAMPLES);
    Pattern {
        pattern: cut(
            &format!("{}{}", report.host, report.pattern.as_str()),
            caps::URL,
        ),
        state: report.state.as_str(),
        visited: report.visited,
        new: report.new,
        repeated: report.repeated,
        excluded: report.excluded,
        examples: examples
            .map(|example| PatternExample {
                url: cut(&example.url, caps::URL),
                original: example.original.as_ref().map(|url| cut(url, caps::URL)),
            })
            .collect(),
    }
}

/// Links to pages that do not exist, collected from the records of a journal. Memory holds the
/// first [`caps::BROKEN_LINKS`].
#[derive(Clone, Debug, Default)]
pub struct BrokenLinkCollector {
    total: u64,
    listed: HashMap<UrlKey, ListedUrl>,
}

impl BrokenLinkCollector {
    /// Applies a record of the journal, in its order. A revoked visit is taken back.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Settled(settled) if is_broken(&settled.visit.record) => {
                self.total += 1;
                if self.listed.len() < caps::BROKEN_LINKS {
                    let visit = &settled.visit.record;
                    let listed = in_report(&RecentVisit::of(visit));
                    self.listed.insert(visit.url.key(), listed);
                }
            }
            Record::Revoked { visit, .. } if is_broken(visit) => {
                self.total = self.total.saturating_sub(1);
                self.listed.remove(&visit.url.key());
            }
            // Nothing else ends a visit.
            _ => {}
        }
    }

    /// Adds broken links out of scope.
    pub fn add_checked(&mut self, links: &LinkStatistics) {
        self.total += links.counts().broken;
        for broken in links.newest_broken() {
            if self.listed.len() < caps::BROKEN_LINKS {
                self.listed.insert(broken.key, in_report(broken));
            }
        }
    }

    /// Returns the links, by the page that has them.
    #[must_use]
    pub fn links(self) -> UrlList {
        let mut listed: Vec<ListedUrl> = self.listed.into_values().collect();
        let via = |one: &ListedUrl| one.via.clone().unwrap_or_default();
        listed.sort_by(|one, two| {
            let by_page = natural(&via(one), &via(two));
            by_page.then_with(|| natural(&one.url, &two.url))
        });
        UrlList {
            total: self.total,
            listed,
        }
    }
}

/// Returns true for a URL that is gone, or whose host never answered.
fn is_broken(visit: &VisitRecord) -> bool {
    visit.fate == Fate::Failed && is_gone(visit.status)
}

/// Returns true if a failure with this status is a broken link.
pub(crate) fn is_gone(status: Option<u16>) -> bool {
    matches!(status, None | Some(404 | 410))
}
