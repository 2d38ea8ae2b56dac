//! Documents that are Python objects: strings, pairs and dictionaries.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyIterator, PyString, PyTuple};

use super::{BATCH, BATCH_BYTES, Batch, Ids, Texts};
use crate::errors::invalid;
use crate::id::{Id, IdColumnName};
use crate::tokens::surrogate;

/// Returns the next documents of an iterator; `None` at the end.
///
/// # Errors
/// The exceptions of the iterator; `TypeError` or `ValueError` for an object that is not a
/// document.
pub(super) fn from_iterator(
    documents: &Bound<'_, PyIterator>,
    text: &str,
    id: &IdColumnName,
    first: u64,
) -> PyResult<Option<Batch>> {
    let mut texts = Vec::new();
    let mut ids = Vec::new();
    let mut bytes = 0;
    while texts.len() < BATCH && bytes < BATCH_BYTES {
        let Some(document) = documents.clone().next() else {
            break;
        };
        let number = first as usize + texts.len();
        let (document_id, document_text) = parts(&document?, text, id, number)?;
        // Ids are kept only once a document has an id.
        match document_id {
            Some(id) if ids.is_empty() => {
                ids.extend((first..number as u64).map(|number| Id::Number(number.into())));
                ids.push(id);
            }
            Some(id) => ids.push(id),
            None if !ids.is_empty() => ids.push(Id::Number(number as i128)),
            None => {}
        }
        bytes += document_text.as_ref().map_or(0, |text| text.len());
        texts.push(document_text);
    }
    Ok((!texts.is_empty()).then(|| Batch {
        first,
        texts: Texts::Strings(texts),
        ids: if ids.is_empty() {
            Ids::Numbers
        } else {
            Ids::Given(ids)
        },
    }))
}

/// An id and a text, if a document has them.
type Parts = (Option<Id>, Option<PyBackedStr>);

/// Returns the id and the text of a document: a string, a pair or a dictionary.
fn parts(
    document: &Bound<'_, PyAny>,
    text: &str,
    id: &IdColumnName,
    number: usize,
) -> PyResult<Parts> {
    if document.is_instance_of::<PyString>() {
        return Ok((None, backed(document, number)?));
    }
    let is_numbered = matches!(id, IdColumnName::Numbers);
    if let Ok(pair) = document.cast::<PyTuple>() {
        let (id, text) = pair
            .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
            .map_err(|_other| {
                PyTypeError::new_err(format!(
                    "document {number} must be a pair (id, text), got a tuple of {}",
                    pair.len()
                ))
            })?;
        let id = (!is_numbered).then(|| Id::of(&id, number)).transpose()?;
        return Ok((id, backed(&text, number)?));
    }
    if let Ok(fields) = document.cast::<PyDict>() {
        let key = id.named().unwrap_or("id");
        let given = match field(fields, key)? {
            _ if is_numbered => None,
            Some(given) if !is_missing(&given) => Some(Id::of(&given, number)?),
            Some(_missing) => {
                return Err(invalid(format!(
                    "id of document {number} is missing: give it one, or number the documents \
                     with id=False"
                )));
            }
            None if id.named().is_some() => return Err(no_key(fields, key, number)),
            None => None,
        };
        let Some(text) = field(fields, text)? else {
            return Err(no_key(fields, text, number));
        };
        return Ok((given, backed(&text, number)?));
    }
    Err(no_text(document, number))
}

/// Returns a value of a dictionary; `doc.text` is the value `text` within `doc`, unless a key has
/// this full name.
fn field<'py>(fields: &Bound<'py, PyDict>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Some(value) = fields.get_item(name)? {
        return Ok(Some(value));
    }
    let Some((outer, inner)) = name.split_once('.') else {
        return Ok(None);
    };
    match fields.get_item(outer)? {
        Some(value) => match value.cast::<PyDict>() {
            Ok(fields) => field(fields, inner),
            Err(_other) => Ok(None),
        },
        None => Ok(None),
    }
}

/// Returns true for None, and for NaN, which pandas uses in its place.
fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value
            .cast::<PyFloat>()
            .is_ok_and(|number| number.value().is_nan())
}

/// Returns a Python string as text that other threads may read; `None` for a missing value.
fn backed(text: &Bound<'_, PyAny>, number: usize) -> PyResult<Option<PyBackedStr>> {
    if is_missing(text) {
        return Ok(None);
    }
    let Ok(text) = text.cast::<PyString>() else {
        return Err(no_text(text, number));
    };
    let text = PyBackedStr::try_from(text.clone());
    text.map(Some)
        .map_err(|_not_utf8| surrogate("text of document", number))
}

fn no_key(fields: &Bound<'_, PyDict>, key: &str, number: usize) -> PyErr {
    let keys = fields.keys();
    invalid(format!(
        "document {number} has no key {key:?}: it has {keys}"
    ))
}

fn no_text(found: &Bound<'_, PyAny>, number: usize) -> PyErr {
    let remedy = if found.is_instance_of::<PyBytes>() {
        ": decode it first"
    } else {
        ", a pair (id, str) or a dict with text"
    };
    let name = found.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "document {number} must be str{}, got {name}{}",
        if remedy.starts_with(',') { remedy } else { "" },
        if remedy.starts_with(':') { remedy } else { "" },
    ))
}
