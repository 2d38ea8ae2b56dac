//! Super-shingles: near-duplicate detection with a handful of equal keys.
//!
//! Minima are grouped, and each group is hashed (Broder 1997, section 7; Fetterly, Manasse and
//! Najork, "On the evolution of clusters of near-duplicate web pages", LA-WEB 2003: 84 minima in
//! six groups of fourteen, and pages are near duplicates if two groups agree). A group of m agrees
//! with probability Jᵐ, so that two of six groups of fourteen agree for 88 % of pairs at J = .95,
//! 42 % at .9, 2.6 % at .8 and one in 10⁷ at .5: a strict test without an estimate.

use thiserror::Error;

use super::{Incomparable, MAX_MINIMA, MinHash, Retained, Scheme};
use crate::mix::mix;

/// A grouping of minima.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grouping {
    groups: usize,
    minima: usize,
}

impl Grouping {
    /// Six groups of fourteen minima; two groups must agree.
    pub const FETTERLY: Grouping = Grouping {
        groups: 6,
        minima: 14,
    };

    /// Creates a grouping of `groups` groups of `minima` minima each.
    ///
    /// # Errors
    /// [`InvalidGrouping`] if either number is 0, or if there are more than [`MAX_MINIMA`] minima
    /// in all.
    pub fn new(groups: usize, minima: usize) -> Result<Self, InvalidGrouping> {
        match groups.checked_mul(minima) {
            Some(1..=MAX_MINIMA) => Ok(Self { groups, minima }),
            _ => Err(InvalidGrouping::Size { groups, minima }),
        }
    }

    /// Returns the number of groups.
    #[must_use]
    pub const fn groups(self) -> usize {
        self.groups
    }

    /// Returns the number of minima per group.
    #[must_use]
    pub const fn minima(self) -> usize {
        self.minima
    }

    /// Returns the probability that at least `least` groups agree for two sets of this resemblance,
    /// 0 to 1: a group of m minima agrees with probability Jᵐ.
    #[must_use]
    pub fn probability(&self, resemblance: f64, least: usize) -> f64 {
        let agrees = resemblance.powf(self.minima as f64);
        // The probabilities of 0, 1, … agreeing groups, extended by one group at a time.
        let mut exactly = vec![1.0];
        for _ in 0..self.groups {
            let mut extended = vec![0.0; exactly.len() + 1];
            for (agreeing, probability) in exactly.iter().enumerate() {
                extended[agreeing] += probability * (1.0 - agrees);
                extended[agreeing + 1] += probability * agrees;
            }
            exactly = extended;
        }
        exactly.iter().skip(least).sum()
    }
}

/// The super-shingles of a nonempty set.
///
/// ```
/// use classics::minhash::{Grouping, InvalidGrouping, MinHasher};
///
/// let minhash = MinHasher::default().of_members(&[1, 2, 3], 3);
/// let keys = minhash.super_shingles(Grouping::FETTERLY)?.expect("the set is not empty");
/// assert_eq!((keys.keys().len(), keys.pairs().len()), (6, 15));
/// assert_eq!(keys.agreeing(&keys), Ok(6));
/// # Ok::<(), InvalidGrouping>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperShingles {
    scheme: Scheme,
    keys: Box<[u64]>,
}

impl MinHash {
    /// Returns the super-shingles of the first minima; `None` for the empty set.
    ///
    /// # Errors
    /// [`InvalidGrouping::TooFew`] if the groups need more minima than there are.
    pub fn super_shingles(
        &self,
        grouping: Grouping,
    ) -> Result<Option<SuperShingles>, InvalidGrouping> {
        let Grouping { groups, minima } = grouping;
        if self.minima.len() < groups * minima {
            return Err(InvalidGrouping::TooFew {
                groups,
                minima,
                there_are: self.minima.len(),
            });
        }
        if self.is_empty() {
            return Ok(None);
        }
        let grouped = self.minima.chunks_exact(minima).take(groups);
        let keys = grouped.zip(1..).map(|(group, number)| {
            // The number is included so that one map can hold the keys of all groups.
            group
                .iter()
                .fold(mix(number), |key, minimum| mix(key ^ minimum))
        });
        Ok(Some(SuperShingles {
            scheme: self.scheme().retaining(Retained::Groups { groups, minima }),
            keys: keys.collect(),
        }))
    }
}

impl SuperShingles {
    /// Returns the hash of each group: near duplicates share some of these keys.
    #[must_use]
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns the number of groups that agree.
    ///
    /// # Errors
    /// [`Incomparable`] if the two have different schemes.
    pub fn agreeing(&self, other: &SuperShingles) -> Result<usize, Incomparable> {
        self.scheme.check(other.scheme)?;
        let pairs = self.keys.iter().zip(&other.keys);
        Ok(pairs.filter(|(mine, theirs)| mine == theirs).count())
    }

    /// Returns a key for each pair of groups, 15 for six groups. Two sets share a key exactly if
    /// two of their groups agree ("mega shingles", Fetterly et al.), so that a look-up finds near
    /// duplicates without counting.
    #[must_use]
    pub fn pairs(&self) -> Vec<u64> {
        let pair = |(number, one): (usize, &u64)| {
            let later = self.keys[number + 1..].iter();
            later
                .map(|other| mix(mix(*one) ^ other))
                .collect::<Vec<_>>()
        };
        self.keys.iter().enumerate().flat_map(pair).collect()
    }
}

/// Invalid groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum InvalidGrouping {
    /// No groups, empty groups, or more minima than possible.
    #[error(
        "groups times minima must be between 1 and {MAX_MINIMA}, got {groups} groups of {minima} \
         minima"
    )]
    Size {
        /// Number of groups.
        groups: usize,
        /// Number of minima per group.
        minima: usize,
    },
    /// The MinHash has too few minima.
    #[error("{groups} groups of {minima} minima need more than {there_are} minima")]
    TooFew {
        /// Number of groups.
        groups: usize,
        /// Number of minima per group.
        minima: usize,
        /// Number of minima of the MinHash.
        there_are: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhash::MinHasher;
    use neardup::Shingles;

    fn of(range: std::ops::Range<u64>, seed: u64) -> SuperShingles {
        let members: Vec<u64> = range.map(|n| mix(seed << 32 | n)).collect();
        let minhash = MinHasher::default().of_members(&members, members.len() as u64);
        minhash.super_shingles(Grouping::FETTERLY).unwrap().unwrap()
    }

    fn choose_two_or_more_of_six(p: f64) -> f64 {
        1.0 - (1.0 - p).powi(6) - 6.0 * p * (1.0 - p).powi(5)
    }

    /// The figures of the module's header.
    #[test]
    fn two_groups_of_six_agree_as_often_as_the_binomial_distribution_says() {
        for (resemblance, expected) in [(0.95, 0.88), (0.90, 0.42), (0.80, 0.026), (1.0, 1.0)] {
            let found = Grouping::FETTERLY.probability(resemblance, 2);
            assert!((found - expected).abs() < 0.005, "{found} at {resemblance}");
            let closed = choose_two_or_more_of_six(resemblance.powi(14));
            assert!((found - closed).abs() < 1e-12);
        }
        assert_eq!(Grouping::FETTERLY.probability(0.5, 0), 1.0);
        assert_eq!(Grouping::FETTERLY.probability(0.5, 7), 0.0);
        // More groups than a recursion could descend into.
        let many = Grouping::new(MAX_MINIMA, 1).unwrap();
        assert!((many.probability(0.5, 1) - 1.0).abs() < 1e-9);
    }

    /// Over 1,000 pairs each.
    #[test]
    fn two_of_six_groups_agree_as_often_as_theory_says() {
        for (shared, apart) in [(950_u64, 25), (800, 100), (500, 250)] {
            let near = (0..1_000)
                .filter(|&seed| {
                    let one = of(0..shared + apart, seed);
                    let two = of(apart..shared + 2 * apart, seed);
                    let agreeing = one.agreeing(&two).unwrap();
                    let by_lookup = one.pairs().iter().any(|key| two.pairs().contains(key));
                    assert_eq!(by_lookup, agreeing >= 2);
                    by_lookup
                })
                .count();
            let r = shared as f64 / (shared + 2 * apart) as f64;
            let expected = choose_two_or_more_of_six(r.powi(14));
            assert!(
                (near as f64 / 1_000.0 - expected).abs() < 0.06,
                "{near} of 1,000 at {r}, expected {expected}"
            );
        }
    }

    #[test]
    fn invalid_groupings_are_refused() {
        for (groups, minima) in [(0, 14), (6, 0), (MAX_MINIMA + 1, 1), (usize::MAX, 2)] {
            assert!(matches!(
                Grouping::new(groups, minima),
                Err(InvalidGrouping::Size { .. })
            ));
        }
        let grouping = Grouping::new(20, 10).unwrap();
        let (few, enough) = (Shingles::from_hashes(vec![7]), MinHasher::default());
        assert_eq!(
            enough
                .of(&few)
                .super_shingles(grouping)
                .unwrap()
                .unwrap()
                .keys()
                .len(),
            20
        );
        assert_eq!(
            enough.of(&Shingles::default()).super_shingles(grouping),
            Ok(None)
        );
        let one_more = Grouping::new(3, 67).unwrap();
        let refused = enough.of(&few).super_shingles(one_more).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "3 groups of 67 minima need more than 200 minima"
        );
    }

    #[test]
    fn other_groups_are_not_compared() {
        let one = MinHasher::default().of(&Shingles::from_hashes(vec![1, 2]));
        let grouped = |groups, minima| {
            let grouping = Grouping::new(groups, minima).unwrap();
            one.super_shingles(grouping).unwrap().unwrap()
        };
        assert!(grouped(6, 14).agreeing(&grouped(6, 13)).is_err());
        assert_eq!(grouped(6, 14).agreeing(&grouped(6, 14)), Ok(6));
    }
}
