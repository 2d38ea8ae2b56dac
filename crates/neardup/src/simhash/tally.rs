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
use crate::features::Weights;
use crate::simd;
use crate::simd::instructions::Instructions;

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
    /// Creates a tally that is quickest for about as many features as `expected`, repetitions
    /// included.
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

    /// Returns the votes of all distinct features.
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

/// Returns all of `hashes` that would have to be taken out for each to be there once.
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
