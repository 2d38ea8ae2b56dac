//! What the frontier was told by the journal, but for hosts, pages and URLs seen.
//!
//! Invariant: it is on disk (postcard); other fields are another version of [`super::fold`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use web::{PageUrl, Timestamp, UrlKey};

use super::super::segment::Position;
use super::place::Place;
use crate::{ArchiveSpan, Patterns, STRIKES_ASIDE, Totals, VisitRecord};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FrontierState {
    /// The next entry's number.
    pub(super) next_sequence: u64,
    pub(super) totals: Totals,
    /// The valid end of the archive.
    pub(super) archive: Option<ArchiveSpan>,
    /// Redirects of seeds that widened the scope.
    pub(super) adopted: Vec<PageUrl>,
    /// Whether something was handed out since the last session ended in order.
    pub(super) asked: bool,
    /// No host is asked before then, whenever it becomes known: the least wait after the last
    /// session that died.
    pub(super) floor: Timestamp,
    /// What was handed out and did not come back.
    pub(super) under_way: BTreeSet<u64>,
    /// Pages that sessions died with.
    pub(super) struck: BTreeMap<u64, Struck>,
    pub(super) voids: Voids,
    /// URLs that a page reached whose row was revoked: which entry may claim them again.
    pub(super) reclaims: BTreeMap<UrlKey, u64>,
    /// Where the last two [`Record::Archived`](crate::embedded::record::Record::Archived) end, the
    /// older one first: see `archive_tail.rs`.
    pub(super) archived_at: [Position; 2],
    /// Visits at the end of the archive were taken back: the next of those records says where it
    /// ends.
    pub(super) archive_cut: bool,
    /// What the patterns of URLs brought.
    pub(super) patterns: Patterns,
}

/// A page that sessions died with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Struck {
    pub(super) strikes: u32,
    /// Where it stands, once that was looked for.
    pub(super) place: Option<Place>,
}

/// Rows that are void, or would be if their original came to nothing.
///
/// An original that was admitted may still fail: its bytes may not reach the archive. Pages that
/// were dropped for its sake by then are visited again. Bounded by what is dropped while the visits
/// of the originals last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Voids {
    /// What was dropped for the sake of each original whose visit has not ended.
    dropped: BTreeMap<UrlKey, Vec<Void>>,
    /// Originals that came to nothing. Visits that had their verdict before may still end.
    forgotten: BTreeSet<UrlKey>,
    /// Rows that are to be revoked.
    pub(super) due: Vec<Void>,
}

/// A row, and what its visit reached on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Void {
    pub(super) row: Box<VisitRecord>,
    pub(super) reached: Vec<PageUrl>,
}

impl FrontierState {
    pub(super) fn strikes(&self, sequence: u64) -> u32 {
        self.struck
            .get(&sequence)
            .map_or(0, |struck| struck.strikes)
    }

    pub(super) fn is_set_aside(&self, sequence: u64) -> bool {
        self.strikes(sequence) >= STRIKES_ASIDE
    }
}

impl Voids {
    /// A page is kept; its visit has not ended.
    pub(super) fn admitted(&mut self, page: UrlKey) {
        self.forgotten.remove(&page);
        self.dropped.entry(page).or_default();
    }

    /// A page that was kept is not kept after all.
    pub(super) fn forgotten(&mut self, page: UrlKey) {
        self.due
            .extend(self.dropped.remove(&page).unwrap_or_default());
        self.forgotten.insert(page);
    }

    /// A visit ended.
    pub(super) fn settled(&mut self, row: &VisitRecord, reached: &[PageUrl]) {
        self.dropped.remove(&row.url.key());
        let Some(original) = row.duplicate_of.as_ref().filter(|_| !row.of_earlier) else {
            return;
        };
        if row.kept {
            return;
        }
        let void = || Void {
            row: Box::new(row.clone()),
            reached: reached.to_vec(),
        };
        if self.forgotten.contains(&original.key()) {
            self.due.push(void());
        } else if let Some(dropped) = self.dropped.get_mut(&original.key()) {
            dropped.push(void());
        }
    }

    /// A row is void.
    pub(super) fn revoked(&mut self, row: &VisitRecord) {
        self.due.retain(|due| due.row.url != row.url);
        for dropped in self.dropped.values_mut() {
            dropped.retain(|old| old.row.url != row.url);
        }
    }
}
