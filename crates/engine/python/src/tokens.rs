//! Features made by the caller: strings or bytes, each hashed as it is.
//!
//! Invariant: the hash of a token is the lower half of its keyed xxh3-128 digest; stored MinHashes
//! depend on it. A string and the bytes of its UTF-8 are the same token.

use neardup::HashKey;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::invalid;

/// Returns the hash of a token.
///
/// # Errors
/// `TypeError` for an object that is neither `str` nor `bytes`; `number` is its place in messages.
pub(crate) fn hash(token: &Bound<'_, PyAny>, number: usize) -> PyResult<u64> {
    // Exact types first: they are compared by a pointer.
    if let Ok(bytes) = token.cast_exact::<PyBytes>() {
        return Ok(hash_of(bytes.as_bytes()));
    }
    if let Ok(text) = token
        .cast_exact::<PyString>()
        .or_else(|_| token.cast::<PyString>())
    {
        return Ok(hash_of(text_of(text, "token", number)?.as_bytes()));
    }
    if let Ok(bytes) = token.cast::<PyBytes>() {
        return Ok(hash_of(bytes.as_bytes()));
    }
    let found = token.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "token {number} must be str or bytes, got {found}"
    )))
}

fn hash_of(token: &[u8]) -> u64 {
    HashKey::ZERO.digest(token) as u64
}

/// Returns the text of a Python string without copying it.
///
/// # Errors
/// `ValueError` for a string with half a surrogate pair, which is not Unicode text.
pub(crate) fn text_of<'a>(
    text: &'a Bound<'_, PyString>,
    what: &str,
    number: usize,
) -> PyResult<&'a str> {
    text.to_str()
        .map_err(|_not_unicode| surrogate(what, number))
}

/// Returns an argument that must be one text.
///
/// # Errors
/// `TypeError` for anything but a string.
pub(crate) fn one_text<'a, 'py>(text: &'a Bound<'py, PyAny>) -> PyResult<&'a Bound<'py, PyString>> {
    if let Ok(text) = text.cast::<PyString>() {
        return Ok(text);
    }
    let remedy = match text.is_instance_of::<PyBytes>() {
        true => ": decode it first",
        false => "",
    };
    let found = text.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "text must be str, got {found}{remedy}"
    )))
}

/// Returns the error for a string that is not Unicode text.
pub(crate) fn surrogate(what: &str, number: usize) -> PyErr {
    PyValueError::new_err(format!(
        "{what} {number} contains a lone surrogate, so it is not Unicode text: decode it with \
         errors=\"replace\""
    ))
}

/// Returns the hashes of the tokens of an iterable.
///
/// # Errors
/// `TypeError` for a string, which is a text and not a list of tokens, and as [`hash`].
pub(crate) fn hashes(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
    if let Ok(list) = tokens.cast_exact::<PyList>() {
        let mut hashes = Vec::with_capacity(list.len());
        for (number, token) in list.iter().enumerate() {
            hashes.push(hash(&token, number)?);
        }
        return Ok(hashes);
    }
    refuse_text(tokens, "tokens")?;
    let tokens = tokens.try_iter()?;
    let mut hashes = Vec::with_capacity(tokens.size_hint().0);
    for (number, token) in tokens.enumerate() {
        hashes.push(hash(&token?, number)?);
    }
    Ok(hashes)
}

/// Returns the hashes and weights of an iterable of tokens or pairs of a token and its weight.
///
/// # Errors
/// As [`hashes`], and `ValueError` for a weight that is not a whole number below 2³².
pub(crate) fn weighted(tokens: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u32)>> {
    refuse_text(tokens, "tokens")?;
    let mut features = Vec::new();
    for (number, token) in tokens.try_iter()?.enumerate() {
        let token = token?;
        if let Ok((token, weight)) = token.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
            let possible = weight.extract::<u32>().map_err(|_refused| {
                invalid(format!(
                    "the weight of token {number} must be a whole number from 0 to {}, \
                     got {weight}",
                    u32::MAX
                ))
            })?;
            features.push((hash(&token, number)?, possible));
        } else {
            features.push((hash(&token, number)?, 1));
        }
    }
    Ok(features)
}

/// Refuses a single text in place of an iterable: iterating it would give its letters.
///
/// # Errors
/// `TypeError` for `str` and `bytes`.
pub(crate) fn refuse_text(object: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "{what} must be an iterable, got one {}: put it into a list",
            object.get_type().name()?
        )));
    }
    Ok(())
}
