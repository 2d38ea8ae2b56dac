//! The counts of a text's features, which their votes are computed from.
//!
//! If the weight of a feature is its number of occurrences (tf), all hashes vote. If the weight is
//! smaller (log-tf), a [`Table`] counts the hashes. If the weight is constant (none), all hashes
//! vote and then [repetitions](super::repetitions) are removed: shingles seldom repeat, so the
//! first round, which reads the list twice without a branch, does nearly all of the work. After a
//! few rounds the rest is sorted, so crafted hashes cost at most a sort.

use super::table::Table;
use super::votes::Votes;
use crate::features::Weights;
use crate::simd;
use crate::simd::instructions::Instructions;

/// A collector of features that adds up the votes of distinct features.
pub(crate) struct BitCounts {
    instructions: Instructions,
    strategy: Strategy,
}

enum Strategy {
    Counting(Table),
    /// All hashes so far; repetitions are removed at the end.
    Once(Vec<u64>),
    /// Votes so far, and hashes that have not voted yet.
    All(Box<Votes>, Vec<u64>),
}

/// Number of hashes that vote together if all vote. With fewer, the sums would take most of the
/// time.
const HASHES_PER_VOTE: usize = 1 << 13;

impl BitCounts {
    /// Creates counts that are fastest for about `expected` features, repetitions included.
    pub(crate) fn new(weights: Weights, expected: usize, instructions: Instructions) -> Self {
        let strategy = match weights {
            Weights::None => Strategy::Once(Vec::with_capacity(expected + expected / 4)),
            Weights::Tf => Strategy::All(
                Box::new(Votes::new()),
                Vec::with_capacity(expected.min(HASHES_PER_VOTE) + HASHES_PER_VOTE / 8),
            ),
            // In six thousand words, a third are different.
            _ => Strategy::Counting(Table::new(weights, expected / 3, instructions)),
        };
        Self {
            instructions,
            strategy,
        }
    }

    /// Adds the hashes of features, each given as often as it occurs.
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

    /// Adds the hashes that `write` appends.
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
    if waiting.len() >= HASHES_PER_VOTE {
        votes.add_alike(waiting, waiting.len(), 1, instructions);
        waiting.clear();
    }
}

/// Number of rounds that look for repetitions before the rest is sorted.
const ROUNDS: u32 = 5;
/// With fewer hashes than this, the rest is sorted at once.
const MIN_HASHES_FOR_ROUND: usize = 32;

/// Returns the hashes to remove so that each hash remains once.
fn repetitions(hashes: &[u64], instructions: Instructions) -> Vec<u64> {
    let mut repetitions = Vec::new();
    let mut left = Vec::new();
    simd::find_repetitions(instructions, hashes, 0, &mut repetitions, &mut left);
    for round in 1..ROUNDS {
        if left.len() < MIN_HASHES_FOR_ROUND {
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
