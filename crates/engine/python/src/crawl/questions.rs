//! Questions about a crawl, whose answers have the fields of the commands' `--format json`.
//!
//! A question is asked on a thread of its own, without the interpreter's lock: it may read a whole
//! journal and knows no signals. Its answers arrive as JSON, which Python's own parser reads, so
//! that a fact has one form in commands and in Python.
//!
//! Invariant: at most [`WAITING`] answers wait to be taken.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use messages::{CommandError, fault};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::of_command;
use crate::interrupts;

/// Maximum number of answers that wait to be taken.
const WAITING: usize = 256;

/// An answer as JSON, or the error that ends a question.
type Message = Result<String, CommandError>;

/// The end of a question whose answers nobody takes any more.
pub(super) struct Abandoned;

/// The way that answers take to Python.
pub(super) struct Answering(SyncSender<Message>);

impl Answering {
    /// Gives an answer.
    pub(super) fn give(&self, answer: &impl Serialize) -> Result<(), Abandoned> {
        let json = serde_json::to_string(answer).map_err(|error| fault(&error));
        self.0.send(json).map_err(|_unsent| Abandoned)
    }
}

/// An iterator over the answers to a question: dictionaries.
#[pyclass(frozen, module = "neardup._neardup")]
pub(crate) struct Answers(Mutex<Receiver<Message>>);

impl Answers {
    /// Asks a question. `work` gives the answers until it is abandoned, or returns an error.
    pub(super) fn to(
        work: impl FnOnce(&Answering) -> Result<(), CommandError> + Send + 'static,
    ) -> Self {
        let (sender, receiver) = sync_channel(WAITING);
        thread::spawn(move || {
            let answering = Answering(sender);
            if let Err(error) = work(&answering) {
                // Without a receiver, nobody asks any more.
                answering.0.send(Err(error)).ok();
            }
        });
        Self(Mutex::new(receiver))
    }

    /// Returns the next answer; `None` at the end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut receiver = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match interrupts::receive(py, &mut receiver, |_| Ok(()))? {
            None => Ok(None),
            Some(Ok(json)) => py.import("json")?.call_method1("loads", (json,)).map(Some),
            Some(Err(error)) => Err(of_command(&error)),
        }
    }
}

#[pymethods]
impl Answers {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.next(py)
    }
}

/// Asks a question that has one answer, and waits for it. `work` gives the answer.
///
/// # Errors
/// The exception for the error of `work`, and for a signal.
pub(super) fn answer<'py>(
    py: Python<'py>,
    work: impl FnOnce(&Answering) -> Result<(), CommandError> + Send + 'static,
) -> PyResult<Bound<'py, PyAny>> {
    let answer = Answers::to(work).next(py)?;
    Ok(answer.unwrap_or_else(|| py.None().into_bound(py)))
}
