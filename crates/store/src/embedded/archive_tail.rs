//! What the journal says of the archive beyond what is on the disk for certain, and how that is
//! taken back.
//!
//! The archive is synced before the journal says so ([`Record::Archived`]), but visits are settled
//! all the time. So a power cut may leave the journal with pages whose bytes the archive lost. They
//! can only be pages that were settled since the last `Archived` *but one*: whatever was settled
//! before that record had been written before the sync that the last one tells of began. That much
//! is read when the store is opened (what five seconds or 64 MiB brought, twice), whoever opens it
//! looks whether the archive has it all, and what it has not waits again ([`Record::Revoked`]).
//!
//! Where the archive ends then, the next `Archived` says: whoever took visits back cuts the
//! archive, and tells it before anything else.
//!
//! The row of a page that is revoked for this names no place in the archive, since that is void
//! too: so it is told from a page that is visited again for another reason.

use web::PageUrl;

use super::EmbeddedStore;
use super::record::Record;
use super::segment::Replay;
use crate::{ArchivePlace, ArchiveSpan, FinishedVisit, StoreFault, VisitRecord};

/// The end of the archive as the journal tells it.
#[derive(Clone, Debug, Default)]
pub struct ArchiveTail {
    /// Up to here it is on the disk for certain; none where nothing ever was.
    pub durable: Option<ArchivePlace>,
    /// Where visits end that may be behind that, in the order of the archive; some may be before
    /// it.
    pub visits: Vec<ArchivePlace>,
    /// The same visits.
    settled: Vec<Told>,
    /// Whether some that stood behind these were taken back.
    cut: bool,
}

/// A visit as it was settled.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) row: Box<VisitRecord>,
    pub(super) reached: Vec<PageUrl>,
}

impl ArchiveTail {
    /// Hears a journal from behind the last `Archived` but one.
    pub(super) fn read(mut replay: Replay) -> Result<Self, StoreFault> {
        let mut tail = Self::default();
        while let Some((_position, record)) = replay.next_record()? {
            tail.hear(record);
        }
        Ok(tail)
    }

    fn hear(&mut self, record: Record) {
        match record {
            Record::Archived { file, end } => self.durable = Some(ArchivePlace { file, end }),
            Record::Settled(settled) => {
                let FinishedVisit {
                    row,
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
                self.settled.push(Told { row, reached });
            }
            Record::Revoked { row, .. } if row.warc_file.is_none() => {
                let revoked = self
                    .settled
                    .iter()
                    .rposition(|told| told.row.url == row.url);
                if let Some(place) = revoked {
                    self.visits.remove(place);
                    self.settled.remove(place);
                    self.cut = true;
                }
            }
            _ => {}
        }
    }

    /// Whether visits were taken back since it was last said where the archive ends.
    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// Where the archive ends, if its last settled visit ends at `settled`.
    pub(super) fn end(&self, settled: Option<ArchiveSpan>) -> Option<ArchiveSpan> {
        if !self.cut {
            return settled;
        }
        // Where nothing is left, the first visit that was taken back began at the durable place.
        let place = self.visits.last().or(self.durable.as_ref())?;
        Some(ArchiveSpan {
            ticket: 0,
            file: place.file.clone(),
            end: place.end,
        })
    }

    /// Takes out the visits behind the one that ends at this place; all of them where none does.
    fn split_after(&mut self, file: &str, end: u64) -> Vec<Told> {
        let is_there = |visit: &ArchivePlace| visit.file == file && visit.end == end;
        let kept = self
            .visits
            .iter()
            .rposition(is_there)
            .map_or(0, |last| last + 1);
        self.visits.truncate(kept);
        let revoked = self.settled.split_off(kept);
        self.cut |= !revoked.is_empty();
        revoked
    }
}

impl EmbeddedStore {
    /// The end of the archive as the journal tells it.
    pub fn archive_tail(&self) -> ArchiveTail {
        self.tail().clone()
    }

    /// Takes back what became of the pages whose visits end behind this place in the archive: they
    /// wait again, and [`EmbeddedStore::archive_end`] is this place. It is the end of one of
    /// [`ArchiveTail::visits`], or [`ArchiveTail::durable`] (empty and 0 where there is none) where
    /// none of them is to be kept. Returns how many there were. Durable when it returns. Call it
    /// before the first lease.
    ///
    /// # Errors
    /// What the journal or the tables meet.
    pub async fn revoke_after(&self, file: &str, end: u64) -> Result<u64, StoreFault> {
        let revoked = self.tail().split_after(file, end);
        self.saving.lock().await.archive = None;
        let count = revoked.len() as u64;
        // From the end on: if this is cut short, what is left to be revoked still stands behind all
        // that is kept.
        for Told { mut row, reached } in revoked.into_iter().rev() {
            (row.warc_file, row.warc_offset) = (None, None);
            self.queue().revoke(&self.journal, row, reached)?;
        }
        self.journal.sync(self.journal.end()).await?;
        Ok(count)
    }
}
