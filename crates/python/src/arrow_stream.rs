//! Streams of Arrow data for Python, by the Arrow C stream interface.
//!
//! Invariant: a consumer calls a stream from C, which no panic can pass through, so a panic is an
//! error of the stream.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

/// Returns a stream as a `pyarrow.Table`.
///
/// # Errors
/// The exceptions of pyarrow, and of its import.
pub(crate) fn to_arrow<'py>(stream: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let pyarrow = stream.py().import("pyarrow")?;
    pyarrow.call_method1("table", (stream,))
}

/// Returns a stream as a `pandas.DataFrame`. Before pandas 3 this needs pyarrow.
///
/// # Errors
/// The exceptions of pandas, and of its import.
pub(crate) fn to_pandas<'py>(stream: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let frame = stream.py().import("pandas")?.getattr("DataFrame")?;
    match frame.hasattr("from_arrow")? {
        true => frame.call_method1("from_arrow", (stream,)),
        false => to_arrow(stream)?.call_method0("to_pandas"),
    }
}

/// Returns a stream as a `polars.DataFrame`.
///
/// # Errors
/// The exceptions of Polars, and of its import.
pub(crate) fn to_polars<'py>(stream: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    stream
        .py()
        .import("polars")?
        .call_method1("DataFrame", (stream,))
}

/// Returns the capsule that `__arrow_c_stream__` returns for `reader`.
///
/// # Errors
/// The exceptions of a schema that is asked for and not possible.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let guarded = Guarded {
        schema: reader.schema(),
        reader: Some(reader),
    };
    Bound::new(py, PyRecordBatchReader::new(Box::new(guarded)))?
        .call_method1("__arrow_c_stream__", (requested_schema,))
}

/// A reader that ends with an error where another would panic.
struct Guarded {
    schema: SchemaRef,
    /// None once it has panicked.
    reader: Option<Box<dyn RecordBatchReader + Send>>,
}

impl Iterator for Guarded {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut reader = self.reader.take()?;
        match catch_unwind(AssertUnwindSafe(|| (reader.next(), reader))) {
            Ok((next, reader)) => {
                self.reader = Some(reader);
                next
            }
            Err(_panic) => Some(Err(ArrowError::ComputeError(
                "a fault of neardup: please report it".to_owned(),
            ))),
        }
    }
}

impl RecordBatchReader for Guarded {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
