//! An index of MinHashes: all sets that probably resemble a given one.
//!
//! The minima are cut into bands of rows; sets are candidates if they agree in all rows of one band
//! (Leskovec, Rajaraman and Ullman, "Mining of Massive Datasets", section 3.4). Names and results
//! match `datasketch.MinHashLSH`, except that bands are chosen so that a stated part of the pairs
//! at the threshold is found.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::invalid;
use crate::minhash::MinHash;
use crate::results::Reduced;

/// The arguments of `MinHashLSH._restore`: threshold, minima, parameters, the keys, the keys of
/// their bands, and a MinHash of the index.
type MadeFrom<'py> = (
    f64,
    usize,
    (usize, usize),
    Bound<'py, PyList>,
    Bound<'py, PyBytes>,
    Option<MinHash>,
);

/// An index of MinHashes that finds the keys of probably similar sets.
///
/// A set whose resemblance to the queried set is `threshold` is found with probability `recall`.
/// Less similar sets are found too, with lower probability: compare them with `MinHash.jaccard`.
///
/// Arguments:
///     threshold: The minimum resemblance of sets to find, above 0, at most 1.
///     num_perm: The number of minima of every MinHash.
///     recall: The probability of finding a set at the threshold.
///     params: The number of bands and of rows in each, instead of numbers that fit `threshold`.
///
/// >>> from neardup import MinHash, MinHashLSH
/// >>> lsh = MinHashLSH(threshold=0.5)
/// >>> lsh.insert("a", MinHash.from_text("to be or not to be", "word:1"))
/// >>> lsh.query(MinHash.from_text("To be, or not to be!", "word:1"))
/// ['a']
#[pyclass(module = "neardup", name = "MinHashLSH")]
pub(crate) struct MinHashLsh {
    threshold: f64,
    num_perm: usize,
    bands: usize,
    rows: usize,
    /// The place of each key.
    places: Py<PyDict>,
    /// The key at each place; a removed key leaves its place empty.
    entries: Vec<Option<Entry>>,
    /// The places of the sets with each key of a band.
    buckets: HashMap<u64, Bucket, BuildHasherDefault<BandHasher>>,
    /// An empty MinHash with the kind of shingles in the index.
    sample: Option<MinHash>,
}

struct Entry {
    key: Py<PyAny>,
    bands: Box<[u64]>,
}

/// The places of the sets that agree in a band, nearly always a single place.
enum Bucket {
    One(u32),
    Several(Vec<u32>),
}

#[pymethods]
impl MinHashLsh {
    #[new]
    #[pyo3(signature = (threshold=0.9, num_perm=128, *, recall=0.99, params=None))]
    fn new(
        py: Python<'_>,
        threshold: f64,
        num_perm: usize,
        recall: f64,
        params: Option<(usize, usize)>,
    ) -> PyResult<Self> {
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(invalid(format!(
                "threshold must be above 0 and at most 1, got {threshold}"
            )));
        }
        if !(recall > 0.0 && recall < 1.0) {
            return Err(invalid(format!(
                "recall must be between 0 and 1, got {recall}"
            )));
        }
        let (bands, rows) = match params {
            Some(params) => params,
            None => fitting(threshold, recall, num_perm)?,
        };
        if bands == 0 || rows == 0 || bands.checked_mul(rows).is_none_or(|all| all > num_perm) {
            return Err(invalid(format!(
                "{bands} bands of {rows} rows must be at least 1 and at most {num_perm} minima"
            )));
        }
        Ok(Self {
            threshold,
            num_perm,
            bands,
            rows,
            places: PyDict::new(py).unbind(),
            entries: Vec::new(),
            buckets: HashMap::default(),
            sample: None,
        })
    }

    /// Adds a set under a key: any hashable object.
    ///
    /// Raises ValueError for a key that is in the index, and for a MinHash of another kind.
    fn insert(&mut self, key: &Bound<'_, PyAny>, minhash: &MinHash) -> PyResult<()> {
        self.check(minhash)?;
        if self.places.bind(key.py()).contains(key)? {
            return Err(invalid(format!(
                "the key {} is already in the index",
                key.repr()?
            )));
        }
        if self.sample.is_none() {
            self.sample = Some(minhash.clone());
        }
        let bands: Box<[u64]> = self.keys(minhash).collect();
        self.push(key, bands)
    }

    /// Returns the keys of all sets that agree with this one in a band, in the order of insertion.
    ///
    /// Raises ValueError for a MinHash of another kind.
    fn query<'py>(&self, py: Python<'py>, minhash: &MinHash) -> PyResult<Bound<'py, PyList>> {
        self.check(minhash)?;
        let mut found: Vec<u32> = Vec::new();
        for band in self.keys(minhash) {
            if let Some(bucket) = self.buckets.get(&band) {
                found.extend_from_slice(bucket.places());
            }
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        let entries = found
            .iter()
            .filter_map(|place| self.entries[*place as usize].as_ref());
        PyList::new(
            py,
            entries.map(|entry| entry.key.bind(py)).collect::<Vec<_>>(),
        )
    }

    /// Removes a key.
    ///
    /// Raises KeyError for a key that is not in the index.
    fn remove(&mut self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let places = self.places.bind(key.py());
        let Some(place) = places.get_item(key)? else {
            return Err(PyKeyError::new_err(key.clone().unbind()));
        };
        let place: u32 = place.extract()?;
        places.del_item(key)?;
        if let Some(entry) = self.entries[place as usize].take() {
            for band in &entry.bands {
                let is_last = self
                    .buckets
                    .get_mut(band)
                    .is_some_and(|bucket| bucket.remove(place));
                if is_last {
                    self.buckets.remove(band);
                }
            }
        }
        Ok(())
    }

    /// The number of bands, and of rows in each.
    #[getter]
    fn params(&self) -> (usize, usize) {
        (self.bands, self.rows)
    }

    /// The minimum resemblance of sets to find.
    #[getter]
    fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Returns the probability of finding a set of this resemblance.
    ///
    /// >>> MinHashLSH(threshold=0.5, recall=0.99).recall(0.5) >= 0.99
    /// True
    fn recall(&self, resemblance: f64) -> f64 {
        recall(resemblance, self.bands, self.rows)
    }

    /// Returns True if the index is empty.
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.__len__(py) == 0
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.places.bind(py).len()
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.places.bind(key.py()).contains(key)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, MadeFrom<'py>>> {
        let (restore, this) = (slf.get_type().getattr("_restore")?, slf.borrow());
        let entries = this.entries.iter().flatten();
        let bands = entries.clone().flat_map(|entry| &entry.bands);
        let bands: Vec<u8> = bands.flat_map(|band| band.to_le_bytes()).collect();
        let keys: Vec<_> = entries.map(|entry| entry.key.bind(slf.py())).collect();
        let made_from = (
            this.threshold,
            this.num_perm,
            (this.bands, this.rows),
            PyList::new(slf.py(), keys)?,
            PyBytes::new(slf.py(), &bands),
            this.sample.clone(),
        );
        Ok((restore, made_from))
    }

    /// Restores a pickled index.
    #[staticmethod]
    fn _restore(
        threshold: f64,
        num_perm: usize,
        params: (usize, usize),
        keys: &Bound<'_, PyList>,
        bands: &[u8],
        sample: Option<PyRef<'_, MinHash>>,
    ) -> PyResult<Self> {
        let mut index = Self::new(keys.py(), threshold, num_perm, 0.5, Some(params))?;
        index.sample = sample.map(|sample| (*sample).clone());
        let (bands, _rest) = bands.as_chunks::<8>();
        let bands: Vec<u64> = bands.iter().map(|band| u64::from_le_bytes(*band)).collect();
        for (key, bands) in keys.iter().zip(bands.chunks_exact(params.0)) {
            index.push(&key, bands.into())?;
        }
        Ok(index)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "<MinHashLSH: {} sets, {} bands of {} rows>",
            self.__len__(py),
            self.bands,
            self.rows
        )
    }
}

impl MinHashLsh {
    /// Adds a key that is not in the index.
    fn push(&mut self, key: &Bound<'_, PyAny>, bands: Box<[u64]>) -> PyResult<()> {
        let place = u32::try_from(self.entries.len())
            .map_err(|_many| invalid("an index can contain at most 2**32 sets, and is full"))?;
        self.places.bind(key.py()).set_item(key, place)?;
        for band in &bands {
            self.buckets
                .entry(*band)
                .and_modify(|bucket| bucket.push(place))
                .or_insert(Bucket::One(place));
        }
        self.entries.push(Some(Entry {
            key: key.clone().unbind(),
            bands,
        }));
        Ok(())
    }

    /// Refuses a MinHash that cannot be compared with the MinHashes in the index.
    fn check(&self, minhash: &MinHash) -> PyResult<()> {
        let got = minhash.minhash.minima().len();
        if got != self.num_perm {
            return Err(invalid(format!(
                "the index requires MinHashes of {} minima, got {got}",
                self.num_perm
            )));
        }
        match &self.sample {
            Some(sample) => sample.check(minhash),
            None => Ok(()),
        }
    }

    /// Returns the key of each band.
    fn keys(&self, minhash: &MinHash) -> impl Iterator<Item = u64> {
        let minima = minhash.minhash.minima();
        let bands = minima.chunks_exact(self.rows).take(self.bands);
        (0_u64..).zip(bands).map(|(band, minima)| {
            // Products of pairs do not wait for each other (as in wyhash and NH).
            let salts = (1_u64..).map(|place| place.wrapping_mul(GOLDEN));
            let mut salted = minima
                .iter()
                .zip(salts)
                .map(|(minimum, salt)| minimum ^ salt);
            let mut sum = (band + 1).wrapping_mul(GOLDEN);
            while let Some(one) = salted.next() {
                sum = sum.wrapping_add(folded_product(one, salted.next().unwrap_or(GOLDEN)));
            }
            folded_product(sum, MULTIPLIER)
        })
    }
}

impl Bucket {
    fn places(&self) -> &[u32] {
        match self {
            Self::One(place) => std::slice::from_ref(place),
            Self::Several(places) => places,
        }
    }

    fn push(&mut self, place: u32) {
        match self {
            Self::One(first) => *self = Self::Several(vec![*first, place]),
            Self::Several(places) => places.push(place),
        }
    }

    /// Removes a place; returns true if the bucket is then empty.
    fn remove(&mut self, place: u32) -> bool {
        match self {
            Self::One(only) => *only == place,
            Self::Several(places) => {
                places.retain(|held| *held != place);
                places.is_empty()
            }
        }
    }
}

/// The golden ratio in 64 bits: its multiples are far from each other (Knuth, TAOCP, section 6.4).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// An odd number with equally many ones and zeros, whose multiples spread over 128 bits (from
/// wyhash).
const MULTIPLIER: u64 = 0xa076_1d64_78bd_642f;

/// Returns the exclusive or of the two halves of a product.
fn folded_product(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A hasher of keys that are hashes already.
#[derive(Default)]
struct BandHasher(u64);

impl Hasher for BandHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Returns the probability that sets of this resemblance agree in a band.
fn recall(resemblance: f64, bands: usize, rows: usize) -> f64 {
    1.0 - (1.0 - resemblance.powf(rows as f64)).powf(bands as f64)
}

/// Returns the numbers of bands and rows that find sets at the threshold with probability `asked`:
/// the most rows, and then the fewest bands.
fn fitting(threshold: f64, asked: f64, num_perm: usize) -> PyResult<(usize, usize)> {
    for rows in (1..=num_perm).rev() {
        let most = num_perm / rows;
        if recall(threshold, most, rows) < asked {
            continue;
        }
        let bands = (1..=most).find(|bands| recall(threshold, *bands, rows) >= asked);
        return Ok((bands.unwrap_or(most), rows));
    }
    Err(invalid(format!(
        "{num_perm} minima cannot find sets of resemblance {threshold} with probability {asked}: \
         raise num_perm or threshold, or lower recall"
    )))
}
