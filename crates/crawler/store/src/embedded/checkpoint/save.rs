//! The checkpoints of an open store.

use std::sync::Arc;

use journal::{ArchiveSpan, Record, StoreFault};

use super::{Flush, LastCheckpoint, is_cheap, is_due};
use crate::embedded::store::EmbeddedStore;
use crate::frontier::{ArchivePlace, Durable};

/// Bytes that a flush writes to the tables and to the engine's log per byte of the journal, and the
/// number of bytes that must stay free on top.
const WRITE_AMPLIFICATION: u64 = 4;
const LEFT_FREE: u64 = 16 << 20;

impl EmbeddedStore {
    /// Makes everything so far durable. Flushes the tables if that is due, and at the end of a
    /// session also if it is cheap.
    pub(in crate::embedded) async fn save(
        &self,
        archive: Option<ArchivePlace>,
        at_the_end: bool,
    ) -> Result<Durable, StoreFault> {
        let mut saved = self.last_checkpoint.lock().await;
        if let Some(place) = archive
            && saved.archive.as_ref() != Some(&place)
        {
            let (file, end) = (place.file.clone(), place.end);
            self.record(&Record::Archived { file, end })?;
            saved.archive = Some(place);
        }
        let settled = self.queue().archive_end().cloned();
        let end = self.journal.end();
        self.journal.sync(end).await?;
        self.journal.mark()?;
        let durable = Durable {
            settled: settled.map(|ArchiveSpan { file, end, .. }| ArchivePlace { file, end }),
            journal: end,
        };
        let unflushed = end.saturating_sub(saved.checkpoint.position);
        let tables = self.database.size_on_disk()?;
        let wanted = is_due(unflushed, tables)
            || self.queue().wants_flush()
            || at_the_end && is_cheap(unflushed, tables);
        if wanted && self.has_room_for_flush(unflushed, tables) {
            self.flush_tables(&mut saved).await?;
        }
        Ok(durable)
    }

    /// Returns true if the disk has room for a flush. On a full disk, the engine hangs or considers
    /// its tables damaged; the journal has everything.
    fn has_room_for_flush(&self, unflushed: u64, tables: u64) -> bool {
        let needed = tables
            .saturating_add(unflushed.saturating_mul(WRITE_AMPLIFICATION))
            .saturating_add(LEFT_FREE);
        let free = self.disk.free_space(self.database.path());
        let has_room = free.is_none_or(|free| free >= needed);
        if !has_room {
            tracing::warn!(
                ?free,
                needed,
                "no space to flush the tables; the journal is complete"
            );
        }
        has_room
    }

    async fn flush_tables(&self, saved: &mut LastCheckpoint) -> Result<(), StoreFault> {
        let flush = {
            // Records are applied under the same lock as they are journalled, so none is half
            // applied here.
            let mut signatures = self.signatures();
            let mut queue = self.queue();
            let end = self.journal.end();
            Flush::of(&mut queue, &mut signatures, end, &saved.checkpoint)
        };
        let flush = Arc::new(flush);
        let written = self.write(&flush).await;
        let flush = Arc::into_inner(flush).expect("the thread that wrote it has ended");
        if let Err(fault) = written {
            self.queue().abort_flush(flush.queue);
            return Err(fault);
        }
        let unflushed = self.signatures().end_flush();
        drop(unflushed);
        self.queue().end_flush(&flush.queue);
        saved.checkpoint = flush.checkpoint;
        Ok(())
    }

    async fn write(&self, flush: &Arc<Flush>) -> Result<(), StoreFault> {
        self.journal.sync(flush.checkpoint.position).await?;
        let (database, meta) = (Arc::clone(&self.database), self.meta.clone());
        let flush = Arc::clone(flush);
        let written = tokio::task::spawn_blocking(move || flush.write(&database, &meta));
        written.await.unwrap_or_else(|panic| {
            Err(StoreFault::Tables {
                path: self.database.path().to_owned(),
                what: panic.to_string(),
            })
        })
    }
}
