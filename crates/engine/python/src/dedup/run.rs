//! A comparison on a separate thread.
//!
//! The thread takes documents from one queue and puts findings into another; both are bounded. It
//! holds no Python objects, so it does not need the interpreter's lock, and ends soon after its
//! iterator is dropped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use batch::dedup::{self, Document, Finding, FindingKind, Options, Summary};
use batch::{BatchError, Control, DocumentId, Progress, Step};
use corpus::IdRanges;
use neardup::{BandedSignature, Thresholds};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use super::indexes::Indexes;
use crate::documents::Unread;
use crate::errors::{of_batch, system};
use crate::interrupts;
use crate::results::Degree;

/// Maximum number of batches that wait in a queue.
const QUEUE: usize = 4;

/// Number of findings in a batch.
const BATCH: usize = 512;

/// Maximum number of messages about skipped documents that are kept.
const MAX_REASONS: usize = 100;

/// A result, without references to the comparison.
#[derive(Clone, Debug)]
pub(super) enum Found {
    Duplicate(DocumentId, DocumentId, Degree),
    Pair(DocumentId, DocumentId, Degree),
    Cluster(Vec<DocumentId>),
}

/// A message from the comparison.
pub(super) enum Message {
    Found(Vec<Found>),
    Ended(Result<Summary, BatchError>),
}

/// The number of a document, if it was given, its id and its signature.
type Signed = (Option<u64>, DocumentId, BandedSignature);

/// A comparison that still takes documents.
///
/// Fields are dropped in this order: if an exception ends the reading, the comparison is cancelled
/// before its documents end, so it never mistakes some of the documents for all.
pub(super) struct Reading {
    running: Running,
    documents: SyncSender<Vec<NumberedDocument>>,
    skipped: Skipped,
    ids: IdRanges,
}

/// A document, and its number if its id must be unique.
type NumberedDocument = (Option<u64>, Document);

/// The receiving end of a comparison. Dropping it ends the comparison.
pub(super) struct Running {
    messages: Receiver<Message>,
    cancelled: Arc<AtomicBool>,
    progress: Option<ProgressShown>,
    /// The process that has the thread: a fork lacks it.
    process: u32,
    pub(super) kind: FindingKind,
}

/// A comparison that has all documents.
pub(super) struct Compared {
    pub(super) running: Running,
    pub(super) skipped: Skipped,
    pub(super) ids: IdRanges,
}

/// The documents that were left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped {
    pub(super) count: u64,
    /// The first reasons.
    pub(super) reasons: Vec<String>,
}

impl Reading {
    /// Starts the comparison.
    ///
    /// # Errors
    /// `OSError` if the system cannot start another thread.
    pub(super) fn start(
        options: Options,
        mut indexes: Indexes,
        progress: Option<ProgressShown>,
    ) -> PyResult<Self> {
        let (documents, taken) = sync_channel::<Vec<NumberedDocument>>(QUEUE);
        let (sender, messages) = sync_channel(QUEUE);
        let cancelled = Arc::new(AtomicBool::new(false));
        let kind = options.kind;
        let counts = progress.as_ref().map(|shown| Arc::clone(&shown.counts));
        let is_cancelled = Arc::clone(&cancelled);
        let ids = IdRanges::default();
        let of_reference = ids.clone();
        let compare = move || {
            let counts = counts.unwrap_or_default();
            let control = Control::new(&*counts, &is_cancelled);
            let documents = taken.into_iter().flatten();
            let mut findings = Sender::new(sender, &options.criterion);
            let reference = indexes.reference(of_reference);
            let result =
                batch::with_distinct_ids(documents, &options, |documents| {
                    dedup::run_against(reference, documents, &options, control, |found| match found
                    {
                        Finding::Original(original) => indexes.add(original),
                        found => findings.take(&found),
                    })
                });
            findings.end(result.and_then(|summary| indexes.finish().map(|()| summary)));
        };
        thread::Builder::new()
            .name("neardup-dedup".to_owned())
            .spawn(compare)
            .map_err(|error| system(&error))?;
        Ok(Self {
            documents,
            running: Running {
                messages,
                cancelled,
                progress,
                process: std::process::id(),
                kind,
            },
            skipped: Skipped::default(),
            ids,
        })
    }

    /// Hands documents over to the comparison.
    ///
    /// # Errors
    /// The exception that ended the comparison.
    pub(super) fn take(
        &mut self,
        py: Python<'_>,
        signed: Vec<Result<Signed, Unread>>,
    ) -> PyResult<()> {
        let mut documents = Vec::with_capacity(signed.len());
        for signed in signed {
            match signed {
                Ok((number, id, signature)) => {
                    self.ids.add(&id);
                    documents.push((number, Document { id, signature }));
                }
                Err(unread) => self.skipped.add(unread),
            }
        }
        let queue = self.documents.clone();
        let sent = py.detach(move || queue.send(documents));
        if sent.is_err() {
            // The comparison has ended early: its last message contains the cause.
            return Err(match self.running.next(py)? {
                Some(Message::Ended(Err(error))) => of_batch(&error),
                _ => ended_unexpectedly(),
            });
        }
        self.running.show_progress(py)
    }

    /// Ends the documents.
    ///
    /// # Errors
    /// The exceptions of the progress function.
    pub(super) fn end(self, py: Python<'_>) -> PyResult<Compared> {
        drop(self.documents);
        self.running.show_progress(py)?;
        Ok(Compared {
            running: self.running,
            skipped: self.skipped,
            ids: self.ids,
        })
    }
}

impl Running {
    /// Waits for the next message; `None` if the comparison has ended.
    ///
    /// # Errors
    /// `KeyboardInterrupt`, the exceptions of the progress function, and `RuntimeError` in a fork.
    pub(super) fn next(&mut self, py: Python<'_>) -> PyResult<Option<Message>> {
        if std::process::id() != self.process {
            return Err(PyRuntimeError::new_err(format!(
                "these findings belong to process {}: call dedup in the forked process",
                self.process
            )));
        }
        let progress = &self.progress;
        let received = interrupts::receive(py, &mut self.messages, |py| match progress {
            Some(shown) => shown.show(py),
            None => Ok(()),
        })?;
        self.show_progress(py)?;
        Ok(received)
    }

    /// Waits for the next message without checking for signals; `None` if the comparison has ended.
    pub(super) fn wait(&self) -> Option<Message> {
        self.messages.recv().ok()
    }

    fn show_progress(&self, py: Python<'_>) -> PyResult<()> {
        match &self.progress {
            Some(shown) => shown.show(py),
            None => Ok(()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Skipped {
    fn add(&mut self, unread: Unread) {
        self.count += 1;
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(unread.reason);
        }
    }
}

/// Returns the exception for a comparison whose thread has panicked.
pub(super) fn ended_unexpectedly() -> PyErr {
    PyRuntimeError::new_err(
        "the comparison ended early, which is a bug in neardup: please report it",
    )
}

/// The sending end of the findings.
struct Sender {
    queue: SyncSender<Message>,
    batch: Vec<Found>,
    verified: bool,
}

impl Sender {
    fn new(queue: SyncSender<Message>, criterion: &Thresholds) -> Self {
        Self {
            queue,
            batch: Vec::new(),
            verified: criterion.needs_bands(),
        }
    }

    fn take(&mut self, finding: &Finding<'_>) -> Result<(), BatchError> {
        self.batch.push(match finding {
            Finding::Original(_) => return Ok(()),
            Finding::Duplicate(found) => Found::Duplicate(
                found.document.clone(),
                found.duplicate_of.clone(),
                Degree::of(found.match_kind, self.verified),
            ),
            Finding::Pair(found) => Found::Pair(
                found.a.clone(),
                found.b.clone(),
                Degree::of(found.match_kind, self.verified),
            ),
            Finding::Cluster(cluster) => {
                Found::Cluster(cluster.members().collect::<Result<_, _>>()?)
            }
        });
        if self.batch.len() == BATCH {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), BatchError> {
        let batch = std::mem::take(&mut self.batch);
        // Without a receiver nobody wants the findings any more.
        self.queue
            .send(Message::Found(batch))
            .map_err(|_dropped| BatchError::Cancelled)
    }

    fn end(mut self, result: Result<Summary, BatchError>) {
        let result = result.and_then(|summary| self.flush().map(|()| summary));
        // The receiver may be gone.
        drop(self.queue.send(Message::Ended(result)));
    }
}

/// A function of the caller that receives the progress, on the thread that waits.
pub(super) struct ProgressShown {
    function: Py<PyAny>,
    counts: Arc<Counts>,
}

/// The latest progress; `None` if it has been shown.
#[derive(Default)]
struct Counts(Mutex<Option<(Step, u64, Option<u64>)>>);

impl Progress for Counts {
    fn advanced(&self, step: Step, done: u64, of: Option<u64>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((step, done, of));
    }
}

impl ProgressShown {
    pub(super) fn new(function: Py<PyAny>) -> Self {
        Self {
            function,
            counts: Arc::default(),
        }
    }

    fn show(&self, py: Python<'_>) -> PyResult<()> {
        let latest = self
            .counts
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some((step, done, of)) = latest else {
            return Ok(());
        };
        let step = match step {
            Step::Reading => "reading",
            Step::Sorting => "sorting",
            Step::Joining => "joining",
            Step::Verifying => "verifying",
            _ => "reporting",
        };
        self.function.call1(py, (step, done, of)).map(drop)
    }
}
