//! Streams of Arrow data for Python, by the Arrow C stream interface.

use arrow_array::RecordBatchReader;
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatchReader;

/// Returns the capsule that `__arrow_c_stream__` returns for `reader`.
///
/// # Errors
/// The exceptions of a schema that is asked for and not possible.
pub(crate) fn capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
    requested_schema: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    Bound::new(py, PyRecordBatchReader::new(reader))?
        .call_method1("__arrow_c_stream__", (requested_schema,))
}
