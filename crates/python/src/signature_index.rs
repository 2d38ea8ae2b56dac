//! An index of texts that finds near-duplicates among those added before.
//!
//! Invariant: texts are hashed, and matches made Python objects, without the index's lock; whoever
//! holds that lock never waits for the interpreter's, so the two cannot wait for each other.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use neardup::{HashKey, Likeness, PageSignature, PageText, SignatureBuilder};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

use crate::documents::{Batch, DocumentSource, Id, TextSource};
use crate::settings::{SignatureSettings, VerdictSettings};
use crate::simhash::one_text;
use crate::{parallel, results, tokens};

/// An index of texts, in memory, that finds near-duplicates: about 800 bytes a text.
///
/// Candidates have a fingerprint within `distance` bits or share a band of their sketches (8 bands of
/// 4 minima), and their sketches decide. A text of resemblance .80 becomes a candidate with a
/// probability of .985, of .50 with .40: to find dissimilar texts too, use `MinHashLSH`, and for
/// all texts at once `dedup`.
///
/// Arguments:
///     resemblance: The least resemblance of near duplicates, 0 to 1. Unless it is given, it depends
///         on the length: 1 under 50 words, 0.90 under 100, 0.86 under 350, 0.80 from there on.
///     distance: The number of bits, 0 to 7, in which the fingerprints of candidates may differ.
///     features, weights, stop_words, least_words: As for `dedup`.
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
    /// The number of each id in `signatures`.
    numbers: HashMap<Id, u64>,
    ids: HashMap<u64, Id>,
    next: u64,
}

#[pymethods]
impl SignatureIndex {
    #[new]
    #[pyo3(signature = (
        *, resemblance=None, distance=None, features=None, weights=None, stop_words=None,
        least_words=None,
    ))]
    fn new(
        resemblance: Option<f64>,
        distance: Option<u32>,
        features: Option<&str>,
        weights: Option<&str>,
        stop_words: Option<&str>,
        least_words: Option<usize>,
    ) -> PyResult<Self> {
        let settings = SignatureSettings {
            features,
            weights,
            stop_words,
            least_words,
        };
        let verdict = VerdictSettings {
            distance,
            resemblance,
            recall: None,
            verify: true,
            has_own_shingles: features.is_some(),
        };
        Ok(Self {
            builder: settings.builder()?,
            held: RwLock::new(Held {
                signatures: neardup::SignatureIndex::new(verdict.thresholds()?),
                numbers: HashMap::new(),
                ids: HashMap::new(),
                next: 0,
            }),
        })
    }

    /// Adds a text under an id, a string or a whole number, and replaces an earlier text of that id.
    fn add(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let id = Id::of(id, 0)?;
        let signature = self.sign(tokens::text_of(one_text(text)?, "text", 0)?);
        py.detach(|| self.write().insert(id, signature));
        Ok(())
    }

    /// Adds many documents, hashed on all cores: everything that `dedup` takes, except paths.
    #[pyo3(signature = (documents, *, text="text", id=None, threads=None))]
    fn add_all(
        &self,
        py: Python<'_>,
        documents: &Bound<'_, PyAny>,
        text: &str,
        id: Option<&str>,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<()> {
        let mut source = DocumentSource::of(documents, text, id)?;
        let threads = parallel::threads(threads);
        while let Some(batch) = source.next_batch(py)? {
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

    /// Returns the text of which this one is a duplicate as a `Match`, or None: the first with the
    /// same bytes, else the first with the same words, else the most similar one.
    fn query<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let signature = self.sign(tokens::text_of(one_text(text)?, "text", 0)?);
        let found = self.read().find(&signature);
        found
            .map(|(id, likeness)| results::found(py, &id, likeness))
            .transpose()
    }

    /// Returns all texts of which this one is a duplicate, the most similar first; at most `top`.
    #[pyo3(signature = (text, top=None))]
    fn query_all<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'py, PyAny>,
        top: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let signature = self.sign(tokens::text_of(one_text(text)?, "text", 0)?);
        let found = self.read().find_all(&signature, top);
        let found = found.iter();
        found
            .map(|(id, likeness)| results::found(py, id, *likeness))
            .collect()
    }

    /// Returns what `query` returns for each of many texts, found on all cores. A null of an Arrow
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
                let answer = found.map(|(id, likeness)| results::found(py, &id, likeness));
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

    fn __repr__(&self) -> String {
        format!("<SignatureIndex: {} texts>", self.__len__())
    }
}

impl SignatureIndex {
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
        let number = match self.numbers.get(&id) {
            Some(number) => *number,
            None => {
                let number = self.next;
                self.next += 1;
                self.numbers.insert(id.clone(), number);
                self.ids.insert(number, id);
                number
            }
        };
        self.signatures.insert(number, signature);
    }

    fn remove(&mut self, id: &Id) -> bool {
        let Some(number) = self.numbers.remove(id) else {
            return false;
        };
        self.ids.remove(&number);
        self.signatures.remove(number)
    }

    fn find(&self, signature: &PageSignature) -> Option<(Id, Likeness)> {
        let found = self.signatures.find(signature)?;
        Some((self.ids.get(&found.of)?.clone(), found.likeness))
    }

    fn find_all(&self, signature: &PageSignature, top: Option<usize>) -> Vec<(Id, Likeness)> {
        let found = self.signatures.find(signature);
        let found = found.into_iter().take(top.unwrap_or(usize::MAX));
        found
            .filter_map(|found| Some((self.ids.get(&found.of)?.clone(), found.likeness)))
            .collect()
    }
}
