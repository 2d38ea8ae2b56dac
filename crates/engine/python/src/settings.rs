//! Keyword arguments that determine the comparison of texts, as settings of the engine.
//!
//! Invariant: explicit arguments decide, as with the options of `crawler dedup`. Without an
//! argument the features, shingles and thresholds of a crawl apply; `features` sets the shingles of
//! resemblance as well, and then a resemblance of 0.80 replaces thresholds that are tuned to runs
//! of five words.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use batch::dedup::Verification;
use neardup::{
    BandDesign, DEFAULT_RECALL, Features, Fingerprinter, HashKey, MIN_WORDS, SignatureBuilder,
    StopWords, Thresholds, Unit, Width,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::invalid;

/// The resemblance of near duplicates if the shingles differ from a crawl's.
const OF_OTHER_SHINGLES: f64 = 0.8;

/// The default distance of candidates, in bits.
pub(crate) const DEFAULT_DISTANCE: u32 = 3;

/// Names of arguments in datasketch and text-dedup, and ours.
const FOREIGN: [(&[&str], &str); 8] = [
    (
        &["threshold", "jaccard_threshold", "similarity_threshold"],
        "use resemblance for the minimum resemblance",
    ),
    (
        &[
            "ngram",
            "ngrams",
            "ngram_size",
            "n_gram",
            "shingle_size",
            "k",
        ],
        "use features=\"word:5\" for shingles of five words, \"char:9\" of nine characters",
    ),
    (
        &["column", "text_column", "text_key", "text_field", "field"],
        "use text for the column or key of the texts",
    ),
    (
        &[
            "id_column",
            "id_key",
            "id_field",
            "idx_column",
            "index_column",
        ],
        "use id for the column or key of the ids",
    ),
    (
        &["num_perm", "bands", "rows", "b", "r", "params"],
        "bands are computed from recall",
    ),
    (
        &["num_workers", "num_proc", "n_jobs", "workers"],
        "use threads for the number of threads",
    ),
    (
        &["bit_diff", "hamming", "hamming_distance", "f"],
        "use distance for the number of bits",
    ),
    (
        &["seed", "hash_func", "hashfunc"],
        "hashes are fixed, so that indexes of different runs are compatible",
    ),
];

/// Refuses arguments that do not exist; for arguments of other packages, the message names ours.
///
/// # Errors
/// `TypeError` for any argument.
pub(crate) fn refuse_foreign(other: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
    let Some(name) = other.and_then(|other| other.keys().iter().next()) else {
        return Ok(());
    };
    let name = name.to_string();
    let known = FOREIGN.iter().find(|(names, _)| names.contains(&&*name));
    let remedy = known.map_or_else(String::new, |(_, ours)| format!(": {ours}"));
    Err(PyTypeError::new_err(format!(
        "dedup() got an unexpected keyword argument '{name}'{remedy}"
    )))
}

/// Returns the system's directory for temporary files, for calls without a directory.
#[expect(
    clippy::disallowed_methods,
    reason = "a package has no directory of its own, as a crawl has"
)]
pub(crate) fn usual_temp_dir() -> PathBuf {
    std::env::temp_dir()
}

/// Parses features, such as `word:1`, with weights, such as `log-tf`, that replace their own.
///
/// # Errors
/// `ValueError` for features or weights that do not exist.
pub(crate) fn features(features: Option<&str>, weights: Option<&str>) -> PyResult<Features> {
    let mut parsed: Features = match features {
        Some(written) => written.parse().map_err(invalid)?,
        None => Features::default(),
    };
    if let Some(weights) = weights {
        parsed.weights = weights.parse().map_err(invalid)?;
    }
    Ok(parsed)
}

/// Parses the unit of shingles, such as `word:5` or `char:9`.
///
/// # Errors
/// `ValueError` for a unit that does not exist.
pub(crate) fn unit(written: &str) -> PyResult<Unit> {
    written.parse().map_err(invalid)
}

/// Returns a fingerprinter of features without the stop words of a language.
///
/// # Errors
/// `ValueError` for features, weights or a language that do not exist, and for tf-idf, which needs
/// the frequencies of a corpus.
pub(crate) fn fingerprinter(
    features: Features,
    stop_words: Option<&str>,
) -> PyResult<Fingerprinter> {
    let stop_words = stop_words.map(stop_words_of).transpose()?;
    Fingerprinter::new(features, stop_words, None).map_err(invalid)
}

/// Returns the stop words of a language, which are read once per process.
fn stop_words_of(language: &str) -> PyResult<Arc<StopWords>> {
    /// The languages are few, so the map is small.
    static READ: Mutex<Option<HashMap<String, Arc<StopWords>>>> = Mutex::new(None);
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    let read = read.get_or_insert_default();
    if let Some(words) = read.get(language) {
        return Ok(Arc::clone(words));
    }
    let words = Arc::new(StopWords::of_language(language).map_err(invalid)?);
    read.insert(language.to_owned(), Arc::clone(&words));
    Ok(words)
}

/// The arguments that determine the signature of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignatureSettings<'a> {
    pub(crate) features: Option<&'a str>,
    pub(crate) weights: Option<&'a str>,
    pub(crate) stop_words: Option<&'a str>,
    pub(crate) min_words: Option<usize>,
}

impl SignatureSettings<'_> {
    /// Returns the builder of the signatures, under the zero key.
    ///
    /// # Errors
    /// `ValueError` for arguments that are not possible.
    pub(crate) fn builder(&self) -> PyResult<SignatureBuilder> {
        let features = features(self.features, self.weights)?;
        let shingles = match self.features {
            Some(_) => features.unit,
            None => Unit::Words(Width::VERIFICATION),
        };
        let fingerprinter = fingerprinter(features, self.stop_words)?;
        Ok(SignatureBuilder::new(fingerprinter, HashKey::ZERO)
            .shingled_by(shingles)
            .min_words(self.min_words.unwrap_or(MIN_WORDS)))
    }
}

/// The arguments that determine the criterion of near duplicates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerdictSettings {
    pub(crate) distance: Option<u32>,
    pub(crate) resemblance: Option<f64>,
    pub(crate) recall: Option<f64>,
    pub(crate) verify: bool,
    pub(crate) exact: Option<bool>,
    /// True if the shingles differ from a crawl's.
    pub(crate) has_own_shingles: bool,
}

impl VerdictSettings {
    /// Returns the criterion of near duplicates.
    ///
    /// # Errors
    /// `ValueError` for arguments that are not possible, or exclude each other.
    pub(crate) fn criterion(&self) -> PyResult<Thresholds> {
        if !self.verify && self.resemblance.is_some() {
            return Err(invalid(
                "verify=False compares only fingerprints: omit resemblance or verify=False",
            ));
        }
        let distance = self.distance.unwrap_or(DEFAULT_DISTANCE);
        match self.verify {
            true => self.thresholds(),
            false => Thresholds::within(distance).map_err(invalid),
        }
    }

    /// Returns the figure that decides about candidates: the exact resemblance if one is requested,
    /// unless `exact` is false.
    ///
    /// # Errors
    /// `ValueError` for `exact=True` if no resemblance decides.
    pub(crate) fn verification(&self) -> PyResult<Verification> {
        let is_asked = self.asked_resemblance().is_some() && self.verify;
        match self.exact {
            Some(true) if !is_asked => Err(invalid(
                "exact=True requires resemblance or features, without verify=False",
            )),
            Some(false) => Ok(Verification::Sketches),
            _ if is_asked => Ok(Verification::Shingles),
            _ => Ok(Verification::Sketches),
        }
    }

    /// Returns the thresholds of verified near duplicates.
    ///
    /// # Errors
    /// `ValueError` for a distance or a resemblance that is not possible.
    pub(crate) fn thresholds(&self) -> PyResult<Thresholds> {
        let distance = self.distance.unwrap_or(DEFAULT_DISTANCE);
        Thresholds::new(distance, self.asked_resemblance()).map_err(invalid)
    }

    /// Returns the bands for finding candidates; a crawl's bands if its thresholds decide.
    ///
    /// # Errors
    /// `ValueError` for a resemblance or recall that no bands can achieve.
    pub(crate) fn bands(&self) -> PyResult<BandDesign> {
        match self.asked_resemblance() {
            None => Ok(BandDesign::SKETCH),
            Some(resemblance) => {
                let recall = self.recall.unwrap_or(DEFAULT_RECALL);
                BandDesign::for_resemblance(resemblance, recall).map_err(invalid)
            }
        }
    }

    /// Returns the resemblance that decides; `None` if the thresholds of a crawl decide.
    pub(crate) fn asked_resemblance(&self) -> Option<f64> {
        let of_own = self.has_own_shingles.then_some(OF_OTHER_SHINGLES);
        self.resemblance.or(of_own)
    }
}
