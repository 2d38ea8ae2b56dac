//! Ids of documents.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::tokens::surrogate;

/// The id of a document, as the caller gave it or as its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    /// Returns the id as a Python object.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Self::Number(number) => PyInt::new(py, *number).into_any(),
            Self::Text(text) => PyString::new(py, text).into_any(),
        }
    }

    /// Reads an id given by the caller.
    ///
    /// # Errors
    /// `TypeError` for an object that is neither a string nor a whole number of 64 bits.
    pub(crate) fn of(id: &Bound<'_, PyAny>, number: usize) -> PyResult<Self> {
        if let Ok(text) = id.cast::<PyString>() {
            let text = text
                .to_str()
                .map_err(|_not_utf8| surrogate("id of document", number))?;
            return Ok(Self::Text(text.to_owned()));
        }
        if let Ok(number) = id.extract::<i64>() {
            return Ok(Self::Number(number));
        }
        Err(PyTypeError::new_err(format!(
            "id of document {number} must be str or an int of 64 bits, got {}",
            id.get_type().name()?
        )))
    }
}
