//! Sums over visits, of a host or of a span of time.

use std::ops::AddAssign;

use journal::{Fate, VisitRecord};
use serde::Serialize;

/// Sums over some visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VisitSums {
    /// Pages that were fetched and judged.
    pub pages: u64,
    /// Pages that are new.
    pub unique: u64,
    /// New versions of pages that an earlier crawl archived.
    pub changed: u64,
    /// Duplicates.
    pub duplicates: u64,
    /// Pages that are not about the topic of a focused crawl.
    #[serde(skip_serializing_if = "is_zero")]
    pub off_topic: u64,
    /// URLs that could not be fetched.
    pub failed: u64,
    /// URLs that a rule forbade.
    pub excluded: u64,
    /// Payload bytes received, including requisites.
    pub bytes: u64,
}

impl VisitSums {
    /// Adds a visit.
    pub(crate) fn count(&mut self, visit: &VisitRecord) {
        self.change(visit, |sum, part| *sum += part);
    }

    /// Takes back a visit that was added.
    pub(crate) fn take_back(&mut self, visit: &VisitRecord) {
        self.change(visit, |sum, part| *sum = sum.saturating_sub(part));
    }

    /// Changes the sums by a visit. Requisites are not pages: only their bytes count.
    fn change(&mut self, visit: &VisitRecord, change: impl Fn(&mut u64, u64)) {
        change(&mut self.bytes, visit.bytes);
        if visit.requisite > 0 {
            return;
        }
        change(&mut self.pages, visit.fate.is_page().into());
        let of_fate = match visit.fate {
            Fate::Unique => &mut self.unique,
            Fate::Changed => &mut self.changed,
            Fate::ExactDuplicate | Fate::NearDuplicate => &mut self.duplicates,
            Fate::OffTopic => &mut self.off_topic,
            Fate::Failed => &mut self.failed,
            Fate::Excluded => &mut self.excluded,
        };
        change(of_fate, 1);
    }
}

impl AddAssign for VisitSums {
    fn add_assign(&mut self, other: Self) {
        self.pages += other.pages;
        self.unique += other.unique;
        self.changed += other.changed;
        self.duplicates += other.duplicates;
        self.off_topic += other.off_topic;
        self.failed += other.failed;
        self.excluded += other.excluded;
        self.bytes += other.bytes;
    }
}

/// Returns true for zero, which is omitted from output.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives the field by reference"
)]
pub(crate) const fn is_zero(sum: &u64) -> bool {
    *sum == 0
}
