//! Minima under n independent permutations.
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

/// Returns the multipliers of the first `number` permutations.
pub(super) fn first(number: usize) -> Vec<u64> {
    // The sequence of SplitMix64, whose step is the golden ratio.
    let state = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (1..=number as u64)
        .map(|n| mix(state(n)) & LOW | 1)
        .collect()
}

/// Writes the least of `members` under each permutation to `minima`. Members come in any order,
/// repeated or not.
pub(super) fn sample(members: &[u64], permutations: &[u64], minima: &mut [u64]) {
    sample_by(lower(), members, permutations, minima);
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

fn sample_by(lower: Lower, members: &[u64], permutations: &[u64], minima: &mut [u64]) {
    minima.fill(NOTHING);
    let mut mixed = Vec::with_capacity(members.len().min(BLOCK));
    for block in members.chunks(BLOCK) {
        mixed.clear();
        // The salt makes the bits independent of the bits that the fast family uses to distribute
        // members.
        mixed.extend(
            block
                .iter()
                .map(|&member| mix(member ^ 0x5851_f42d_4c95_7f2d) >> (64 - BITS)),
        );
        lower(&mixed, permutations, minima);
    }
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
        let many = first(4_096);
        assert!(many.iter().all(|a| a % 2 == 1 && *a <= LOW));
        assert_eq!(many.iter().collect::<BTreeSet<_>>().len(), many.len());
        assert_eq!(first(7), many[..7]);
    }

    proptest! {
        #[test]
        fn every_variant_gives_the_least_under_each_permutation(
            members in prop::collection::vec(any::<u64>(), 0..2_100),
            number in 1_usize..40,
        ) {
            let permutations = first(number);
            let expected: Vec<u64> = permutations
                .iter()
                .map(|&a| {
                    let permuted = |member: &u64| {
                        let mixed = u128::from(mix(member ^ 0x5851_f42d_4c95_7f2d) >> 12);
                        (u128::from(a) * mixed % (1 << 52)) as u64
                    };
                    members.iter().map(permuted).min().unwrap_or(u64::MAX)
                })
                .collect();
            let mut found = vec![7; number];
            sample_by(lower_portably, &members, &permutations, &mut found);
            prop_assert_eq!(&found, &expected);
            found.fill(7);
            sample(&members, &permutations, &mut found);
            prop_assert_eq!(&found, &expected);
        }
    }
}
