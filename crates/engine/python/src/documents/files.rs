//! Documents in files, read as `crawler dedup` reads them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use corpus::{Documents, Reader};
use neardup::{BandDesign, BandedSignature, SignatureBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::{BATCH, BATCH_BYTES, Batch, Ids, Texts};

/// A document without a signature.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    /// The document and its defect.
    pub(crate) reason: String,
}

/// Returns the paths that are the documents: one path, also as a string, or a list of paths only. A
/// string that is not a path is a text.
///
/// # Errors
/// `TypeError` for something else in a list of paths.
pub(super) fn paths(documents: &Bound<'_, PyAny>) -> PyResult<Option<Vec<PathBuf>>> {
    let is_path = |object: &Bound<'_, PyAny>| object.hasattr("__fspath__");
    if let Ok(written) = documents.extract::<String>() {
        let path = PathBuf::from(&written);
        let is_pattern = !written.contains(char::is_whitespace) && written.contains('*');
        return Ok((path.exists() || is_pattern).then(|| vec![path]));
    }
    if is_path(documents)? {
        return Ok(Some(vec![documents.extract()?]));
    }
    let Ok(list) = documents.cast::<PyList>() else {
        return Ok(None);
    };
    match list.get_item(0) {
        Ok(first) if is_path(&first)? => {}
        _ => return Ok(None),
    }
    let mut paths = Vec::with_capacity(list.len());
    for (number, path) in list.iter().enumerate() {
        if !is_path(&path)? {
            let found = path.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "document {number} must be a path like the documents before it, got {found}"
            )));
        }
        paths.push(path.extract()?);
    }
    Ok(Some(paths))
}

/// Reads the next documents of files.
pub(super) fn from_files(
    documents: &mut Documents,
    reader: &Arc<Reader>,
    first: u64,
) -> Option<Batch> {
    let mut read = Vec::new();
    let mut bytes = 0;
    while read.len() < BATCH && bytes < BATCH_BYTES {
        let Some(document) = documents.next() else {
            break;
        };
        bytes += document
            .as_ref()
            .map_or(0, |document| document.content.bytes().len());
        read.push(document);
    }
    (!read.is_empty()).then(|| Batch {
        first,
        texts: Texts::Files(read, Arc::clone(reader)),
        ids: Ids::Numbers,
    })
}

/// Returns the signature of a document in a file.
pub(super) fn of_file(
    document: &Result<corpus::Document, corpus::Skipped>,
    reader: &Reader,
    builder: &SignatureBuilder,
    bands: BandDesign,
) -> Result<BandedSignature, Unread> {
    let document = document.as_ref().map_err(|skipped| Unread {
        reason: skipped.to_string(),
    })?;
    // A hostile document may make a library panic. The rest of the corpus is still read.
    let signed = AssertUnwindSafe(|| reader.banded_signature(builder, bands, &document.content));
    catch_unwind(signed).map_err(|_panic| Unread {
        reason: format!(
            "{}: reading it panicked, which is a bug in neardup: please report it",
            document.id
        ),
    })
}
