//! The counts of a whole crawl.

use std::time::Duration;

use journal::Totals;
use serde::{Serialize, Serializer};
use web::Timestamp;

use crate::visit_sums::is_zero;

/// The counts of a crawl, under the names that the summary uses. Times are serialized by RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Pages that are new.
    pub unique: u64,
    /// New versions of pages that an earlier crawl archived; they do not count as unique.
    pub changed: u64,
    /// Exact duplicates.
    pub exact_duplicates: u64,
    /// Near duplicates.
    pub near_duplicates: u64,
    /// Pages that were compared with the topic of a focused crawl.
    #[serde(skip_serializing_if = "is_zero")]
    pub judged: u64,
    /// Judged pages that are not about the topic.
    #[serde(skip_serializing_if = "is_zero")]
    pub off_topic: u64,
    /// Duplicates that were kept.
    pub kept_duplicates: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// URLs that a rule forbade.
    pub excluded: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Hosts with at least one fetched page; beyond
    /// [`MAX_HOSTS`](crate::limits::MAX_HOSTS) hosts they are not counted.
    pub hosts: u64,
    /// Requisites that were fetched. They count here and in `bytes`, and in no count of pages.
    pub requisites: u64,
    /// Requisites that were not fetched: a failure, or a rule that forbade it.
    pub requisites_missing: u64,
    /// URLs in the queue, those out on lease included.
    pub queued: u64,
    /// Queued URLs that are quarantined after two or more crashes.
    pub quarantined: u64,
    /// The beginning of the crawl.
    #[serde(serialize_with = "maybe_rfc_3339")]
    pub begun_at: Option<Timestamp>,
    /// The time of the visit that ended last, even if it was revoked later.
    #[serde(serialize_with = "maybe_rfc_3339")]
    pub last_visit_at: Option<Timestamp>,
}

impl Counts {
    /// Returns the number of duplicates.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.exact_duplicates + self.near_duplicates
    }

    /// Returns the pages on topic, duplicates included.
    #[must_use]
    pub const fn on_topic(&self) -> u64 {
        self.judged.saturating_sub(self.off_topic)
    }

    /// Returns the share of pages on topic in all judged pages; `None` without a topic.
    #[must_use]
    pub fn harvest(&self) -> Option<f64> {
        (self.judged > 0).then(|| self.on_topic() as f64 / self.judged as f64)
    }

    /// Returns the number of URLs that were dealt with.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.pages + self.failed + self.excluded
    }

    /// Returns the time from the beginning to the last visit; zero without a visit.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let (begun, last) = (self.begun_at, self.last_visit_at);
        begun
            .zip(last)
            .map_or(Duration::ZERO, |(begun, last)| last.since(begun))
    }

    /// Takes over the sums over all visits.
    pub(crate) fn set_totals(&mut self, totals: &Totals) {
        *self = Self {
            pages: totals.pages,
            unique: totals.unique,
            changed: totals.changed,
            exact_duplicates: totals.exact_duplicates,
            near_duplicates: totals.near_duplicates,
            judged: totals.judged,
            off_topic: totals.off_topic,
            kept_duplicates: totals.kept_duplicates,
            failed: totals.failed,
            excluded: totals.excluded,
            bytes: totals.bytes,
            requisites: totals.requisites,
            requisites_missing: totals.requisites_missing,
            ..*self
        };
    }
}

#[expect(clippy::ref_option, reason = "serde gives the field by reference")]
fn maybe_rfc_3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}
