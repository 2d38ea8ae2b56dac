//! An index of texts that finds near-duplicates among its texts.
//!
//! Invariant: texts are hashed, and matches converted to Python objects, without the index's lock.
//! A holder of that lock never waits for the interpreter's lock, so deadlocks cannot occur.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use batch::DocumentId;
use batch::dedup::Document;
use batch::signature_file::{SignatureHeader, SignatureReader};
use neardup::{BandDesign, HashKey, Match, MatchKind, PageSignature, PageText, SignatureBuilder};
use pyo3::exceptions::{PyKeyError, PyTypeError};
use pyo3::prelude::*;

use crate::documents::{Batch, DocumentSource, TextSource};
use crate::errors::{invalid, of_batch};
use crate::id::{Id, IdColumnName};
use crate::index_file::{self, Draft};
use crate::settings::{SignatureSettings, VerdictSettings};
use crate::{parallel, results, tokens};

/// Number of texts that are read from a file at a time.
const PART: usize = 16_384;

/// An index of texts, in memory, that finds near-duplicates: about 800 bytes per text.
///
/// Candidates have a fingerprint within `distance` bits or share a band of their sketches (8 bands
/// of 4 minima), and their sketches decide. A text of resemblance .80 becomes a candidate with a
/// probability of .985, of .50 with .40: to find dissimilar texts too, use `MinHashLSH`, and for
/// all texts at once `dedup`.
///
/// Arguments:
///     resemblance: The minimum resemblance of near duplicates, 0 to 1. Unless it is given, it
///         depends on the length: 1 under 50 words, 0.90 under 100, 0.86 under 350, 0.80 from there
///         on.
///     distance: The number of bits, 0 to 7, that may differ between the fingerprints of
///         candidates.
///     features, weights, stop_words, min_words: As for `dedup`.
///
/// >>> from neardup import SignatureIndex
/// >>> index = SignatureIndex()
/// >>> index.add("hamlet", "To be, or not to be: that is the question.")
/// >>> index.query("to be or not to be — that is the question")
/// Match(id='hamlet', distance=0, resemblance=1.0, measure='words')
/// >>> index.query("Brevity is the soul of wit.") is None, len(index), "hamlet" in index
/// (True, 1, True)
#[pyclass(frozen, module = "neardup")]
pub(crate) struct SignatureIndex {
    builder: SignatureBuilder,
    held: RwLock<Held>,
}

struct Held {
    signatures: neardup::SignatureIndex,
    /// The ids by the numbers of the signatures in `signatures`. A removed text leaves its place
    /// empty.
    ids: Vec<Option<Id>>,
    numbers: HashMap<Id, u64>,
}

#[pymethods]
impl SignatureIndex {
    #[new]
    #[pyo3(signature = (
        *, resemblance=None, distance=None, features=None, weights=None, stop_words=None,
        min_words=None,
    ))]
    fn new(
        resemblance: Option<f64>,
        distance: Option<u32>,
        features: Option<&str>,
        weights: Option<&str>,
        stop_words: Option<&str>,
        min_words: Option<usize>,
    ) -> PyResult<Self> {
        let settings = SignatureSettings {
            features,
            weights,
            stop_words,
            min_words,
        };
        let verdict = VerdictSettings {
            distance,
            resemblance,
            recall: None,
            verify: true,
            exact: Some(false),
            has_own_shingles: features.is_some(),
        };
        Ok(Self {
            builder: settings.builder()?,
            held: RwLock::new(Held {
                signatures: neardup::SignatureIndex::new(verdict.thresholds()?),
                ids: Vec::new(),
                numbers: HashMap::new(),
            }),
        })
    }

    /// Reads an index that `save` wrote, or `dedup(save_index=…)` without `resemblance` and
    /// `features`.
    ///
    /// Arguments:
    ///     path: The file.
    ///     numbers: True if all ids are whole numbers, including ids that were saved as strings of
    ///         digits. Otherwise ids keep the type that they were saved with.
    ///     resemblance, distance: The criterion of matches; they may differ from the saved index.
    ///     features, weights, stop_words, min_words: As for the saved index.
    ///
    /// Raises ValueError for a file of other features or of another version, and for a damaged
    /// file.
    #[staticmethod]
    #[pyo3(signature = (
        path, *, numbers=false, resemblance=None, distance=None, features=None, weights=None,
        stop_words=None, min_words=None,
    ))]
    #[expect(
        clippy::too_many_arguments,
        clippy::needless_pass_by_value,
        reason = "they are Python's keyword arguments, which PyO3 hands over by value"
    )]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        numbers: bool,
        resemblance: Option<f64>,
        distance: Option<u32>,
        features: Option<&str>,
        weights: Option<&str>,
        stop_words: Option<&str>,
        min_words: Option<usize>,
    ) -> PyResult<Self> {
        let index = Self::new(
            resemblance,
            distance,
            features,
            weights,
            stop_words,
            min_words,
        )?;
        let mut documents =
            index_file::open(&path, &index.header()).map_err(|error| of_batch(&error))?;
        // Signals are checked between parts.
        while py.detach(|| index.write().read_part(&mut documents, numbers))? {
            py.check_signals()?;
        }
        Ok(index)
    }

    /// Writes the index to a file, which gets its name once it is complete.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "PyO3 hands a path over by value"
    )]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let written = py.detach(|| {
            let mut draft = Draft::begin(&path, &self.header())?;
            for (id, signature) in self.read().in_order() {
                draft.push(id.into(), signature.clone().into())?;
            }
            draft.finish()
        });
        written.map_err(|error| of_batch(&error))
    }

    /// Adds a text under an id, a string or a whole number, and replaces an earlier text of that
    /// id.
    fn add(&self, py: Python<'_>, id: &Bound<'_, PyAny>, text: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = Id::of(id, 0)?;
        let signature = self.sign(tokens::text_of(tokens::one_text(text)?, "text", 0)?);
        py.detach(|| self.write().insert(id, signature));
        Ok(())
    }

    /// Adds many documents, hashed on all cores: any documents that `dedup` accepts, except paths.
    #[pyo3(signature = (documents, *, text="text", id=None, threads=None))]
    fn add_all(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        text: &str,
        id: Option<&Bound<'_, PyAny>>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<()> {
        let mut source = DocumentSource::of(documents, text, &IdColumnName::of(id)?)?;
        let threads = parallel::threads(threads);
        while let Some(batch) = source.next_batch(py)? {
            batch.check_utf8()?;
            py.detach(|| {
                let signatures = self.sign_batch(&batch, threads);
                let mut held = self.write();
                for (at, signature) in signatures.into_iter().enumerate() {
                    if let Some(signature) = signature {
                        held.insert(batch.id(at), signature);
                    }
                }
            });
            py.check_signals()?;
        }
        Ok(())
    }

    /// Adds a text unless it repeats a text of the index; in that case returns the `Match` with
    /// that text. This deduplicates a stream as it arrives, and a duplicate never counts as an
    /// original.
    fn add_original<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let id = Id::of(id, 0)?;
        let signature = self.sign(tokens::text_of(tokens::one_text(text)?, "text", 0)?);
        let found = py.detach(|| {
            let mut held = self.write();
            let found = held.find(&signature);
            if found.is_none() {
                held.insert(id, signature);
            }
            found
        });
        found
            .map(|(id, match_kind)| results::found(py, &id, match_kind))
            .transpose()
    }

    /// Returns the original of a text as a `Match`, or None: the first text with the same bytes,
    /// else the first with the same words, else the most similar text.
    fn query<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let signature = self.sign(tokens::text_of(tokens::one_text(text)?, "text", 0)?);
        let found = py.detach(|| self.read().find(&signature));
        found
            .map(|(id, match_kind)| results::found(py, &id, match_kind))
            .transpose()
    }

    /// Returns all texts that this text duplicates, the most similar first; at most `top`.
    #[pyo3(signature = (text, top=None))]
    fn query_all<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        top: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let signature = self.sign(tokens::text_of(tokens::one_text(text)?, "text", 0)?);
        let found = py.detach(|| self.read().find_all(&signature, top));
        found
            .iter()
            .map(|(id, match_kind)| results::found(py, id, *match_kind))
            .collect()
    }

    /// Returns the results of `query` for many texts, computed on all cores. A null of an Arrow
    /// array gives None.
    #[pyo3(signature = (texts, *, text="text", threads=None))]
    fn query_many<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        text: &str,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let mut source = TextSource::of(texts, text)?;
        let threads = parallel::threads(threads);
        let mut answers = Vec::new();
        while let Some(batch) = source.next_batch(py)? {
            let found = py.detach(|| {
                let held = self.read();
                parallel::map(batch.len(), threads, |at| {
                    let signature = self.sign(batch.get(at)?);
                    held.find(&signature)
                })
            });
            for found in found {
                let answer = found.map(|(id, match_kind)| results::found(py, &id, match_kind));
                answers.push(answer.transpose()?);
            }
            py.check_signals()?;
        }
        Ok(answers)
    }

    /// Removes an id.
    ///
    /// Raises KeyError for an id that is not in the index.
    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let known = Id::of(id, 0)?;
        if py.detach(|| self.write().remove(&known)) {
            return Ok(());
        }
        Err(PyKeyError::new_err(id.clone().unbind()))
    }

    /// The memory of the index in bytes, approximately.
    #[getter]
    fn memory(&self) -> usize {
        self.read().signatures.memory()
    }

    fn __len__(&self) -> usize {
        self.read().signatures.len()
    }

    fn __contains__(&self, id: &Bound<'_, PyAny>) -> bool {
        Id::of(id, 0).is_ok_and(|id| self.read().numbers.contains_key(&id))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a SignatureIndex cannot be pickled: use save() and load()",
        ))
    }

    fn __repr__(&self) -> String {
        format!("<SignatureIndex: {} texts>", self.__len__())
    }
}

impl SignatureIndex {
    fn header(&self) -> SignatureHeader {
        index_file::header(self.builder.parameters_digest(), BandDesign::SKETCH, false)
    }

    fn sign(&self, text: &str) -> PageSignature {
        let payload = HashKey::ZERO.digest(text.as_bytes());
        self.builder.signature(payload, Some(PageText::of(text)))
    }

    fn sign_batch(&self, batch: &Batch, threads: NonZeroUsize) -> Vec<Option<PageSignature>> {
        parallel::map(batch.len(), threads, |at| {
            batch.get(at).map(|text| self.sign(text))
        })
    }

    fn read(&self) -> RwLockReadGuard<'_, Held> {
        self.held.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Held> {
        self.held.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn insert(&mut self, id: Id, signature: PageSignature) {
        self.remove(&id);
        let number = self.ids.len() as u64;
        self.signatures.insert(number, signature);
        self.ids.push(Some(id.clone()));
        self.numbers.insert(id, number);
    }

    fn remove(&mut self, id: &Id) -> bool {
        let Some(number) = self.numbers.remove(id) else {
            return false;
        };
        self.ids[number as usize] = None;
        self.signatures.remove(number)
    }

    /// Reads the next texts of a file; false at its end.
    fn read_part(&mut self, documents: &mut SignatureReader, numbers: bool) -> PyResult<bool> {
        let mut is_any = false;
        for numbered in documents.take(PART) {
            let Document { id, signature } = numbered.map_err(|error| of_batch(&error))?.document;
            let id = match numbers {
                true => DocumentId::of_digits(id.into_string()),
                false => id,
            };
            let id = match Id::from(&id) {
                Id::Text(id) if numbers => {
                    return Err(invalid(format!(
                        "numbers=True requires 64-bit integers as ids, but the file contains {id:?}"
                    )));
                }
                id => id,
            };
            self.insert(id, signature.signature);
            is_any = true;
        }
        Ok(is_any)
    }

    fn find(&self, signature: &PageSignature) -> Option<(Id, MatchKind)> {
        self.named(self.signatures.find(signature)?)
    }

    fn find_all(&self, signature: &PageSignature, top: Option<usize>) -> Vec<(Id, MatchKind)> {
        let found = self
            .signatures
            .nearest(signature, top.unwrap_or(usize::MAX));
        found
            .into_iter()
            .filter_map(|found| self.named(found))
            .collect()
    }

    fn named(&self, found: Match) -> Option<(Id, MatchKind)> {
        let id = self.ids.get(found.of as usize)?.clone()?;
        Some((id, found.match_kind))
    }

    /// Returns the texts in the order of their insertion.
    fn in_order(&self) -> impl Iterator<Item = (&Id, &PageSignature)> {
        (0..)
            .zip(&self.ids)
            .filter_map(|(number, id)| Some((id.as_ref()?, self.signatures.get(number)?)))
    }
}
