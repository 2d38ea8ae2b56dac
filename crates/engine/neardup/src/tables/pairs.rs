//! All pairs within *k* bits: every fingerprint is a probe, but without look-ups.
//!
//! The fingerprints are sorted by each quarter in turn, so that fingerprints with the same quarter
//! are neighbours. Their siblings are in a column. Each fingerprint is compared with the neighbours
//! behind it (for distances above 3, also with fingerprints whose quarter differs in one bit; see
//! [`super::probes`]). If too many fingerprints share a quarter, comparing all with all would take
//! quadratic time. Then their other bits are cut into k + 1 blocks, at least one of which is equal
//! in a pair, and so on (Manku, Jain and Das Sarma, WWW 2007, section 3; the idea of sorting again
//! for each block is from Tabei et al., "Sketch sort", ACML 2010).
//!
//! Of equal fingerprints, only the first is compared with others. Each of the rest makes one pair,
//! with the first: its other neighbours follow from it, and a million equal fingerprints make a
//! million pairs instead of half a trillion.

use std::ops::Range;

use super::lanes::{Lanes, SiblingMatch, SiblingRun};
use super::order::{NumberedFingerprint, by_quarter, numbered, quarter};
use super::probes::{Step, by_table, upper_errors};
use crate::fingerprint::Fingerprint;

/// Maximum number of fingerprints per quarter that are compared all with all.
const CROWD: usize = 4_096;

/// Two fingerprints within the requested distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// Number of the earlier fingerprint.
    pub first: u32,
    /// Number of the later fingerprint.
    pub second: u32,
    /// Number of bits that differ.
    pub distance: u32,
}

/// Calls `visit` with each pair of `fingerprints` that differ in at most `distance` bits, once and
/// in no particular order. Of equal fingerprints, the first represents all: each further one is
/// paired only with the first.
///
/// A distance above [`crate::tables::MAX_DISTANCE`] is treated as this maximum.
///
/// # Panics
/// If there are 2³² fingerprints or more.
///
/// ```
/// use neardup::tables::{Pair, each_pair};
/// use neardup::Fingerprint;
///
/// let mut pairs = Vec::new();
/// each_pair(&[0b0000, 0b0111, !0].map(Fingerprint::new), 3, |pair| pairs.push(pair));
/// assert_eq!(pairs, [Pair { first: 0, second: 1, distance: 3 }]);
/// ```
pub fn each_pair(fingerprints: &[Fingerprint], distance: u32, mut visit: impl FnMut(Pair)) {
    assert!(
        u32::try_from(fingerprints.len()).is_ok(),
        "fingerprints are numbered in 32 bits"
    );
    let distance = distance.min(super::MAX_DISTANCE);
    let mut entries = numbered(
        fingerprints.iter().map(|fingerprint| fingerprint.as_u64()),
        0,
    );
    let mut spare = vec![NumberedFingerprint::default(); entries.len()];
    by_quarter(&mut entries, 0, &mut spare);
    bring_equal_together(&mut entries);
    entries.dedup_by(|entry, first| {
        let is_equal = entry.bits == first.bits;
        if is_equal {
            visit(Pair {
                first: first.number,
                second: entry.number,
                distance: 0,
            });
        }
        is_equal
    });
    spare.truncate(entries.len());
    if distance == 0 {
        return;
    }
    let mut report = |one: NumberedFingerprint, other: NumberedFingerprint| {
        visit(Pair {
            first: one.number.min(other.number),
            second: one.number.max(other.number),
            distance: (one.bits ^ other.bits).count_ones(),
        });
    };
    for steps in by_table(distance) {
        let table = steps[0].table;
        if table > 0 {
            by_quarter(&mut entries, table, &mut spare);
        }
        let starts = starts_of(&entries, table);
        pairs_of_table(&entries, &starts, steps, distance, &mut report);
    }
}

/// Makes equal entries neighbours, sorted by their numbers. `entries` are sorted by the first
/// quarter, then by their numbers.
///
/// Sorting everything would take as long as a whole table, so a quarter is sorted only if two of
/// its siblings are equal or it is too large to check.
fn bring_equal_together(entries: &mut [NumberedFingerprint]) {
    let starts = starts_of(entries, 0);
    let siblings = siblings_of(entries, 0);
    let bounds = |quarter: usize| starts[quarter] as usize..starts[quarter + 1] as usize;
    let (large, small): (Vec<_>, Vec<_>) = (0..1 << 16)
        .map(bounds)
        .filter(|together| together.len() > 1)
        .partition(|together| together.len() > CROWD / 8);
    let mut equal = Vec::new();
    Lanes::detect().pairs(&siblings, &small, 0, &mut equal);
    let quarter_of = |hit: SiblingMatch| bounds(quarter(entries[hit.at as usize].bits, 0));
    let mut unsorted: Vec<_> = equal.into_iter().map(quarter_of).collect();
    unsorted.dedup();
    for together in large.into_iter().chain(unsorted) {
        entries[together].sort_unstable_by_key(|entry| (entry.bits, entry.number));
    }
}

/// Returns the siblings of the quarter of `table`.
fn siblings_of(entries: &[NumberedFingerprint], table: usize) -> Vec<u16> {
    let sibling = |entry: &NumberedFingerprint| quarter(entry.bits, table ^ 1) as u16;
    entries.iter().map(sibling).collect()
}

/// Returns the start of each quarter in entries sorted by it, and the end of the last.
fn starts_of(entries: &[NumberedFingerprint], table: usize) -> Vec<u32> {
    let mut starts = Vec::with_capacity((1 << 16) + 1);
    for (at, entry) in entries.iter().enumerate() {
        while starts.len() <= quarter(entry.bits, table) {
            starts.push(at as u32);
        }
    }
    starts.resize((1 << 16) + 1, entries.len() as u32);
    starts
}

/// Number of quarters that are scanned before their pairs are verified.
const QUARTERS: usize = 256;

fn pairs_of_table(
    ordered: &[NumberedFingerprint],
    starts: &[u32],
    steps: &[Step],
    distance: u32,
    report: &mut impl FnMut(NumberedFingerprint, NumberedFingerprint),
) {
    let lanes = Lanes::detect();
    let siblings = siblings_of(ordered, steps[0].table);
    let bounds = |quarter: usize| starts[quarter] as usize..starts[quarter + 1] as usize;
    let (mut buckets, mut pairs) = (Vec::new(), Vec::new());
    for first in (0..1 << 16).step_by(QUARTERS) {
        for step in steps {
            pairs.clear();
            buckets.clear();
            for quarter in first..first + QUARTERS {
                let (here, there) = (bounds(quarter), bounds(quarter ^ usize::from(step.flip)));
                if there.start < here.start || there.is_empty() || here.is_empty() {
                    continue; // The neighbour has been compared with this one.
                }
                if here.len().max(there.len()) > CROWD {
                    pairs_of_crowd(ordered, here, there, step, distance, report);
                } else if step.flip == 0 {
                    buckets.push(here);
                } else {
                    across(lanes, &siblings, here, &there, step, &mut pairs);
                }
            }
            lanes.pairs(&siblings, &buckets, step.most as u8, &mut pairs);
            for &SiblingMatch { owner, at } in &pairs {
                let (one, other) = (ordered[owner as usize], ordered[at as usize]);
                if is_of_step(one.bits ^ other.bits, step, distance) {
                    report(one, other);
                }
            }
        }
    }
}

/// Adds the pairs of one entry of `here` and one entry of `there` whose siblings are near enough
/// for `step`.
fn across(
    lanes: Lanes,
    siblings: &[u16],
    here: Range<usize>,
    there: &Range<usize>,
    step: &Step,
    pairs: &mut Vec<SiblingMatch>,
) {
    let run = |at: usize| SiblingRun {
        siblings: &siblings[there.clone()],
        start: there.start as u32,
        owner: at as u32,
        probe: siblings[at],
        budget: step.most as u8,
    };
    let runs: Vec<SiblingRun<'_>> = here.map(run).collect();
    lanes.scan(&runs, pairs);
}

/// Reports the pairs of `step` in a quarter with too many fingerprints to compare all with all.
fn pairs_of_crowd(
    ordered: &[NumberedFingerprint],
    here: Range<usize>,
    there: Range<usize>,
    step: &Step,
    distance: u32,
    report: &mut impl FnMut(NumberedFingerprint, NumberedFingerprint),
) {
    let mut crowd = ordered[here].to_vec();
    let mut open = u64::MAX;
    if step.flip == 0 {
        open ^= 0xffff << (48 - 16 * step.table); // All of them share this quarter.
    } else {
        crowd.extend_from_slice(&ordered[there]);
    }
    pairs_in_crowd(&mut crowd, open, distance, &mut |one, other| {
        if is_of_step(one.bits ^ other.bits, step, distance) {
            report(one, other);
        }
    });
}

/// Returns true if these errors are within `distance`, and if `step` has to report them.
#[inline]
fn is_of_step(errors: u64, step: &Step, distance: u32) -> bool {
    if errors.count_ones() > distance {
        return false;
    }
    let sibling = quarter(errors, step.table ^ 1).count_ones();
    let was_found = step.table >= 2 && (errors >> 32).count_ones() <= upper_errors(distance);
    !was_found
        && quarter(errors, step.table) == usize::from(step.flip)
        && (step.least..=step.most).contains(&sibling)
}

/// Reports all pairs of a crowd, each once. In a small crowd, all are compared with all. Otherwise,
/// entries that share one of k + 1 blocks of the `open` bits are compared, and each pair is
/// reported for the first block that it shares.
fn pairs_in_crowd(
    crowd: &mut [NumberedFingerprint],
    open: u64,
    distance: u32,
    report: &mut dyn FnMut(NumberedFingerprint, NumberedFingerprint),
) {
    if crowd.len() <= CROWD / 8 || open.count_ones() <= distance {
        for (at, &one) in crowd.iter().enumerate() {
            for &other in &crowd[at + 1..] {
                if (one.bits ^ other.bits).count_ones() <= distance {
                    report(one, other);
                }
            }
        }
        return;
    }
    let blocks = blocks_of(open, distance + 1);
    for (number, &block) in blocks.iter().enumerate() {
        crowd.sort_unstable_by_key(|entry| entry.bits & block);
        for together in crowd.chunk_by_mut(|one, other| (one.bits ^ other.bits) & block == 0) {
            if together.len() < 2 {
                continue;
            }
            pairs_in_crowd(together, open & !block, distance, &mut |one, other| {
                let errors = one.bits ^ other.bits;
                if blocks[..number].iter().all(|earlier| errors & earlier != 0) {
                    report(one, other);
                }
            });
        }
    }
}

/// Cuts the bits of `open` into `count` blocks of nearly equal size.
fn blocks_of(open: u64, count: u32) -> Vec<u64> {
    let mut rest = open;
    let mut left = open.count_ones();
    (0..count)
        .map(|number| {
            let width = left / (count - number);
            left -= width;
            let before = rest;
            (0..width).for_each(|_| rest &= rest - 1);
            before & !rest
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{clustered, neighbour};
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn pairs(bits: &[u64], distance: u32) -> Vec<Pair> {
        let fingerprints: Vec<Fingerprint> =
            bits.iter().map(|&bits| Fingerprint::new(bits)).collect();
        let mut pairs = Vec::new();
        each_pair(&fingerprints, distance, |pair| pairs.push(pair));
        pairs.sort_unstable();
        pairs
    }

    /// Returns all pairs by comparing all with all, equal ones with their first only.
    fn oracle(bits: &[u64], distance: u32) -> Vec<Pair> {
        let mut first_of: HashMap<u64, u32> = HashMap::new();
        let mut pairs = Vec::new();
        for (&other, second) in bits.iter().zip(0..) {
            if let Some(&first) = first_of.get(&other) {
                pairs.push(Pair {
                    first,
                    second,
                    distance: 0,
                });
                continue;
            }
            for (&one, &first) in &first_of {
                let apart = (one ^ other).count_ones();
                if apart <= distance {
                    pairs.push(Pair {
                        first,
                        second,
                        distance: apart,
                    });
                }
            }
            first_of.insert(other, second);
        }
        pairs.sort_unstable();
        pairs
    }

    #[test]
    fn no_fingerprint_and_one_make_no_pairs() {
        assert_eq!(pairs(&[], 3), []);
        assert_eq!(pairs(&[7], 7), []);
    }

    #[test]
    fn the_planted_pairs_among_thirty_thousand_are_found() {
        let mut bits: Vec<u64> = (0..30_000).map(mix).collect();
        let planted = (0..500).map(|n| neighbour(mix(n * 7), n as u32 % 9, n));
        bits.extend(planted);
        for distance in 0..=7 {
            let found = pairs(&bits, distance);
            let expected: Vec<Pair> = (0..500_u32)
                .filter(|n| n % 9 <= distance)
                .map(|n| Pair {
                    first: n * 7,
                    second: 30_000 + n,
                    distance: n % 9,
                })
                .collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_million_equal_ones_make_a_million_pairs() {
        let found = pairs(&vec![mix(5); 1_000_000], 3);
        assert_eq!(found.len(), 999_999);
        assert!(
            found
                .iter()
                .all(|pair| pair.first == 0 && pair.distance == 0)
        );
    }

    /// Sharing a half would mean a billion comparisons.
    #[test]
    fn forty_thousand_that_share_a_half_do_not_take_quadratic_time() {
        let mut bits: Vec<u64> = (0..40_000).map(|n| mix(n) >> 32).collect();
        bits.sort_unstable();
        bits.dedup();
        for distance in [1, 3] {
            let found = pairs(&bits, distance);
            let sample: Vec<Pair> = found
                .iter()
                .copied()
                .filter(|pair| pair.second < 3_000)
                .collect();
            assert_eq!(sample, oracle(&bits[..3_000], distance));
            assert!(
                found.is_sorted_by(|one, other| one < other),
                "a pair came twice"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn at_every_distance_the_pairs_are_those_of_all_with_all(
            seeds in prop::collection::vec((0_u64..30, 0_u32..10, any::<u64>()), 0..700),
        ) {
            let bits: Vec<u64> = clustered(&seeds).into_iter().map(|(bits, _)| bits).collect();
            for distance in 0..=7 {
                prop_assert_eq!(pairs(&bits, distance), oracle(&bits, distance));
            }
        }

        #[test]
        fn a_crowd_is_paired_like_any_other(
            seeds in prop::collection::vec((0_u64..3, 0_u32..12, any::<u64>()), 600..1_200),
            distance in 1..=7_u32,
        ) {
            let mut bits: Vec<u64> = clustered(&seeds).into_iter().map(|(bits, _)| bits).collect();
            bits.sort_unstable();
            bits.dedup();
            let mut crowd: Vec<NumberedFingerprint> =
                bits.iter()
                    .zip(0..)
                    .map(|(&bits, number)| NumberedFingerprint { bits, number })
                    .collect();
            let mut found = Vec::new();
            pairs_in_crowd(&mut crowd, u64::MAX, distance, &mut |one, other| {
                let (first, second) = (one.number.min(other.number), one.number.max(other.number));
                found.push(Pair { first, second, distance: (one.bits ^ other.bits).count_ones() });
            });
            found.sort_unstable();
            prop_assert_eq!(found, oracle(&bits, distance));
        }
    }
}
