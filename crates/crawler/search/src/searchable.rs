//! The index as a sink. It passes every visit to the sink below and indexes visits with text, in
//! its own threads: one passes pages and commits to the [`Writer`], which may have more.
//!
//! Pages wait for these threads in a queue bounded in bytes; a full queue blocks callers, and so
//! slows down the crawl. The archive is authoritative: a kill loses the pages since the last
//! commit, and the next opening reads them again from the archive.
//!
//! Archive sequence numbers determine what a commit covers: in the queue, a commit command follows
//! all pages with numbers below the first missing one. Locks: `added` is held briefly, without
//! another lock and without awaiting.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sinks::{ArchiveEnd, Archived, CommitPoint, Sink, SinkFault, Visit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use web::{Clock, Timestamp};

use crate::fault::IndexFault;
use crate::fields::IndexPage;
use crate::writer::Writer;

/// Maximum bytes of text in the queue; one page may be larger.
const QUEUE_BYTES: usize = 4 << 20;
/// Minimum bytes that a page occupies in the queue.
const LEAST: usize = 4 << 10;
/// Capacity of the queue: the maximum number of pages, plus some commit commands.
const QUEUE: usize = QUEUE_BYTES / LEAST + 16;

/// Bytes of text that trigger a commit at the next sync: the maximum that must be read again after
/// a kill.
const COMMIT_BYTES: u64 = 256 << 20;
/// Time after which the next sync commits, regardless of the amount. Search results are at most
/// this old, plus the time between two syncs.
const COMMIT_AFTER: Duration = Duration::from_secs(60);

/// A sink that indexes the visits kept by the sink below.
pub struct Searchable {
    below: Arc<dyn Sink>,
    clock: Clock,
    queue: mpsc::Sender<IndexCommand>,
    room: Arc<Semaphore>,
    added: Mutex<AddedVisits>,
    /// Fault that ended the thread, if any.
    broken: Arc<OnceLock<Arc<IndexFault>>>,
}

enum IndexCommand {
    Add(IndexPage, OwnedSemaphorePermit),
    Commit(Option<ArchiveEnd>),
    Close(Option<ArchiveEnd>, oneshot::Sender<()>),
}

/// Visits added so far, by archive sequence number.
#[derive(Default)]
struct AddedVisits {
    /// First archive sequence number that is still missing.
    next: u64,
    /// Later visits that were added, with the ends of their visits.
    early: BinaryHeap<Reverse<(u64, String, u64)>>,
    covered: Option<ArchiveEnd>,
    /// Bytes of text since the last commit.
    added: u64,
    /// Time of the last commit.
    committed: Timestamp,
    closed: bool,
}

impl Searchable {
    /// Wraps `below` and adds the visits that it keeps from now on to `index`, which must contain
    /// all earlier ones.
    ///
    /// # Panics
    /// If the system has no thread for the index.
    #[must_use]
    pub fn over(below: Arc<dyn Sink>, index: Writer, clock: Clock) -> Self {
        let (queue, mut commands) = mpsc::channel(QUEUE);
        let broken = Arc::new(OnceLock::new());
        let added = AddedVisits {
            covered: index.covered().cloned(),
            committed: clock.now(),
            ..AddedVisits::default()
        };
        let broken_by = Arc::clone(&broken);
        let thread = std::thread::Builder::new().name("search-writer".to_owned());
        let started = thread.spawn(move || {
            if let Err(fault) = run_commands(index, &mut commands) {
                // The fault is set before the queue closes, so a sender that finds the queue closed
                // also finds the fault. Nothing else sets it.
                drop(broken_by.set(Arc::new(fault)));
            }
        });
        started.expect("the system has one more thread at the start of a crawl");
        Self {
            below,
            clock,
            queue,
            room: Arc::new(Semaphore::new(QUEUE_BYTES)),
            added: Mutex::new(added),
            broken,
        }
    }

    async fn send(&self, command: IndexCommand) -> Result<(), SinkFault> {
        match self.queue.send(command).await {
            Ok(()) => Ok(()),
            Err(_ended) => Err(self.fault().await),
        }
    }

    /// Returns the fault that ended the thread.
    async fn fault(&self) -> SinkFault {
        self.queue.closed().await;
        let fault = self.broken.get().map(IndexFault::of_sink);
        fault.unwrap_or(SinkFault::Stopped)
    }

    fn added(&self) -> MutexGuard<'_, AddedVisits> {
        // No panic can leave the visits in an inconsistent state.
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sink for Searchable {
    async fn write(&self, mut visit: Visit) -> Result<Archived, SinkFault> {
        let page = visit.exchanges.last();
        let page = page.map(|page| (page.url.clone(), page.started));
        let page = visit.text.take().zip(page);
        let archived = self.below.write(visit).await?;
        let mut bytes = 0;
        if let Some((text, (url, at))) = page {
            bytes = text.text.len();
            let room = bytes.clamp(LEAST, QUEUE_BYTES);
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let permit = Arc::clone(&self.room).acquire_many_owned(room).await;
            let permit = permit.expect("this semaphore is never closed");
            let page = IndexPage {
                url,
                at,
                file: archived.file.as_str().into(),
                offset: archived.content_offset(),
                text,
            };
            self.send(IndexCommand::Add(page, permit)).await?;
        }
        self.added().done(&archived, bytes);
        Ok(archived)
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        let end = self.below.sync().await?;
        let due = self.added().due(self.clock.now());
        if let Some(covered) = due {
            // The sync does not wait for the commit: the journal does not depend on the index.
            self.send(IndexCommand::Commit(covered)).await?;
        }
        Ok(end)
    }

    async fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault> {
        self.below.set_commit_point(point).await
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        let end = self.below.close().await?;
        let covered = {
            let added = self.added();
            if added.closed {
                return Ok(end);
            }
            added.covered.clone()
        };
        let (closed, closing) = oneshot::channel();
        self.send(IndexCommand::Close(covered, closed)).await?;
        if closing.await.is_err() {
            return Err(self.fault().await);
        }
        self.added().closed = true;
        Ok(end)
    }
}

/// Runs the commands of the queue, in the thread that writes the index.
fn run_commands(
    mut index: Writer,
    commands: &mut mpsc::Receiver<IndexCommand>,
) -> Result<(), IndexFault> {
    while let Some(command) = commands.blocking_recv() {
        match command {
            IndexCommand::Add(page, permit) => {
                index.add_budgeted((page, Some(permit)))?;
            }
            IndexCommand::Commit(covered) => index.commit(covered)?,
            IndexCommand::Close(covered, closed) => {
                index.close(covered)?;
                // The receiver may have been dropped.
                let _dropped = closed.send(());
                return Ok(());
            }
        }
    }
    Ok(())
}

impl AddedVisits {
    fn done(&mut self, archived: &Archived, bytes: usize) {
        self.added += bytes as u64;
        let visit = (
            archived.archive_sequence,
            archived.file.clone(),
            archived.end,
        );
        self.early.push(Reverse(visit));
        while let Some(Reverse((archive_sequence, ..))) = self.early.peek()
            && *archive_sequence == self.next
            && let Some(Reverse((_, file, end))) = self.early.pop()
        {
            self.next += 1;
            self.covered = Some(ArchiveEnd { file, end });
        }
    }

    /// Returns the end that a commit would cover, if a commit is due.
    fn due(&mut self, now: Timestamp) -> Option<Option<ArchiveEnd>> {
        let waited = now.since(self.committed) >= COMMIT_AFTER && self.added > 0;
        if !waited && self.added < COMMIT_BYTES {
            return None;
        }
        self.added = 0;
        self.committed = now;
        Some(self.covered.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn archived(archive_sequence: u64) -> Archived {
        Archived {
            archive_sequence,
            file: "a-00001.warc.gz".to_owned(),
            offset: archive_sequence * 10,
            end: archive_sequence * 10 + 10,
            page_offset: archive_sequence * 10,
            dom_offset: None,
            subrequest_offsets: Vec::new(),
            captures: Vec::new(),
        }
    }

    #[test]
    fn the_covered_part_ends_before_the_first_missing_visit() {
        let mut added = AddedVisits::default();
        for (archive_sequence, covered) in [
            (1, None),
            (2, None),
            (0, Some(30)),
            (5, Some(30)),
            (3, Some(40)),
            (4, Some(60)),
        ] {
            added.done(&archived(archive_sequence), 7);
            let end = added.covered.as_ref().map(|end| end.end);
            assert_eq!(end, covered, "{archive_sequence}");
        }
        let soon = Timestamp::from_millis(59_999);
        assert_eq!(added.due(soon), None);
        let later = Timestamp::from_millis(60_000);
        assert_eq!(added.due(later).flatten().map(|end| end.end), Some(60));
        assert_eq!(added.due(later + COMMIT_AFTER), None, "nothing was added");
        added.done(&archived(6), COMMIT_BYTES as usize - 1);
        assert_eq!(added.due(later), None);
        added.done(&archived(7), 1);
        assert_eq!(added.due(later).flatten().map(|end| end.end), Some(80));
    }
}
