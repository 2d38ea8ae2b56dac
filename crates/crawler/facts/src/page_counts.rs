//! Counts of pages by fate, with the names that the summary uses.

use journal::Totals;
use serde::Serialize;
use statistics::Counts;

/// Counts of pages by fate.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PageCounts {
    /// Number of pages.
    pub pages: u64,
    /// Number of pages that say something new.
    pub unique: u64,
    /// Number of new versions of pages.
    pub changed: u64,
    /// Number of exact duplicates.
    pub exact_duplicates: u64,
    /// Number of near-duplicates.
    pub near_duplicates: u64,
    /// Number of URLs that could not be fetched.
    pub failed: u64,
    /// Number of excluded URLs.
    pub excluded: u64,
    /// Pages off topic; `None` without a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_topic: Option<u64>,
    /// The share of pages on topic; `None` without a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harvest: Option<f64>,
}

impl From<&Totals> for PageCounts {
    fn from(totals: &Totals) -> Self {
        Self {
            pages: totals.pages,
            unique: totals.unique,
            changed: totals.changed,
            exact_duplicates: totals.exact_duplicates,
            near_duplicates: totals.near_duplicates,
            failed: totals.failed,
            excluded: totals.excluded,
            off_topic: (totals.judged > 0).then_some(totals.off_topic),
            harvest: totals.harvest(),
        }
    }
}

impl From<&Counts> for PageCounts {
    fn from(counts: &Counts) -> Self {
        Self {
            pages: counts.pages,
            unique: counts.unique,
            changed: counts.changed,
            exact_duplicates: counts.exact_duplicates,
            near_duplicates: counts.near_duplicates,
            failed: counts.failed,
            excluded: counts.excluded,
            off_topic: (counts.judged > 0).then_some(counts.off_topic),
            harvest: counts.harvest(),
        }
    }
}
