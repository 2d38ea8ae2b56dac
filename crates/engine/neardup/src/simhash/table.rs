//! A table that counts equal hashes without pairwise comparison or sorting.
//!
//! The table has a slot for each value of a hash's top bits. The first hash in a slot owns it
//! permanently. A hash that finds another owner goes to the list of losers, and so do all hashes
//! equal to it, so the counts of owners are exact. The losers are counted in the same way by other
//! bits, in a further part of the table that fits the list's size. After a few rounds the rest is
//! sorted, so crafted hashes cost at most a sort. A round has no branch that depends on the hashes,
//! so the processor never mispredicts.
//!
//! The first slot of each part initially belongs to a value that is never a feature in this slot,
//! so that 0 can mean "no owner" elsewhere.

use super::votes::{self, Votes};
use super::weights::weight_of;
use crate::features::Weights;
use crate::simd::instructions::Instructions;

/// Minimum and maximum number of slots of a part, as powers of two: a part takes at most 1 GiB.
const LEAST: u32 = 6;
const GREATEST: u32 = 27;

/// A count of features: the owners of slots, and the losers.
pub(crate) struct Table {
    pub(super) owners: Vec<u64>,
    /// Number of occurrences of each owner.
    pub(super) counts: Vec<u32>,
    /// Other hashes of this round, with repetitions.
    pub(super) losers: Vec<u64>,
    /// Start of this round's part.
    pub(super) part: usize,
    /// Number of high bits, and then of low bits, to drop from a hash to get its slot.
    pub(super) shift: u32,
    pub(super) drop: u32,
    pub(super) weights: Weights,
    pub(super) instructions: Instructions,
}

impl Table {
    /// Creates a table that is fastest for about `expected` different hashes.
    pub(crate) fn new(weights: Weights, expected: usize, instructions: Instructions) -> Self {
        let slots = 1 << bits_for(expected);
        // The later parts together are a third of the first part.
        let room = slots + slots / 3;
        let mut table = Self {
            owners: Vec::with_capacity(room),
            counts: Vec::with_capacity(room),
            losers: Vec::with_capacity(expected),
            part: 0,
            shift: 0,
            drop: 0,
            weights,
            instructions,
        };
        table.begin_part(expected, 0);
        table
    }

    pub(super) fn begin_part(&mut self, expected: usize, shift: u32) {
        let bits = bits_for(expected);
        self.part = self.owners.len();
        let end = self.part + (1 << bits);
        self.owners.resize(end, 0);
        self.owners[self.part] = u64::MAX;
        self.counts.resize(end, 0);
        (self.shift, self.drop) = (shift, 64 - bits);
    }

    /// Returns all distinct features with their counts, in an unspecified order. Call it after
    /// [`finish`](Self::finish).
    pub(crate) fn counts(&self) -> Vec<(u64, u32)> {
        let mut counts = Vec::with_capacity(self.owners.len() / 2);
        let owned = self.owners.iter().zip(&self.counts);
        counts.extend(
            owned
                .filter(|(_, count)| **count > 0)
                .map(|(owner, count)| (*owner, *count)),
        );
        let left = self.losers.chunk_by(|one, other| one == other);
        counts.extend(left.map(|equal| (equal[0], equal.len() as u32)));
        counts
    }
}

fn bits_for(expected: usize) -> u32 {
    let slots = expected.saturating_mul(2).checked_next_power_of_two();
    slots
        .map_or(GREATEST, usize::trailing_zeros)
        .clamp(LEAST, GREATEST)
}

/// Counts one more occurrence of each of `hashes`.
#[inline(always)]
pub(crate) fn count(table: &mut Table, hashes: &[u64]) {
    let (owners, counts) = (
        &mut table.owners[table.part..],
        &mut table.counts[table.part..],
    );
    let (shift, drop) = (table.shift, table.drop);
    let mut lost = table.losers.len();
    table.losers.resize(lost + hashes.len(), 0);
    let losers = &mut table.losers[..];
    for &hash in hashes {
        let slot = ((hash << shift) >> drop) as usize;
        let before = owners[slot];
        let owner = if before == 0 { hash } else { before };
        owners[slot] = owner;
        counts[slot] += u32::from(owner == hash);
        losers[lost] = hash;
        lost += usize::from(owner != hash);
    }
    table.losers.truncate(lost);
}

/// Adds the votes of owners that occurred more than once, and zeroes these owners; returns the
/// number of remaining owners, which occurred once.
#[inline(always)]
pub(crate) fn settle(table: &mut Table, votes: &mut Votes) -> u64 {
    const HASHES_PER_STEP: usize = 256;
    // Most features occur once and vote together: only the others need their weights.
    let mut places = [0_u16; HASHES_PER_STEP];
    let mut often = [(0, 0); HASHES_PER_STEP];
    let mut once = 0;
    let counts = table.counts.chunks(HASHES_PER_STEP);
    for (owners, counts) in table.owners.chunks_mut(HASHES_PER_STEP).zip(counts) {
        let mut several = 0;
        for (place, &count) in counts.iter().enumerate() {
            places[several % HASHES_PER_STEP] = place as u16;
            several += usize::from(count > 1);
        }
        let often = &mut often[..several];
        for (feature, &place) in often.iter_mut().zip(&places) {
            let (owner, count) = (owners[usize::from(place)], counts[usize::from(place)]);
            *feature = (owner, weight_of(table.weights, count));
        }
        votes::vote_weighted(votes, often);
        for (owner, &count) in owners.iter_mut().zip(counts) {
            let single = u64::from(count == 1);
            *owner &= single.wrapping_neg();
            once += single;
        }
    }
    once
}
