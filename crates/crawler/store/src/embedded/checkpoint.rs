//! Checkpoints: the journal's sync, and the flush of memory into the tables.
//!
//! A checkpoint syncs the journal, which is enough to lose nothing. From time to time, a flush
//! follows. Both parts of the store hand over the changes since the last flush, and these are
//! written, synced, and sealed with the watermark (docs/adr/0006). A flush rewrites a large part of
//! the tables that it changes, so larger tables wait for more of the journal; a restart replays
//! that part.
//!
//! Invariants: the tables are never ahead of the journal, because its sync comes first. One flush
//! runs at a time. The next flush repeats one that was interrupted.

pub(super) mod meta;
mod save;

use journal::{Position, StoreFault};
use serde::{Deserialize, Serialize};

use self::meta::Meta;
use super::database::Database;
use super::frontier::{self, Queue};
use super::near_dup::settings::IndexState;
use super::near_dup::{self, SignatureStore};
use crate::frontier::ArchivePlace;

/// The watermark's name in the meta tree.
const CHECKPOINT: &str = "checkpoint";

/// Bounds of the journal's growth between flushes. The growth is a sixteenth of the tables' size,
/// between these bounds, because a restart replays a million records per second.
const MIN_GROWTH: u64 = 64 << 20;
const MAX_GROWTH: u64 = 192 << 20;
const PART_OF_TABLES: u64 = 16;
/// Maximum size of tables that take only a moment to write.
const SMALL_TABLES: u64 = 32 << 20;

/// The state of the tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// The watermark: the tables hold the journal up to this position.
    pub(super) position: Position,
    /// The features of fingerprints.
    pub(super) features: String,
    /// The state of the signature index in the tables.
    pub(super) signatures: IndexState,
}

impl Checkpoint {
    /// Returns the last checkpoint; the default if there is none yet.
    pub(super) fn read(meta: &Meta) -> Result<Self, StoreFault> {
        Ok(meta.get(CHECKPOINT)?.unwrap_or_default())
    }

    /// Makes all changes so far durable, then writes the watermark.
    pub(super) fn write(&self, meta: &Meta) -> Result<(), StoreFault> {
        meta.end_flush(CHECKPOINT, self)
    }
}

/// The last checkpoint.
pub(super) struct LastCheckpoint {
    pub(super) checkpoint: Checkpoint,
    /// The durable end of the archive.
    pub(super) archive: Option<ArchivePlace>,
}

/// The changes to both parts of the store since the last flush, and the checkpoint that makes them
/// valid.
pub(super) struct Flush {
    pub(super) queue: frontier::Flush,
    pub(super) signatures: near_dup::Flush,
    pub(super) checkpoint: Checkpoint,
}

impl Flush {
    /// Takes the changes out of both parts, which must have applied exactly the journal up to
    /// `position`.
    pub(super) fn of(
        queue: &mut Queue,
        signatures: &mut SignatureStore,
        position: Position,
        last: &Checkpoint,
    ) -> Self {
        let signatures = signatures.begin_flush();
        let checkpoint = Checkpoint {
            position,
            features: last.features.clone(),
            signatures: signatures.state.clone(),
        };
        Self {
            queue: queue.begin_flush(position),
            signatures,
            checkpoint,
        }
    }

    /// Writes the flush. The journal must be durable up to its position.
    pub(super) fn write(&self, database: &Database, meta: &Meta) -> Result<(), StoreFault> {
        meta.begin_flush()?;
        self.signatures.write()?;
        self.queue.write(database)?;
        self.checkpoint.write(meta)
    }
}

/// Returns true if the journal has grown enough for a flush into tables of this size.
pub(super) fn is_due(unflushed: u64, tables: u64) -> bool {
    unflushed >= (tables / PART_OF_TABLES).clamp(MIN_GROWTH, MAX_GROWTH)
}

/// Returns true if a flush takes only a moment, so that an opening may wait for it. A larger flush
/// is left to the session's first checkpoint, while the crawl runs.
pub(super) fn is_quick(unflushed: u64, tables: u64) -> bool {
    unflushed > 0 && tables <= SMALL_TABLES
}

/// Returns true if a flush is cheap compared with what it saves the next opening: the tables are
/// small, or the unflushed part is large.
pub(super) fn is_cheap(unflushed: u64, tables: u64) -> bool {
    is_quick(unflushed, tables) || unflushed.saturating_mul(PART_OF_TABLES) >= tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flush_waits_for_more_of_the_journal_the_larger_the_tables_are() {
        for (unflushed, tables, due) in [
            (MIN_GROWTH - 1, 0, false),
            (MIN_GROWTH, 0, true),
            (MIN_GROWTH, 2 << 30, false),
            (128 << 20, 2 << 30, true),
            (MAX_GROWTH - 1, u64::MAX, false),
            (MAX_GROWTH, u64::MAX, true),
        ] {
            assert_eq!(is_due(unflushed, tables), due, "{unflushed} into {tables}");
        }
    }

    #[test]
    fn a_small_crawl_is_flushed_at_its_end_and_a_large_one_only_if_much_is_unflushed() {
        for (unflushed, tables, cheap) in [
            (0, 1, false),
            (1, SMALL_TABLES, true),
            (1, SMALL_TABLES + 1, false),
            (SMALL_TABLES / 8, 2 * SMALL_TABLES, true),
            (u64::MAX, u64::MAX, true),
        ] {
            assert_eq!(
                is_cheap(unflushed, tables),
                cheap,
                "{unflushed} into {tables}"
            );
            assert_eq!(is_quick(unflushed, tables), cheap && tables <= SMALL_TABLES);
        }
    }
}
