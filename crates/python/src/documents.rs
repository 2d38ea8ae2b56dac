//! Documents and texts from Python, in batches.
//!
//! A source is an iterable of strings, of pairs `(id, text)` or of dictionaries, anything with the
//! Arrow C stream interface, or paths. A batch holds its texts where Python or Arrow has them, so
//! that other threads read them without the interpreter's lock and without a copy.
//!
//! Invariant: what is no document is an exception that names its number, counted from 0, and its
//! type; nothing is skipped silently.

mod files;
mod objects;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use corpus::{Documents, InputOptions, Reader};
use neardup::{BandDesign, BandedSignature, HashKey, PageText, SignatureBuilder};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyIterator;
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;

pub(crate) use self::files::Unread;

use crate::arrow_text::{IdColumn, Layout, RowId, TextColumn};
use crate::errors::system;
use crate::id::Id;
use crate::settings::usual_temp_dir;
use crate::tokens::refuse_text;

/// The most documents in a batch.
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
    Strings(Vec<PyBackedStr>),
    Column(TextColumn),
    Files(Vec<Result<corpus::Document, corpus::Skipped>>, Arc<Reader>),
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
            return files::of_file(&documents[at], reader, builder, bands);
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
    /// Opens a source; `text` and `id` name the columns or keys of texts and ids. Without a name of
    /// ids, `id` is looked for.
    ///
    /// # Errors
    /// `TypeError` for what is no source, among others for a single string, and `ValueError` for a
    /// table without such columns.
    pub(crate) fn of(documents: &Bound<'_, PyAny>, text: &str, id: Option<&str>) -> PyResult<Self> {
        refuse_text(documents, "documents")?;
        let has = |method: &str| documents.hasattr(method);
        let kind = if let Some(paths) = files::paths(documents)? {
            let mut options = InputOptions::new(usual_temp_dir());
            options.text_field = (text != USUAL_TEXT).then(|| text.to_owned());
            options.id_field = id.map(str::to_owned);
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
            } => objects::from_iterator(documents.bind(py), text, id.as_deref(), first)?,
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
