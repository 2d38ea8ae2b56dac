//! Reads the rest of a journal with two threads: one decodes records, and the caller's applies
//! them.
//!
//! Each thread does about half of the work when a journal is read for its statistics. Invariant:
//! the records and their order are the same as with [`JournalFollower::next_record`], and the
//! records before damage are applied.

use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use crate::fault::StoreFault;
use crate::follower::JournalFollower;
use crate::frame::Position;
use crate::record::Record;

/// Number of records that are read without a second thread, as in a refresh.
const MAX_RECORDS_IN_ONE_THREAD: u64 = 256;

/// Number of records in a batch: some 100 KiB.
const BATCH: usize = 128;

/// Maximum number of batches that wait to be applied.
const AHEAD: usize = 2;

impl JournalFollower {
    /// Calls `apply` with each record up to the current end of the journal, as
    /// [`JournalFollower::next_record`] returns them. Returns their number.
    ///
    /// # Errors
    /// The errors of [`JournalFollower::next_record`], after the records before them.
    pub fn apply_rest(
        &mut self,
        mut apply: impl FnMut(Position, &Record),
    ) -> Result<u64, StoreFault> {
        let mut applied = 0;
        while applied < MAX_RECORDS_IN_ONE_THREAD {
            let Some((position, record)) = self.next_record()? else {
                return Ok(applied);
            };
            apply(position, &record);
            applied += 1;
        }
        thread::scope(|scope| {
            let (sender, batches) = sync_channel(AHEAD);
            let decoding = scope.spawn(move || self.send_batches(&sender));
            for batch in batches {
                for (position, record) in &batch {
                    apply(*position, record);
                }
                applied += batch.len() as u64;
            }
            decoding.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        Ok(applied)
    }

    fn send_batches(
        &mut self,
        sender: &SyncSender<Vec<(Position, Record)>>,
    ) -> Result<(), StoreFault> {
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            let ended = loop {
                match self.next_record() {
                    Ok(Some(record)) => batch.push(record),
                    Ok(None) => break Some(Ok(())),
                    Err(fault) => break Some(Err(fault)),
                }
                if batch.len() == BATCH {
                    break None;
                }
            };
            let is_wanted = sender.send(batch).is_ok();
            if let Some(ended) = ended {
                return ended;
            }
            // `apply` has panicked.
            if !is_wanted {
                return Ok(());
            }
        }
    }
}
