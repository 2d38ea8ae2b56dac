//! The state of the frontier, except for hosts, queued entries and URLs seen.
//!
//! Invariant: the layout is on disk (postcard); a change of fields needs a new version in
//! [`super::flush`].

use std::collections::{BTreeMap, BTreeSet};

use journal::{ArchiveSpan, Position, Totals, VisitRecord, with_details};
use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use super::claims::HeldUrls;
use super::in_flight::InFlight;
use crate::patterns::Patterns;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FrontierState {
    /// The sequence number of the next entry.
    pub(super) next_sequence: u64,
    pub(super) totals: Totals,
    /// The valid end of the archive.
    pub(super) archive: Option<ArchiveSpan>,
    /// Redirects of seeds that widened the scope.
    pub(super) adopted: Vec<PageUrl>,
    /// True if a URL was leased since the last clean end of a session.
    pub(super) asked: bool,
    /// Earliest time of a request to any host, known or not: the minimum wait after the last
    /// session that died.
    pub(super) floor: Timestamp,
    pub(super) in_flight: InFlight,
    pub(super) voids: Voids,
    /// URLs that wait for the end of a claim.
    pub(super) held: HeldUrls,
    /// The ends of the last two [`Record::Archived`](journal::Record::Archived),
    /// the older one first: see `archive_tail.rs`.
    pub(super) archived_at: [Position; 2],
    /// True after visits at the end of the archive were revoked: the next `Archived` record has the
    /// archive's end.
    pub(super) archive_cut: bool,
    /// The state of the URL patterns.
    pub(super) patterns: Patterns,
}

/// Visit records that are void, or would be if their original failed.
///
/// An original that was admitted may still fail: its bytes may not reach the archive. Pages that
/// were not archived as its duplicates by then are visited again. The size is bounded by the number
/// of pages excluded while the visits of their originals are in progress.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Voids {
    /// For each original whose visit has not ended, the pages not archived as its duplicates.
    dropped: BTreeMap<UrlKey, Vec<Void>>,
    /// Originals that failed. Visits with an earlier verdict may still end.
    forgotten: BTreeSet<UrlKey>,
    /// Visit records to revoke.
    pub(super) due: Vec<Void>,
}

/// The record of a visit that may be revoked, and the URLs reached by its redirects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct Void {
    #[serde(with = "with_details")]
    pub(in super::super) visit: Box<VisitRecord>,
    pub(in super::super) reached: Vec<PageUrl>,
    /// The priority of its queue entry; the next entry has the same score.
    pub(in super::super) priority: u8,
}

impl Voids {
    /// Adds an admitted or retained page whose visit has not ended.
    pub(super) fn admitted(&mut self, page: UrlKey) {
        self.forgotten.remove(&page);
        self.dropped.entry(page).or_default();
    }

    /// Handles a revoked admission.
    pub(super) fn forgotten(&mut self, page: UrlKey) {
        self.due
            .extend(self.dropped.remove(&page).unwrap_or_default());
        self.forgotten.insert(page);
    }

    /// Handles a finished visit.
    pub(super) fn settled(&mut self, visit: &VisitRecord, priority: u8, reached: &[PageUrl]) {
        self.dropped.remove(&visit.url.key());
        let Some(original) = visit.duplicate_of.as_ref().filter(|_| !visit.of_earlier) else {
            return;
        };
        if visit.kept {
            return;
        }
        let void = || Void {
            visit: Box::new(visit.clone()),
            reached: reached.to_vec(),
            priority,
        };
        if self.forgotten.contains(&original.key()) {
            self.due.push(void());
        } else if let Some(dropped) = self.dropped.get_mut(&original.key()) {
            dropped.push(void());
        }
    }

    /// Handles a revoked visit record.
    pub(super) fn revoked(&mut self, visit: &VisitRecord) {
        self.due.retain(|due| due.visit.url != visit.url);
        for dropped in self.dropped.values_mut() {
            dropped.retain(|old| old.visit.url != visit.url);
        }
    }
}
