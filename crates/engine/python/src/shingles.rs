//! Exact resemblance and containment of texts (Broder, "On the resemblance and containment of
//! documents", 1997).

use neardup::{HashKey, NormalText, Unit};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::invalid;
use crate::results::Reduced;
use crate::settings;
use crate::tokens;

/// The set of a text's shingles: its runs of words or characters.
///
/// Arguments:
///     text: The text. Case, punctuation and the form of accents do not count.
///     shingles: ``word:5``, ``word:2``, ``char:9``, … with 1 to 64 words or characters. Characters
///         run across the single spaces between words.
///
/// >>> from neardup import Shingles
/// >>> len(Shingles("The earth is moving", "char:5"))
/// 15
/// >>> rose = Shingles("a rose is a rose is a rose", "word:4")
/// >>> len(rose), Shingles("rose is a rose", "word:4").containment_in(rose)
/// (3, 1.0)
#[pyclass(frozen, module = "neardup", name = "Shingles")]
#[derive(Clone, Debug)]
pub(crate) struct Shingles {
    pub(crate) set: neardup::Shingles,
    unit: Unit,
}

#[pymethods]
impl Shingles {
    #[new]
    #[pyo3(signature = (text, shingles="word:5"))]
    fn new(text: &Bound<'_, PyAny>, shingles: &str) -> PyResult<Self> {
        let text = tokens::one_text(text)?;
        let (text, unit) = (tokens::text_of(text, "text", 0)?, settings::unit(shingles)?);
        Ok(Self {
            set: neardup::Shingles::of_unit(&NormalText::of(text), unit, HashKey::ZERO),
            unit,
        })
    }

    /// The kind of shingles, such as ``word:5``.
    #[getter]
    fn unit(&self) -> String {
        self.unit.to_string()
    }

    /// Returns the resemblance |A∩B| / |A∪B| (Jaccard index), 0 to 1; it is 1 for two empty sets.
    ///
    /// Raises ValueError if the two are of different kinds.
    fn resemblance(&self, other: &Self) -> PyResult<f64> {
        self.check(other)?;
        Ok(self.set.resemblance(&other.set))
    }

    /// Returns the containment |A∩B| / |A|: the part of the shingles that `other` contains, 0 to 1.
    ///
    /// Raises ValueError if the two are of different kinds.
    fn containment_in(&self, other: &Self) -> PyResult<f64> {
        self.check(other)?;
        Ok(self.set.containment_in(&other.set))
    }

    /// Returns the hashes of the shingles as a numpy array of `uint64`, ascending.
    fn hashes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, self.set.hashes())
    }

    fn __len__(&self) -> usize {
        self.set.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| self.unit == other.get().unit && self.set == other.get().set)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (String, Bound<'py, PyBytes>)>> {
        let (restore, this) = (slf.get_type().getattr("_restore")?, slf.get());
        let hashes = this.set.hashes().iter();
        let bytes: Vec<u8> = hashes.flat_map(|hash| hash.to_le_bytes()).collect();
        Ok((restore, (this.unit(), PyBytes::new(slf.py(), &bytes))))
    }

    /// Restores a pickled set.
    #[staticmethod]
    fn _restore(unit: &str, hashes: &[u8]) -> PyResult<Self> {
        let (hashes, _rest) = hashes.as_chunks::<8>();
        let hashes = hashes.iter().map(|hash| u64::from_le_bytes(*hash));
        Ok(Self {
            set: neardup::Shingles::from_hashes(hashes.collect()),
            unit: settings::unit(unit)?,
        })
    }

    fn __repr__(&self) -> String {
        format!("<Shingles: {} of {}>", self.set.len(), self.unit)
    }
}

impl Shingles {
    fn check(&self, other: &Self) -> PyResult<()> {
        if self.unit == other.unit {
            return Ok(());
        }
        Err(invalid(format!(
            "shingles of different kinds cannot be compared: {} and {}",
            self.unit, other.unit
        )))
    }
}

/// Returns the resemblance of two texts, 0 to 1: the part of their shingles that both contain.
///
/// >>> from neardup import resemblance
/// >>> resemblance("Jack London traveled to Oakland",
/// ...             "Jack London traveled to the city of Oakland", "word:2")
/// 0.375
#[pyfunction]
#[pyo3(signature = (a, b, shingles="word:5"))]
pub(crate) fn resemblance(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    shingles: &str,
) -> PyResult<f64> {
    Shingles::new(a, shingles)?.resemblance(&Shingles::new(b, shingles)?)
}

/// Returns the containment of text `a` in text `b`, 0 to 1: the part of its shingles that `b`
/// contains.
///
/// >>> from neardup import containment
/// >>> containment("a rose", "a rose is a rose", "word:2")
/// 1.0
#[pyfunction]
#[pyo3(signature = (a, b, shingles="word:5"))]
pub(crate) fn containment(
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    shingles: &str,
) -> PyResult<f64> {
    Shingles::new(a, shingles)?.containment_in(&Shingles::new(b, shingles)?)
}
