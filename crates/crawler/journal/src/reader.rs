//! Random access to records of the journal by their positions.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use crate::fault::StoreFault;
use crate::frame::Position;
use crate::record::Record;
use crate::segment::{record_in, segments};

/// A reader of individual records of a journal that is being written to.
pub struct JournalReader {
    directory: PathBuf,
    /// The segments at the last listing of the directory.
    known: Mutex<Vec<(Position, PathBuf)>>,
}

impl JournalReader {
    /// Opens the journal in `directory`.
    ///
    /// # Errors
    /// [`StoreFault::File`] if the directory cannot be read.
    pub fn of(directory: &Path) -> Result<Self, StoreFault> {
        Ok(Self {
            known: Mutex::new(segments(directory)?),
            directory: directory.to_owned(),
        })
    }

    /// Returns the record at `position`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be read, or if no record begins there.
    pub fn record_at(&self, position: Position) -> Result<Record, StoreFault> {
        let known = self.known().clone();
        let record = match record_in(&known, position)? {
            Some(record) => Some(record),
            // The record may be the first of a newer segment.
            None => {
                let present = segments(&self.directory)?;
                self.known().clone_from(&present);
                record_in(&present, position)?
            }
        };
        record.ok_or_else(|| self.mismatch(position))
    }

    /// Returns the fault for a record at `position` that differs from the record that the tables
    /// name.
    #[must_use]
    pub fn mismatch(&self, position: Position) -> StoreFault {
        StoreFault::Damaged {
            path: self.directory.clone(),
            offset: position,
            what: "the record is not the one that the tables name".to_owned(),
        }
    }

    fn known(&self) -> MutexGuard<'_, Vec<(Position, PathBuf)>> {
        self.known
            .lock()
            .expect("no panic can happen while the segments are locked")
    }
}
