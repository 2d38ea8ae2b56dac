//! A sink that indexes the visits that another sink archives.
//!
//! Lines are derived from the records as they are written, and collected in the order of the
//! archive, by archive sequence number: a run must cover a span without gaps. A full batch is
//! sorted and written off the reactor while the next one is filled. Missing lines, such as the
//! lines of a visit whose write never returned, are read from the archive when the index is closed
//! or opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use disk::Disk;
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

use super::batch::Batch;
use super::index::Index;
use crate::blocking::off_the_reactor;
use crate::fault::SinkFault;
use crate::sink::{Archived, Sink, Visit};
use crate::warc::archive_end::ArchiveEnd;
use crate::warc::commit_point::CommitPoint;

/// Maximum number of visits archived after a visit whose write has not returned. If there are more,
/// the write is assumed never to return.
const MAX_AHEAD: usize = 1 << 16;

/// A sink that indexes the visits of another sink.
pub struct Indexed {
    inner: Arc<dyn Sink>,
    archive: PathBuf,
    /// Held while a run is written; `None` after a failed write. Taken before `gathered`.
    index: Arc<Turns<Option<Index>>>,
    gathered: Mutex<PendingLines>,
    full: usize,
}

/// Lines in no run yet.
struct PendingLines {
    batch: Batch,
    /// The end of the last visit in the batch.
    end: ArchiveEnd,
    /// The archive sequence number of the next visit.
    next: u64,
    /// Visits after one that is still missing.
    ahead: BTreeMap<u64, Archived>,
    /// True if a visit is missing for good: the rest is read from the archive.
    is_torn: bool,
}

impl Indexed {
    /// Indexes the visits that `inner` archives in the directory `archive`, which it has opened and
    /// not written to since. Reads the part of the archive that the index lacks; without an index,
    /// the whole archive.
    ///
    /// Lines take up to `memory` bytes ([`MEMORY`](super::MEMORY)).
    ///
    /// # Errors
    /// I/O errors of the disk, and faults of [`Sink::sync`] of `inner`.
    pub async fn open(
        inner: Arc<dyn Sink>,
        disk: Arc<dyn Disk>,
        archive: &Path,
        memory: usize,
    ) -> Result<Self, SinkFault> {
        let end = inner.sync().await?;
        let (path, until) = (archive.to_owned(), end.clone());
        let index = off_the_reactor(move || Index::open(disk, &path, &until, memory)).await?;
        Ok(Self {
            inner,
            archive: archive.to_owned(),
            full: index.full(),
            index: Arc::new(Turns::new(Some(index))),
            gathered: Mutex::new(PendingLines {
                batch: Batch::default(),
                end,
                next: 0,
                ahead: BTreeMap::new(),
                is_torn: false,
            }),
        })
    }

    /// Writes a run of the collected lines, if there are still enough.
    async fn spill(&self) -> Result<(), SinkFault> {
        let index = Arc::clone(&self.index).lock_owned().await;
        let (batch, end) = {
            let mut gathered = self.gathered();
            if gathered.batch.size() < self.full {
                return Ok(());
            }
            (std::mem::take(&mut gathered.batch), gathered.end.clone())
        };
        let add = move |index: &mut Index| index.add(&batch, end);
        self.change(index, add).await
    }

    /// Changes the index off the reactor. After a failure the index is not used again: the next
    /// opening repairs it.
    async fn change(
        &self,
        mut index: OwnedMutexGuard<Option<Index>>,
        change: impl FnOnce(&mut Index) -> Result<(), SinkFault> + Send + 'static,
    ) -> Result<(), SinkFault> {
        let archive = self.archive.clone();
        off_the_reactor(move || {
            let poisoned = SinkFault::Poisoned { path: archive };
            let mut working = index.take().ok_or(poisoned)?;
            change(&mut working)?;
            *index = Some(working);
            Ok(())
        })
        .await
    }

    fn gathered(&self) -> MutexGuard<'_, PendingLines> {
        // A panic under the lock loses lines only: they are read from the archive.
        self.gathered.lock().unwrap_or_else(|poisoned| {
            let mut gathered = PoisonError::into_inner(poisoned);
            gathered.is_torn = true;
            gathered
        })
    }
}

impl PendingLines {
    /// Takes the captures of a visit; returns true if there are enough lines for a run.
    fn take(&mut self, archived: &Archived, full: usize) -> bool {
        if self.is_torn {
            return false;
        }
        if archived.archive_sequence != self.next {
            self.ahead
                .insert(archived.archive_sequence, archived.clone());
            if self.ahead.len() > MAX_AHEAD {
                self.is_torn = true;
                self.ahead.clear();
            }
            return false;
        }
        self.push(archived);
        while let Some(archived) = self.ahead.remove(&self.next) {
            self.push(&archived);
        }
        self.batch.size() >= full
    }

    fn push(&mut self, archived: &Archived) {
        for capture in &archived.captures {
            self.batch.push(&capture.line(&archived.file));
        }
        self.next += 1;
        self.end = ArchiveEnd {
            file: archived.file.clone(),
            end: archived.end,
        };
    }
}

#[async_trait]
impl Sink for Indexed {
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault> {
        let archived = self.inner.write(visit).await?;
        let is_full = self.gathered().take(&archived, self.full);
        if is_full {
            self.spill().await?;
        }
        Ok(archived)
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        self.inner.sync().await
    }

    async fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault> {
        self.inner.set_commit_point(point).await
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        let end = self.inner.close().await?;
        let index = Arc::clone(&self.index).lock_owned().await;
        let (batch, gathered) = {
            let mut gathered = self.gathered();
            (std::mem::take(&mut gathered.batch), gathered.end.clone())
        };
        let until = end.clone();
        self.change(index, move |index| {
            // On a second closing there are no lines, and everything is covered.
            if !batch.is_empty() {
                index.add(&batch, gathered)?;
            }
            index.close(&until)
        })
        .await?;
        Ok(end)
    }
}
