//! Minima of a set under n independent permutations: MinHash by its definition.
//!
//! [`similarity`](crate::similarity) takes about one n-th of the time for minima that estimate as
//! well. No verdict needs this module. It is here because all vector instructions are in this
//! crate; `classics`, which makes MinHashes of these minima, pins them (`golden/minhashes.txt`
//! there).
//!
//! A member is mixed into 52 random-looking bits y, and permutation i maps y to aᵢ·y modulo 2⁵²
//! with an odd aᵢ. This is a bijection, and linear like the permutations of Broder, Charikar,
//! Frieze and Mitzenmacher (STOC 1998, section 4). They show that linear permutations come near the
//! ideal for sets that are not chosen against them; mixing ensures that. AVX-512 IFMA multiplies 52
//! bits in one step; a million members collide there once in nine thousand sets. Invariant: the
//! permutations are stable for ever, and the first n permutations are the same for every number.

#[cfg(all(target_arch = "x86_64", feature = "simd"))]
mod ifma;

use crate::mix::mix;
use crate::similarity::NOTHING;

const BITS: u32 = 52;
const LOW: u64 = (1 << BITS) - 1;
/// Number of members permuted at a time: 8 KiB, which stay in the first-level cache.
const BLOCK: usize = 1_024;

/// The first permutations of a fixed sequence.
///
/// ```
/// use neardup::permutations::Permutations;
///
/// let permutations = Permutations::first(128);
/// let (one, other) = (permutations.minima(&[1, 2, 3]), permutations.minima(&[2, 3, 4]));
/// let agreeing = one.iter().zip(&other).filter(|(one, other)| one == other).count();
/// // The two sets resemble each other by one half; the standard error is 4 %.
/// assert!((agreeing as f64 / 128.0 - 0.5).abs() < 0.15);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[doc(alias = "minhash")]
pub struct Permutations {
    /// The multiplier of each.
    factors: Vec<u64>,
}

impl Permutations {
    /// Creates the first `number` permutations.
    #[must_use]
    pub fn first(number: usize) -> Self {
        // The sequence of SplitMix64, whose step is the golden ratio.
        let state = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let factors = (1..=number as u64).map(|n| mix(state(n)) & LOW | 1);
        Self {
            factors: factors.collect(),
        }
    }

    /// Returns the least of `members` under each permutation; all are [`NOTHING`] for the empty
    /// set. Members are given in any order, repeated or not, and may be any numbers.
    #[must_use]
    pub fn minima(&self, members: &[u64]) -> Vec<u64> {
        self.minima_by(lower(), members)
    }

    fn minima_by(&self, lower: Lower, members: &[u64]) -> Vec<u64> {
        let mut minima = vec![NOTHING; self.factors.len()];
        let mut mixed = Vec::with_capacity(members.len().min(BLOCK));
        for block in members.chunks(BLOCK) {
            mixed.clear();
            // The salt makes the bits independent of the bits that `similarity` uses to distribute
            // members.
            mixed.extend(
                block
                    .iter()
                    .map(|&member| mix(member ^ 0x5851_f42d_4c95_7f2d) >> (64 - BITS)),
            );
            lower(&mixed, &self.factors, &mut minima);
        }
        minima
    }
}

/// A function that lowers each minimum to the least of the mixed members under its permutation.
type Lower = fn(mixed: &[u64], permutations: &[u64], minima: &mut [u64]);

/// Returns the fastest variant that this machine supports.
fn lower() -> Lower {
    #[cfg(all(target_arch = "x86_64", feature = "simd"))]
    if ifma::is_here() {
        return ifma::lower;
    }
    lower_portably
}

fn lower_portably(mixed: &[u64], permutations: &[u64], minima: &mut [u64]) {
    for (minimum, permutation) in minima.iter_mut().zip(permutations) {
        for member in mixed {
            *minimum = (*minimum).min(permutation.wrapping_mul(*member) & LOW);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn permutations_are_odd_and_different_and_begin_alike_for_every_number() {
        let many = Permutations::first(4_096).factors;
        assert!(many.iter().all(|a| a % 2 == 1 && *a <= LOW));
        assert_eq!(many.iter().collect::<BTreeSet<_>>().len(), many.len());
        assert_eq!(Permutations::first(7).factors, many[..7]);
    }

    proptest! {
        #[test]
        fn every_variant_gives_the_least_under_each_permutation(
            members in prop::collection::vec(any::<u64>(), 0..2_100),
            number in 1_usize..40,
        ) {
            let permutations = Permutations::first(number);
            let factors = permutations.factors.iter();
            let expected: Vec<u64> = factors
                .map(|&a| {
                    let permuted = |member: &u64| {
                        let mixed = u128::from(mix(member ^ 0x5851_f42d_4c95_7f2d) >> 12);
                        (u128::from(a) * mixed % (1 << 52)) as u64
                    };
                    members.iter().map(permuted).min().unwrap_or(u64::MAX)
                })
                .collect();
            prop_assert_eq!(&permutations.minima_by(lower_portably, &members), &expected);
            prop_assert_eq!(&permutations.minima(&members), &expected);
        }
    }
}
