//! Reads the rest of a journal on two threads: one decodes records, the caller's uses them.
//!
//! Each takes about half of the time of reading a journal into its figures. Invariant: the records
//! and their order are those of [`JournalFollower::next_record`], and what is before a damage is
//! used.

use std::panic::resume_unwind;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use super::follower::JournalFollower;
use super::frame::Position;
use super::record::Record;
use crate::fault::StoreFault;

/// Records that are read without a second thread, as those of a refresh are.
const FEW: u64 = 256;

/// Records in a batch: some 100 KiB.
const BATCH: usize = 128;

/// Batches that wait to be used.
const AHEAD: usize = 2;

impl JournalFollower {
    /// Calls `apply` with each record up to the present end of the journal, as
    /// [`JournalFollower::next_record`] returns them; returns their number.
    ///
    /// # Errors
    /// Those of [`JournalFollower::next_record`], after the records before it.
    pub fn apply_rest(
        &mut self,
        mut apply: impl FnMut(Position, &Record),
    ) -> Result<u64, StoreFault> {
        let mut applied = 0;
        while applied < FEW {
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
