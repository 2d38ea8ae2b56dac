//! Band designs: the number of keys, and of minima per key, that find the pairs of a resemblance.
//!
//! Minima are cut into *b* bands of *r* rows, and sets become candidates if all rows of one band
//! agree. Sets of resemblance J do so with probability 1 - (1 - Jʳ)ᵇ (Leskovec, Rajaraman and
//! Ullman, "Mining of Massive Datasets", section 3.4.2). Many rows separate unlike sets, many bands
//! find similar sets. A design has the maximum number of rows that still finds the promised part of
//! all pairs.

use std::num::NonZeroUsize;

use thiserror::Error;

use crate::mix::mix;

/// Number of minima that a sketch and its bands are made from.
pub(crate) const MINIMA: usize = 256;
/// Number of bands of a sketch.
pub const BANDS: usize = 8;
/// Number of minima per band of a sketch.
pub(crate) const ROWS: usize = 4;

/// Recall that designs promise by default.
pub const DEFAULT_RECALL: f64 = 0.99;

/// A number of bands, and of rows per band.
///
/// ```
/// use neardup::{BandDesign, DEFAULT_RECALL};
///
/// let half = BandDesign::for_resemblance(0.5, DEFAULT_RECALL)?;
/// assert_eq!((half.bands(), half.rows()), (35, 3));
/// assert!(half.recall(0.5) >= 0.99 && half.recall(0.05) < 0.005);
/// // The bands of a crawl find few of them.
/// assert!(BandDesign::SKETCH.recall(0.5) < 0.41);
/// # Ok::<(), neardup::InvalidBandDesign>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "lsh")]
pub struct BandDesign {
    bands: usize,
    rows: usize,
}

impl BandDesign {
    /// The bands of every [`Sketch`](crate::Sketch), which a crawl uses to find candidates.
    pub const SKETCH: BandDesign = BandDesign {
        bands: BANDS,
        rows: ROWS,
    };

    /// Creates a design.
    ///
    /// # Errors
    /// [`InvalidBandDesign::Size`] if a number is 0, or if there are more than 256 minima in all.
    pub fn new(bands: usize, rows: usize) -> Result<Self, InvalidBandDesign> {
        match bands.checked_mul(rows) {
            Some(1..=MINIMA) => Ok(Self { bands, rows }),
            _ => Err(InvalidBandDesign::Size { bands, rows }),
        }
    }

    /// Returns the design with the most rows, and as many bands as they need, that finds pairs of
    /// `resemblance` or more with probability `recall` or more.
    ///
    /// # Errors
    /// [`InvalidBandDesign`] if either number is not between 0 and 1, or if 256 minima are not
    /// enough (at a recall of .99 below a resemblance of .02).
    pub fn for_resemblance(resemblance: f64, recall: f64) -> Result<Self, InvalidBandDesign> {
        if !(resemblance > 0.0 && resemblance <= 1.0) {
            return Err(InvalidBandDesign::Resemblance(resemblance));
        }
        if !(recall > 0.0 && recall < 1.0) {
            return Err(InvalidBandDesign::Recall(recall));
        }
        (1..=MAX_ROWS)
            .rev()
            .find_map(|rows| {
                let bands = bands_needed(resemblance.powi(rows as i32), recall)?;
                Self::new(bands.get(), rows).ok()
            })
            .ok_or(InvalidBandDesign::Unreachable {
                resemblance,
                recall,
            })
    }

    /// Returns the number of bands.
    #[must_use]
    pub fn bands(self) -> usize {
        self.bands
    }

    /// Returns the number of rows per band: the minima that must all agree.
    #[must_use]
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Returns the probability, 0 to 1, that sets of this resemblance become candidates.
    #[must_use]
    pub fn recall(self, resemblance: f64) -> f64 {
        1.0 - (1.0 - resemblance.powi(self.rows as i32)).powi(self.bands as i32)
    }

    /// Returns the key of each band of `minima`.
    pub(crate) fn keys(self, minima: &[u64; MINIMA]) -> Box<[u32]> {
        minima
            .chunks_exact(self.rows)
            .take(self.bands)
            .map(band_key)
            .collect()
    }
}

/// Maximum number of rows. More gain nothing: unlike sets are already separated by far fewer.
const MAX_ROWS: usize = 32;

/// Returns the key of a band that consists of the minima `rows`.
pub(crate) fn band_key(rows: &[u64]) -> u32 {
    (rows.iter().fold(0, |key, row| mix(key ^ row)) >> 32) as u32
}

/// Returns the smallest number of bands, each agreeing with probability `agreement`, such that at
/// least one agrees with probability `recall`; `None` if this exceeds the number of minima.
fn bands_needed(agreement: f64, recall: f64) -> Option<NonZeroUsize> {
    if agreement >= 1.0 {
        return NonZeroUsize::new(1);
    }
    let bands = ((1.0 - recall).ln() / (-agreement).ln_1p()).ceil();
    NonZeroUsize::new(bands as usize).filter(|bands| bands.get() <= MINIMA)
}

/// An impossible design.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum InvalidBandDesign {
    /// No bands, no rows, or too many minima.
    #[error("bands times rows must be between 1 and 256, got {bands} bands of {rows} rows")]
    Size {
        /// Number of bands.
        bands: usize,
        /// Number of rows per band.
        rows: usize,
    },
    /// A resemblance that is not a number above 0 and up to 1.
    #[error("resemblance must be above 0 and at most 1, got {0}")]
    Resemblance(f64),
    /// A recall that is not a number between 0 and 1.
    #[error("recall must be above 0 and below 1, got {0}")]
    Recall(f64),
    /// A promise that 256 minima cannot keep.
    #[error("a recall of {recall} at a resemblance of {resemblance} needs more than 256 minima")]
    Unreachable {
        /// Required resemblance.
        resemblance: f64,
        /// Required recall.
        recall: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity;
    use proptest::prelude::*;

    #[test]
    fn a_design_has_the_most_rows_with_which_its_recall_is_reached() {
        for (resemblance, bands, rows) in [
            (0.3, 49, 2),
            (0.5, 35, 3),
            (0.6, 34, 4),
            (0.7, 37, 6),
            (0.8, 26, 8),
            (0.9, 18, 14),
            (0.95, 12, 21),
            (1.0, 1, 32),
        ] {
            let design = BandDesign::for_resemblance(resemblance, DEFAULT_RECALL).unwrap();
            assert_eq!((design.bands, design.rows), (bands, rows), "{resemblance}");
        }
    }

    #[test]
    fn the_bands_of_a_sketch_find_what_its_documentation_says() {
        for (resemblance, recall) in [(0.5, 0.403), (0.8, 0.985), (0.845, 0.997)] {
            let found = BandDesign::SKETCH.recall(resemblance);
            assert!((found - recall).abs() < 0.001, "{resemblance}: {found}");
        }
    }

    #[test]
    fn impossible_designs_are_refused_with_the_value() {
        let message =
            |refused: Result<BandDesign, InvalidBandDesign>| refused.unwrap_err().to_string();
        assert_eq!(
            message(BandDesign::new(129, 2)),
            "bands times rows must be between 1 and 256, got 129 bands of 2 rows"
        );
        assert!(BandDesign::new(128, 2).is_ok() && BandDesign::new(0, 4).is_err());
        for wrong in [0.0, 1.1, f64::NAN] {
            assert!(
                message(BandDesign::for_resemblance(wrong, 0.99)).starts_with("resemblance must")
            );
        }
        for wrong in [0.0, 1.0, f64::NAN] {
            assert!(message(BandDesign::for_resemblance(0.5, wrong)).starts_with("recall must"));
        }
        assert!(message(BandDesign::for_resemblance(0.001, 0.99)).contains("more than 256"));
    }

    /// Sets of each resemblance, 2,000 pairs: the part that shares a key is the promised one.
    #[test]
    fn pairs_share_a_key_as_often_as_theory_says() {
        for (shared, apart) in [(500_u64, 250_u64), (600, 200), (800, 100)] {
            let resemblance = shared as f64 / (shared + 2 * apart) as f64;
            let design = BandDesign::for_resemblance(resemblance, 0.95).unwrap();
            let keys = |seed: u64, members: &[std::ops::Range<u64>]| {
                let members: Vec<u64> = members
                    .iter()
                    .cloned()
                    .flatten()
                    .map(|n| mix(mix(seed).wrapping_add(n)))
                    .collect();
                let mut minima = [0; MINIMA];
                similarity::sample(&members, &mut minima);
                design.keys(&minima)
            };
            let pairs = 2_000;
            let found = (0..pairs)
                .filter(|&seed| {
                    let one = keys(seed, &[0..shared, shared..shared + apart]);
                    let two = keys(seed, &[0..shared, shared + apart..shared + 2 * apart]);
                    one.iter().zip(&two).any(|(one, two)| one == two)
                })
                .count();
            let part = found as f64 / pairs as f64;
            assert!(
                (part - design.recall(resemblance)).abs() < 0.02,
                "{resemblance}: {part}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_design_keeps_its_promise(resemblance in 0.05_f64..=1.0, recall in 0.5_f64..0.999) {
            if let Ok(design) = BandDesign::for_resemblance(resemblance, recall) {
                prop_assert!(design.recall(resemblance) >= recall - 1e-9);
                prop_assert!(design.bands() * design.rows() <= MINIMA);
            }
        }
    }
}
