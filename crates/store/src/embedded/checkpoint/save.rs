//! The store's checkpoints: the journal's sync, and now and then a flush of the tables.

use std::sync::Arc;

use super::{Fold, Saved, is_cheap, is_due};
use crate::embedded::store::EmbeddedStore;
use crate::{ArchivePlace, ArchiveSpan, Durable, StoreFault};

/// What a fold writes to the tables, and to the engine's log, for each byte of the journal; and
/// what is left free beside.
const WRITTEN_FOR_HEARD: u64 = 4;
const LEFT_FREE: u64 = 16 << 20;

impl EmbeddedStore {
    /// Makes everything that happened durable; with a fold where one is due, and at the end of a
    /// session also where it is cheap.
    pub(in crate::embedded) async fn save(
        &self,
        archive: Option<ArchivePlace>,
        at_the_end: bool,
    ) -> Result<Durable, StoreFault> {
        let mut saved = self.saving.lock().await;
        if let Some(place) = archive
            && saved.archive.as_ref() != Some(&place)
        {
            self.queue().archived(&self.journal, &place)?;
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
        let heard = end.saturating_sub(saved.checkpoint.position);
        let tables = self.database.size_on_disk()?;
        let wanted = is_due(heard, tables)
            || self.queue().wants_fold()
            || at_the_end && is_cheap(heard, tables);
        if wanted && self.has_room_for_a_fold(heard, tables) {
            self.fold_into_tables(&mut saved).await?;
        }
        Ok(durable)
    }

    /// A full disk is no place for a fold: the engine hangs there, or takes its tables for damaged.
    /// The journal has it all.
    fn has_room_for_a_fold(&self, heard: u64, tables: u64) -> bool {
        let needed = tables
            .saturating_add(heard.saturating_mul(WRITTEN_FOR_HEARD))
            .saturating_add(LEFT_FREE);
        let free = self.disk.free_room(self.database.path());
        let has_room = free.is_none_or(|free| free >= needed);
        if !has_room {
            tracing::warn!(
                ?free,
                needed,
                "no room to bring the tables up to date; the journal has it all"
            );
        }
        has_room
    }

    async fn fold_into_tables(&self, saved: &mut Saved) -> Result<(), StoreFault> {
        let fold = {
            // What is journalled under either lock is heard before it is let go: none is half done
            // here.
            let mut looks = self.looks();
            let mut queue = self.queue();
            Fold::of(
                &mut queue,
                &mut looks,
                self.journal.end(),
                &saved.checkpoint,
            )
        };
        let fold = Arc::new(fold);
        let written = self.write(&fold).await;
        let fold = Arc::into_inner(fold).expect("the thread that wrote it has ended");
        match written {
            Ok(()) => {
                let heard = self.looks().folded();
                drop(heard);
                self.queue().folded(&fold.queue);
                saved.checkpoint = fold.checkpoint;
                Ok(())
            }
            Err(fault) => {
                self.queue().not_folded(fold.queue);
                Err(fault)
            }
        }
    }

    async fn write(&self, fold: &Arc<Fold>) -> Result<(), StoreFault> {
        self.journal.sync(fold.checkpoint.position).await?;
        let (database, meta, fold) = (
            Arc::clone(&self.database),
            self.meta.clone(),
            Arc::clone(fold),
        );
        let written = tokio::task::spawn_blocking(move || fold.write(&database, &meta));
        written.await.unwrap_or_else(|panic| {
            Err(StoreFault::Tables {
                path: self.database.path().to_owned(),
                what: panic.to_string(),
            })
        })
    }
}
