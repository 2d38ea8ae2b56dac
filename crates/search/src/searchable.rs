//! The index as a sink: it hands every visit on, and indexes those that have words, in a thread of
//! its own.
//!
//! Pages wait for that thread in a queue that holds so many bytes; who comes when it is full waits,
//! and the crawl with it. The archive is the truth: what was added since the last commit is lost
//! with a kill, and read again from the archive when the index is opened.
//!
//! Tickets say what is complete: an order to commit follows all pages in the queue whose tickets
//! are below the first that is missing, so what the commit covers is in it. Locks: `tickets` is
//! held for a moment, and nothing is locked or awaited meanwhile.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use sinks::{ArchiveEnd, Archived, Settled, Sink, SinkFault, Visit};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use web::{Clock, PageUrl, Timestamp};

use crate::fault::IndexFault;
use crate::fields::IndexPage;
use crate::writer::Writer;

/// Bytes of text that wait for the index; one page may be larger.
const QUEUE_BYTES: usize = 4 << 20;
/// A page without a word takes so much of that, too.
const LEAST: usize = 4 << 10;
/// So many pages fit, and some orders to commit.
const QUEUE: usize = QUEUE_BYTES / LEAST + 16;

/// Bytes of text after which the next sync commits: a kill costs reading these once more.
const COMMIT_BYTES: u64 = 256 << 20;
/// The time after which it does, whatever was added: so old is what a search sees at most, but for
/// the time between two syncs.
const COMMIT_AFTER: Duration = Duration::from_secs(60);

/// Indexes what the sink below it kept.
pub struct Searchable {
    below: Arc<dyn Sink>,
    clock: Clock,
    queue: mpsc::Sender<IndexCommand>,
    room: Arc<Semaphore>,
    tickets: Mutex<Tickets>,
    /// Why the thread ended, where it did not want to.
    broken: Arc<OnceLock<IndexFault>>,
}

enum IndexCommand {
    Add(IndexPage, OwnedSemaphorePermit),
    Commit(Option<ArchiveEnd>),
    Close(Option<ArchiveEnd>, oneshot::Sender<()>),
}

/// Up to where every visit has been added.
struct Tickets {
    /// The first ticket that was not.
    next: u64,
    /// Those behind it that were, with the ends of their visits.
    early: BinaryHeap<Reverse<(u64, String, u64)>>,
    covered: Option<ArchiveEnd>,
    /// Bytes of text since the last commit.
    added: u64,
    /// When that was.
    committed: Timestamp,
    closed: bool,
}

impl Searchable {
    /// Adds to `index` what `below` keeps from now on; everything before is in it already.
    #[must_use]
    pub fn over(below: Arc<dyn Sink>, index: Writer, clock: Clock) -> Self {
        let (queue, orders) = mpsc::channel(QUEUE);
        let broken = Arc::new(OnceLock::new());
        let tickets = Tickets {
            next: 0,
            early: BinaryHeap::new(),
            covered: index.covered().cloned(),
            added: 0,
            committed: clock.now(),
            closed: false,
        };
        let told = Arc::clone(&broken);
        std::thread::spawn(move || {
            let mut orders = orders;
            if let Err(fault) = run_commands(index, &mut orders) {
                // Before the queue is closed, so that who finds it closed finds the reason. Nobody
                // else sets it.
                drop(told.set(fault));
            }
        });
        Self {
            below,
            clock,
            queue,
            room: Arc::new(Semaphore::new(QUEUE_BYTES)),
            tickets: Mutex::new(tickets),
            broken,
        }
    }

    async fn order(&self, order: IndexCommand) -> Result<(), SinkFault> {
        match self.queue.send(order).await {
            Ok(()) => Ok(()),
            Err(_ended) => Err(self.fault().await),
        }
    }

    /// Why the thread ended.
    async fn fault(&self) -> SinkFault {
        self.queue.closed().await;
        match self.broken.get() {
            Some(fault) => fault.again().into(),
            None => SinkFault::Stopped,
        }
    }

    fn tickets(&self) -> std::sync::MutexGuard<'_, Tickets> {
        // Nothing is left operand done in there.
        self.tickets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Sink for Searchable {
    async fn write(&self, mut visit: Visit) -> Result<Archived, SinkFault> {
        let text = visit.text.take();
        let page = text.zip(
            visit
                .exchanges
                .last()
                .map(|page| (page.url.clone(), page.started)),
        );
        let archived = self.below.write(visit).await?;
        let mut bytes = 0;
        if let Some((text, (url, at))) = page {
            bytes = text.text.len();
            let room = bytes.clamp(LEAST, QUEUE_BYTES);
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let permit = Arc::clone(&self.room).acquire_many_owned(room).await;
            let permit = permit.expect("this semaphore is never closed");
            let page = page_of(text, url, at, &archived);
            self.order(IndexCommand::Add(page, permit)).await?;
        }
        self.tickets().done(&archived, bytes);
        Ok(archived)
    }

    async fn sync(&self) -> Result<ArchiveEnd, SinkFault> {
        let end = self.below.sync().await?;
        let due = self.tickets().due(self.clock.now());
        if let Some(covered) = due {
            // Nobody waits for it: the journal does not speak of the index.
            self.order(IndexCommand::Commit(covered)).await?;
        }
        Ok(end)
    }

    async fn settled(&self, settled: Option<Settled>) -> Result<(), SinkFault> {
        self.below.settled(settled).await
    }

    async fn close(&self) -> Result<ArchiveEnd, SinkFault> {
        let end = self.below.close().await?;
        let covered = {
            let tickets = self.tickets();
            if tickets.closed {
                return Ok(end);
            }
            tickets.covered.clone()
        };
        let (closed, closing) = oneshot::channel();
        self.order(IndexCommand::Close(covered, closed)).await?;
        if closing.await.is_err() {
            return Err(self.fault().await);
        }
        self.tickets().closed = true;
        Ok(end)
    }
}

fn page_of(
    text: Box<sinks::IndexText>,
    url: PageUrl,
    at: Timestamp,
    archived: &Archived,
) -> IndexPage {
    IndexPage {
        url,
        at,
        file: archived.file.as_str().into(),
        offset: archived.page_offset,
        text,
    }
}

/// The thread that writes the index.
fn run_commands(
    mut index: Writer,
    orders: &mut mpsc::Receiver<IndexCommand>,
) -> Result<(), IndexFault> {
    while let Some(order) = orders.blocking_recv() {
        match order {
            IndexCommand::Add(page, permit) => {
                index.add(page)?;
                drop(permit);
            }
            IndexCommand::Commit(covered) => index.commit(covered)?,
            IndexCommand::Close(covered, closed) => {
                index.close(covered)?;
                // Who asked may have been dropped.
                let _dropped = closed.send(());
                return Ok(());
            }
        }
    }
    Ok(())
}

impl Tickets {
    fn done(&mut self, archived: &Archived, bytes: usize) {
        self.added += bytes as u64;
        self.early.push(Reverse((
            archived.ticket,
            archived.file.clone(),
            archived.end,
        )));
        while let Some(Reverse((ticket, ..))) = self.early.peek()
            && *ticket == self.next
            && let Some(Reverse((_, file, end))) = self.early.pop()
        {
            self.next += 1;
            self.covered = Some(ArchiveEnd { file, end });
        }
    }

    /// What is to be committed, where it is time to.
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

    fn archived(ticket: u64) -> Archived {
        Archived {
            ticket,
            file: "a-00001.warc.gz".to_owned(),
            offset: ticket * 10,
            end: ticket * 10 + 10,
            page_offset: ticket * 10,
            captures: Vec::new(),
        }
    }

    #[test]
    fn what_is_covered_ends_before_the_first_visit_that_is_missing() {
        let mut tickets = Tickets {
            next: 0,
            early: BinaryHeap::new(),
            covered: None,
            added: 0,
            committed: Timestamp::from_millis(0),
            closed: false,
        };
        for (ticket, covered) in [
            (1, None),
            (2, None),
            (0, Some(30)),
            (5, Some(30)),
            (3, Some(40)),
            (4, Some(60)),
        ] {
            tickets.done(&archived(ticket), 7);
            assert_eq!(
                tickets.covered.as_ref().map(|end| end.end),
                covered,
                "{ticket}"
            );
        }
        let soon = Timestamp::from_millis(59_999);
        assert_eq!(tickets.due(soon), None);
        let later = Timestamp::from_millis(60_000);
        assert_eq!(tickets.due(later).flatten().map(|end| end.end), Some(60));
        assert_eq!(tickets.due(later + COMMIT_AFTER), None, "nothing was added");
        tickets.done(&archived(6), COMMIT_BYTES as usize - 1);
        assert_eq!(tickets.due(later), None);
        tickets.done(&archived(7), 1);
        assert_eq!(tickets.due(later).flatten().map(|end| end.end), Some(80));
    }
}
