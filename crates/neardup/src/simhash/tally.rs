//! How often each feature occurs: counting equal hashes without comparing them in pairs or sorting them.
//!
//! A table has a slot for each value of a hash's top bits. The first hash that comes to a slot owns it for good; a hash
//! that finds another owner goes to a list, and so do all that equal it. So the table is exact about its owners and the
//! list about the rest, which is counted in the same way, in a round with other bits and a table of its own size. What is
//! left after a few rounds is sorted: crafted hashes cost no more than a sort. A round has no branch that depends on the
//! hashes.
//!
//! Slot 0 is owned from the start by a value that no feature there can have, so 0 can mean "nobody" elsewhere.

use super::votes::Votes;
use super::weights::weight_of;
use crate::Weights;
use crate::simd::{self, Instructions};

/// The least and the greatest number of slots, as powers of two. More than 2²⁸ words do not fit into a text.
const LEAST: u32 = 6;
const GREATEST: u32 = 28;
/// How often what is left is counted with a table before it is sorted.
const ROUNDS: u32 = 4;

/// One round's owners and losers.
pub(crate) struct Table {
    owners: Vec<u64>,
    /// How often each owner came; empty where only whether it came is noted.
    counts: Vec<u32>,
    /// The other hashes, as often as they came.
    losers: Vec<u64>,
    /// Hashes are turned by so many bits to find their slots, and the lowest so many are then dropped.
    turn: u32,
    drop: u32,
}

impl Table {
    fn new(expected: usize, counting: bool, round: u32) -> Self {
        let bits = expected
            .next_power_of_two()
            .trailing_zeros()
            .clamp(LEAST, GREATEST);
        let mut owners = vec![0; 1 << bits];
        owners[0] = u64::MAX;
        Self {
            counts: if counting {
                vec![0; owners.len()]
            } else {
                Vec::new()
            },
            owners,
            losers: Vec::new(),
            turn: 17 * round,
            drop: 64 - bits,
        }
    }
}

/// Notes that each of `hashes` occurs.
#[inline(always)]
pub(crate) fn note(table: &mut Table, hashes: &[u64]) {
    let owners = &mut table.owners[..];
    let mut lost = table.losers.len();
    table.losers.resize(lost + hashes.len(), 0);
    for &hash in hashes {
        let slot = (hash.rotate_left(table.turn) >> table.drop) as usize;
        let before = owners[slot];
        let owner = if before == 0 { hash } else { before };
        owners[slot] = owner;
        table.losers[lost] = hash;
        lost += usize::from(owner != hash);
    }
    table.losers.truncate(lost);
}

/// Notes that each of `hashes` occurs once more.
#[inline(always)]
pub(crate) fn count(table: &mut Table, hashes: &[u64]) {
    let (owners, counts) = (&mut table.owners[..], &mut table.counts[..]);
    let mut lost = table.losers.len();
    table.losers.resize(lost + hashes.len(), 0);
    for &hash in hashes {
        let slot = (hash.rotate_left(table.turn) >> table.drop) as usize;
        let before = owners[slot];
        let owner = if before == 0 { hash } else { before };
        owners[slot] = owner;
        counts[slot] += u32::from(owner == hash);
        table.losers[lost] = hash;
        lost += usize::from(owner != hash);
    }
    table.losers.truncate(lost);
}

/// Counts features, then weighs and adds up the votes of the distinct ones.
pub(crate) struct Tally {
    weights: Weights,
    instructions: Instructions,
    table: Table,
}

impl Tally {
    /// A tally that is quickest for about as many hashes as `expected`.
    pub(crate) fn new(weights: Weights, expected: usize, instructions: Instructions) -> Self {
        Self {
            weights,
            instructions,
            table: Table::new(slots(weights, expected), weights != Weights::None, 0),
        }
    }

    /// Takes in the hashes of features, each as often as it occurs.
    pub(crate) fn add(&mut self, hashes: &[u64]) {
        if self.weights == Weights::None {
            simd::note(self.instructions, &mut self.table, hashes);
        } else {
            simd::count(self.instructions, &mut self.table, hashes);
        }
    }

    /// The votes of all distinct features.
    pub(crate) fn votes(mut self) -> Votes {
        let mut votes = Votes::new();
        for round in 1..=ROUNDS {
            let losers = self.settle(&mut votes);
            if losers.is_empty() {
                return votes;
            }
            let expected = slots(self.weights, losers.len());
            self.table = Table::new(expected, self.weights != Weights::None, round);
            self.add(&losers);
        }
        let mut left = self.settle(&mut votes);
        left.sort_unstable();
        let count = |equal: &[u64]| (equal[0], weight_of(self.weights, equal.len() as u32));
        let features: Vec<(u64, u32)> = left.chunk_by(|one, other| one == other).map(count).collect();
        votes.add_weighted(&features, self.instructions);
        votes
    }

    /// Adds the votes of the owners, and gives back the losers.
    fn settle(&mut self, votes: &mut Votes) -> Vec<u64> {
        let Table {
            owners,
            counts,
            losers,
            ..
        } = &mut self.table;
        owners[0] = 0;
        if self.weights == Weights::None {
            let features = owners.iter().filter(|&&owner| owner != 0).count();
            votes.add(owners, features, self.instructions);
            return std::mem::take(losers);
        }
        // Most features occur once: only the others are worth their weights.
        let mut often = vec![(0, 0); owners.len()];
        let (mut several, mut once) = (0, 0);
        for (owner, &count) in owners.iter_mut().zip(counts.iter()) {
            often[several] = (*owner, count);
            several += usize::from(count > 1);
            once += usize::from(count == 1);
            *owner = if count == 1 { *owner } else { 0 };
        }
        often.truncate(several);
        for (_, weight) in &mut often {
            *weight = weight_of(self.weights, *weight);
        }
        votes.add_alike(owners, once, weight_of(self.weights, 1), self.instructions);
        votes.add_weighted(&often, self.instructions);
        std::mem::take(losers)
    }
}

/// How many slots are quickest for so many hashes: shingles seldom repeat, words do.
fn slots(weights: Weights, hashes: usize) -> usize {
    if weights == Weights::None {
        hashes.saturating_mul(2)
    } else {
        hashes
    }
}
