//! MinHash: a set as a few hundred minima, which estimate its resemblance to other sets (Broder,
//! Charikar, Frieze and Mitzenmacher, "Min-wise independent permutations", STOC 1998).
//!
//! The names are taken from `datasketch`, but the minima differ, so that MinHashes of the two
//! cannot be compared. Invariant: a MinHash of shingles of a text is compared only with MinHashes
//! of the same kind of shingles.

use std::num::NonZeroUsize;

use classics::minhash::{Family, MinHasher};
use neardup::{HashKey, HashedText, NormalText, Unit};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::documents::TextSource;
use crate::errors::invalid;
use crate::results::Reduced;
use crate::{parallel, settings, tokens};

/// The MinHash of a set: `num_perm` minima, which estimate its resemblance to other sets with a
/// standard error of √(J(1-J)/num_perm), 0.044 at worst with 128.
///
/// Arguments:
///     num_perm: The number of minima, 1 to 4096.
///     tokens: The first members, as for `update_batch`.
///
/// >>> from neardup import MinHash
/// >>> one, two = MinHash(), MinHash()
/// >>> one.update_batch(["jack", "london", "oakland"])
/// >>> two.update_batch(["oakland", "jack", "london"])
/// >>> one.jaccard(two), one.digest().shape
/// (1.0, (128,))
#[pyclass(module = "neardup")]
#[derive(Clone, Debug)]
pub(crate) struct MinHash {
    pub(crate) minhash: classics::minhash::MinHash,
    /// The shingles of the text that it was made from; `None` if it was made from tokens.
    pub(crate) unit: Option<Unit>,
}

#[pymethods]
impl MinHash {
    #[new]
    #[pyo3(signature = (num_perm=128, tokens=None))]
    fn new(num_perm: usize, tokens: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let members = tokens.map(tokens::hashes).transpose()?.unwrap_or_default();
        let size = members.len() as u64;
        Ok(Self {
            minhash: hasher(num_perm)?.of_members(&members, size),
            unit: None,
        })
    }

    /// Creates the MinHash of the shingles of a text, several times faster than from tokens.
    ///
    /// >>> one = MinHash.from_text("a rose is a rose", shingles="word:2")
    /// >>> one.jaccard(MinHash.from_text("A rose is: a rose!", shingles="word:2"))
    /// 1.0
    #[staticmethod]
    #[pyo3(signature = (text, shingles="word:5", num_perm=128))]
    fn from_text(text: &Bound<'_, PyAny>, shingles: &str, num_perm: usize) -> PyResult<Self> {
        let text = tokens::one_text(text)?;
        let unit = settings::unit(shingles)?;
        Ok(Self {
            minhash: of_text(tokens::text_of(text, "text", 0)?, unit, &hasher(num_perm)?),
            unit: Some(unit),
        })
    }

    /// Creates the MinHashes of the shingles of many texts, in their order, on all cores. A null of
    /// an Arrow array is a text without words.
    #[staticmethod]
    #[pyo3(signature = (
        texts, shingles="word:5", num_perm=128, *, text="text", threads=None,
    ))]
    fn from_texts(
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        shingles: &str,
        num_perm: usize,
        text: &str,
        threads: Option<NonZeroUsize>,
    ) -> PyResult<Vec<Self>> {
        let unit = settings::unit(shingles)?;
        let mut all = Vec::new();
        each_minhash(
            py,
            texts,
            text,
            unit,
            &hasher(num_perm)?,
            threads,
            |minhash| {
                all.push(Self {
                    minhash,
                    unit: Some(unit),
                });
            },
        )?;
        Ok(all)
    }

    /// Adds a token: `str` or `bytes`. Several at once are faster: `update_batch`.
    fn update(&mut self, token: &Bound<'_, PyAny>) -> PyResult<()> {
        let member = tokens::hash(token, 0)?;
        self.add(&[member])
    }

    /// Adds the tokens of an iterable.
    fn update_batch(&mut self, tokens: &Bound<'_, PyAny>) -> PyResult<()> {
        let members = tokens::hashes(tokens)?;
        self.add(&members)
    }

    /// Estimates the resemblance |A∩B| / |A∪B| (Jaccard index) of the two sets, 0 to 1.
    ///
    /// Raises ValueError if they have different numbers of minima or kinds of shingles.
    fn jaccard(&self, other: &Self) -> PyResult<f64> {
        self.check(other)?;
        self.minhash.resemblance(&other.minhash).map_err(invalid)
    }

    /// Adds the members of another set.
    ///
    /// Raises ValueError if they have different numbers of minima or kinds of shingles.
    fn merge(&mut self, other: &Bound<'_, Self>) -> PyResult<()> {
        // The set itself is borrowed already, and has its own members.
        let Ok(other) = other.try_borrow() else {
            return Ok(());
        };
        self.check(&other)?;
        self.minhash = self.minhash.union(&other.minhash).map_err(invalid)?;
        Ok(())
    }

    /// Returns the MinHash of the union of sets.
    #[staticmethod]
    #[pyo3(signature = (first, *others))]
    fn union(first: &Bound<'_, Self>, others: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let mut union = first.borrow().clone();
        for other in others {
            let other = other.cast::<Self>()?.borrow();
            union.check(&other)?;
            union.minhash = union.minhash.union(&other.minhash).map_err(invalid)?;
        }
        Ok(union)
    }

    /// Returns the minima as a numpy array of `uint64`, a copy.
    fn digest<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.minhash.minima())
    }

    /// The minima as a numpy array of `uint64`, a copy.
    #[getter]
    fn hashvalues<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        self.digest(py)
    }

    /// The number of minima.
    #[getter]
    fn num_perm(&self) -> usize {
        self.minhash.minima().len()
    }

    /// The kind of shingles, such as ``word:5``; None if the set is made from tokens.
    #[getter]
    fn shingles(&self) -> Option<String> {
        self.unit.map(|unit| unit.to_string())
    }

    /// Returns True if the set is empty.
    fn is_empty(&self) -> bool {
        self.minhash.is_empty()
    }

    /// Returns a copy that can be changed independently.
    fn copy(&self) -> Self {
        self.clone()
    }

    /// Returns the stored form: bytes that `from_bytes` reads, stable between versions of one
    /// algorithm.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.minhash.to_bytes())
    }

    /// Reads the stored form. `shingles` is the kind of shingles that the set is made from; None
    /// means tokens.
    ///
    /// Raises ValueError for bytes of another algorithm, and for damaged bytes.
    #[staticmethod]
    #[pyo3(signature = (stored, shingles=None))]
    fn from_bytes(stored: &[u8], shingles: Option<&str>) -> PyResult<Self> {
        Ok(Self {
            minhash: classics::minhash::MinHash::from_bytes(stored).map_err(invalid)?,
            unit: shingles.map(settings::unit).transpose()?,
        })
    }

    fn __len__(&self) -> usize {
        self.num_perm()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let other = other.borrow();
        self.unit == other.unit && self.minhash.minima() == other.minhash.minima()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>, Option<String>)>> {
        let restore = slf.get_type().getattr("from_bytes")?;
        let this = slf.borrow();
        Ok((restore, (this.to_bytes(slf.py()), this.shingles())))
    }

    fn __repr__(&self) -> String {
        let made_from = self.shingles().unwrap_or_else(|| "tokens".to_owned());
        format!("<MinHash: {} minima of {made_from}>", self.num_perm())
    }
}

impl MinHash {
    fn add(&mut self, members: &[u64]) -> PyResult<()> {
        if let Some(unit) = self.unit {
            return Err(invalid(format!(
                "a MinHash of the shingles of a text ({unit}) takes no tokens: make one of tokens \
                 with MinHash()"
            )));
        }
        // The size counts repeated tokens repeatedly: only containment needs the true size.
        let size = self.minhash.size() + members.len() as u64;
        self.minhash.update(members, size);
        Ok(())
    }

    pub(crate) fn check(&self, other: &Self) -> PyResult<()> {
        if self.unit == other.unit {
            return Ok(());
        }
        let describe = |one: &Self| one.shingles().unwrap_or_else(|| "tokens".to_owned());
        Err(invalid(format!(
            "MinHashes of different shingles cannot be compared: {} and {}",
            describe(self),
            describe(other)
        )))
    }
}

fn hasher(minima: usize) -> PyResult<MinHasher> {
    MinHasher::new(Family::Fast, minima).map_err(invalid)
}

fn of_text(text: &str, unit: Unit, hasher: &MinHasher) -> classics::minhash::MinHash {
    match unit {
        Unit::Words(width) => {
            let members = HashedText::of(text, HashKey::ZERO).runs(width);
            // Repeated shingles count repeatedly, as repeated tokens do.
            hasher.of_members(&members, members.len() as u64)
        }
        Unit::Chars(_) => {
            let text = NormalText::of(text);
            hasher.of(&neardup::Shingles::of_unit(&text, unit, HashKey::ZERO))
        }
    }
}

/// Passes the MinHash of each text to `take`, in the order of the texts.
fn each_minhash(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    column: &str,
    unit: Unit,
    hasher: &MinHasher,
    threads: Option<NonZeroUsize>,
    mut take: impl FnMut(classics::minhash::MinHash),
) -> PyResult<()> {
    let threads = parallel::threads(threads);
    let mut source = TextSource::of(texts, column)?;
    while let Some(batch) = source.next_batch(py)? {
        let minhashes = py.detach(|| {
            parallel::map(batch.len(), threads, |at| {
                of_text(batch.get(at).unwrap_or_default(), unit, hasher)
            })
        });
        minhashes.into_iter().for_each(&mut take);
        py.check_signals()?;
    }
    Ok(())
}

/// Returns the MinHashes of many texts as a numpy array of `uint64` with one row per text and one
/// column per minimum, computed on all cores.
///
/// Arguments:
///     texts: A list or other iterable of strings, an Arrow array (pyarrow, Polars, pandas), or a
///         table with a column `text`. A null is a text without words.
///     shingles: ``word:5``, ``char:9``, …
///     num_perm: The number of minima, 1 to 4096.
///     text: The name of the column of texts in a table, or the key in dictionaries.
///     threads: The number of threads; one per core unless given.
///
/// >>> from neardup import minhashes
/// >>> array = minhashes(["a rose is a rose", "a rose is a flower"], "word:2")
/// >>> array.shape, 0 < int(sum(array[0] == array[1])) < 128
/// ((2, 128), True)
#[pyfunction]
#[pyo3(signature = (
    texts, shingles="word:5", num_perm=128, *, text="text", threads=None,
))]
pub(crate) fn minhashes<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    shingles: &str,
    num_perm: usize,
    text: &str,
    threads: Option<NonZeroUsize>,
) -> PyResult<Bound<'py, PyArray2<u64>>> {
    let (unit, hasher) = (settings::unit(shingles)?, hasher(num_perm)?);
    let mut minima = Vec::new();
    each_minhash(py, texts, text, unit, &hasher, threads, |minhash| {
        minima.extend_from_slice(minhash.minima());
    })?;
    let rows = minima.len() / num_perm;
    PyArray1::from_vec(py, minima).reshape([rows, num_perm])
}
