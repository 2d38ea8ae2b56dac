//! Ids of documents.

use batch::DocumentId;
use corpus::{BadCell, Values};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString};

use crate::tokens::surrogate;

/// The id of a document, as the caller gave it or as its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    /// A whole number of 64 bits, with or without a sign.
    Number(i128),
    Text(String),
}

impl From<&DocumentId> for Id {
    fn from(id: &DocumentId) -> Self {
        match id.number() {
            Some(number) => Self::Number(number),
            None => Self::Text(id.to_string()),
        }
    }
}

impl From<&Id> for DocumentId {
    fn from(id: &Id) -> Self {
        match id {
            Id::Number(number) => Self::of_digits(number.to_string()),
            Id::Text(text) => text.as_str().into(),
        }
    }
}

impl Id {
    /// Returns the id as a Python object.
    pub(crate) fn to_python<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Self::Number(number) => match i64::try_from(*number) {
                Ok(number) => PyInt::new(py, number).into_any(),
                Err(_greater) => PyInt::new(py, *number as u64).into_any(),
            },
            Self::Text(text) => PyString::new(py, text).into_any(),
        }
    }

    /// Returns the id of a row; `None` for a null.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) fn of_column(ids: &Values, row: usize) -> Result<Option<Self>, BadCell> {
        if let Some(number) = ids.integer(row) {
            return Ok(Some(Self::Number(number)));
        }
        Ok(ids.text(row)?.map(|text| Self::Text(text.to_owned())))
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
            return Ok(Self::Number(number.into()));
        }
        if let Ok(number) = id.extract::<u64>() {
            return Ok(Self::Number(number.into()));
        }
        Err(PyTypeError::new_err(format!(
            "id of document {number} must be str or an int of 64 bits, got {}",
            id.get_type().name()?
        )))
    }
}

/// The column or key of ids.
#[derive(Clone, Debug)]
pub(crate) enum IdColumnName {
    /// `id`, if there is one.
    Usual,
    Named(String),
    /// Documents have their numbers as ids (`id=False`).
    Numbers,
}

impl IdColumnName {
    /// Returns the column that an argument names.
    ///
    /// # Errors
    /// `TypeError` for anything but a string, None and False.
    pub(crate) fn of(id: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let Some(id) = id else {
            return Ok(Self::Usual);
        };
        match (id.extract::<String>(), id.extract::<bool>()) {
            (Ok(name), _) => Ok(Self::Named(name)),
            (_, Ok(false)) => Ok(Self::Numbers),
            _ => Err(PyTypeError::new_err(
                "id must be the name of a column or key, or False for numbers",
            )),
        }
    }

    /// Returns the name, if one is given.
    pub(crate) fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Usual | Self::Numbers => None,
        }
    }
}
