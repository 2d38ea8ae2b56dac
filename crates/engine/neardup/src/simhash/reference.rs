//! The definition of a simhash, bit by bit, which every faster variant must equal.

use std::collections::BTreeMap;

use super::weights::weight_of;
use crate::features::Weights;
use crate::fingerprint::Fingerprint;

/// Returns the fingerprint of features with these hashes, each given as often as it occurs.
pub(crate) fn simhash(hashes: &[u64], weights: Weights) -> Fingerprint {
    let mut counts = BTreeMap::new();
    for hash in hashes {
        *counts.entry(*hash).or_insert(0) += 1;
    }
    let features = counts
        .into_iter()
        .map(|(hash, count)| (hash, weight_of(weights, count)));
    weighted(&features.collect::<Vec<_>>())
}

/// Returns the fingerprint of features with these hashes and weights: bit *i* is 1 if the features
/// with bit *i* set outweigh the others.
pub(crate) fn weighted(features: &[(u64, u32)]) -> Fingerprint {
    let mut bits = 0;
    for bit in 0..64 {
        let votes = features.iter().map(|&(hash, weight)| {
            let weight = i64::from(weight);
            if hash >> bit & 1 == 1 {
                weight
            } else {
                -weight
            }
        });
        if votes.sum::<i64>() > 0 {
            bits |= 1 << bit;
        }
    }
    Fingerprint::new(bits)
}
