//! Finished visits, recorded in the order of the archive.
//!
//! See [`Frontier::settle`](crate::Frontier::settle). A visit that ends before its turn waits until
//! all before it have been recorded. If the process dies meanwhile, it is never recorded: its URL
//! is visited again, and its span in the archive is beyond the recorded end, where it is cut off.
//!
//! Invariant: visits are taken in the order of their archive sequence numbers, without a gap; after
//! a visit that could not be recorded, none is taken.

use std::collections::BTreeMap;

use journal::FinishedVisit;
use web::Timestamp;

use crate::frontier::Lease;

/// The finished visits that wait for their turn.
#[derive(Default)]
pub(super) struct ArchiveOrder {
    /// The archive sequence number of the next visit to record.
    next: u64,
    early: BTreeMap<u64, Ended>,
}

/// A finished visit.
pub(super) struct Ended {
    pub(super) lease: Lease,
    pub(super) visit: FinishedVisit,
    /// The time at which its host is ready again after this visit. A later visit may be settled
    /// before this one is recorded.
    pub(super) ready: Timestamp,
}

impl ArchiveOrder {
    /// Adds a visit with this archive sequence number.
    pub(super) fn add(&mut self, archive_sequence: u64, ended: Ended) {
        self.early.insert(archive_sequence, ended);
    }

    /// Takes the visit whose turn it is, if it has ended. Once it is recorded, call
    /// [`ArchiveOrder::advance`].
    pub(super) fn take_next(&mut self) -> Option<Ended> {
        self.early.remove(&self.next)
    }

    /// Gives the next visit its turn.
    pub(super) fn advance(&mut self) {
        self.next += 1;
    }
}
