//! Simhash: a weighted vote of features about each of 64 bits (Charikar, STOC 2002).
//!
//! Equal features are counted ([`bit_counts`]). Features of equal weight vote together on all bits
//! at once ([`counters`]), other features one by one on all bits at once ([`votes`]). [`fused`]
//! does all of it in one pass over a text.
//!
//! Bit *i* of a fingerprint depends only on bits *i* of the hashes, so a simhash of fewer bits is a
//! part of the simhash of 64 bits ([`Fingerprint::lowest`]). Invariant: all sums are integers, so a
//! fingerprint has the same bits on every machine, with all instructions and for any order of
//! features; [`reference`] is the definition.

pub(crate) mod bit_counts;
pub(crate) mod counters;
mod counting;
mod fused;
#[cfg(test)]
mod reference;
pub(crate) mod repetitions;
pub(crate) mod table;
pub(crate) mod votes;
pub(crate) mod weights;

use crate::features::{Ties, Weights};
use crate::fingerprint::Fingerprint;
use crate::simd::instructions::Instructions;
use bit_counts::BitCounts;
use votes::Votes;

/// Returns the fingerprint of features with these hashes, each given as often as it occurs. A tie
/// gives 0.
pub(crate) fn simhash(hashes: &[u64], weights: Weights) -> Fingerprint {
    let mut counts = BitCounts::new(weights, hashes.len(), Instructions::best());
    counts.add(hashes);
    counts.votes().decided()
}

impl Fingerprint {
    /// Returns the simhash of features, each given once with its hash and its weight: for weights
    /// that this crate does not know. All sums are exact for fewer than 2³⁰ features. A tie gives
    /// 0, so the fingerprint without features is 0.
    ///
    /// Each bit of the hashes should be 0 or 1 with equal probability and independent of the
    /// others.
    #[must_use]
    pub fn of_weighted(features: &[(u64, u32)]) -> Self {
        Self::of_weighted_by(features, Ties::Drop)
    }

    /// Returns the simhash of features, each given once with its hash and its weight, with a rule
    /// for ties. Without features, every bit is a tie.
    #[must_use]
    pub fn of_weighted_by(features: &[(u64, u32)], ties: Ties) -> Self {
        let mut votes = Votes::new();
        votes.add_weighted(features, Instructions::best());
        votes.decided_by(ties)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    const WEIGHTS: [Weights; 3] = [Weights::None, Weights::Tf, Weights::LogTf];

    /// The fingerprint by each set of instructions that this processor has, for more or fewer
    /// features than expected.
    fn check(hashes: &[u64]) {
        for weights in WEIGHTS {
            let expected = reference::simhash(hashes, weights);
            for instructions in Instructions::available() {
                for guess in [0, hashes.len(), 4 * hashes.len()] {
                    let mut counts = BitCounts::new(weights, guess, instructions);
                    let (first, second) = hashes.split_at(hashes.len() / 3);
                    counts.add(first);
                    counts.add_written(&mut Vec::new(), |hashes| hashes.extend_from_slice(second));
                    let found = counts.votes().decided();
                    assert_eq!(
                        found,
                        expected,
                        "{weights} by {} of {hashes:?}",
                        instructions.name()
                    );
                }
            }
        }
    }

    #[test]
    fn a_tie_gives_zero() {
        assert_eq!(simhash(&[u64::MAX, 0], Weights::None), Fingerprint::new(0));
        assert_eq!(
            simhash(&[u64::MAX, 0, u64::MAX, 0], Weights::Tf),
            Fingerprint::new(0)
        );
        assert_eq!(
            Fingerprint::of_weighted(&[(5, 7), (!5, 7)]),
            Fingerprint::new(0)
        );
        assert_eq!(Fingerprint::of_weighted(&[]), Fingerprint::new(0));
    }

    #[test]
    fn a_hash_that_looks_like_an_empty_slot_is_a_feature_like_any_other() {
        check(&[0]);
        check(&[0, 0, 1, u64::MAX]);
        check(&[0, u64::MAX, u64::MAX]);
        check(&[1, 1, 1, 0]);
    }

    #[test]
    fn crafted_hashes_that_all_want_the_same_slot_are_counted_all_the_same() {
        // These agree in all bits that any round reads in tables of about the least size.
        let crafted: Vec<u64> = (0..2_000_u64)
            .flat_map(|n| [n % 500 + 1, (n % 500) << 20 | 1])
            .collect();
        check(&crafted);
        let many: Vec<u64> = (0..100_000).map(|n| (n % 70_000) << 1).collect();
        for weights in WEIGHTS {
            assert_eq!(simhash(&many, weights), reference::simhash(&many, weights));
        }
    }

    #[test]
    fn many_features_are_counted_exactly() {
        let hashes: Vec<u64> = (0..90_000_u64).map(|n| mix(n * n % 70_000)).collect();
        for weights in WEIGHTS {
            assert_eq!(
                simhash(&hashes, weights),
                reference::simhash(&hashes, weights)
            );
        }
    }

    #[test]
    fn weights_at_their_limit_are_added_exactly() {
        let features: Vec<(u64, u32)> = (0..1_000)
            .map(|n| (mix(n), u32::MAX - n as u32 % 2))
            .collect();
        assert_eq!(
            Fingerprint::of_weighted(&features),
            reference::weighted(&features)
        );
    }

    proptest! {
        #[test]
        fn the_fast_fingerprint_has_the_bits_of_the_plain_one_by_all_instructions(
            features in prop::collection::hash_map(
                prop_oneof![any::<u64>(), 0_u64..9, any::<u64>().prop_map(|hash| hash & 0xff)],
                prop_oneof![Just(1), 1_usize..300],
                0..80,
            ),
        ) {
            let repeat = |(&hash, &count)| std::iter::repeat_n(hash, count);
            check(&features.iter().flat_map(repeat).collect::<Vec<u64>>());
        }

        #[test]
        fn any_weights_give_the_bits_of_the_plain_fingerprint_by_all_instructions(
            features in prop::collection::vec(any::<(u64, u32)>(), 0..100),
        ) {
            for instructions in Instructions::available() {
                let mut votes = Votes::new();
                votes.add_weighted(&features, instructions);
                prop_assert_eq!(
                    votes.decided(),
                    reference::weighted(&features),
                    "{}",
                    instructions.name(),
                );
            }
        }

        #[test]
        fn bits_are_counted_across_as_one_by_one(
            hashes in prop::collection::vec(any::<u64>(), 0..3_000),
        ) {
            let count = |bit: u32| hashes.iter().map(|hash| hash >> bit & 1).sum();
            let expected: Vec<u64> = (0..64).map(count).collect();
            for instructions in Instructions::available() {
                let found = crate::simd::ones_in(instructions, &hashes);
                prop_assert_eq!(found.as_slice(), &expected, "{}", instructions.name());
            }
        }
    }
}
