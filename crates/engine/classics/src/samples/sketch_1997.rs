//! The sketch of 1997: it keeps the fingerprints of 40 bits that are divisible by 25.
//!
//! (Broder, Glassman, Manasse and Zweig, "Syntactic clustering of the web", WWW 1997: shingles of
//! ten words, each a fingerprint of 40 bits, five bytes instead of eight.) Two different shingles
//! have the same fingerprint with a probability of 2⁻⁴⁰, so that sets of n and m shingles share
//! n·m/2⁴⁰ by accident: one in a million for two pages of a thousand words. Among 600 million
//! different shingles of a web, one in 1,800 shares its fingerprint with another; with the 64 bits
//! of [`ModM`] and [`MinS`](crate::samples::MinS), one in 30 thousand million.
//!
//! The fingerprint is the upper part of this project's 64-bit hash, instead of Rabin's. Invariant:
//! the layout of [`Sketch1997::to_bytes`] is stable for ever (`golden/sketches-1997.txt`).

use neardup::{ALGORITHM, Shingles};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::mod_m::ModM;

/// Number of bits of a fingerprint.
const BITS: u32 = 40;
/// Number of bytes of a stored fingerprint.
const BYTES: usize = BITS as usize / 8;
const HEAD: usize = 2 + 8 + 8;

/// Returns the set of the `bits` upper bits of each hash of `shingles`, 1 to 64, as in systems with
/// shorter fingerprints. Different shingles may become equal: about n·m/2ᵇ pairs from sets of n and
/// m shingles.
///
/// Only sets with equal bits are comparable, with each other and in their samples.
///
/// # Errors
/// [`InvalidBits`] for 0 and for more than 64.
pub fn narrowed(shingles: &Shingles, bits: u32) -> Result<Shingles, InvalidBits> {
    match u64::BITS.checked_sub(bits) {
        Some(above @ 0..64) => {
            let hashes = shingles.hashes().iter().map(|hash| hash >> above);
            Ok(Shingles::from_hashes(hashes.collect()))
        }
        _ => Err(InvalidBits(bits)),
    }
}

/// The sketch of a set of shingles, as in the system of 1997.
///
/// ```
/// use classics::samples::Sketch1997;
/// use neardup::{HashKey, NormalText, Shingles, Width};
///
/// let sketch = |text: &str| {
///     let text = NormalText::of(text);
///     Sketch1997::of(&Shingles::of(&text, Width::CLUSTERING_1997, HashKey::ZERO))
/// };
/// let text: String = (0..1_000).map(|n| format!("word{n} ")).collect();
/// let (part, whole) = (sketch(&text[..text.len() / 2]), sketch(&text));
/// assert_eq!(part.containment_in(&whole), Some(1.0));
/// assert_eq!(Sketch1997::from_bytes(&whole.to_bytes()), Ok(whole));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub struct Sketch1997(ModM);

impl Sketch1997 {
    /// Returns the sketch of `shingles`, which had ten words each in 1997.
    #[must_use]
    pub fn of(shingles: &Shingles) -> Self {
        let narrowed = narrowed(shingles, BITS).expect("40 is from 1 to 64");
        let sample = ModM::of(&narrowed, ModM::MODULUS_1997);
        Self(sample.expect("25 is not 0"))
    }

    /// Returns the fingerprints, ascending, each less than 2⁴⁰.
    #[must_use]
    pub fn fingerprints(&self) -> &[u64] {
        self.0.hashes()
    }

    /// Estimates |A∩B| / |A∪B|, 0 to 1; `None` if a set has members but its sample is empty.
    #[must_use]
    pub fn resemblance(&self, other: &Self) -> Option<f64> {
        self.0
            .resemblance(&other.0)
            .expect("both are sampled modulo 25")
    }

    /// Estimates |A∩B| / |A|, 0 to 1; `None` if A has members but its sample is empty.
    #[must_use]
    pub fn containment_in(&self, other: &Self) -> Option<f64> {
        self.0
            .containment_in(&other.0)
            .expect("both are sampled modulo 25")
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance of
    /// `resemblance`, 0 to 1.
    #[must_use]
    pub fn standard_error(&self, other: &Self, resemblance: f64) -> f64 {
        self.0.standard_error(&other.0, resemblance)
    }

    /// Returns the stored form, all little-endian: [`ALGORITHM`] in two bytes, the number of
    /// members of the set and the modulus in eight bytes each, and five bytes per fingerprint.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let chosen = self.fingerprints();
        let mut bytes = Vec::with_capacity(HEAD + chosen.len() * BYTES);
        bytes.extend(ALGORITHM.to_le_bytes());
        bytes.extend((self.0.size() as u64).to_le_bytes());
        bytes.extend(self.0.modulus().to_le_bytes());
        bytes.extend(
            chosen
                .iter()
                .flat_map(|hash| hash.to_le_bytes().into_iter().take(BYTES)),
        );
        bytes
    }

    /// Returns the sketch stored as `bytes`.
    ///
    /// # Errors
    /// [`NotASketch1997`] for bytes of another [`ALGORITHM`], of another length, or of fingerprints
    /// that do not ascend or are not a sample of such a set.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotASketch1997> {
        let (&algorithm, rest) = bytes.split_first_chunk().ok_or(NotASketch1997::Length)?;
        let algorithm = u16::from_le_bytes(algorithm);
        if algorithm != ALGORITHM {
            return Err(NotASketch1997::Algorithm(algorithm));
        }
        let (&size, rest) = rest.split_first_chunk().ok_or(NotASketch1997::Length)?;
        let (&modulus, rest) = rest.split_first_chunk().ok_or(NotASketch1997::Length)?;
        let (chosen, excess) = rest.as_chunks::<BYTES>();
        if !excess.is_empty() {
            return Err(NotASketch1997::Length);
        }
        let number = |bytes: &[u8; BYTES]| {
            bytes
                .iter()
                .rev()
                .fold(0, |number, byte| number << 8 | u64::from(*byte))
        };
        let size = u64::from_le_bytes(size);
        let sample = ModM::from_parts(
            ModM::MODULUS_1997,
            u64::from_le_bytes(modulus),
            usize::try_from(size).unwrap_or(usize::MAX),
            chosen.iter().map(number).collect(),
        );
        sample.map(Self).ok_or(NotASketch1997::Sample)
    }
}

/// The stored form, as which serde writes a sketch.
impl From<Sketch1997> for Vec<u8> {
    fn from(sketch: Sketch1997) -> Self {
        sketch.to_bytes()
    }
}

/// A sketch that serde reads is checked like any other stored one.
impl TryFrom<Vec<u8>> for Sketch1997 {
    type Error = NotASketch1997;

    fn try_from(bytes: Vec<u8>) -> Result<Self, NotASketch1997> {
        Self::from_bytes(&bytes)
    }
}

/// A number of bits outside 1 to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("hashes of shingles must have 1 to 64 bits, got {0}")]
pub struct InvalidBits(u32);

/// Bytes that are not a sketch of 1997 of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotASketch1997 {
    /// The bytes were made by another [`ALGORITHM`], the given one.
    #[error("a sketch of algorithm {0} cannot be used with algorithm {ALGORITHM}")]
    Algorithm(u16),
    /// The bytes are not a header and whole fingerprints.
    #[error("these bytes are not a header of {HEAD} bytes and fingerprints of {BYTES} bytes each")]
    Length,
    /// A set of the given size cannot have these fingerprints in its sample.
    #[error("these fingerprints do not ascend, or are not a sample of a set of the given size")]
    Sample,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mix::mix;
    use crate::samples::min_s::MinS;

    fn set(members: std::ops::Range<u64>) -> Shingles {
        Shingles::from_hashes(members.map(mix).collect())
    }

    #[test]
    fn forty_bits_are_the_upper_bits_of_each_hash() {
        let wide = Shingles::from_hashes(vec![1 << 24, (1 << 24) + 1, 7 << 60]);
        assert_eq!(narrowed(&wide, 40).unwrap().hashes(), [1, 7 << 36]);
        assert_eq!(narrowed(&wide, 64).unwrap(), wide);
        assert_eq!(narrowed(&wide, 1).unwrap().hashes(), [0]);
        for bits in [0, 65, u32::MAX] {
            let refused = narrowed(&wide, bits).unwrap_err().to_string();
            assert_eq!(
                refused,
                format!("hashes of shingles must have 1 to 64 bits, got {bits}")
            );
        }
    }

    /// With 20 bits, where collisions are frequent enough to be counted.
    #[test]
    fn shorter_hashes_collide_as_often_as_theory_says() {
        let (one, two) = (set(0..20_000), set(20_000..40_000));
        let narrow = |set: &Shingles| narrowed(set, 20).unwrap();
        let (narrow_one, narrow_two) = (narrow(&one), narrow(&two));
        let shared = narrow_one.containment_in(&narrow_two) * narrow_one.len() as f64;
        let expected = 20_000.0 * 20_000.0 / 20_f64.exp2();
        assert!(
            (shared / expected - 1.0).abs() < 0.2,
            "{shared}, expected {expected}"
        );
        let sketches = (Sketch1997::of(&one), Sketch1997::of(&two));
        assert_eq!(sketches.0.resemblance(&sketches.1), Some(0.0));
    }

    #[test]
    fn samples_of_forty_bits_estimate_like_those_of_sixty_four() {
        let (one, two) = (set(0..40_000), set(10_000..50_000));
        let exact = one.resemblance(&two);
        let (a, b) = (Sketch1997::of(&one), Sketch1997::of(&two));
        let error = a.resemblance(&b).unwrap() - exact;
        assert!(error.abs() < 4.0 * a.standard_error(&b, exact), "{error}");
        let of = |set: &Shingles| MinS::of(&narrowed(set, 40).unwrap(), 400).unwrap();
        let error = of(&one).resemblance(&of(&two)) - exact;
        assert!(
            error.abs() < 4.0 * of(&one).standard_error(&of(&two), exact),
            "{error}"
        );
        assert_eq!(a.to_bytes().len(), HEAD + 5 * a.fingerprints().len());
    }

    #[test]
    fn bytes_that_are_no_sketch_are_refused() {
        let sketch = Sketch1997::of(&set(0..1_000));
        let good = sketch.to_bytes();
        let refused = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            Sketch1997::from_bytes(&bytes).unwrap_err()
        };
        assert_eq!(refused(&|bytes| bytes[0] = 1), NotASketch1997::Algorithm(1));
        assert_eq!(refused(&|bytes| bytes.truncate(9)), NotASketch1997::Length);
        assert_eq!(refused(&|bytes| bytes.push(0)), NotASketch1997::Length);
        assert_eq!(refused(&|bytes| bytes[HEAD] ^= 1), NotASketch1997::Sample);
        assert_eq!(
            refused(&|bytes| bytes[2..10].fill(0)),
            NotASketch1997::Sample
        );
        assert_eq!(refused(&|bytes| bytes[10] += 1), NotASketch1997::Sample);
        assert_eq!(
            refused(&|bytes| bytes[10..18].fill(0)),
            NotASketch1997::Sample
        );
        let repeated = |bytes: &mut Vec<u8>| bytes.copy_within(HEAD..HEAD + 5, HEAD + 5);
        assert_eq!(refused(&repeated), NotASketch1997::Sample);
    }

    proptest! {
        #[test]
        fn a_sketch_is_read_as_it_was_written(
            hashes in prop::collection::vec(any::<u64>(), 0..300),
        ) {
            let sketch = Sketch1997::of(&Shingles::from_hashes(hashes));
            prop_assert_eq!(Sketch1997::from_bytes(&sketch.to_bytes()), Ok(sketch));
        }
    }
}
