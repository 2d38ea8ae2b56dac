//! Fills segments: one in the thread of the caller, or several, each in its own thread.
//!
//! The threads take pages from a short queue and write their segments themselves. Another thread
//! starts only when the queue is full, so a slow crawl fills one segment at a time: fewer segments
//! mean fewer merges. Closing the queue is the barrier of a commit: each thread takes pages until
//! the queue is empty, writes its segment and ends.
//!
//! Invariant: [`Fillers::flush`] returns the segments of all pages added since the last one that
//! were not returned before, or an error. No call succeeds after an error.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{Builder, JoinHandle};

use tantivy::indexer::{AddOperation, SegmentWriter};
use tantivy::{Index, Segment, SegmentMeta, TantivyError};
use tokio::sync::OwnedSemaphorePermit;

use crate::fields::{Fields, IndexPage, PageDocument, address_words};

/// Minimum memory of a segment in bytes: with less there would be a segment for every few pages.
pub const MIN_MEMORY: u64 = 8 << 20;

/// A page, with its part of the budget that bounds waiting pages: released when it is in a segment.
pub(crate) type BudgetedPage = (IndexPage, Option<OwnedSemaphorePermit>);

/// Fills segments.
pub(crate) struct Fillers {
    /// Fills in the thread of the caller, and is the model for other threads.
    filler: Filler,
    threads: NonZeroUsize,
    crew: Option<Crew>,
    /// True after an error: pages are missing, so no segment may be added to the index.
    failed: bool,
}

impl Fillers {
    /// Fills up to `segments` at a time, fewer if `memory` has less than [`MIN_MEMORY`] for each.
    pub(crate) fn new(index: &Index, fields: Fields, memory: u64, segments: NonZeroUsize) -> Self {
        let memory = memory.max(MIN_MEMORY);
        let affordable = usize::try_from(memory / MIN_MEMORY).ok();
        let affordable = affordable.and_then(NonZeroUsize::new);
        let threads = segments.min(affordable.unwrap_or(segments));
        let filler = Filler {
            index: index.clone(),
            fields,
            memory: usize::try_from(memory).unwrap_or(usize::MAX) / threads,
            filling: None,
        };
        Self {
            filler,
            threads,
            crew: None,
            failed: false,
        }
    }

    /// Adds a page. Returns segments that are full and written.
    pub(crate) fn add(&mut self, page: BudgetedPage) -> tantivy::Result<Vec<SegmentMeta>> {
        self.unless_failed(|fillers| fillers.add_now(page))
    }

    /// Writes the segments of all added pages. Returns those not returned before.
    pub(crate) fn flush(&mut self) -> tantivy::Result<Vec<SegmentMeta>> {
        self.unless_failed(Self::flush_now)
    }

    /// Runs `work`, unless an earlier call failed or panicked.
    fn unless_failed<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> tantivy::Result<T>,
    ) -> tantivy::Result<T> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(pages_missing());
        }
        let done = work(self)?;
        self.failed = false;
        Ok(done)
    }

    fn add_now(&mut self, page: BudgetedPage) -> tantivy::Result<Vec<SegmentMeta>> {
        if self.threads == NonZeroUsize::MIN {
            return Ok(self.filler.add(page)?.into_iter().collect());
        }
        let crew = match &mut self.crew {
            Some(crew) => crew,
            none => none.insert(Crew::start(&self.filler, self.threads)?),
        };
        crew.add(page, &self.filler)?;
        Ok(crew.take_written())
    }

    fn flush_now(&mut self) -> tantivy::Result<Vec<SegmentMeta>> {
        match self.crew.take() {
            Some(mut crew) => {
                crew.end()?;
                Ok(crew.take_written())
            }
            None => Ok(self.filler.flush()?.into_iter().collect()),
        }
    }
}

type Pages = Mutex<Receiver<BudgetedPage>>;

/// The threads between two commits.
struct Crew {
    most: NonZeroUsize,
    threads: Vec<JoinHandle<tantivy::Result<()>>>,
    /// `None` at the end.
    queue: Option<SyncSender<BudgetedPage>>,
    /// Receiver of the queue. Only the threads own it, so the queue closes when all have failed.
    pages: Weak<Pages>,
    output: Arc<Output>,
}

/// The shared results of the threads.
#[derive(Default)]
struct Output {
    written: Mutex<Vec<SegmentMeta>>,
    /// True if nobody needs the segments any more.
    abandoned: AtomicBool,
}

impl Crew {
    fn start(model: &Filler, most: NonZeroUsize) -> tantivy::Result<Self> {
        let (queue, pages) = sync_channel(most.get());
        let pages = Arc::new(Mutex::new(pages));
        let mut crew = Self {
            most,
            threads: Vec::new(),
            queue: Some(queue),
            pages: Arc::downgrade(&pages),
            output: Arc::default(),
        };
        crew.add_thread(model, pages)?;
        Ok(crew)
    }

    fn add_thread(&mut self, model: &Filler, pages: Arc<Pages>) -> tantivy::Result<()> {
        let filler = model.another();
        let output = Arc::clone(&self.output);
        let thread = Builder::new().name("index".to_owned());
        let thread = thread.spawn(move || fill(filler, &pages, &output))?;
        self.threads.push(thread);
        Ok(())
    }

    fn add(&mut self, page: BudgetedPage, model: &Filler) -> tantivy::Result<()> {
        // While the queue is open, a thread ends only by an error.
        let failed = self.threads.iter().any(JoinHandle::is_finished);
        if failed || !self.pass(page, model)? {
            self.end()?;
            return Err(pages_missing());
        }
        Ok(())
    }

    /// Passes a page to the threads. Returns false if all threads have ended.
    fn pass(&mut self, page: BudgetedPage, model: &Filler) -> tantivy::Result<bool> {
        let Some(queue) = &self.queue else {
            return Ok(false);
        };
        let page = match queue.try_send(page) {
            Ok(()) => return Ok(true),
            Err(TrySendError::Full(page) | TrySendError::Disconnected(page)) => page,
        };
        if self.threads.len() < self.most.get()
            && let Some(pages) = self.pages.upgrade()
        {
            self.add_thread(model, pages)?;
        }
        let queue = self.queue.as_ref();
        Ok(queue.is_some_and(|queue| queue.send(page).is_ok()))
    }

    fn take_written(&self) -> Vec<SegmentMeta> {
        std::mem::take(&mut *locked(&self.output.written))
    }

    /// Closes the queue and waits until its pages are in segments.
    fn end(&mut self) -> tantivy::Result<()> {
        self.queue = None;
        let ended: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        for result in ended {
            result.unwrap_or_else(|panic| resume_unwind(panic))?;
        }
        Ok(())
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.output.abandoned.store(true, Ordering::Relaxed);
        self.queue = None;
        for thread in self.threads.drain(..) {
            // The pages are lost with or without an error.
            drop(thread.join());
        }
    }
}

fn pages_missing() -> TantivyError {
    TantivyError::ErrorInThread("pages are missing after an earlier error".to_owned())
}

/// Fills segments until the queue ends: the work of a thread.
fn fill(mut filler: Filler, pages: &Pages, output: &Output) -> tantivy::Result<()> {
    loop {
        // The lock is held while waiting: the other threads wait for the same.
        let next = locked(pages).recv();
        if output.abandoned.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Ok(page) = next else { break };
        let full = filler.add(page)?;
        locked(&output.written).extend(full);
    }
    let last = filler.flush()?;
    locked(&output.written).extend(last);
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No panic can leave the queue or the list in an inconsistent state.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fills one segment after the other.
struct Filler {
    index: Index,
    fields: Fields,
    /// Memory of a segment.
    memory: usize,
    filling: Option<OpenSegment>,
}

impl Filler {
    /// Returns another filler for the same index.
    fn another(&self) -> Self {
        Self {
            index: self.index.clone(),
            filling: None,
            ..*self
        }
    }

    /// Adds a page. Returns the segment if it is full.
    fn add(&mut self, (page, _held): BudgetedPage) -> tantivy::Result<Option<SegmentMeta>> {
        let filling = match &mut self.filling {
            Some(filling) => filling,
            none => none.insert(OpenSegment::begin(&self.index, self.memory)?),
        };
        let document = PageDocument {
            fields: self.fields,
            address: address_words(page.url.as_str()),
            page,
        };
        let opstamp = 0;
        filling
            .pages
            .add_document(AddOperation { opstamp, document })?;
        match filling.pages.mem_usage() >= filling.full {
            true => self.flush(),
            false => Ok(None),
        }
    }

    /// Writes the segment that is being filled.
    fn flush(&mut self) -> tantivy::Result<Option<SegmentMeta>> {
        let filled = self.filling.take().map(OpenSegment::finish);
        filled.transpose()
    }
}

/// A segment in memory.
struct OpenSegment {
    segment: Segment,
    pages: SegmentWriter,
    /// Size in bytes of a full segment.
    full: usize,
}

impl OpenSegment {
    fn begin(index: &Index, memory: usize) -> tantivy::Result<Self> {
        let segment = index.new_segment();
        let pages = SegmentWriter::for_segment(memory, segment.clone())?;
        // An empty segment reports 10 MiB, most of it untouched: with the minimum memory, each page
        // would fill a segment.
        let full = memory.max(pages.mem_usage() + memory / 2);
        Ok(Self {
            segment,
            pages,
            full,
        })
    }

    fn finish(self) -> tantivy::Result<SegmentMeta> {
        let count = self.pages.max_doc();
        self.pages.finalize()?;
        let segment = self.segment.with_max_doc(count).meta().clone();
        segment.untrack_temp_docstore();
        Ok(segment)
    }
}

#[cfg(test)]
mod tests;
