//! Counting features and adding votes with the instructions of the processor.
//!
//! The loops are in [`table`](super::table) and [`votes`](super::votes), independent of
//! instructions; [`simd`] compiles them for each set.

use super::table::Table;
use super::votes::Votes;
use super::weights::weight_of;
use crate::simd;
use crate::simd::instructions::Instructions;

/// Number of rounds that count the remaining hashes with a table before they are sorted.
const ROUNDS: u32 = 4;

impl Table {
    /// Counts the hashes of features, each given as often as it occurs.
    pub(crate) fn add(&mut self, hashes: &[u64]) {
        simd::count(self.instructions, self, hashes);
    }

    /// Counts the losers of the first part. Add no features after this.
    pub(crate) fn finish(&mut self) {
        for round in 1..=ROUNDS {
            // The first slot no longer has an owner: 0 is not a feature.
            self.owners[self.part] = 0;
            if self.losers.is_empty() {
                break;
            }
            let losers = std::mem::take(&mut self.losers);
            // Among words that occur often, less than a third are different.
            self.begin_part(losers.len() / 3, 12 * round);
            self.add(&losers);
        }
        self.owners[self.part] = 0;
        self.losers.sort_unstable();
    }

    /// Adds the votes of all distinct features. Call it after [`finish`](Self::finish).
    pub(crate) fn vote(mut self, votes: &mut Votes) {
        let once = simd::settle(self.instructions, &mut self, votes);
        let weight = weight_of(self.weights, 1);
        votes.add_alike(&self.owners, once as usize, weight, self.instructions);
        for equal in self.losers.chunk_by(|one, other| one == other) {
            let weight = weight_of(self.weights, equal.len() as u32);
            votes.add_weighted(&[(equal[0], weight)], self.instructions);
        }
    }
}

impl Votes {
    /// Adds features that weigh `weight` each: `features` of the entries of `hashes`. The other
    /// entries are 0 and not features.
    pub(crate) fn add_alike(
        &mut self,
        hashes: &[u64],
        features: usize,
        weight: u32,
        instructions: Instructions,
    ) {
        let weight = u64::from(weight);
        for (sum, ones) in self
            .ones
            .iter_mut()
            .zip(simd::ones_in(instructions, hashes))
        {
            *sum += weight * ones;
        }
        self.total += weight * features as u64;
    }

    /// Removes features that were added with weight 1.
    pub(crate) fn remove(&mut self, hashes: &[u64], instructions: Instructions) {
        for (sum, ones) in self
            .ones
            .iter_mut()
            .zip(simd::ones_in(instructions, hashes))
        {
            *sum -= ones;
        }
        self.total -= hashes.len() as u64;
    }

    /// Adds features, each with its weight.
    pub(crate) fn add_weighted(&mut self, features: &[(u64, u32)], instructions: Instructions) {
        simd::vote_weighted(instructions, self, features);
    }
}
