//! Sums over the visit records of a crawl.

use serde::{Deserialize, Serialize};

use crate::skipped::SkippedBy;
use crate::visit_record::{Fate, VisitRecord};

/// Sums over all visit records of a crawl, over all its sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Pages among them that are new.
    pub unique: u64,
    /// Exact duplicates.
    pub exact_duplicates: u64,
    /// Near duplicates.
    pub near_duplicates: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// URLs that a rule forbade.
    pub excluded: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Duplicates that were kept.
    pub kept_duplicates: u64,
    /// Requisites that were fetched. They count here and in `bytes`, and in no sum above.
    pub requisites: u64,
    /// Requisites that were not fetched: a failure, or a rule that forbade it.
    pub requisites_missing: u64,
    /// New versions of pages that an earlier crawl archived; they are not among the unique ones.
    pub changed: u64,
    /// URLs among the excluded ones that were not visited, by the kind of reason: see
    /// [`SkippedBy`].
    pub skipped: [u64; SkippedBy::ALL.len()],
}

impl Totals {
    /// Returns the number of pages that repeat no earlier page, and were kept.
    #[must_use]
    pub const fn originals(&self) -> u64 {
        self.unique + self.changed
    }

    /// Adds a visit record.
    pub fn count(&mut self, row: &VisitRecord) {
        self.bytes += row.bytes;
        if row.requisite > 0 {
            let was_had = row.fate.is_page();
            self.requisites += u64::from(was_had);
            self.requisites_missing += u64::from(!was_had);
            return;
        }
        if let Some(kind) = SkippedBy::of(row) {
            self.skipped[kind as usize] += 1;
        }
        self.pages += u64::from(row.fate.is_page());
        self.kept_duplicates += u64::from(row.kept && row.fate.is_duplicate());
        *match row.fate {
            Fate::Unique => &mut self.unique,
            Fate::ExactDuplicate => &mut self.exact_duplicates,
            Fate::NearDuplicate => &mut self.near_duplicates,
            Fate::Failed => &mut self.failed,
            Fate::Excluded => &mut self.excluded,
            Fate::Changed => &mut self.changed,
        } += 1;
    }

    /// Subtracts a visit record that was added before.
    pub fn uncount(&mut self, row: &VisitRecord) {
        let mut one = Self::default();
        one.count(row);
        let parts = [
            (&mut self.pages, one.pages),
            (&mut self.unique, one.unique),
            (&mut self.exact_duplicates, one.exact_duplicates),
            (&mut self.near_duplicates, one.near_duplicates),
            (&mut self.failed, one.failed),
            (&mut self.excluded, one.excluded),
            (&mut self.bytes, one.bytes),
            (&mut self.kept_duplicates, one.kept_duplicates),
            (&mut self.requisites, one.requisites),
            (&mut self.requisites_missing, one.requisites_missing),
            (&mut self.changed, one.changed),
        ];
        let kinds = self.skipped.iter_mut().zip(one.skipped);
        for (sum, part) in parts.into_iter().chain(kinds) {
            *sum = sum.saturating_sub(part);
        }
    }
}
