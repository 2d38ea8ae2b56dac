//! MinHash sketches: 160 bytes. Two sketches estimate the resemblance of the sets that they were
//! made from.
//!
//! The set is sampled 256 times ("fast similarity sketching", see `similarity`). Four bits of each
//! sample are kept (Li and König, "b-bit minwise hashing", WWW 2010), and the estimate is corrected
//! for the 1 in 16 that agree by accident. A sketch also has eight bands of four whole samples
//! each: sets of resemblance r share a band with probability 1 - (1 - r⁴)⁸, 98.5 % at .80 and 99.7
//! % at .845 (four bands: 87.9 and 94.2 %), and bands can be looked up. A band is kept as 32 bits
//! of its hash: among 100 M pages it then finds 0.02 unrelated pages, which verification rejects.
//!
//! Invariant: the layout of [`Sketch::to_bytes`] is stable for ever (`golden/sketches.txt`).

mod agreement;

use std::fmt;

use crate::band_design::{BANDS, MINIMA, ROWS, band_key};
use crate::shingles::Shingles;
use crate::similarity;

/// Size of a stored sketch: 256 minima of four bits, then eight bands of four bytes.
pub const SKETCH_BYTES: usize = MINIMA / 2 + BANDS * 4;

/// A sketch of a set of shingles.
///
/// ```
/// use neardup::{Shingles, Sketch};
///
/// let of = |members: std::ops::Range<u64>| {
///     let hashes = members.map(|member| member.wrapping_mul(0x9e37_79b9_7f4a_7c15));
///     Sketch::of(&Shingles::from_hashes(hashes.collect())).expect("the set is not empty")
/// };
/// let estimate = of(0..800).resemblance(&of(200..1_000));
/// assert!((estimate - 0.6).abs() < 0.15, "{estimate}");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[doc(alias = "minhash")]
pub struct Sketch {
    minima: agreement::Minima,
    bands: [u32; BANDS],
}

impl Sketch {
    /// Returns the sketch of `shingles`; `None` for an empty set.
    #[must_use]
    pub fn of(shingles: &Shingles) -> Option<Self> {
        Self::of_hashes(shingles.hashes())
    }

    /// Returns the sketch of the set of these hashes, in any order, repeated or not.
    pub(crate) fn of_hashes(hashes: &[u64]) -> Option<Self> {
        minima_of(hashes).map(|least| Self::of_minima(&least))
    }

    /// Returns the sketch of the set with these minima.
    pub(crate) fn of_minima(least: &[u64; MINIMA]) -> Self {
        let mut minima = [0; MINIMA / 2];
        for (byte, [even, odd]) in minima.iter_mut().zip(least.as_chunks::<2>().0) {
            *byte = (even & 15) as u8 | ((odd & 15) as u8) << 4;
        }
        let mut bands = [0; BANDS];
        for (band, rows) in bands.iter_mut().zip(least.as_chunks::<ROWS>().0) {
            *band = band_key(rows);
        }
        Self { minima, bands }
    }

    /// Returns the key of each band, without the band's number.
    pub(crate) fn band_keys(&self) -> [u32; BANDS] {
        self.bands
    }

    /// Estimates the resemblance of the two sets, 0 to 1, with a standard error of about
    /// √(r(1-r)/256) + 1 %.
    #[must_use]
    #[doc(alias = "jaccard")]
    pub fn resemblance(&self, other: &Sketch) -> f64 {
        let agreeing = f64::from(self.agreeing(other));
        let by_accident = MINIMA as f64 / 16.0;
        ((agreeing - by_accident) / (MINIMA as f64 - by_accident)).max(0.0)
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance r, 0
    /// to 1. It is the error of 256 minima of four bits, √(p(1-p)/256) · 16/15 with p = r +
    /// (1-r)/16. Small sets err less.
    #[must_use]
    pub fn standard_error(resemblance: f64) -> f64 {
        let agree = resemblance + (1.0 - resemblance) / 16.0;
        (agree * (1.0 - agree) / MINIMA as f64).sqrt() * 16.0 / 15.0
    }

    /// Returns a key for each band; similar sets are likely to share at least one. A key includes
    /// the number of its band (above its 32 bits), so that one map can hold all bands.
    #[must_use]
    #[doc(alias = "lsh")]
    pub fn bands(&self) -> [u64; BANDS] {
        std::array::from_fn(|number| (number as u64) << 32 | u64::from(self.bands[number]))
    }

    /// Returns the stored form: the minima, then the bands, each little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; SKETCH_BYTES] {
        let mut bytes = [0; SKETCH_BYTES];
        let (minima, bands) = bytes.split_at_mut(MINIMA / 2);
        minima.copy_from_slice(&self.minima);
        for (bytes, band) in bands.chunks_exact_mut(4).zip(self.bands) {
            bytes.copy_from_slice(&band.to_le_bytes());
        }
        bytes
    }

    /// Returns the sketch stored as `bytes` by the same [`ALGORITHM`](crate::ALGORITHM).
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SKETCH_BYTES]) -> Self {
        let mut sketch = Self {
            minima: [0; MINIMA / 2],
            bands: [0; BANDS],
        };
        let (minima, bands) = bytes.split_at(MINIMA / 2);
        sketch.minima.copy_from_slice(minima);
        for (band, bytes) in sketch.bands.iter_mut().zip(bands.as_chunks::<4>().0) {
            *band = u32::from_le_bytes(*bytes);
        }
        sketch
    }

    /// Returns the number of the 256 minima that agree.
    fn agreeing(&self, other: &Sketch) -> u32 {
        MINIMA as u32 - agreement::differing(&self.minima, &other.minima)
    }
}

/// Returns the minima of the set of these hashes; `None` for the empty set.
pub(crate) fn minima_of(hashes: &[u64]) -> Option<[u64; MINIMA]> {
    let mut least = [0; MINIMA];
    if hashes.is_empty() {
        return None;
    }
    similarity::sample(hashes, &mut least);
    Some(least)
}

impl fmt::Debug for Sketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sketch(")?;
        for byte in self.to_bytes() {
            write!(f, "{byte:02x}")?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    /// Returns two sketches of sets with `shared` common members and `apart` of each one's own,
    /// drawn by `seed`.
    fn pair(seed: u64, shared: u64, apart: u64) -> (Sketch, Sketch) {
        let member = |n: u64| mix(mix(seed).wrapping_add(n));
        let one: Vec<u64> = (0..shared + apart).map(member).collect();
        let two: Vec<u64> = (0..shared)
            .chain(shared + apart..shared + 2 * apart)
            .map(member)
            .collect();
        (
            Sketch::of_hashes(&one).unwrap(),
            Sketch::of_hashes(&two).unwrap(),
        )
    }

    #[test]
    fn the_empty_set_has_no_sketch_and_one_shingle_fills_all_of_one() {
        assert_eq!(Sketch::of(&Shingles::default()), None);
        let (one, same) = pair(1, 1, 0);
        assert_eq!(one, same);
        assert_eq!(one.resemblance(&same), 1.0);
    }

    /// Over 500 pairs for each resemblance: no bias beyond four standard errors of the mean, and a
    /// spread near the theory's √(p(1-p)/256) / (1 - 1/16) where p = r + (1 - r)/16 is the chance
    /// that two four-bit minima agree.
    #[test]
    fn estimates_are_unbiased_and_spread_as_theory_says() {
        for (shared, apart) in [
            (0, 1000),
            (250, 375),
            (500, 250),
            (800, 100),
            (900, 50),
            (30, 10),
            (120, 15),
        ] {
            let r = shared as f64 / (shared + 2 * apart) as f64;
            let errors: Vec<f64> = (0..500)
                .map(|seed| {
                    let (one, two) = pair(seed, shared, apart);
                    // Undo the cut at zero, which is a bias on purpose.
                    (f64::from(one.agreeing(&two)) - 16.0) / 240.0 - r
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let spread = (errors.iter().map(|error| error * error).sum::<f64>()
                / errors.len() as f64)
                .sqrt();
            let p = r + (1.0 - r) / 16.0;
            let theory = (p * (1.0 - p) / 256.0).sqrt() / (1.0 - 1.0 / 16.0);
            assert!(
                mean.abs() < 4.0 * theory / 500_f64.sqrt() + 1e-3,
                "r = {r}: bias {mean}"
            );
            assert!(
                spread < 1.1 * theory,
                "r = {r}: spread {spread}, theory {theory}"
            );
        }
    }

    #[test]
    fn similar_sets_share_a_band_as_often_as_theory_says() {
        let (shared, apart, pairs) = (900, 50, 2_000);
        let found = (0..pairs)
            .filter(|&seed| {
                let (one, two) = pair(seed, shared, apart);
                one.bands()
                    .iter()
                    .zip(two.bands())
                    .any(|(one, two)| *one == two)
            })
            .count();
        let r = shared as f64 / (shared + 2 * apart) as f64;
        let expected = 1.0 - (1.0 - r.powi(4)).powi(8);
        assert!(
            (found as f64 / pairs as f64 - expected).abs() < 0.02,
            "{found} of {pairs}, expected {expected}"
        );
    }

    #[test]
    fn a_sketch_of_another_length_is_refused() {
        let written = postcard::to_allocvec(&pair(1, 100, 0).0).unwrap();
        assert_eq!(written.len(), SKETCH_BYTES + 2);
        let mut short = written.clone();
        short[0] -= 1;
        assert!(postcard::from_bytes::<Sketch>(&short).is_err());
        assert!(postcard::from_bytes::<Sketch>(&written[..100]).is_err());
    }

    proptest! {
        #[test]
        fn a_sketch_is_read_as_it_was_written(
            hashes in prop::collection::vec(any::<u64>(), 1..600),
        ) {
            let sketch = Sketch::of_hashes(&hashes).unwrap();
            prop_assert_eq!(&Sketch::from_bytes(&sketch.to_bytes()), &sketch);
            let written = postcard::to_allocvec(&sketch).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<Sketch>(&written).unwrap(), &sketch);
        }

        #[test]
        fn order_and_repetition_do_not_matter(
            mut hashes in prop::collection::vec(any::<u64>(), 1..300),
        ) {
            let sketch = Sketch::of_hashes(&hashes);
            hashes.reverse();
            hashes.extend_from_within(..);
            prop_assert_eq!(Sketch::of_hashes(&hashes), sketch);
        }
    }
}
