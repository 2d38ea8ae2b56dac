//! Documents that are Python objects: strings, pairs and dictionaries.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString, PyTuple};

use super::{BATCH, BATCH_BYTES, Batch, Ids, Texts};
use crate::errors::invalid;
use crate::id::Id;
use crate::tokens::surrogate;

/// Returns the next documents of an iterator; none at the end.
///
/// # Errors
/// The exceptions of the iterator; `TypeError` or `ValueError` for what is no document.
pub(super) fn from_iterator(
    documents: &Bound<'_, PyIterator>,
    text: &str,
    id: Option<&str>,
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
        // Ids are kept only from the first document on that has one.
        match document_id {
            Some(id) if ids.is_empty() => {
                ids.extend((first..number as u64).map(|number| Id::Number(number as i64)));
                ids.push(id);
            }
            Some(id) => ids.push(id),
            None if !ids.is_empty() => ids.push(Id::Number(number as i64)),
            None => {}
        }
        bytes += document_text.len();
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

/// Returns the id and the text of a document: a string, a pair or a dictionary.
fn parts(
    document: &Bound<'_, PyAny>,
    text: &str,
    id: Option<&str>,
    number: usize,
) -> PyResult<(Option<Id>, PyBackedStr)> {
    if document.is_instance_of::<PyString>() {
        return Ok((None, backed(document, number)?));
    }
    if let Ok(pair) = document.cast::<PyTuple>() {
        let (id, text) = pair
            .extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()
            .map_err(|_other| {
                PyTypeError::new_err(format!(
                    "document {number} must be a pair (id, text), got a tuple of {}",
                    pair.len()
                ))
            })?;
        return Ok((Some(Id::of(&id, number)?), backed(&text, number)?));
    }
    if let Ok(fields) = document.cast::<PyDict>() {
        let given = match fields.get_item(id.unwrap_or("id"))? {
            Some(given) if !given.is_none() => Some(Id::of(&given, number)?),
            None if id.is_some() => return Err(no_key(fields, id.unwrap_or("id"), number)),
            _ => None,
        };
        let Some(text) = fields.get_item(text)? else {
            return Err(no_key(fields, text, number));
        };
        return Ok((given, backed(&text, number)?));
    }
    Err(no_text(document, number))
}

/// Returns a Python string as text that other threads may read.
fn backed(text: &Bound<'_, PyAny>, number: usize) -> PyResult<PyBackedStr> {
    let Ok(text) = text.cast::<PyString>() else {
        return Err(no_text(text, number));
    };
    PyBackedStr::try_from(text.clone()).map_err(|_not_utf8| surrogate("text of document", number))
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
