//! The counts of a crawl, and its settings.

use serde::Serialize;
use statistics::Counts;

use crate::charts::{Part, Svg, bar, part};

/// Returns the fates of URLs, each with its count. Only a crawl with a topic has pages off topic.
pub(crate) fn fates(counts: &Counts) -> Vec<(Part, u64)> {
    let mut fates = vec![
        (part("s-unique", "unique"), counts.totals.unique),
        (part("s-changed", "changed"), counts.totals.changed),
        (
            part("s-exact", "exact duplicates"),
            counts.totals.exact_duplicates,
        ),
        (
            part("s-near", "near-duplicates"),
            counts.totals.near_duplicates,
        ),
        (part("s-failed", "failed"), counts.totals.failed),
        (part("s-excluded", "excluded"), counts.totals.excluded),
    ];
    if counts.totals.judged > 0 {
        fates.push((part("s-off-topic", "off topic"), counts.totals.off_topic));
    }
    fates
}

/// Draws the fates of URLs.
pub(crate) fn fates_chart(counts: &Counts) -> Svg {
    bar(
        "Verdicts of URLs",
        "One bar, divided by the number of URLs per verdict. The table contains the numbers.",
        &fates(counts),
    )
}

/// A setting as in `crawler.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its key.
    pub name: String,
    /// Its value in TOML, cut.
    pub value: String,
    /// True if it is not the default.
    pub is_changed: bool,
}
