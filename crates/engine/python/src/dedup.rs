//! `dedup`: the duplicates, pairs or clusters among documents, as an iterator.
//!
//! The calling thread takes documents from Python and has their signatures computed on all cores
//! ([`crate::documents`]); a separate thread compares them in bounded memory ([`run`]); the
//! iterator takes its findings ([`findings`]). All documents are read before the call returns, so
//! an exception of the caller's iterable is raised there.

pub(crate) mod findings;
mod indexes;
mod run;
mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use batch::DocumentId;
use batch::dedup::{FindingKind, Options, Verification};
use neardup::{BandDesign, SignatureBuilder};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use self::findings::Findings;
use self::indexes::Indexes;
use self::run::{ProgressShown, Reading};
use crate::documents::DocumentSource;
use crate::errors::{invalid, of_batch};
use crate::id::IdColumnName;
use crate::settings::{SignatureSettings, VerdictSettings, refuse_foreign, usual_temp_dir};
use crate::{index_file, parallel};

/// Finds near-duplicates among documents, and returns an iterator over them.
///
/// Arguments:
///     documents: An iterable of strings, of pairs ``(id, text)`` or of dictionaries; an Arrow
///         table, stream or column (pyarrow, Polars, pandas, DuckDB); or a path (`pathlib.Path`, or
///         a string that names a file) or a list of paths to text, HTML, JSON lines, Parquet,
///         Arrow, WARC or WACZ files or directories of these.
///     text: The column or key of the texts.
///     id: The column or key of the ids: unique strings or whole numbers. Unless it is given,
///         ``id`` if it exists, and otherwise documents are numbered from 0. False: always numbers.
///     pairs: Find every pair of similar documents instead of the duplicates of originals.
///     clusters: Find clusters of at least two documents instead.
///     chained: With `clusters`: all documents that a chain of similar pairs connects, instead of
///         an original with its duplicates.
///     resemblance: The minimum resemblance of near duplicates, 0 to 1. Unless it is given, it
///         depends on the length: 1 under 50 words, 0.90 under 100, 0.86 under 350, 0.80 from there
///         on.
///     recall: The part of the pairs at `resemblance` that should be found.
///     distance: The number of bits, 0 to 7, that may differ between the fingerprints of
///         candidates.
///     features: The shingles of resemblance and the features of fingerprints: ``word:3``,
///         ``char:5``, … Unless they are given, runs of five words and single words.
///     weights: The weights of features in fingerprints: ``log-tf``, ``tf`` or ``none``.
///     stop_words: A language whose stop words are left out of fingerprints.
///     verify: If False, fingerprints within `distance` bits decide alone.
///     exact: If `resemblance` or `features` is given, shingles decide, with four bytes each,
///         unless this is False: then estimates decide, which miss half of the pairs at the
///         threshold.
///     min_words: Shorter documents are compared for equality only (15).
///     against: The file of an index (`save_index`, `SignatureIndex.save`, ``crawler dedup
///         --save-index``): its texts come first, so a document that repeats one is a duplicate.
///     save_index: The file for an index of the originals, including the originals of `against`. It
///         gets its name once all findings are read, and may be the same file as `against`.
///     memory: The memory budget in bytes (512 MiB); more goes to unnamed files in `temp_dir`.
///     temp_dir: The directory of temporary files.
///     threads: The number of threads; one per core unless given.
///     progress: A function that is called with a step, the number of things done, and their total
///         or None.
///
/// Raises TypeError for an object that is not a document, with its number; ValueError for invalid
/// arguments, for a document without an id if other documents have one, and, once the first finding
/// is requested, for two documents with the same id.
///
/// >>> from neardup import dedup
/// >>> for found in dedup(["To be, or not to be.", "That is the question.", "to be or not to be"]):
/// ...     print(found)
/// Duplicate(id=2, duplicate_of=0, distance=0, resemblance=1.0, measure='words')
/// >>> [cluster.members for cluster in dedup([("a", "one"), ("b", "One!")], clusters=True)]
/// [['a', 'b']]
#[pyfunction]
#[pyo3(signature = (
    documents, *, text="text", id=None, pairs=false, clusters=false, chained=false,
    resemblance=None, recall=None, distance=None, features=None, weights=None, stop_words=None,
    verify=true, exact=None, min_words=None, against=None, save_index=None, memory=None,
    temp_dir=None, threads=None, progress=None, **other
))]
#[expect(
    clippy::too_many_arguments,
    clippy::needless_pass_by_value,
    reason = "they are Python's keyword arguments, which PyO3 hands over by value"
)]
pub(crate) fn dedup(
    py: Python<'_>,
    documents: &Bound<'_, PyAny>,
    text: &str,
    id: Option<&Bound<'_, PyAny>>,
    pairs: bool,
    clusters: bool,
    chained: bool,
    resemblance: Option<f64>,
    recall: Option<f64>,
    distance: Option<u32>,
    features: Option<&str>,
    weights: Option<&str>,
    stop_words: Option<&str>,
    verify: bool,
    exact: Option<bool>,
    min_words: Option<usize>,
    against: Option<PathBuf>,
    save_index: Option<PathBuf>,
    memory: Option<usize>,
    temp_dir: Option<PathBuf>,
    threads: Option<NonZeroUsize>,
    progress: Option<Py<PyAny>>,
    other: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<Findings>> {
    refuse_foreign(other)?;
    let kind = match (pairs, clusters, chained) {
        (true, true, _) => return Err(invalid("pairs and clusters cannot be combined")),
        (_, false, true) => return Err(invalid("chained requires clusters=True")),
        (true, false, false) => FindingKind::Pairs,
        (false, true, chained) => FindingKind::Clusters { chained },
        (false, false, false) => FindingKind::Duplicates,
    };
    let builder = SignatureSettings {
        features,
        weights,
        stop_words,
        min_words,
    }
    .builder()?;
    let verdict = VerdictSettings {
        distance,
        resemblance,
        recall,
        verify,
        exact,
        has_own_shingles: features.is_some(),
    };
    let threads = parallel::threads(threads);
    let mut options = Options::new(kind, temp_dir.unwrap_or_else(usual_temp_dir));
    options.criterion = verdict.criterion()?;
    options.verification = verdict.verification()?;
    options.bands = verdict.bands()?;
    options.workers = threads;
    options.memory = memory.unwrap_or(options.memory);
    if save_index.is_some() && kind != FindingKind::Duplicates {
        return Err(invalid(
            "save_index cannot be combined with pairs or clusters",
        ));
    }
    options.originals = save_index.is_some();
    let is_exact = options.verification == Verification::Shingles;
    let expected_recall = verdict
        .asked_resemblance()
        .filter(|_| is_exact)
        .map(|resemblance| options.bands.recall(resemblance));
    let builder = match is_exact {
        true => builder.keeping_shingles(),
        false => builder,
    };
    let source = DocumentSource::of(documents, text, &IdColumnName::of(id)?)?;
    options.texts = source.texts().filter(|_| options.criterion.asks_texts());
    let id_type = source.id_type();
    let bands = options.bands;
    let header = index_file::header(builder.parameters_digest(), bands, is_exact);
    let indexes = Indexes::open(against.as_deref(), save_index.as_deref(), &header)
        .map_err(|error| of_batch(&error))?;
    let mut reading = Reading::start(options, indexes, progress.map(ProgressShown::new))?;
    read(py, source, &mut reading, &builder, bands, threads)?;
    let compared = reading.end(py)?;
    Py::new(py, Findings::of(compared, id_type, expected_recall))
}

/// Reads all documents and hands their signatures over.
fn read(
    py: Python<'_>,
    mut source: DocumentSource,
    reading: &mut Reading,
    builder: &SignatureBuilder,
    bands: BandDesign,
    threads: NonZeroUsize,
) -> PyResult<()> {
    while let Some(batch) = source.next_batch(py)? {
        let signed = py.detach(|| {
            parallel::map(batch.len(), threads, |at| {
                let signature = batch.signature(at, builder, bands)?;
                let id = DocumentId::from(&batch.id(at));
                Ok((batch.own_number(at), id, signature))
            })
        });
        reading.take(py, signed)?;
        py.check_signals()?;
    }
    Ok(())
}
