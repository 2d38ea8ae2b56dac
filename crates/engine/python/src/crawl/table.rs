//! A table of a crawl: an iterable of dictionaries, and a stream of Arrow data. Both can be read
//! many times.

use std::ffi::CString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use corpus::PageArchive;
use export::{Column, Value};
use pyo3::exceptions::PyRuntimeWarning;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};

use super::columns::{Values, field};
use super::rows::{Contents, Row, Rows, Unread};
use crate::arrow_stream::{self, ArrowData};
use crate::errors::{system, with_causes};

/// A table of a crawl (`Crawl.pages`, `Crawl.texts`, `Crawl.links`): an iterable of dictionaries,
/// and a stream of Arrow data for `pyarrow.table`, `polars.DataFrame`,
/// `pandas.DataFrame.from_arrow` and DuckDB. It can be read many times, and is never in memory
/// as a whole.
#[pyclass(frozen, extends = ArrowData, module = "neardup.crawl")]
pub(crate) struct CrawlTable {
    state: PathBuf,
    contents: Contents,
    archive: Option<PageArchive>,
    threads: NonZeroUsize,
}

#[pymethods]
impl CrawlTable {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        let columns = self.contents.table().columns.iter();
        columns.map(|column| column.name).collect()
    }

    /// Returns the table as a stream of Arrow data.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let columns = self.contents.table().columns;
        let batches = Batches {
            rows: self.rows()?,
            columns,
            schema: Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>())),
        };
        arrow_stream::capsule(py, Box::new(batches), requested_schema)
    }

    fn __iter__(&self) -> PyResult<RowIterator> {
        Ok(RowIterator {
            rows: Mutex::new(self.rows()?),
            columns: self.contents.table().columns,
            read: Vec::new().into_iter(),
        })
    }

    fn __repr__(&self) -> String {
        let schema = self.contents.table().schema;
        format!("<CrawlTable: {schema} of {:?}>", self.state.display())
    }
}

impl CrawlTable {
    /// Returns a table of the crawl with this state.
    ///
    /// # Errors
    /// `OSError` if the journal cannot be opened.
    pub(super) fn of(
        state: PathBuf,
        contents: Contents,
        archive: Option<PageArchive>,
        threads: NonZeroUsize,
    ) -> PyResult<Self> {
        let table = Self {
            state,
            contents,
            archive,
            threads,
        };
        table.rows()?;
        Ok(table)
    }

    fn rows(&self) -> PyResult<Rows> {
        let archive = self.archive.clone();
        let rows = Rows::open(&self.state, self.contents, archive, self.threads);
        rows.map_err(|error| system(&error))
    }
}

/// An iterator over the rows of a table.
#[pyclass(module = "neardup._neardup")]
pub(crate) struct RowIterator {
    /// The mutex is never locked: it lets the value be shared.
    rows: Mutex<Rows>,
    columns: &'static [Column],
    read: vec::IntoIter<Row>,
}

#[pymethods]
impl RowIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let row = loop {
            if let Some(row) = self.read.next() {
                break row;
            }
            let rows = self.rows.get_mut().unwrap_or_else(PoisonError::into_inner);
            let read = py.detach(|| rows.next_rows());
            let Some(read) = read.map_err(|error| system(&error))? else {
                warn(py, &rows.take_unread())?;
                return Ok(None);
            };
            self.read = read.into_iter();
            py.check_signals()?;
        };
        let dictionary = PyDict::new(py);
        for (column, value) in self.columns.iter().zip(row.fields()) {
            dictionary.set_item(column.name, value.map(|it| to_python(py, it)).transpose()?)?;
        }
        Ok(Some(dictionary))
    }
}

/// A reader of rows in batches of Arrow data.
struct Batches {
    rows: Rows,
    columns: &'static [Column],
    schema: SchemaRef,
}

impl Batches {
    fn batch(&self, rows: &[Row]) -> Result<RecordBatch, ArrowError> {
        let mut columns: Vec<Values> = self.columns.iter().map(Values::of).collect();
        for row in rows {
            for (column, value) in columns.iter_mut().zip(row.fields()) {
                column.append(value)?;
            }
        }
        let columns = columns.iter_mut().map(Values::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.rows.next_rows() {
                Err(fault) => return Some(Err(ArrowError::ComputeError(with_causes(&fault)))),
                Ok(Some(rows)) if rows.is_empty() => {}
                Ok(Some(rows)) => return Some(self.batch(&rows)),
                Ok(None) => {
                    let unread = self.rows.take_unread();
                    let warned = Python::attach(|py| warn(py, &unread));
                    let error = warned.err()?;
                    return Some(Err(ArrowError::ComputeError(error.to_string())));
                }
            }
        }
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Warns of pages that could not be read.
///
/// # Errors
/// The warning, if warnings are errors.
fn warn(py: Python<'_>, unread: &Unread) -> PyResult<()> {
    let Some(message) = unread.warning() else {
        return Ok(());
    };
    // Neither URLs nor the names of files contain a NUL.
    let message = CString::new(message.replace('\0', " "))?;
    PyErr::warn(py, &py.get_type::<PyRuntimeWarning>(), &message, 1)
}

/// Returns a value as a Python object.
///
/// # Errors
/// A time that `datetime` cannot represent.
fn to_python<'py>(py: Python<'py>, value: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Reason(reason) => PyString::new(py, &reason.to_string()).into_any(),
        Value::Number(number) => PyInt::new(py, number).into_any(),
        Value::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
        Value::Real(real) => PyFloat::new(py, real).into_any(),
        Value::Time(at) => date_time(py, at)?,
        Value::Date(date) => py
            .import("datetime")?
            .getattr("date")?
            .call_method1("fromisoformat", (date.to_string(),))?,
        Value::Fingerprint(fingerprint) => PyInt::new(py, fingerprint.as_u64()).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Integers(numbers) => PyList::new(py, numbers)?.into_any(),
    })
}

/// Returns a time as a `datetime` in UTC.
///
/// # Errors
/// A time that `datetime` cannot represent.
pub(super) fn date_time(py: Python<'_>, at: web::Timestamp) -> PyResult<Bound<'_, PyAny>> {
    static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static UTC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let of_module = |name: &str| py.import("datetime")?.getattr(name);
    let class = CLASS.get_or_try_init(py, || of_module("datetime").map(Bound::unbind))?;
    let utc = UTC.get_or_try_init(py, || {
        of_module("timezone")?.getattr("utc").map(Bound::unbind)
    })?;
    let seconds = at.as_millis() as f64 / 1_000.0;
    class.bind(py).call_method1("fromtimestamp", (seconds, utc))
}
