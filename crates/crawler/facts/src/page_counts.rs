//! Counts of pages by fate, under the names of `--summary json`, `status` and `verify`.

use journal::Totals;
use serde::Serialize;

/// Counts of pages by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
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
    /// Number of pages that have next to no text without their scripts, which were not run.
    pub needs_scripts: u64,
    /// Number of these pages with the same bytes as a page under another path.
    pub repeated_shells: u64,
    /// Number of pages that were judged by what their scripts show.
    pub rendered: u64,
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
            needs_scripts: totals.need_scripts,
            repeated_shells: totals.repeated_shells,
            rendered: totals.rendered,
            off_topic: (totals.judged > 0).then_some(totals.off_topic),
            harvest: totals.harvest(),
        }
    }
}
