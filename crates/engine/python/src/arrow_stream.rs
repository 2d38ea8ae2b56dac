//! Streams of Arrow data for Python, by the Arrow C stream interface.
//!
//! Invariant: a consumer calls a stream from C, where a panic must not pass through, so a panic
//! becomes an error of the stream.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

/// A stream of Arrow data (`__arrow_c_stream__`), which becomes tables of other packages.
#[pyclass(frozen, subclass, module = "neardup")]
pub(crate) struct ArrowData;

#[pymethods]
impl ArrowData {
    /// Returns the rows as a `pyarrow.Table`.
    fn to_arrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let pyarrow = slf.py().import("pyarrow")?;
        pyarrow.call_method1("table", (slf,))
    }

    /// Returns the rows as a `pandas.DataFrame`. Before pandas 3 this needs pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let frame = slf.py().import("pandas")?.getattr("DataFrame")?;
        match frame.hasattr("from_arrow")? {
            true => frame.call_method1("from_arrow", (slf,)),
            false => Self::to_arrow(slf)?.call_method0("to_pandas"),
        }
    }

    /// Returns the rows as a `polars.DataFrame`.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let polars = slf.py().import("polars")?;
        polars.call_method1("DataFrame", (slf,))
    }
}

/// Returns the capsule that `__arrow_c_stream__` returns for `reader`.
///
/// # Errors
/// The exceptions of a requested schema that is not possible.
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

/// A reader that turns a panic into an error at its end.
struct Guarded {
    schema: SchemaRef,
    /// `None` once it has panicked.
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
                "a bug in neardup: please report it".to_owned(),
            ))),
        }
    }
}

impl RecordBatchReader for Guarded {
    fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }
}
