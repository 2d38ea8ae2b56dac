//! The tail of the archive: visits that are in the journal but that a power cut may have removed
//! from the archive.
//!
//! The archive is synced before the journal records that ([`Record::Archived`]), but visits are
//! settled all the time. So after a power cut, the journal may have visits whose bytes the archive
//! lost. They were settled after the last `Archived` record *but one*: every visit settled before
//! that record was written before the sync began that the last `Archived` records. Opening reads
//! that part of the journal (five seconds or 64 MiB of visits, twice). The caller checks which of
//! these visits the archive has, and the pages of all other visits are queued again
//! ([`Record::Revoked`]).
//!
//! The next `Archived` record has the archive's new end: the caller that revokes visits cuts the
//! archive and records its end before anything else.
//!
//! The record of a visit revoked for this reason has no place in the archive, since that place is
//! void too. This distinguishes it from a page revoked for another reason.

use journal::{ArchiveSpan, FinishedVisit, Record, Replay, StoreFault};

use crate::embedded::frontier::Void;
use crate::frontier::ArchivePlace;

/// The end of the archive according to the journal.
#[derive(Clone, Debug, Default)]
pub struct ArchiveTail {
    /// The durable end of the archive; `None` if it never had one.
    pub durable: Option<ArchivePlace>,
    /// The ends of the visits that may be after the durable end, in the order of the archive; some
    /// may be before it.
    pub visits: Vec<ArchivePlace>,
    /// The same visits.
    settled: Vec<Void>,
    /// True if visits after these were revoked.
    cut: bool,
}

impl ArchiveTail {
    /// Reads the part of a journal after the last `Archived` record but one.
    pub(in crate::embedded) fn read(mut replay: Replay) -> Result<Self, StoreFault> {
        let mut tail = Self::default();
        while let Some((_position, record)) = replay.next_record()? {
            tail.apply(record);
        }
        Ok(tail)
    }

    fn apply(&mut self, record: Record) {
        match record {
            Record::Archived { file, end } => self.durable = Some(ArchivePlace { file, end }),
            Record::Settled(settled) => {
                let FinishedVisit {
                    record,
                    archived: Some(span),
                    reached,
                    ..
                } = settled.visit
                else {
                    return;
                };
                self.visits.push(ArchivePlace {
                    file: span.file,
                    end: span.end,
                });
                let priority = settled.priority;
                self.settled.push(Void {
                    visit: record,
                    reached,
                    priority,
                });
            }
            Record::Revoked { visit, .. } if visit.warc_file.is_none() => {
                let is_its = |settled: &Void| settled.visit.url == visit.url;
                if let Some(place) = self.settled.iter().rposition(is_its) {
                    self.visits.remove(place);
                    self.settled.remove(place);
                    self.cut = true;
                }
            }
            _ => {}
        }
    }

    /// Returns true if visits were revoked since the last record of the archive's end.
    pub(in crate::embedded) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns the end of the archive, if its last settled visit ends at `settled`.
    pub(in crate::embedded) fn end(&self, settled: Option<ArchiveSpan>) -> Option<ArchiveSpan> {
        if !self.cut {
            return settled;
        }
        // If no visit is left, the first revoked visit began at the durable end.
        let place = self.visits.last().or(self.durable.as_ref())?;
        Some(ArchiveSpan {
            archive_sequence: 0,
            file: place.file.clone(),
            end: place.end,
        })
    }

    /// Removes and returns the visits after the visit that ends at this place; all visits if there
    /// is none.
    pub(super) fn split_after(&mut self, file: &str, end: u64) -> Vec<Void> {
        let is_there = |visit: &ArchivePlace| visit.file == file && visit.end == end;
        let last = self.visits.iter().rposition(is_there);
        let kept = last.map_or(0, |last| last + 1);
        self.visits.truncate(kept);
        let revoked = self.settled.split_off(kept);
        self.cut |= !revoked.is_empty();
        revoked
    }
}
