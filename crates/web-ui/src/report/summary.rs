//! The counts of a crawl, and its settings.

use serde::Serialize;
use web::Timestamp;

use crate::charts::{Part, Svg, bar};

/// The counts of a crawl, under the names of the summary and of `crawler status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Pages among them that are new.
    pub unique: u64,
    /// New versions of pages of an earlier crawl.
    pub changed: u64,
    /// Pages with the bytes or the text of an earlier one.
    pub exact_duplicates: u64,
    /// Pages with nearly the text of an earlier one.
    pub near_duplicates: u64,
    /// Duplicates that were archived all the same.
    pub kept_duplicates: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// URLs that a rule excluded.
    pub excluded: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Hosts with a page.
    pub hosts: u64,
    /// Requisites of pages that were fetched.
    pub requisites: u64,
    /// Requisites that were not fetched.
    pub requisites_missing: u64,
    /// URLs that wait.
    pub queued: u64,
    /// URLs among them with which two sessions died.
    pub set_aside: u64,
    /// The time at which the crawl began.
    #[serde(serialize_with = "super::maybe_rfc_3339")]
    pub begun_at: Option<Timestamp>,
    /// The time of the last visit.
    #[serde(serialize_with = "super::maybe_rfc_3339")]
    pub last_visit_at: Option<Timestamp>,
}

impl Summary {
    /// Returns the number of duplicates.
    pub(crate) const fn duplicates(&self) -> u64 {
        self.exact_duplicates + self.near_duplicates
    }

    /// Returns the number of URLs that were dealt with.
    pub(crate) const fn settled(&self) -> u64 {
        self.pages + self.failed + self.excluded
    }

    /// Returns the seconds from the beginning to the last visit.
    pub(crate) fn seconds(&self) -> f64 {
        let (begun, last) = (self.begun_at, self.last_visit_at);
        let span = begun.and_then(|begun| Some(last?.since(begun)));
        span.unwrap_or_default().as_secs_f64()
    }

    /// Returns the fates of URLs, each with its count.
    pub(crate) const fn fates(&self) -> [(Part, u64); 6] {
        [
            (part("s-unique", "unique"), self.unique),
            (part("s-changed", "changed"), self.changed),
            (part("s-exact", "exact duplicates"), self.exact_duplicates),
            (part("s-near", "near-duplicates"), self.near_duplicates),
            (part("s-failed", "failed"), self.failed),
            (part("s-excluded", "excluded"), self.excluded),
        ]
    }

    /// Draws the fates of URLs.
    pub(crate) fn chart(&self) -> Svg {
        bar(
            "Fates of URLs",
            "One bar, divided by the number of URLs with each fate. The table has the numbers.",
            &self.fates(),
        )
    }
}

const fn part(class: &'static str, name: &'static str) -> Part {
    Part { class, name }
}

/// A setting as `crawler.toml` has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its key.
    pub name: String,
    /// Its value in TOML, cut.
    pub value: String,
    /// True if it is not the default.
    pub is_changed: bool,
}
