//! The reference for tests of the tables: a scan of everything.

use super::Neighbour;
use crate::mix::mix;

/// Returns `bits` with `flips` different bits flipped, chosen by `seed`.
pub(super) fn neighbour(bits: u64, flips: u32, seed: u64) -> u64 {
    let mut changed = bits;
    for position in (0..).map(|step| mix(mix(seed) + step) % 64) {
        if (changed ^ bits).count_ones() == flips {
            break;
        }
        changed |= (!bits) & (1 << position);
        changed &= !(bits & (1 << position));
    }
    changed
}

/// Returns all of `held` within `distance` bits of `probe`, in the order of the tables.
pub(super) fn brute_force(held: &[(u64, u32)], probe: u64, distance: u32) -> Vec<Neighbour> {
    let all = held.iter().map(|&(bits, id)| Neighbour {
        distance: (bits ^ probe).count_ones(),
        id,
    });
    let mut found: Vec<Neighbour> = all.filter(|found| found.distance <= distance).collect();
    found.sort_unstable();
    found
}

/// Returns fingerprints in clusters, so that distances on both sides of every k occur: one for each
/// (centre, flips, seed).
pub(super) fn clustered(seeds: &[(u64, u32, u64)]) -> Vec<(u64, u32)> {
    let seeds = seeds.iter().zip(0..);
    seeds
        .map(|(&(centre, flips, seed), id)| (neighbour(mix(centre), flips, seed), id))
        .collect()
}
