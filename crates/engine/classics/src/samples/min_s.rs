//! MIN_s: a sample of the s least hashes of a set.
//!
//! (Broder, "On the resemblance and containment of documents", 1997, section 3: together, the two
//! samples determine the s least hashes of A∪B; the share of these that is in both sets estimates
//! the resemblance without bias.) This is one sample of s without replacement. Its error √(J(1-J)/s
//! · (N-s)/(N-1)), N = |A∪B|, is at most the error of s minima, and no member is sampled twice.

use neardup::Shingles;
use thiserror::Error;

/// Maximum number of hashes in a [`MinS`].
pub const MAX_MIN_SAMPLE: usize = 1 << 16;

/// A sample of the least hashes of a set.
///
/// ```
/// use classics::samples::{InvalidSample, MinS};
/// use neardup::Shingles;
///
/// let of = |hashes: &[u64]| MinS::of(&Shingles::from_hashes(hashes.to_vec()), 100);
/// // {2, 3} of {1, 2, 3, 4}: a sample that holds both sets is exact.
/// assert_eq!(of(&[1, 2, 3])?.resemblance(&of(&[2, 3, 4])?), 0.5);
/// # Ok::<(), InvalidSample>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinS {
    most: usize,
    /// Number of members of the set.
    size: usize,
    /// Ascending, each once.
    least: Vec<u64>,
}

impl MinS {
    /// Returns the `most` least of `shingles`, or all if there are fewer.
    ///
    /// # Errors
    /// [`InvalidSample`] for 0 and for more than [`MAX_MIN_SAMPLE`].
    pub fn of(shingles: &Shingles, most: usize) -> Result<Self, InvalidSample> {
        if !(1..=MAX_MIN_SAMPLE).contains(&most) {
            return Err(InvalidSample(most));
        }
        Ok(Self {
            most,
            size: shingles.len(),
            least: shingles.hashes().iter().take(most).copied().collect(),
        })
    }

    /// Estimates |A∩B| / |A∪B|, 0 to 1, without bias, and exactly if all of A∪B fits into the
    /// sample. Samples of different sizes are compared at the smaller size. Two empty sets are
    /// equal: 1.
    #[must_use]
    #[doc(alias = "jaccard")]
    pub fn resemblance(&self, other: &MinS) -> f64 {
        let most = self.most.min(other.most);
        let mut either = [&self.least[..], &other.least[..]].concat();
        either.sort_unstable();
        either.dedup();
        either.truncate(most);
        let Some(&last) = either.last() else {
            return 1.0;
        };
        // A hash up to the last one is also among the least hashes of its own set. So the union of
        // these two sets is `either`.
        let upto_last = |hashes: &[u64]| {
            let upto = hashes.partition_point(|hash| *hash <= last);
            Shingles::from_hashes(hashes[..upto].to_vec())
        };
        upto_last(&self.least).resemblance(&upto_last(&other.least))
    }

    /// Returns the standard error of [`resemblance`](Self::resemblance) for a true resemblance of
    /// `resemblance`, 0 to 1: √(J(1-J)/s · (N-s)/(N-1)), N = |A∪B|; 0 if the samples hold both
    /// sets.
    #[must_use]
    pub fn standard_error(&self, other: &MinS, resemblance: f64) -> f64 {
        let either = (self.size + other.size) as f64 / (1.0 + resemblance);
        let most = self.most.min(other.most) as f64;
        if either <= most.max(1.0) {
            return 0.0;
        }
        let without_replacement = (either - most) / (either - 1.0);
        (resemblance * (1.0 - resemblance) / most * without_replacement).sqrt()
    }
}

/// A sample size of 0, or above [`MAX_MIN_SAMPLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("sample size must be 1 to {MAX_MIN_SAMPLE}, got {0}")]
pub struct InvalidSample(usize);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    #[test]
    fn samples_of_none_and_of_too_many_are_refused() {
        let one = Shingles::from_hashes(vec![5, 6]);
        assert_eq!(MinS::of(&one, 0), Err(InvalidSample(0)));
        assert!(MinS::of(&one, MAX_MIN_SAMPLE).is_ok());
        let refused = MinS::of(&one, MAX_MIN_SAMPLE + 1).unwrap_err().to_string();
        assert_eq!(refused, "sample size must be 1 to 65536, got 65537");
    }

    #[test]
    fn two_empty_sets_are_equal_and_an_empty_one_resembles_no_other() {
        let of = |hashes| MinS::of(&Shingles::from_hashes(hashes), 100).unwrap();
        assert_eq!(of(vec![]).resemblance(&of(vec![])), 1.0);
        assert_eq!(of(vec![]).resemblance(&of(vec![1])), 0.0);
        assert_eq!(of(vec![1]).resemblance(&of(vec![1])), 1.0);
    }

    /// Over 1,000 pairs.
    #[test]
    fn estimates_are_unbiased_and_spread_as_theory_says() {
        let (shared, apart, most) = (500_u64, 250_u64, 100);
        let errors: Vec<f64> = (0..1_000)
            .map(|seed| {
                let of = |range: std::ops::Range<u64>| {
                    let hashes = range.map(|n| mix(seed << 32 | n)).collect();
                    MinS::of(&Shingles::from_hashes(hashes), most).unwrap()
                };
                of(0..shared + apart).resemblance(&of(apart..shared + 2 * apart)) - 0.5
            })
            .collect();
        let one = Shingles::from_hashes((0..shared + apart).map(mix).collect());
        let sample = MinS::of(&one, most).unwrap();
        let theory = sample.standard_error(&sample, 0.5);
        let mean = errors.iter().sum::<f64>() / 1_000.0;
        let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 1_000.0).sqrt();
        assert!(mean.abs() < 4.0 * theory / 1_000_f64.sqrt(), "bias {mean}");
        assert!(
            (spread / theory - 1.0).abs() < 0.1,
            "spread {spread}, theory {theory}"
        );
    }

    proptest! {
        #[test]
        fn a_sample_that_holds_both_sets_is_exact(
            one in prop::collection::vec(0_u64..60, 0..40),
            two in prop::collection::vec(0_u64..60, 0..40),
            more in 0_usize..100,
        ) {
            let (one, two) = (Shingles::from_hashes(one), Shingles::from_hashes(two));
            let (a, b) = (MinS::of(&one, 60).unwrap(), MinS::of(&two, 60 + more).unwrap());
            prop_assert_eq!(a.resemblance(&b), one.resemblance(&two));
            prop_assert_eq!(b.resemblance(&a), one.resemblance(&two));
        }

        #[test]
        fn the_least_hashes_of_a_union_follow_from_those_of_its_parts(
            one in prop::collection::vec(any::<u16>(), 1..200),
            two in prop::collection::vec(any::<u16>(), 1..200),
            most in 1_usize..50,
        ) {
            let set = |hashes: Vec<u16>| {
                Shingles::from_hashes(hashes.into_iter().map(u64::from).collect())
            };
            let (one, two) = (set(one), set(two));
            let union = Shingles::from_hashes([one.hashes(), two.hashes()].concat());
            let least: Vec<u64> = union.hashes().iter().copied().take(most).collect();
            let is_in_both =
                |hash: &&u64| one.hashes().contains(*hash) && two.hashes().contains(*hash);
            let both = least.iter().filter(is_in_both).count();
            let estimate =
                MinS::of(&one, most).unwrap().resemblance(&MinS::of(&two, most).unwrap());
            prop_assert_eq!(estimate, both as f64 / least.len() as f64);
        }
    }
}
