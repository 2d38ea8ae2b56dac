//! The iterator over the findings of a comparison.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use arrow_schema::DataType;
use batch::dedup::FindingKind;
use corpus::IdRanges;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::run::{Compared, Found, Message, Running, Skipped, ended_unexpectedly};
use super::table::FindingBatches;
use crate::arrow_stream::{self, ArrowData};
use crate::errors::of_batch;
use crate::id::Id;
use crate::results;

/// The findings of `dedup`: an iterator, and a stream of Arrow data for `pyarrow.table`,
/// `polars.DataFrame`, `pandas.DataFrame.from_arrow` and DuckDB. It can be read once.
///
/// >>> from neardup import dedup
/// >>> findings = dedup(["one", "One!", "two"])
/// >>> len(list(findings)), findings.documents
/// (1, 3)
#[pyclass(extends = ArrowData, module = "neardup")]
pub(crate) struct Findings {
    /// `None` once everything is read, or the stream of Arrow data is handed over. The mutex is
    /// never locked: it lets the value be shared, and exclusive references need no lock.
    running: Mutex<Option<Running>>,
    kind: FindingKind,
    is_handed_over: bool,
    received: VecDeque<Found>,
    skipped: Skipped,
    ids: IdRanges,
    /// The type of the ids of documents, if their table declares it.
    id_type: Option<DataType>,
    expected_recall: Option<f64>,
    documents: Option<u64>,
    spilled: Option<u64>,
}

#[pymethods]
impl Findings {
    /// The number of documents compared; None until all findings are read.
    #[getter]
    fn documents(&self) -> Option<u64> {
        self.documents
    }

    /// The number of bytes written to temporary files; None until all findings are read.
    #[getter]
    fn spilled(&self) -> Option<u64> {
        self.spilled
    }

    /// The number of documents that were left out: nulls, and files that cannot be read.
    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped.count
    }

    /// The reasons why documents were left out, at most a hundred.
    #[getter]
    fn skipped_reasons(&self) -> Vec<String> {
        self.skipped.reasons.clone()
    }

    /// The part of the pairs at `resemblance` that is expected to be found; None if no resemblance
    /// was given, or if estimates decide.
    #[getter]
    fn expected_recall(&self) -> Option<f64> {
        self.expected_recall
    }

    /// Returns the findings as a stream of Arrow data.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &mut self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // Nearly all work is done before the first finding, and is waited for here, where Ctrl-C
        // takes effect.
        self.fill(py)?;
        if std::mem::replace(&mut self.is_handed_over, true) {
            return Err(PyValueError::new_err(
                "these findings have already been read: call dedup again",
            ));
        }
        let first = std::mem::take(&mut self.received);
        let running = exclusive(&mut self.running).take();
        let ids = self.ids.types(self.kind, self.id_type.clone());
        let batches = FindingBatches::new(self.kind, first, running, ids);
        arrow_stream::capsule(py, Box::new(batches), requested_schema)
    }

    /// Returns the class itself: type checkers know `Findings[Pair]`.
    #[classmethod]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        _kind: &Bound<'py, PyAny>,
    ) -> Bound<'py, PyType> {
        class.clone()
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.received.is_empty() {
            self.fill(py)?;
        }
        let found = match self.received.pop_front() {
            None => return Ok(None),
            Some(Found::Duplicate(id, of, degree)) => {
                results::duplicate(py, &Id::from(&id), &Id::from(&of), degree)
            }
            Some(Found::Pair(a, b, degree)) => {
                results::pair(py, &Id::from(&a), &Id::from(&b), degree)
            }
            Some(Found::Cluster(members)) => {
                let members: Vec<Id> = members.iter().map(Id::from).collect();
                results::cluster(py, &members)
            }
        };
        found.map(Some)
    }
}

impl Findings {
    pub(super) fn of(
        compared: Compared,
        id_type: Option<DataType>,
        expected_recall: Option<f64>,
    ) -> PyClassInitializer<Self> {
        PyClassInitializer::from(ArrowData).add_subclass(Self {
            kind: compared.running.kind,
            running: Mutex::new(Some(compared.running)),
            is_handed_over: false,
            received: VecDeque::new(),
            skipped: compared.skipped,
            ids: compared.ids,
            id_type,
            expected_recall,
            documents: None,
            spilled: None,
        })
    }

    /// Waits for findings if none have been received. An error is the last result.
    fn fill(&mut self, py: Python<'_>) -> PyResult<()> {
        while self.received.is_empty() {
            let running = exclusive(&mut self.running);
            let Some(in_progress) = running else {
                return Ok(());
            };
            match in_progress.next(py) {
                Ok(Some(Message::Found(batch))) => self.received.extend(batch),
                Ok(Some(Message::Ended(result))) => {
                    *running = None;
                    let summary = result.map_err(|error| of_batch(&error))?;
                    self.documents = Some(summary.documents);
                    self.spilled = Some(summary.spilled);
                }
                Ok(None) => {
                    *running = None;
                    return Err(ended_unexpectedly());
                }
                Err(interrupted) => {
                    // An interrupt ends the work.
                    *running = None;
                    return Err(interrupted);
                }
            }
        }
        Ok(())
    }
}

/// Returns the value in a mutex that cannot be locked elsewhere.
fn exclusive<T>(value: &mut Mutex<T>) -> &mut T {
    value.get_mut().unwrap_or_else(PoisonError::into_inner)
}
