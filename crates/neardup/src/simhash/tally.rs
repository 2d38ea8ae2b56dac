//! Which features there are, and how often: what votes.
//!
//! Where a feature weighs as much as it occurs, all hashes vote, and that is all. Where it weighs
//! less, counts are made in a [`Table`]. Where it weighs the same however often it occurs, all
//! hashes vote and then repetitions are taken out: each hash writes its place in the list to a slot
//! that some of its bits name. Who finds his own place there afterwards came last and stays; who
//! finds the place of an equal hash is a repetition; who finds the place of another hash goes to a
//! shorter list, in which the same is done by other bits. Shingles seldom repeat, so the first list
//! is almost all there is to do, and it is gone through twice without a branch. What is left after
//! a few rounds is sorted, so crafted hashes cost no more than a sort.

use super::table::Table;
use super::votes::Votes;
use crate::Weights;
use crate::simd::{self, Instructions};

/// Takes in features and adds up the votes of the distinct ones.
pub(crate) struct Tally {
    instructions: Instructions,
    strategy: Strategy,
}

enum Strategy {
    Counting(Table),
    /// All hashes so far.
    Once(Vec<u64>),
    /// The votes so far, and hashes that have not voted yet.
    All(Box<Votes>, Vec<u64>),
}

/// So many hashes vote together where all vote: fewer would spend their time on the sums.
const TOGETHER: usize = 1 << 13;

impl Tally {
    /// A tally that is quickest for about as many features as `expected`, repetitions included.
    pub(crate) fn new(weights: Weights, expected: usize, instructions: Instructions) -> Self {
        let strategy = match weights {
            Weights::None => Strategy::Once(Vec::with_capacity(expected + expected / 4)),
            Weights::Tf => Strategy::All(
                Box::new(Votes::new()),
                Vec::with_capacity(expected.min(TOGETHER) + TOGETHER / 8),
            ),
            // Of six thousand words one third are different.
            _ => Strategy::Counting(Table::new(weights, expected / 3, instructions)),
        };
        Self {
            instructions,
            strategy,
        }
    }

    /// Takes in the hashes of features, each as often as it occurs.
    pub(crate) fn add(&mut self, hashes: &[u64]) {
        match &mut self.strategy {
            Strategy::Counting(table) => table.add(hashes),
            Strategy::Once(all) => all.extend_from_slice(hashes),
            Strategy::All(votes, waiting) => {
                waiting.extend_from_slice(hashes);
                vote_if_many(votes, waiting, self.instructions);
            }
        }
    }

    /// Takes in what `write` appends.
    pub(crate) fn add_written(
        &mut self,
        scratch: &mut Vec<u64>,
        write: impl FnOnce(&mut Vec<u64>),
    ) {
        match &mut self.strategy {
            Strategy::Counting(table) => {
                scratch.clear();
                write(scratch);
                table.add(scratch);
            }
            Strategy::Once(all) => write(all),
            Strategy::All(votes, waiting) => {
                write(waiting);
                vote_if_many(votes, waiting, self.instructions);
            }
        }
    }

    /// The votes of all distinct features.
    pub(crate) fn votes(self) -> Votes {
        let mut votes = Votes::new();
        match self.strategy {
            Strategy::Counting(mut table) => {
                table.finish();
                table.vote(&mut votes);
            }
            Strategy::All(before, waiting) => {
                votes = *before;
                votes.add_alike(&waiting, waiting.len(), 1, self.instructions);
            }
            Strategy::Once(all) => {
                votes.add_alike(&all, all.len(), 1, self.instructions);
                let repetitions = repetitions(&all, self.instructions);
                if !repetitions.is_empty() {
                    votes.remove(&repetitions, self.instructions);
                }
            }
        }
        votes
    }
}

fn vote_if_many(votes: &mut Votes, waiting: &mut Vec<u64>, instructions: Instructions) {
    if waiting.len() >= TOGETHER {
        votes.add_alike(waiting, waiting.len(), 1, instructions);
        waiting.clear();
    }
}

/// How often repetitions are looked for before what is left is sorted.
const ROUNDS: u32 = 5;
/// Fewer are sorted at once.
const FEW: usize = 32;

/// All of `hashes` that would have to be taken out for each to be there once.
fn repetitions(hashes: &[u64], instructions: Instructions) -> Vec<u64> {
    let mut repetitions = Vec::new();
    let mut left = Vec::new();
    simd::find_repetitions(instructions, hashes, 0, &mut repetitions, &mut left);
    for round in 1..ROUNDS {
        if left.len() < FEW {
            break;
        }
        let before = std::mem::take(&mut left);
        simd::find_repetitions(
            instructions,
            &before,
            12 * round,
            &mut repetitions,
            &mut left,
        );
    }
    left.sort_unstable();
    for equal in left.chunk_by(|one, other| one == other) {
        repetitions.extend_from_slice(&equal[1..]);
    }
    repetitions
}

/// Appends those of `hashes` that repeat another one to `repetitions`, and puts those of which that
/// remains to be seen into `left`, equal ones together. Slots are named by the bits from bit `64 -
/// shift` downwards.
#[inline(always)]
pub(crate) fn find_repetitions(
    hashes: &[u64],
    shift: u32,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    match hashes.len() {
        0..=0xffff => find_by_places::<u16>(hashes, shift, 4, repetitions, left),
        _ => find_by_places::<u32>(hashes, shift, 2, repetitions, left),
    }
}

/// A place in a list; the narrower it is, the more slots fit into the first cache.
trait SlotIndex: Copy + PartialEq {
    const FIRST: Self;
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

impl SlotIndex for u16 {
    const FIRST: Self = 0;
    #[inline(always)]
    fn of(index: usize) -> Self {
        index as u16
    }
    #[inline(always)]
    fn index(self) -> usize {
        usize::from(self)
    }
}

impl SlotIndex for u32 {
    const FIRST: Self = 0;
    #[inline(always)]
    fn of(index: usize) -> Self {
        index as u32
    }
    #[inline(always)]
    fn index(self) -> usize {
        self as usize
    }
}

#[inline(always)]
fn find_by_places<P: SlotIndex>(
    hashes: &[u64],
    shift: u32,
    slots: usize,
    repetitions: &mut Vec<u64>,
    left: &mut Vec<u64>,
) {
    let bits = (slots * hashes.len() / 2)
        .next_power_of_two()
        .trailing_zeros()
        .clamp(1, 28);
    let slot = |hash: u64| ((hash << shift) >> (64 - bits)) as usize;
    let mut places = vec![P::FIRST; 1 << bits];
    let places = &mut places[..];
    for (index, &hash) in hashes.iter().enumerate() {
        places[slot(hash)] = P::of(index);
    }

    left.clear();
    left.resize(hashes.len(), 0);
    let found = find_not_last(hashes, places, shift, 64 - bits, left);
    left.truncate(found);
    let not_last = std::mem::take(left);
    left.resize(found, 0);
    let others = &mut left[..found];
    let first = repetitions.len();
    repetitions.resize(first + found, 0);
    let same = &mut repetitions[first..];
    let (mut equal, mut unequal) = (0, 0);
    for &hash in &not_last {
        let repeats = hashes[places[slot(hash)].index()] == hash;
        (same[equal], others[unequal]) = (hash, hash);
        equal += usize::from(repeats);
        unequal += usize::from(!repeats);
    }
    left.truncate(unequal);
    repetitions.truncate(first + equal);
}

/// Copies to `found` what is not the last one in its slot; returns how many that are.
#[inline(always)]
fn find_not_last<P: SlotIndex>(
    hashes: &[u64],
    places: &[P],
    shift: u32,
    drop: u32,
    found: &mut [u64],
) -> usize {
    let mut count = 0;
    for (index, &hash) in hashes.iter().enumerate() {
        found[count] = hash;
        let slot = ((hash << shift) >> drop) as usize;
        count += usize::from(places[slot] != P::of(index));
    }
    count
}
