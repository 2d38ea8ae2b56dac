//! The entries under each digest, the earliest first.
//!
//! Nearly every digest has one entry, which costs one slot of a hash map. Entries that repeat a
//! digest are in an ordered set. Invariant: the entry in the map is the earliest of its key.

use std::collections::{BTreeSet, HashMap};

/// Positions of entries by half of a digest; the caller compares a hit with the whole digest.
#[derive(Clone, Debug, Default)]
pub(super) struct Equals {
    first: HashMap<u64, u32>,
    /// The positions after the first, by key.
    later: BTreeSet<(u64, u32)>,
}

impl Equals {
    /// Adds `place`, which must be greater than all earlier ones.
    pub(super) fn insert(&mut self, key: u64, place: u32) {
        if *self.first.entry(key).or_insert(place) != place {
            self.later.insert((key, place));
        }
    }

    /// Removes `place`.
    pub(super) fn remove(&mut self, key: u64, place: u32) {
        if self.first.get(&key) != Some(&place) {
            self.later.remove(&(key, place));
            return;
        }
        let next = self.later.range((key, 0)..=(key, u32::MAX)).next().copied();
        match next {
            Some((_, next)) => {
                self.later.remove(&(key, next));
                self.first.insert(key, next);
            }
            None => {
                self.first.remove(&key);
            }
        }
    }

    /// Returns the positions under `key`, ascending.
    pub(super) fn under(&self, key: u64) -> impl Iterator<Item = u32> {
        let first = self.first.get(&key).copied();
        // If the first is missing, the range is empty: then there are no later ones either.
        let later = first.map(|_| self.later.range((key, 0)..=(key, u32::MAX)));
        let later = later.into_iter().flatten().map(|(_, place)| *place);
        first.into_iter().chain(later)
    }

    /// Returns the approximate number of bytes held.
    pub(super) fn memory(&self) -> usize {
        self.first.capacity() * (size_of::<(u64, u32)>() + 1)
            // The nodes of the tree are three quarters full.
            + self.later.len() * size_of::<(u64, u32)>() * 4 / 3
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_places_under_a_key_are_those_inserted_and_not_removed_in_their_order(
            changes in prop::collection::vec((0_u64..4, any::<bool>()), 0..60),
        ) {
            let (mut equals, mut expected) = (Equals::default(), Vec::<(u64, u32)>::new());
            for (place, (key, is_insertion)) in (0..).zip(changes) {
                if is_insertion {
                    equals.insert(key, place);
                    expected.push((key, place));
                } else if let Some(at) = expected.iter().position(|(held, _)| *held == key) {
                    equals.remove(key, expected.remove(at).1);
                } else {
                    equals.remove(key, place);
                }
                for key in 0..4 {
                    let held = expected.iter().filter(|(held, _)| *held == key);
                    let held: Vec<u32> = held.map(|(_, place)| *place).collect();
                    prop_assert_eq!(equals.under(key).collect::<Vec<_>>(), held);
                }
            }
        }
    }
}
