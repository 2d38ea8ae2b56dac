//! Simhash fingerprints: numbers that differ in few bits if the texts differ little (Charikar,
//! STOC 2002).
//!
//! Invariant: a fingerprint knows its features, and fingerprints of different features are not
//! compared. A number given by the caller, from a file or another program, is compared with any
//! fingerprint of the same number of bits.

use std::num::NonZeroUsize;

use neardup::{Features, Fingerprint, FingerprintBits, Fingerprinter, HashKey};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::documents::TextSource;
use crate::errors::invalid;
use crate::results::Reduced;
use crate::settings;
use crate::{parallel, tokens};

/// The arguments of `Simhash._restore`: features, stop words, value and bits.
type MadeFrom = (Option<String>, Option<String>, u64, u32);

/// The features of a fingerprint.
#[derive(Clone, Debug, PartialEq)]
enum Origin {
    /// The features of a text, without the stop words of a language.
    Text(Features, Option<String>),
    /// Tokens given by the caller.
    Tokens,
    /// Unknown: the number itself was given.
    Value,
}

/// A simhash of a text: texts that differ little have fingerprints that differ in few bits.
///
/// Arguments:
///     text: The text. Case, punctuation and the form of accents do not count.
///     features: The parts of the text that vote: ``word:1``, ``word:3``, ``char:5``, … with 1 to
///         64 words or characters.
///     weights: ``log-tf`` (1 + ln tf), ``tf`` or ``none``.
///     stop_words: A language (``en``, ``de``, …) whose stop words are left out.
///     bits: 8 to 64; fewer than 64 are the lowest bits.
///
/// >>> from neardup import Simhash
/// >>> one = Simhash("To be, or not to be: that is the question.")
/// >>> two = Simhash("to be or not to be — that is the question")
/// >>> one == two, one.distance(two), f"{one.value:016x}" == str(one)
/// (True, 0, True)
#[pyclass(frozen, module = "neardup")]
#[derive(Clone, Debug)]
pub(crate) struct Simhash {
    fingerprint: Fingerprint,
    bits: FingerprintBits,
    origin: Origin,
}

#[pymethods]
impl Simhash {
    #[new]
    #[pyo3(signature = (text, features="word:1", weights=None, stop_words=None, *, bits=64))]
    fn new(
        text: &Bound<'_, PyAny>,
        features: &str,
        weights: Option<&str>,
        stop_words: Option<&str>,
        bits: u32,
    ) -> PyResult<Self> {
        let features = settings::features(Some(features), weights)?;
        let fingerprinter = settings::fingerprinter(features, stop_words)?;
        let text = tokens::one_text(text)?;
        let fingerprint =
            fingerprinter.fingerprint_of_text(tokens::text_of(text, "text", 0)?, HashKey::ZERO);
        Self::of(
            fingerprint,
            bits,
            Origin::Text(features, stop_words.map(str::to_owned)),
        )
    }

    /// Creates the fingerprint with this value, which was computed before.
    ///
    /// >>> Simhash.from_value(0b1011).distance(Simhash.from_value(0b0001))
    /// 2
    #[staticmethod]
    #[pyo3(signature = (value, *, bits=64))]
    fn from_value(value: u64, bits: u32) -> PyResult<Self> {
        let fingerprint = Fingerprint::new(value);
        if fingerprint.lowest(number_of(bits)?) != fingerprint {
            return Err(invalid(format!(
                "a fingerprint of {bits} bits must be below 2**{bits}, got {value}"
            )));
        }
        Self::of(fingerprint, bits, Origin::Value)
    }

    /// Creates the fingerprint of the caller's own tokens: strings or bytes, or pairs of a token
    /// and its weight. Each token votes as often as it is given.
    ///
    /// >>> one = Simhash.from_tokens(["jack", "london", ("oakland", 2)])
    /// >>> one == Simhash.from_tokens(["oakland", "jack", "london", "oakland"])
    /// True
    #[staticmethod]
    #[pyo3(signature = (tokens, *, bits=64))]
    fn from_tokens(tokens: &Bound<'_, PyAny>, bits: u32) -> PyResult<Self> {
        let features = tokens::weighted(tokens)?;
        Self::of(Fingerprint::of_weighted(&features), bits, Origin::Tokens)
    }

    /// The fingerprint as a number.
    #[getter]
    fn value(&self) -> u64 {
        self.fingerprint.as_u64()
    }

    /// The number of bits, 8 to 64.
    #[getter]
    fn bits(&self) -> u32 {
        self.bits.get()
    }

    /// Returns the number of bits that differ between the two fingerprints (Hamming distance).
    ///
    /// Raises ValueError if they are of different features or numbers of bits.
    fn distance(&self, other: &Self) -> PyResult<u32> {
        let origins_agree = self.origin == other.origin
            || matches!(self.origin, Origin::Value)
            || matches!(other.origin, Origin::Value);
        if self.bits != other.bits {
            return Err(invalid(format!(
                "fingerprints of {} and {} bits cannot be compared",
                self.bits.get(),
                other.bits.get()
            )));
        }
        if !origins_agree {
            return Err(invalid(format!(
                "fingerprints of different features cannot be compared: {} and {}",
                self.origin.describe(),
                other.origin.describe()
            )));
        }
        Ok(self.fingerprint.distance(other.fingerprint))
    }

    fn __int__(&self) -> u64 {
        self.value()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let other = other.get();
            self.bits == other.bits && self.fingerprint == other.fingerprint
        })
    }

    fn __hash__(&self) -> u64 {
        self.fingerprint.as_u64()
    }

    fn __str__(&self) -> String {
        self.fingerprint.digits(self.bits)
    }

    fn __repr__(&self) -> String {
        let bits = match self.bits {
            FingerprintBits::ALL => String::new(),
            fewer => format!(", bits={}", fewer.get()),
        };
        format!("Simhash.from_value(0x{self}{bits})", self = self.__str__())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, MadeFrom>> {
        let this = slf.get();
        let (features, stop_words) = match &this.origin {
            Origin::Text(features, stop_words) => (Some(features.to_string()), stop_words.clone()),
            Origin::Tokens => (Some(String::new()), None),
            Origin::Value => (None, None),
        };
        let restore = slf.get_type().getattr("_restore")?;
        Ok((restore, (features, stop_words, this.value(), this.bits())))
    }

    /// Restores a pickled fingerprint.
    #[staticmethod]
    fn _restore(
        features: Option<&str>,
        stop_words: Option<String>,
        value: u64,
        bits: u32,
    ) -> PyResult<Self> {
        let origin = match features {
            None => Origin::Value,
            Some("") => Origin::Tokens,
            Some(written) => Origin::Text(settings::features(Some(written), None)?, stop_words),
        };
        Self::of(Fingerprint::new(value), bits, origin)
    }
}

impl Simhash {
    fn of(fingerprint: Fingerprint, bits: u32, origin: Origin) -> PyResult<Self> {
        Ok(Self {
            fingerprint: fingerprint.lowest(number_of(bits)?),
            bits: number_of(bits)?,
            origin,
        })
    }
}

impl Origin {
    fn describe(&self) -> String {
        match self {
            Self::Text(features, None) => features.to_string(),
            Self::Text(features, Some(language)) => {
                format!("{features} without stop words of {language}")
            }
            Self::Tokens => "tokens".to_owned(),
            Self::Value => "a value".to_owned(),
        }
    }
}

/// Returns the number of bits of a fingerprint.
fn number_of(bits: u32) -> PyResult<FingerprintBits> {
    FingerprintBits::new(bits).map_err(|error| invalid(error.to_string()))
}

/// Returns the fingerprints of many texts as a numpy array of `uint64`, computed on all cores.
///
/// Arguments:
///     texts: A list or other iterable of strings, an Arrow array (pyarrow, Polars, pandas), or a
///         table with a column `text`. A null has the fingerprint 0, as a text without words.
///     features, weights, stop_words, bits: As for `Simhash`.
///     text: The name of the column of texts in a table, or the key in dictionaries.
///     threads: The number of threads; one per core unless given.
///
/// >>> from neardup import Simhash, fingerprints
/// >>> array = fingerprints(["one text", "another text"])
/// >>> array.dtype, int(array[0]) == Simhash("one text").value
/// (dtype('uint64'), True)
#[pyfunction]
#[pyo3(signature = (
    texts, features="word:1", weights=None, stop_words=None,
    *, bits=64, text="text", threads=None,
))]
#[expect(
    clippy::too_many_arguments,
    reason = "they are Python's keyword arguments"
)]
pub(crate) fn fingerprints<'py>(
    py: Python<'py>,
    texts: &Bound<'py, PyAny>,
    features: &str,
    weights: Option<&str>,
    stop_words: Option<&str>,
    bits: u32,
    text: &str,
    threads: Option<NonZeroUsize>,
) -> PyResult<Bound<'py, PyArray1<u64>>> {
    let features = settings::features(Some(features), weights)?;
    let fingerprinter: Fingerprinter = settings::fingerprinter(features, stop_words)?;
    let bits = number_of(bits)?;
    let threads = parallel::threads(threads);
    let mut source = TextSource::of(texts, text)?;
    let mut fingerprints = Vec::new();
    while let Some(batch) = source.next_batch(py)? {
        let more = py.detach(|| {
            parallel::map(batch.len(), threads, |at| {
                let text = batch.get(at).unwrap_or_default();
                let fingerprint = fingerprinter.fingerprint_of_text(text, HashKey::ZERO);
                fingerprint.lowest(bits).as_u64()
            })
        });
        fingerprints.extend(more);
        py.check_signals()?;
    }
    Ok(PyArray1::from_vec(py, fingerprints))
}
