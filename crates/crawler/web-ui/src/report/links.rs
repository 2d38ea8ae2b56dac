//! URLs that brought no page: failures, broken links, skipped URLs and closed patterns.

use serde::Serialize;
use web::Timestamp;

use super::report_counts::{Count, ReportCounts};

/// A URL that needs work, in a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListedUrl {
    /// The URL, cut.
    pub url: String,
    /// The first page that was found to link to it, cut; `None` for a seed.
    pub via: Option<String>,
    /// The time of the last request.
    #[serde(serialize_with = "super::rfc_3339")]
    pub at: Timestamp,
    /// The status code of the answer, if there was one.
    pub status: Option<u16>,
    /// The reason, cut.
    pub reason: String,
}

/// URLs with the same problem, of which the first are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UrlList {
    /// Their number.
    pub total: u64,
    /// The URLs that are listed.
    pub listed: Vec<ListedUrl>,
}

impl UrlList {
    /// Returns the number of URLs that are listed.
    pub(crate) fn shown(&self) -> u64 {
        self.listed.len() as u64
    }
}

/// URLs that could not be fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Failures {
    /// Their number.
    pub total: u64,
    /// Failures by kind.
    pub kinds: ReportCounts,
    /// The newest that are not broken links, newest first, at most [`crate::caps::FAILURES`].
    pub newest: Vec<ListedUrl>,
}

/// URLs that were not visited for reasons of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedKind {
    /// The kind, as in `crawler skipped --why`; `waiting` is the queue, which that command counts
    /// as a limit.
    pub kind: &'static str,
    /// The meaning of the kind.
    pub meaning: &'static str,
    /// The number of URLs.
    pub count: u64,
}

/// Links that a rule excluded before they were queued.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExcludedLinks {
    /// The name of the rule, cut.
    pub rule: String,
    /// The number of links.
    pub links: u64,
}

/// URLs in the journal that were seen and not visited; links out of the scope are not in the
/// journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// URLs by the kind of reason.
    pub kinds: Vec<SkippedKind>,
    /// Excluded URLs by their reason.
    pub reasons: ReportCounts,
    /// Links by the rule that took them for traps.
    pub links: Vec<ExcludedLinks>,
    /// Limits that cut visits.
    pub limits: Vec<CutVisits>,
    /// Documents whose text and links are not read, by format.
    pub not_read: ReportCounts,
}

/// The visits that a limit cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CutVisits {
    /// The name of the limit.
    pub limit: &'static str,
    /// The loss beyond it, in words.
    pub loss: &'static str,
    /// The number of visits.
    pub visits: u64,
    /// The number of links, requisites and entries that it cost; some cannot be counted.
    pub lost: u64,
}

impl Skipped {
    /// Returns the number of URLs that were not visited.
    pub(crate) fn total(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.count).sum()
    }

    /// Returns true if every URL was visited and every document read whole.
    pub(crate) fn is_empty(&self) -> bool {
        let is_read = self.limits.is_empty() && self.not_read.total() == 0;
        self.total() == 0 && self.links.is_empty() && is_read
    }

    /// Returns the links by name, counted.
    pub(crate) fn rules(&self) -> ReportCounts {
        let counts = self.links.iter().map(|links| Count {
            name: links.rule.clone(),
            count: links.links,
        });
        ReportCounts {
            counts: counts.collect(),
            other: 0,
        }
    }
}

/// A visit that brought nothing new.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PatternExample {
    /// The URL, cut.
    pub url: String,
    /// The page that it repeats, cut; `None` if it brought no page.
    pub original: Option<String>,
}

/// A pattern of URLs that brings little.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// Host and pattern, cut.
    pub pattern: String,
    /// `open`, `poor` or `closed`.
    pub state: &'static str,
    /// Visits that were counted.
    pub visited: u64,
    /// Visits that brought something new.
    pub new: u64,
    /// Visits that brought a duplicate.
    pub repeated: u64,
    /// URLs that were excluded unvisited.
    pub excluded: u64,
    /// The last visits that brought nothing new, at most [`crate::caps::EXAMPLES`].
    pub examples: Vec<PatternExample>,
}

/// Patterns of URLs that bring little: closed patterns first, then the patterns with the most
/// excluded URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Patterns {
    /// The number of closed patterns.
    pub closed: u64,
    /// URLs that were excluded because of any pattern.
    pub excluded: u64,
    /// At most [`crate::caps::PATTERNS`].
    pub listed: Vec<Pattern>,
}
