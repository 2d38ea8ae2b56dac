//! A reader of a journal that is being written: each call continues where the last one ended.
//!
//! Takes no lock and changes nothing. Records about signatures are skipped, because statistics of a
//! crawl do not depend on them and decoding them would take most of the time. An unfinished frame
//! at the end of the last segment is not a record yet; the next call looks at it again. `crawler
//! rebuild` replaces a journal by another one. To notice that, the follower keeps its segment open
//! and compares it with the file of that name.

use std::path::{Path, PathBuf};

use crate::fault::StoreFault;
use crate::frame::Position;
use crate::record::Record;
use crate::segment::{AHEAD, HEADER_BYTES, Segment, Tear, segments};

/// A reader of a journal from its beginning, which continues when more is appended.
#[doc(alias = "tail")]
pub struct JournalFollower {
    directory: PathBuf,
    /// `None` until the first segment has a complete header.
    current: Option<Segment>,
}

impl JournalFollower {
    /// Opens the journal of the store in `directory`, at its beginning.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal's directory or its first segment cannot be read.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        Self::of_journal(directory.join("journal"))
    }

    /// Opens the journal of the store in `directory` at a position of
    /// [`JournalFollower::next_record`].
    ///
    /// # Errors
    /// [`StoreFault`] if the journal's directory or the segment cannot be read. If no record begins
    /// at the position, the first call of [`JournalFollower::next_record`] fails.
    pub fn open_at(directory: &Path, position: Position) -> Result<Self, StoreFault> {
        let directory = directory.join("journal");
        let mut present = segments(&directory)?.into_iter().rev();
        let found = present.find(|(base, _)| *base <= position);
        let mut follower = Self {
            directory,
            current: None,
        };
        if let Some((base, path)) = found {
            follower.enter(&path, base)?;
            if let Some(segment) = &mut follower.current {
                segment.seek((position - base).max(HEADER_BYTES as u64))?;
            }
        }
        Ok(follower)
    }

    fn of_journal(directory: PathBuf) -> Result<Self, StoreFault> {
        let first = segments(&directory)?.into_iter().next();
        let mut follower = Self {
            directory,
            current: None,
        };
        if let Some((base, path)) = first {
            follower.enter(&path, base)?;
        }
        Ok(follower)
    }

    /// Returns the position of the next call of [`JournalFollower::next_record`].
    #[must_use]
    pub fn position(&self) -> Position {
        self.current.as_ref().map_or(0, Segment::position)
    }

    /// Returns true if the journal that was read has been replaced by another.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal's files cannot be examined.
    pub fn is_replaced(&self) -> Result<bool, StoreFault> {
        self.current
            .as_ref()
            .map_or(Ok(false), Segment::is_replaced)
    }

    /// Restarts at the beginning of the current journal.
    ///
    /// # Errors
    /// The errors of [`JournalFollower::open`]; in this case, the follower is unchanged.
    pub fn restart(&mut self) -> Result<(), StoreFault> {
        *self = Self::of_journal(self.directory.clone())?;
        Ok(())
    }

    /// Returns the next record that is not about signatures, and the position at its start, for
    /// [`record_at`](crate::record_at); `None` at the current end of the journal.
    ///
    /// # Errors
    /// [`StoreFault::Damaged`] if a frame is damaged or a segment is missing. Later calls return
    /// the same error.
    pub fn next_record(&mut self) -> Result<Option<(Position, Record)>, StoreFault> {
        loop {
            let Some(segment) = &mut self.current else {
                match segments(&self.directory)?.first() {
                    Some((base, path)) if self.enter(path, *base)? => continue,
                    _ => return Ok(None),
                }
            };
            let found = next_of(segment, Tear::Allowed)?;
            if found.is_some() {
                return Ok(found);
            }
            let base = segment.base();
            let mut present = segments(&self.directory)?.into_iter();
            let next = present.find(|(other, _)| *other > base);
            segment.grow()?;
            let Some((next, path)) = next else {
                return next_of(segment, Tear::Allowed);
            };
            // Once a segment has a successor, it is not appended to.
            let found = next_of(segment, Tear::Damage)?;
            if found.is_some() {
                return Ok(found);
            }
            if next != segment.position() {
                return Err(segment.damaged("a segment is missing behind it"));
            }
            if !self.enter(&path, next)? {
                return Ok(None);
            }
        }
    }

    /// Opens a segment. Returns false if its header is not complete yet.
    fn enter(&mut self, path: &Path, base: Position) -> Result<bool, StoreFault> {
        let mut segment = Segment::open(path, base, AHEAD, Tear::Allowed)?;
        segment.pass_over_signatures();
        let Some(key) = segment.key() else {
            return Ok(false);
        };
        let before = self.current.as_ref().and_then(Segment::key);
        if before.is_some_and(|before| before != key) {
            return Err(segment.damaged("it has another hash key than the segment before it"));
        }
        self.current = Some(segment);
        Ok(true)
    }
}

fn next_of(segment: &mut Segment, tear: Tear) -> Result<Option<(Position, Record)>, StoreFault> {
    let record = segment.next(tear)?;
    Ok(record.map(|record| (segment.begun(), record)))
}
