//! Packing: rows of a bucket move into packs, which PostgreSQL compresses.
//!
//! The owner counts the unpacked rows of its buckets, and calls `pack_rows` of the migrations once
//! a bucket has enough of them. The database moves the rows in one transaction, and readers get
//! packed rows like all others, from `rows_after`.
//!
//! Invariant: packing changes neither a row nor the order of rows, so a count may be wrong: it only
//! decides when to call.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::bucket::{BUCKETS, Bucket};
use crate::connection::Connection;
use crate::term::Term;

/// Number of unpacked rows of a bucket that are packed: the maximum of `pack_rows`.
pub const ROWS_PER_PACK: u32 = 256;
/// Maximum number of buckets per call. Batches of the node wait for the end of a call.
const BUCKETS_PER_CALL: usize = 8;

/// The unpacked rows of a node's buckets.
pub(crate) struct Packing {
    /// Minimum number of rows of a pack.
    min: u32,
    /// Number of unpacked rows per bucket.
    counts: Mutex<Vec<u32>>,
    changed: Notify,
}

impl Packing {
    /// Creates the counts of a node without buckets, which packs at least `min` rows at a time.
    pub(crate) fn new(min: u32) -> Self {
        Self {
            min: min.max(1),
            counts: Mutex::new(vec![0; usize::from(BUCKETS)]),
            changed: Notify::new(),
        }
    }

    /// Begins to count the rows of a bucket that the node has acquired.
    pub(crate) fn begin(&self, bucket: Bucket, unpacked: usize) {
        let unpacked = u32::try_from(unpacked).unwrap_or(u32::MAX);
        self.counts()[bucket.index()] = unpacked;
        self.notify(unpacked);
    }

    /// Counts settled rows, each by its bucket.
    pub(crate) fn count(&self, settled: impl Iterator<Item = Bucket>) {
        let mut counts = self.counts();
        let mut highest = 0;
        for bucket in settled {
            let count = &mut counts[bucket.index()];
            *count = count.saturating_add(1);
            highest = highest.max(*count);
        }
        drop(counts);
        self.notify(highest);
    }

    fn notify(&self, count: u32) {
        if count >= self.min {
            self.changed.notify_one();
        }
    }

    /// Packs rows until the term ends.
    pub(crate) async fn run(self: Arc<Self>, connection: Connection, term: Arc<Term>) {
        loop {
            let due = self.take_due();
            if due.is_empty() {
                tokio::select! {
                    () = self.changed.notified() => continue,
                    _ended = term.ended() => return,
                }
            }
            let call = || async {
                let call = sqlx::query("SELECT pack_rows($1, $2, $3)");
                let call = call.bind(term.to_sql()).bind(&due);
                let call = call.bind(i64::from(self.min));
                call.execute(&connection.pool).await
            };
            if let Err(fault) = term.call("packed rows", call).await {
                return term.end_by(&fault);
            }
        }
    }

    /// Returns buckets with enough rows, and counts their next pack as packed.
    fn take_due(&self) -> Vec<i16> {
        let mut due = Vec::new();
        for (number, count) in (0..BUCKETS).zip(self.counts().iter_mut()) {
            if *count >= self.min {
                *count = count.saturating_sub(ROWS_PER_PACK);
                due.push(number.cast_signed());
                if due.len() == BUCKETS_PER_CALL {
                    break;
                }
            }
        }
        due
    }

    fn counts(&self) -> MutexGuard<'_, Vec<u32>> {
        self.counts
            .lock()
            .expect("no panic can happen while the counts are locked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_due_once_per_pack_of_its_rows() {
        let packing = Packing::new(64);
        let [small, large] = [7, 9].map(Bucket::from_sql);
        packing.begin(large, 300);
        packing.count([small; 63].into_iter());
        assert_eq!(packing.take_due(), [9]);
        assert!(
            packing.take_due().is_empty(),
            "44 rows and 63 rows are left"
        );
        packing.count([small, large].into_iter());
        assert_eq!(packing.take_due(), [7]);
        packing.begin(large, 0);
        packing.count([large; 63].into_iter());
        assert!(packing.take_due().is_empty());
    }
}
