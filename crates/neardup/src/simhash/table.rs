//! A table that counts equal hashes without comparing them in pairs or sorting them.
//!
//! It has a slot for each value of a hash's top bits. The first hash that comes to a slot owns it
//! for good; a hash that finds another owner goes to a list, and so do all that equal it. So the
//! table is exact about its owners and the list about the rest, which is counted in the same way:
//! in a further part of the table, of the list's size, by other bits. What is left after a few
//! rounds is sorted, so crafted hashes cost no more than a sort. A round has no branch that depends
//! on the hashes, and so none that the processor could mispredict.
//!
//! The first slot of each part is owned from the start by a value that no feature there can have,
//! so that 0 can mean "nobody" elsewhere.

use super::votes::{self, Votes};
use super::weights::weight_of;
use crate::Weights;
use crate::simd::{self, Instructions};

/// The least and the greatest number of slots of a part, as powers of two: no part takes more than
/// 1 GiB.
const LEAST: u32 = 6;
const GREATEST: u32 = 27;
/// How often what is left is counted with a table before it is sorted.
const ROUNDS: u32 = 4;

/// Owners and losers.
pub(crate) struct Table {
    owners: Vec<u64>,
    /// How often each owner came.
    counts: Vec<u32>,
    /// The other hashes of this round, as often as they came.
    losers: Vec<u64>,
    /// Where this round's part starts.
    part: usize,
    /// Without so many of the highest bits, and then of the lowest, a hash is the number of its
    /// slot.
    shift: u32,
    drop: u32,
    weights: Weights,
    instructions: Instructions,
}

impl Table {
    /// A table that is quickest for about as many different hashes as `expected`.
    pub(crate) fn new(weights: Weights, expected: usize, instructions: Instructions) -> Self {
        let slots = 1 << bits_for(expected);
        // The parts that come later are a third of the first one together.
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

    fn begin_part(&mut self, expected: usize, shift: u32) {
        let bits = bits_for(expected);
        self.part = self.owners.len();
        let end = self.part + (1 << bits);
        self.owners.resize(end, 0);
        self.owners[self.part] = u64::MAX;
        self.counts.resize(end, 0);
        (self.shift, self.drop) = (shift, 64 - bits);
    }

    /// Takes in the hashes of features, each as often as it occurs.
    pub(crate) fn add(&mut self, hashes: &[u64]) {
        simd::count(self.instructions, self, hashes);
    }

    /// Counts what the first part could not: after this nothing may be added.
    pub(crate) fn finish(&mut self) {
        for round in 1..=ROUNDS {
            // Nobody owns the first slot any more: 0 is no feature.
            self.owners[self.part] = 0;
            if self.losers.is_empty() {
                break;
            }
            let losers = std::mem::take(&mut self.losers);
            // Of words that occur often there are fewer than a third as many.
            self.begin_part(losers.len() / 3, 12 * round);
            self.add(&losers);
        }
        self.owners[self.part] = 0;
        self.losers.sort_unstable();
    }

    /// All distinct features and how often each was added, in no order that matters; after
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

    /// Adds the votes of all distinct features; after [`finish`](Self::finish).
    pub(crate) fn vote(mut self, votes: &mut Votes) {
        simd::settle(self.instructions, &mut self, votes);
        for equal in self.losers.chunk_by(|one, other| one == other) {
            let weight = weight_of(self.weights, equal.len() as u32);
            votes.add_weighted(&[(equal[0], weight)], self.instructions);
        }
    }
}

fn bits_for(expected: usize) -> u32 {
    let slots = expected.saturating_mul(2).checked_next_power_of_two();
    slots
        .map_or(GREATEST, usize::trailing_zeros)
        .clamp(LEAST, GREATEST)
}

/// Notes that each of `hashes` occurs once more.
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

/// Adds the votes of all owners by their counts, and leaves those that came once.
#[inline(always)]
pub(crate) fn settle(table: &mut Table, votes: &mut Votes) {
    const TOGETHER: usize = 256;
    // Most features occur once and vote together: only the others are worth their weights.
    let mut places = [0_u16; TOGETHER];
    let mut often = [(0, 0); TOGETHER];
    let mut once = 0;
    let counts = table.counts.chunks(TOGETHER);
    for (owners, counts) in table.owners.chunks_mut(TOGETHER).zip(counts) {
        let mut several = 0;
        for (place, &count) in counts.iter().enumerate() {
            places[several % TOGETHER] = place as u16;
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
    let weight = weight_of(table.weights, 1);
    votes.add_alike(&table.owners, once as usize, weight, table.instructions);
}
