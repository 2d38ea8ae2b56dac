//! The votes of a simhash: the weight for each bit, and the total weight.

use crate::features::Ties;
use crate::fingerprint::Fingerprint;

/// Votes on 64 bits. All sums are exact: there are at most 2³⁰ features, and each weighs less than
/// 2³².
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Votes {
    /// For each bit, the weight of all features whose hash has the bit set.
    pub(super) ones: [u64; 64],
    /// Weight of all features.
    pub(super) total: u64,
}

impl Votes {
    pub(crate) const fn new() -> Self {
        Self {
            ones: [0; 64],
            total: 0,
        }
    }

    /// Returns the fingerprint: a bit is 1 if the weight for it outweighs the rest. A tie gives 0.
    pub(crate) fn decided(&self) -> Fingerprint {
        self.decided_by(Ties::Drop)
    }

    /// Returns the fingerprint with another rule for ties.
    pub(crate) fn decided_by(&self, ties: Ties) -> Fingerprint {
        let wins = |ones: u64| match ties {
            Ties::Drop => 2 * ones > self.total,
            Ties::One => 2 * ones >= self.total,
        };
        let bits = (0..64).filter(|&bit| wins(self.ones[bit]));
        Fingerprint::new(bits.fold(0, |bits, bit| bits | 1 << bit))
    }
}

/// Adds each weight to the sums of the bits that are set in its hash.
#[inline(always)]
pub(crate) fn vote_weighted(votes: &mut Votes, features: &[(u64, u32)]) {
    let mut ones = votes.ones;
    for &(hash, weight) in features {
        let weight = u64::from(weight);
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += weight & 0_u64.wrapping_sub(hash >> bit & 1);
        }
        votes.total += weight;
    }
    votes.ones = ones;
}
