//! Documents and texts from Python, in batches.
//!
//! A source is an iterable of strings, of pairs `(id, text)` or of dictionaries, or anything with
//! the Arrow C stream interface. A batch holds its texts where Python or Arrow has them, so that
//! other threads read them without the interpreter's lock and without a copy.
//!
//! Invariant: what is no document is an exception that names its number, counted from 0, and its
//! type; nothing is skipped silently.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use corpus::{Documents, Reader};
use neardup::{BandDesign, BandedSignature, HashKey, PageText, SignatureBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyInt, PyIterator, PyList, PyString, PyTuple};
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;

use crate::arrow_text::{IdColumn, Layout, RowId, TextColumn};
use crate::errors::{invalid, system};
use crate::tokens::{refuse_text, surrogate};

/// The most documents in a batch.
const BATCH: usize = 2_048;

/// The bytes of texts in a batch from Python; the last text may exceed them.
const BATCH_BYTES: usize = 16 << 20;

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
                .map_err(|_| surrogate("id of document", number))?;
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

/// Texts with the numbers from `first` on.
pub(crate) struct Batch {
    first: u64,
    texts: Texts,
    ids: Ids,
}

enum Texts {
    Strings(Vec<PyBackedStr>),
    Column(TextColumn),
    Files(Vec<Result<corpus::Document, corpus::Skipped>>, Arc<Reader>),
}

/// A document that has no signature.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    /// The document and what is wrong with it.
    pub(crate) reason: String,
}

enum Ids {
    /// Documents are known by their numbers.
    Numbers,
    Given(Vec<Id>),
    Column(IdColumn),
}

impl Batch {
    /// Returns the number of texts.
    pub(crate) fn len(&self) -> usize {
        match &self.texts {
            Texts::Strings(texts) => texts.len(),
            Texts::Column(column) => column.len(),
            Texts::Files(documents, _) => documents.len(),
        }
    }

    /// Returns a text; none for a null in Arrow data, and for a file.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        match &self.texts {
            Texts::Strings(texts) => texts.get(at).map(|text| &**text),
            Texts::Column(column) => column.get(at),
            Texts::Files(..) => None,
        }
    }

    /// Returns the signature of a document under the zero key, with keys of `bands`.
    ///
    /// # Errors
    /// [`Unread`] for a null, and for a file that cannot be read.
    pub(crate) fn signature(
        &self,
        at: usize,
        builder: &SignatureBuilder,
        bands: BandDesign,
    ) -> Result<BandedSignature, Unread> {
        if let Texts::Files(documents, reader) = &self.texts {
            return of_file(&documents[at], reader, builder, bands);
        }
        let text = self.get(at).ok_or_else(|| Unread {
            reason: format!("document {} is null", self.first + at as u64),
        })?;
        let payload = HashKey::ZERO.digest(text.as_bytes());
        Ok(builder.banded_signature(payload, Some(PageText::of(text)), bands))
    }

    /// Returns the id of a document. A null id is the document's number.
    pub(crate) fn id(&self, at: usize) -> Id {
        let number = || Id::Number((self.first + at as u64) as i64);
        if let Texts::Files(documents, _) = &self.texts {
            let id = |document: &corpus::Document| Id::Text(document.id.clone());
            return documents[at].as_ref().map_or_else(|_unread| number(), id);
        }
        match &self.ids {
            Ids::Numbers => number(),
            Ids::Given(ids) => ids[at].clone(),
            Ids::Column(column) => match column.get(at) {
                Some(RowId::Text(text)) => Id::Text(text.to_owned()),
                Some(RowId::Number(number)) => Id::Number(number),
                None => number(),
            },
        }
    }
}

/// A source of texts whose ids do not matter.
pub(crate) struct TextSource(DocumentSource);

impl TextSource {
    /// Opens a source; `text` names the column or key of the texts.
    ///
    /// # Errors
    /// As [`DocumentSource::of`].
    pub(crate) fn of(texts: &Bound<'_, PyAny>, text: &str) -> PyResult<Self> {
        DocumentSource::of(texts, text, None).map(Self)
    }

    /// Returns the next texts; none at the end.
    ///
    /// # Errors
    /// As [`DocumentSource::next_batch`].
    pub(crate) fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        self.0.next_batch(py)
    }
}

/// A source of documents.
pub(crate) struct DocumentSource {
    /// The number of the next document.
    next: u64,
    kind: Kind,
}

enum Kind {
    Iterator {
        documents: Py<PyIterator>,
        text: String,
        id: Option<String>,
    },
    Arrow {
        stream: Box<dyn ArrayReader + Send>,
        layout: Layout,
        /// The array in progress and the number of its rows that are done.
        array: Option<(ArrayRef, usize)>,
    },
    Files(Box<Documents>, Arc<Reader>),
}

impl DocumentSource {
    /// Opens a source; `text` and `id` name the columns or keys of texts and ids. Without `id`, `id`
    /// is looked for.
    ///
    /// # Errors
    /// `TypeError` for what is no source, among others for a single string, and `ValueError` for a
    /// table without such columns.
    pub(crate) fn of(documents: &Bound<'_, PyAny>, text: &str, id: Option<&str>) -> PyResult<Self> {
        refuse_text(documents, "documents")?;
        let has = |method: &str| documents.hasattr(method);
        let kind = if let Some(paths) = paths(documents)? {
            let documents = Documents::below(&paths).map_err(|error| system(&error))?;
            Kind::Files(Box::new(documents), Arc::new(Reader::new(true)))
        } else if has("__arrow_c_stream__")? || has("__arrow_c_array__")? {
            let stream = documents.extract::<AnyArray>()?.into_reader()?;
            Kind::Arrow {
                layout: Layout::of(&stream.field(), text, id)?,
                stream,
                array: None,
            }
        } else {
            Kind::Iterator {
                documents: documents.try_iter()?.unbind(),
                text: text.to_owned(),
                id: id.map(str::to_owned),
            }
        };
        Ok(Self { next: 0, kind })
    }

    /// Returns the next documents; none at the end.
    ///
    /// # Errors
    /// The exceptions of the iterable and of the Arrow stream, and `TypeError` or `ValueError` for
    /// what is no document.
    pub(crate) fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let first = self.next;
        let batch = match &mut self.kind {
            Kind::Iterator {
                documents,
                text,
                id,
            } => from_iterator(documents.bind(py), text, id.as_deref(), first)?,
            Kind::Arrow {
                stream,
                layout,
                array,
            } => from_arrow(py, stream, layout, array, first)?,
            Kind::Files(documents, reader) => py.detach(|| from_files(documents, reader, first)),
        };
        self.next += batch.as_ref().map_or(0, |batch| batch.len() as u64);
        Ok(batch)
    }
}

fn from_iterator(
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
    PyBackedStr::try_from(text.clone()).map_err(|_| surrogate("text of document", number))
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

/// Returns the paths that are the documents: one, or a list of nothing else.
fn paths(documents: &Bound<'_, PyAny>) -> PyResult<Option<Vec<PathBuf>>> {
    let is_path = |object: &Bound<'_, PyAny>| object.hasattr("__fspath__");
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
                "document {number} must be a path like those before it, got {found}"
            )));
        }
        paths.push(path.extract()?);
    }
    Ok(Some(paths))
}

/// Reads the next documents of files.
fn from_files(documents: &mut Documents, reader: &Arc<Reader>, first: u64) -> Option<Batch> {
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
fn of_file(
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
            "{}: reading it panicked, which is a fault of neardup: please report it",
            document.id
        ),
    })
}

fn from_arrow(
    py: Python<'_>,
    stream: &mut Box<dyn ArrayReader + Send>,
    layout: &Layout,
    array: &mut Option<(ArrayRef, usize)>,
    first: u64,
) -> PyResult<Option<Batch>> {
    loop {
        if let Some((rows, done)) = array.take() {
            let count = (rows.len() - done).min(BATCH);
            let (texts, ids) = layout.columns(&rows.slice(done, count))?;
            if done + count < rows.len() {
                *array = Some((rows, done + count));
            }
            return Ok(Some(Batch {
                first,
                texts: Texts::Column(texts),
                ids: ids.map_or(Ids::Numbers, Ids::Column),
            }));
        }
        // The producer may read files, and takes the interpreter's lock itself if it needs it.
        match py.detach(|| stream.next()) {
            None => return Ok(None),
            Some(Err(error)) => {
                return Err(pyo3_arrow::error::PyArrowError::from(error).into());
            }
            Some(Ok(rows)) if rows.is_empty() => {}
            Some(Ok(rows)) => *array = Some((rows, 0)),
        }
    }
}
