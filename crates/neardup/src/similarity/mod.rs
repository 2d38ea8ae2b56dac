//! Fast similarity sketching: *n* independent samples of a set for about the price of one.
//!
//! (Dahlgaard, Knudsen and Thorup, "Fast similarity sketching", FOCS 2017.) A member's hash falls into one of *n* bins
//! and each bin keeps the least hash that fell into it. While bins are empty, all members are hashed once more and fall
//! again; what a bin has from an earlier round it keeps. After *n* rounds a bin that is still empty takes the least of
//! all members under a hash of its own. Two sets agree in a bin with a probability equal to their resemblance. A set
//! much larger than *n* is done in one round, one of fifty takes about thirty. Compared with bins that borrow from
//! their neighbours ("optimal densification", Shrivastava, ICML 2017) no member of a small set is lost because it shares
//! a bin, which took a third off the error for sets of fifty.
//!
//! A sample is written round ‖ 48 bits of the hash, so "from the earliest round, and of that the least" is simply the
//! least number: rounds need not know what is empty, and the samples of a union are the lesser ones of its parts.
//! Invariant: samples are stable for ever, since sketches on disk are made of them; every way of computing them gives
//! the same (property test against `in_the_papers_words`).

#[cfg(target_arch = "x86_64")]
mod avx512;

use crate::mix::mix;

/// What a bin holds into which nothing fell: only those of the empty set do.
pub(crate) const NOTHING: u64 = u64::MAX;
/// A sample's round stands above its 48 bits of hash, so there may be this many bins and no more.
pub(crate) const MAX_BINS: usize = 4_096;

const HASH_BITS: u32 = 48;
const HASH: u64 = (1 << HASH_BITS) - 1;
/// After how many rounds it pays to look whether the members are only a few, often repeated. A text that says one thing
/// a million times must not be read `MAX_BINS` times over.
const ROUNDS_WITH_REPETITIONS: usize = 8;

/// Samples the set of `hashes`, in any order and repeated or not, once for each of `bins`.
pub(crate) fn sample(hashes: &[u64], bins: &mut [u64]) {
    sample_by(fall(), hashes, bins);
}

/// Lets all hashes of a round fall into the bins; says how many of those were empty before and no longer are.
type Fall = fn(hashes: &[u64], round: Round, bins: &mut [u64]) -> usize;

/// The fastest way that this machine has.
fn fall() -> Fall {
    #[cfg(target_arch = "x86_64")]
    if avx512::is_here() {
        return avx512::fall;
    }
    fall_portably
}

/// What distinguishes one round from the others.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// Makes the round's hash function.
    salt: u64,
    /// The number of the round, where a sample has it.
    tag: u64,
}

impl Round {
    fn new(number: usize) -> Self {
        Self {
            salt: mix(number as u64 + 1),
            tag: (number as u64) << HASH_BITS,
        }
    }

    #[inline]
    fn hash(self, member: u64) -> u64 {
        mix(member ^ self.salt)
    }

    #[inline]
    fn sample(self, hash: u64) -> u64 {
        self.tag | hash & HASH
    }
}

fn sample_by(fall: Fall, hashes: &[u64], bins: &mut [u64]) {
    debug_assert!((1..=MAX_BINS).contains(&bins.len()), "the caller caps the bins");
    bins.fill(NOTHING);
    if hashes.is_empty() {
        return;
    }
    let rounds = bins.len();
    let mut empty = bins.len();
    for number in 0..rounds.min(ROUNDS_WITH_REPETITIONS) {
        empty -= fall(hashes, Round::new(number), bins);
        if empty == 0 {
            return;
        }
    }
    let mut members = hashes.to_vec();
    members.sort_unstable();
    members.dedup();
    for number in ROUNDS_WITH_REPETITIONS..rounds {
        empty -= fall(&members, Round::new(number), bins);
        if empty == 0 {
            return;
        }
    }
    // Only a set of a few members gets here. Each bin that is still empty looks at all of them.
    for (number, bin) in bins.iter_mut().enumerate().filter(|(_, bin)| **bin == NOTHING) {
        let own = Round {
            salt: Round::new(rounds + number).salt,
            tag: Round::new(rounds).tag,
        };
        let samples = members.iter().map(|&member| own.sample(own.hash(member)));
        *bin = samples.min().unwrap_or(NOTHING);
    }
}

/// The bin that a hash falls into: its upper half, scaled to their number.
#[inline]
fn bin_of(hash: u64, bins: usize) -> usize {
    (((hash >> 32) * bins as u64) >> 32) as usize
}

fn fall_portably(hashes: &[u64], round: Round, bins: &mut [u64]) -> usize {
    let number = bins.len();
    let mut filled = 0;
    for &member in hashes {
        let hash = round.hash(member);
        let bin = &mut bins[bin_of(hash, number)];
        filled += usize::from(*bin == NOTHING);
        *bin = (*bin).min(round.sample(hash));
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, one bin at a time: the earliest round in which anything falls into it decides.
    fn in_the_papers_words(hashes: &[u64], bins: usize) -> Vec<u64> {
        let least_of_round = |bin: usize, number: usize| {
            let round = Round::new(number);
            let fallen = hashes.iter().map(|&member| round.hash(member));
            fallen
                .filter(|&hash| bin_of(hash, bins) == bin)
                .map(|hash| (number as u64) << 48 | hash & 0xffff_ffff_ffff)
                .min()
        };
        let least_of_all = |bin: usize| {
            let own = |&member: &u64| mix(member ^ mix((bins + bin) as u64 + 1)) & 0xffff_ffff_ffff;
            hashes
                .iter()
                .map(own)
                .min()
                .map(|hash| (bins as u64) << 48 | hash)
        };
        (0..bins)
            .map(|bin| {
                (0..bins)
                    .find_map(|round| least_of_round(bin, round))
                    .or_else(|| least_of_all(bin))
                    .unwrap_or(u64::MAX)
            })
            .collect()
    }

    fn check(hashes: &[u64], bins: usize) -> Result<(), TestCaseError> {
        let expected = in_the_papers_words(hashes, bins);
        let mut found = vec![7; bins];
        sample_by(fall_portably, hashes, &mut found);
        prop_assert_eq!(&found, &expected, "portably, {} bins", bins);
        found.fill(7);
        sample(hashes, &mut found);
        prop_assert_eq!(&found, &expected, "as here, {} bins", bins);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn every_way_gives_the_samples_of_the_paper(
            hashes in prop::collection::vec(any::<u64>(), 0..120),
            bins in 1_usize..70,
            repeated in 0_usize..3,
        ) {
            let hashes: Vec<u64> = hashes.repeat(repeated + 1);
            check(&hashes, bins)?;
        }

        #[test]
        fn numbers_in_sequence_are_sampled_as_well_as_random_ones(from: u64, count in 0_u64..300, bins in 1_usize..300) {
            let hashes: Vec<u64> = (0..count).map(|n| from.wrapping_add(n)).collect();
            let (mut found, mut portable) = (vec![0; bins], vec![0; bins]);
            sample(&hashes, &mut found);
            sample_by(fall_portably, &hashes, &mut portable);
            prop_assert_eq!(&found, &portable);
            prop_assert_eq!(found.contains(&NOTHING), hashes.is_empty());
        }
    }

    #[test]
    fn large_sets_and_many_bins_are_sampled_alike_everywhere() {
        for (count, bins) in [
            (1, MAX_BINS),
            (9, 1_000),
            (1_000, 200),
            (5_003, 256),
            (70_000, MAX_BINS),
        ] {
            let hashes: Vec<u64> = (0..count).map(|n| mix(n + 1)).collect();
            let (mut found, mut portable) = (vec![0; bins], vec![0; bins]);
            sample(&hashes, &mut found);
            sample_by(fall_portably, &hashes, &mut portable);
            assert!(found == portable, "{count} members, {bins} bins");
            assert!(!found.contains(&NOTHING));
        }
    }
}
