//! Positions of the journal by 64-bit hashes, which need not differ: 12 bytes each.
//!
//! 48 bits of each hash are kept: two of a million have the same with a chance of 1 in 500, so that
//! callers compare what they find. Sorted runs of geometrically decreasing lengths (the logarithmic
//! method: Bentley and Saxe, J. Algorithms 1(4), 1980), the newest last. Invariant: the positions
//! of a key are found in insertion order.

use journal::Position;

use crate::limits::MAX_INDEXED;

/// Entries of a run before it is sorted.
const SHORTEST_RUN: usize = 4_096;

/// Bits of a position, enough for 256 TiB.
const POSITION_BITS: u32 = 48;

/// Maximum position that is kept.
pub(crate) const MAX_POSITION: Position = (1 << POSITION_BITS) - 1;

/// The first 48 bits of a key, and a position that came with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry([u32; 3]);

impl Entry {
    fn of(key: u64, position: Position) -> Self {
        let bits = u128::from(kept(key)) << POSITION_BITS | u128::from(position);
        Self([(bits >> 64) as u32, (bits >> 32) as u32, bits as u32])
    }

    /// Returns the kept bits of the key.
    fn key(self) -> u64 {
        u64::from(self.0[0]) << 16 | u64::from(self.0[1] >> 16)
    }

    fn position(self) -> Position {
        u64::from(self.0[1] & 0xffff) << 32 | u64::from(self.0[2])
    }
}

/// Returns the bits of a key that are kept.
fn kept(key: u64) -> u64 {
    key >> 16
}

/// Positions by keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Positions {
    runs: Vec<Vec<Entry>>,
    /// The newest entries, in insertion order.
    recent: Vec<Entry>,
}

impl Positions {
    /// Adds a position. Ignores positions beyond [`MAX_POSITION`], and any beyond [`MAX_INDEXED`]
    /// entries.
    pub(crate) fn insert(&mut self, key: u64, position: Position) {
        if position > MAX_POSITION {
            return;
        }
        if self.recent.len() == SHORTEST_RUN {
            if self.len() + SHORTEST_RUN > MAX_INDEXED {
                return;
            }
            self.sort_recent();
        }
        self.recent.push(Entry::of(key, position));
    }

    /// Returns the last position of a key.
    pub(crate) fn last(&self, key: u64) -> Option<Position> {
        let key = kept(key);
        let recent = self.recent.iter().rev().find(|entry| entry.key() == key);
        let sorted = || {
            self.runs
                .iter()
                .rev()
                .find_map(|run| of_key(run, key).last())
        };
        recent.or_else(sorted).map(|entry| entry.position())
    }

    /// Returns all positions of a key, in insertion order.
    pub(crate) fn all(&self, key: u64) -> impl Iterator<Item = Position> {
        let key = kept(key);
        let sorted = self.runs.iter().flat_map(move |run| of_key(run, key));
        let recent = self.recent.iter().filter(move |entry| entry.key() == key);
        sorted.chain(recent).map(|entry| entry.position())
    }

    fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).sum::<usize>() + self.recent.len()
    }

    /// Makes a run of the newest entries, and merges runs of similar lengths.
    fn sort_recent(&mut self) {
        // Stable, so that the last entry of a key stays the last.
        self.recent.sort_by_key(|entry| entry.key());
        let mut run = std::mem::take(&mut self.recent);
        while let Some(mut older) = self.runs.pop_if(|older| older.len() < 2 * run.len()) {
            merge(&mut older, &run);
            run = older;
        }
        self.runs.push(run);
    }
}

/// Returns the entries of the kept bits of a key in a sorted run.
fn of_key(run: &[Entry], key: u64) -> &[Entry] {
    let first = run.partition_point(|entry| entry.key() < key);
    let run = &run[first..];
    &run[..run.partition_point(|entry| entry.key() == key)]
}

/// Merges a run into an older one, behind the entries of the same key. From the end on, so that it
/// needs no room for a third run.
fn merge(older: &mut Vec<Entry>, newer: &[Entry]) {
    let (mut left, mut right) = (older.len(), newer.len());
    older.reserve_exact(right);
    older.extend_from_slice(newer);
    while right > 0 {
        let last = left + right - 1;
        let is_older_last = left > 0 && older[left - 1].key() > newer[right - 1].key();
        older[last] = if is_older_last {
            left -= 1;
            older[left]
        } else {
            right -= 1;
            newer[right]
        };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn the_positions_of_a_key_are_found_in_the_order_in_which_they_came() {
        let (mut positions, mut oracle) = (Positions::default(), HashMap::new());
        let mut drawn = 1_u64;
        for position in 0..50_000 {
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(7);
            let key = (drawn >> 49) << 20;
            // Positions of all lengths.
            let position = position << (drawn >> 20 & 31);
            positions.insert(key, position);
            oracle.entry(key).or_insert_with(Vec::new).push(position);
        }
        assert!(positions.runs.len() > 1, "more than one run is searched");
        for key in (0..1 << 15).map(|key| key << 20) {
            let expected = oracle.remove(&key).unwrap_or_default();
            assert_eq!(positions.last(key), expected.last().copied());
            assert_eq!(positions.all(key).collect::<Vec<_>>(), expected);
        }
        positions.insert(7 << 40, MAX_POSITION + 1);
        assert_eq!(positions.last(7 << 40), None);
    }
}
