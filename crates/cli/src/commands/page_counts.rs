//! Counts of pages by fate, with the names that the summary uses.

use journal::Totals;
use serde::Serialize;
use statistics::Counts;

/// Counts of pages by fate.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct PageCounts {
    pub(super) pages: u64,
    pub(super) unique: u64,
    pub(super) changed: u64,
    pub(super) exact_duplicates: u64,
    pub(super) near_duplicates: u64,
    pub(super) failed: u64,
    pub(super) excluded: u64,
    /// Pages off topic, and the share of pages on topic; `None` without a topic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) off_topic: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) harvest: Option<f64>,
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
