//! The counts of a whole crawl.

use std::time::Duration;

use journal::Totals;
use serde::{Serialize, Serializer};
use web::Timestamp;

/// The counts of a crawl, under the names that the summary uses. Times are serialized by RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The sums over all visits.
    #[serde(flatten, serialize_with = "by_name")]
    pub totals: Totals,
    /// Hosts with at least one fetched page; beyond
    /// [`MAX_HOSTS`](crate::limits::MAX_HOSTS) hosts they are not counted.
    pub hosts: u64,
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
        self.totals.exact_duplicates + self.totals.near_duplicates
    }

    /// Returns the number of URLs that were dealt with.
    #[must_use]
    pub const fn settled(&self) -> u64 {
        self.totals.pages + self.totals.failed + self.totals.excluded
    }

    /// Returns the time from the beginning to the last visit; zero without a visit.
    #[must_use]
    pub fn duration(&self) -> Duration {
        let (begun, last) = (self.begun_at, self.last_visit_at);
        begun
            .zip(last)
            .map_or(Duration::ZERO, |(begun, last)| last.since(begun))
    }
}

/// Serializes the sums under the names that the summary uses.
fn by_name<S: Serializer>(totals: &Totals, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = [
        ("pages", totals.pages),
        ("unique", totals.unique),
        ("changed", totals.changed),
        ("exact_duplicates", totals.exact_duplicates),
        ("near_duplicates", totals.near_duplicates),
        ("kept_duplicates", totals.kept_duplicates),
        ("failed", totals.failed),
        ("excluded", totals.excluded),
        ("bytes", totals.bytes),
        ("requisites", totals.requisites),
        ("requisites_missing", totals.requisites_missing),
    ];
    let of_topic = [("judged", totals.judged), ("off_topic", totals.off_topic)];
    let of_topic = of_topic.into_iter().filter(|(_, sum)| *sum > 0);
    serializer.collect_map(fields.into_iter().chain(of_topic))
}

#[expect(clippy::ref_option, reason = "serde gives the field by reference")]
fn maybe_rfc_3339<S: Serializer>(at: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    at.map(|at| at.to_string()).serialize(serializer)
}
