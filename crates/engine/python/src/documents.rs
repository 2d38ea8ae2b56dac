//! Documents and texts from Python, in batches.
//!
//! A source is an iterable of strings, of pairs `(id, text)` or of dictionaries, anything with the
//! Arrow C stream interface, or paths. A batch holds its texts where Python or Arrow has them, so
//! that other threads read them without the interpreter's lock and without a copy.
//!
//! Invariant: an object that is not a document raises an exception with its number, counted from 0,
//! and its type; nothing is skipped silently. The caller gives the ids: documents have their
//! numbers instead only if all lack an id, or if the caller wants numbers.

mod files;
mod objects;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use batch::dedup::DocumentTexts;
use corpus::{Documents, FileTexts, InputOptions, Reader, Values};
use neardup::{BandDesign, BandedSignature, HashKey, PageText, SignatureBuilder};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyIterator, PyMapping, PyString};
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;

pub(crate) use self::files::Unread;

use crate::arrow_text::Layout;
use crate::errors::{invalid, system};
use crate::id::{Id, IdColumnName};
use crate::settings::usual_temp_dir;
use crate::tokens::refuse_text;

/// Maximum number of documents in a batch.
const BATCH: usize = 2_048;

/// The column or key of texts unless another is named. Files have further names for it.
const USUAL_TEXT: &str = "text";

/// The bytes of texts in a batch from Python; the last text may exceed them.
const BATCH_BYTES: usize = 16 << 20;

/// Texts with the numbers from `first` on.
pub(crate) struct Batch {
    first: u64,
    texts: Texts,
    ids: Ids,
}

enum Texts {
    /// Strings; `None` for a missing text.
    Strings(Vec<Option<PyBackedStr>>),
    Column(Values),
    Files(Vec<Result<corpus::Document, corpus::Skipped>>, Arc<Reader>),
}

enum Ids {
    /// Documents are known by their numbers.
    Numbers,
    Given(Vec<Id>),
    Column(Values),
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

    /// Returns a text; `None` for a null, for an unreadable text, and for a file.
    pub(crate) fn get(&self, at: usize) -> Option<&str> {
        match &self.texts {
            Texts::Strings(texts) => texts.get(at)?.as_deref(),
            Texts::Column(column) => column.text(at).ok().flatten(),
            Texts::Files(..) => None,
        }
    }

    /// Refuses a text that cannot be read, for callers that cannot leave one out.
    ///
    /// # Errors
    /// `ValueError` with the number of the text.
    pub(crate) fn check_utf8(&self) -> PyResult<()> {
        if let Texts::Column(column) = &self.texts {
            for at in 0..column.len() {
                let number = self.first + at as u64;
                column
                    .text(at)
                    .map_err(|error| invalid(format!("text of document {number} {error}")))?;
            }
        }
        Ok(())
    }

    /// Returns the number of a document if its id should distinguish it from other documents.
    pub(crate) fn own_number(&self, at: usize) -> Option<u64> {
        let is_own = match &self.texts {
            // A URL has many captures in an archive.
            Texts::Files(documents, _) => documents[at].as_ref().is_ok_and(|it| it.date.is_none()),
            Texts::Strings(_) | Texts::Column(_) => !matches!(self.ids, Ids::Numbers),
        };
        is_own.then_some(self.first + at as u64)
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
            return files::of_file(&documents[at], reader, builder, bands);
        }
        let number = self.first + at as u64;
        let text = match &self.texts {
            Texts::Column(column) => column.text(at).map_err(|error| Unread {
                reason: format!("document {number} {error}"),
            })?,
            _ => self.get(at),
        };
        let text = text.ok_or_else(|| Unread {
            reason: format!("document {number} is null"),
        })?;
        let payload = HashKey::ZERO.digest(text.as_bytes());
        Ok(builder.banded_signature(payload, Some(PageText::of(text)), bands))
    }

    /// Returns the id of a document.
    pub(crate) fn id(&self, at: usize) -> Id {
        let number = || Id::Number((self.first + at as u64).into());
        if let Texts::Files(documents, _) = &self.texts {
            return match (&self.ids, &documents[at]) {
                (Ids::Numbers, Ok(document)) => Id::from(&document.id),
                _ => number(),
            };
        }
        match &self.ids {
            Ids::Numbers => number(),
            Ids::Given(ids) => ids[at].clone(),
            // A batch is checked before: each row has an id.
            Ids::Column(column) => Id::of_column(column, at)
                .ok()
                .flatten()
                .unwrap_or_else(number),
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
        DocumentSource::of(texts, text, &IdColumnName::Numbers).map(Self)
    }

    /// Returns the next texts; `None` at the end.
    ///
    /// # Errors
    /// As [`DocumentSource::next_batch`], and `ValueError` for a text that is not UTF-8.
    pub(crate) fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = self.0.next_batch(py)?;
        batch.as_ref().map_or(Ok(()), Batch::check_utf8)?;
        Ok(batch)
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
        id: IdColumnName,
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
    /// Opens a source; `text` and `id` name the columns or keys of texts and ids.
    ///
    /// # Errors
    /// `TypeError` for an object that is not a source, for example a single text or dictionary, and
    /// `ValueError` for a table without such columns.
    pub(crate) fn of(
        documents: &Bound<'_, PyAny>,
        text: &str,
        id: &IdColumnName,
    ) -> PyResult<Self> {
        let has = |method: &str| documents.hasattr(method);
        let kind = if let Some(paths) = files::paths(documents)? {
            if matches!(id, IdColumnName::Numbers) {
                let reason = "id=False numbers documents, but documents in files are identified by \
                              their ids";
                return Err(invalid(reason));
            }
            let mut options = InputOptions::new(usual_temp_dir());
            options.text_field = (text != USUAL_TEXT).then(|| text.to_owned());
            options.id_field = id.named().map(str::to_owned);
            let documents = Documents::below(&paths, &options).map_err(|error| system(&error))?;
            Kind::Files(Box::new(documents), Arc::new(Reader::new(true)))
        } else if has("__arrow_c_stream__")? || has("__arrow_c_array__")? {
            let stream = documents.extract::<AnyArray>()?.into_reader()?;
            Kind::Arrow {
                layout: Layout::of(&stream.field(), text, id)?,
                stream,
                array: None,
            }
        } else {
            if documents.is_instance_of::<PyString>() {
                return Err(PyTypeError::new_err(
                    "documents must be an iterable, got one str that is not the name of a file: \
                     put a text into a list",
                ));
            }
            refuse_text(documents, "documents")?;
            refuse_mapping(documents)?;
            Kind::Iterator {
                documents: documents.try_iter()?.unbind(),
                text: text.to_owned(),
                id: id.clone(),
            }
        };
        Ok(Self { next: 0, kind })
    }

    /// Returns the type of the ids of a table.
    pub(crate) fn id_type(&self) -> Option<DataType> {
        match &self.kind {
            Kind::Arrow { layout, .. } => layout.id_type(),
            Kind::Iterator { .. } | Kind::Files(..) => None,
        }
    }

    /// Returns the texts of documents that are a file each.
    pub(crate) fn texts(&self) -> Option<Arc<dyn DocumentTexts>> {
        match &self.kind {
            Kind::Files(_, reader) => {
                let options = InputOptions::new(usual_temp_dir());
                Some(Arc::new(FileTexts::new(Reader::clone(reader), options)))
            }
            Kind::Arrow { .. } | Kind::Iterator { .. } => None,
        }
    }

    /// Returns the next documents; `None` at the end.
    ///
    /// # Errors
    /// The exceptions of the iterable and of the Arrow stream, and `TypeError` or `ValueError` for
    /// an object that is not a document.
    pub(crate) fn next_batch(&mut self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let first = self.next;
        let batch = match &mut self.kind {
            Kind::Iterator {
                documents,
                text,
                id,
            } => objects::from_iterator(documents.bind(py), text, id, first)?,
            Kind::Arrow {
                stream,
                layout,
                array,
            } => from_arrow(py, stream, layout, array, first)?,
            Kind::Files(documents, reader) => {
                py.detach(|| files::from_files(documents, reader, first))
            }
        };
        self.next += batch.as_ref().map_or(0, |batch| batch.len() as u64);
        Ok(batch)
    }
}

/// Refuses a mapping: iterating it would give its keys.
fn refuse_mapping(documents: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(mapping) = documents.cast::<PyMapping>() else {
        return Ok(());
    };
    let keys = mapping.keys()?;
    let first = keys
        .get_item(0)
        .and_then(|key| key.repr())
        .map(|key| key.to_string());
    Err(PyTypeError::new_err(format!(
        "documents must be an iterable, got one {} with the keys {keys}: put it into a list, or \
         choose one of its splits ([{}])",
        documents.get_type().name()?,
        first.unwrap_or_default()
    )))
}

/// Checks that each row has an id.
fn check_ids(column: &str, ids: &Values, first: u64) -> PyResult<()> {
    for at in 0..ids.len() {
        let fault = match Id::of_column(ids, at) {
            Ok(Some(_)) => continue,
            Ok(None) => "is null".to_owned(),
            Err(error) => error.to_string(),
        };
        let number = first + at as u64;
        return Err(invalid(format!(
            "id of document {number} {fault} in column {column}: give it one, or number the \
             documents with id=False"
        )));
    }
    Ok(())
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
            let slice = rows.slice(done, count);
            let texts = layout.text.values(&slice);
            let ids = layout.id.as_ref().map(|id| id.values(&slice));
            if let (Some(column), Some(ids)) = (&layout.id, &ids) {
                check_ids(&column.name, ids, first)?;
            }
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
