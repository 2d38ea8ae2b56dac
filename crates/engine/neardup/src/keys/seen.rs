//! A set of keys that were seen before.

use super::NotAscending;
use super::set::PackedSet;

/// Number of keys per batch that are looked up together, so that their memory latencies overlap.
const GROUP: usize = 32;

/// A set of 64-bit keys, such as hashes of URLs, that reports new keys and hands them out for
/// storage. Keys that were read from storage are not handed out again. About 6 bytes per key at ten
/// million, and 8 more from insertion until a key is handed out.
///
/// Keys should be evenly distributed, as hashes are; otherwise look-ups are correct but slow.
///
/// ```
/// use neardup::keys::SeenKeys;
///
/// let (one, two, three) = (0x9e37_79b9_7f4a_7c15, 0x3c6e_f372_fe94_f82a, 0xdaa6_6d2c_7ddf_743f);
/// let mut seen = SeenKeys::from_ascending([one]).unwrap();
/// assert_eq!(seen.insert_new(&[two, one, three, two]), [true, false, true, false]);
/// assert_eq!(seen.take_unsaved(), [two, three]);
/// assert!(seen.contains(three) && seen.take_unsaved().is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct SeenKeys {
    keys: PackedSet,
    /// In the order of insertion.
    unsaved: Vec<u64>,
}

impl SeenKeys {
    /// Creates an empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the set of stored, ascending keys.
    ///
    /// # Errors
    /// [`NotAscending`] if a key is less than the one before; some keys may already have been
    /// added.
    pub fn from_ascending(keys: impl IntoIterator<Item = u64>) -> Result<Self, NotAscending> {
        let mut seen = Self::new();
        seen.extend_ascending(keys)?;
        Ok(seen)
    }

    /// Adds stored, ascending keys, such as one of several runs; they are not handed out again.
    ///
    /// # Errors
    /// [`NotAscending`] if a key is less than the one before; some keys may already have been
    /// added.
    pub fn extend_ascending(
        &mut self,
        keys: impl IntoIterator<Item = u64>,
    ) -> Result<(), NotAscending> {
        self.keys.extend_ascending(keys.into_iter(), usize::MAX)
    }

    /// Adds `key`; returns true if it is new.
    pub fn insert(&mut self, key: u64) -> bool {
        let is_new = self.keys.insert(key);
        if is_new {
            self.unsaved.push(key);
        }
        is_new
    }

    /// Adds all keys; returns for each key whether it is new. If a key occurs twice, the first is
    /// new.
    #[must_use = "what is not new should not be fetched"]
    pub fn insert_new(&mut self, keys: &[u64]) -> Vec<bool> {
        let mut are_new = Vec::with_capacity(keys.len());
        for group in keys.chunks(GROUP) {
            for key in group {
                self.keys.prefetch_start((key >> 32) as u32);
            }
            for key in group {
                self.keys.prefetch_bucket((key >> 32) as u32);
            }
            are_new.extend(group.iter().map(|&key| self.insert(key)));
        }
        are_new
    }

    /// Returns true if `key` was seen before.
    #[must_use]
    pub fn contains(&self, key: u64) -> bool {
        self.keys.contains(key)
    }

    /// Returns the keys inserted since the last call, ascending. Store them, and pass them to
    /// [`SeenKeys::extend_ascending`] after a restart.
    #[must_use = "they are not handed out again"]
    pub fn take_unsaved(&mut self) -> Vec<u64> {
        let mut unsaved = std::mem::take(&mut self.unsaved);
        unsaved.sort_unstable();
        unsaved
    }

    /// Returns the number of keys that [`SeenKeys::take_unsaved`] would return; until then, each
    /// takes 8 bytes.
    #[must_use]
    pub fn unsaved(&self) -> usize {
        self.unsaved.len()
    }

    /// Returns all keys, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.keys.iter()
    }

    /// Returns the number of keys seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if the collection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes held, including spare capacity.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.keys.memory() + self.unsaved.capacity() * size_of::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::mix::mix;

    #[test]
    fn a_quarter_of_a_million_keys_are_new_once() {
        let keys: Vec<u64> = (0..250_000).map(|n| mix(n % 200_000)).collect();
        let mut seen = SeenKeys::new();
        for (batch, number) in keys.chunks(1_000).zip(0..) {
            let are_new = seen.insert_new(batch);
            assert!(
                are_new.iter().all(|is_new| *is_new == (number < 200)),
                "batch {number}"
            );
        }
        assert_eq!(seen.len(), 200_000);
        assert!((0..200_000).all(|n| seen.contains(mix(n))));
        assert!((200_000..300_000).all(|n| !seen.contains(mix(n))));
        let stored = seen.take_unsaved();
        assert!(stored.is_sorted() && seen.iter().eq(stored.iter().copied()));
        let again = SeenKeys::from_ascending(stored).unwrap();
        assert!(again.iter().eq(seen.iter()));
    }

    #[test]
    fn keys_that_do_not_ascend_are_refused() {
        assert_eq!(SeenKeys::from_ascending([2, 1]).err(), Some(NotAscending));
    }

    /// Hashes and numbers that are none.
    fn key() -> impl Strategy<Value = u64> {
        prop_oneof![
            (0..400_u64).prop_map(mix),
            0..400_u64,
            Just(u64::MAX),
            any::<u64>()
        ]
    }

    proptest! {
        #[test]
        fn seen_keys_are_a_set_and_hand_out_the_new_ones(
            batches in prop::collection::vec(
                (prop::collection::vec(key(), 0..200), any::<bool>(), any::<bool>()),
                0..12,
            ),
        ) {
            let mut seen = SeenKeys::new();
            let (mut model, mut saved) = (BTreeSet::new(), BTreeSet::new());
            for (batch, is_stored, is_saved) in batches {
                if is_stored {
                    let batch: BTreeSet<u64> = batch.into_iter().collect();
                    seen.extend_ascending(batch.iter().copied()).unwrap();
                    saved.extend(batch.difference(&model).copied());
                    model.extend(batch);
                } else {
                    let are_new: Vec<bool> = batch.iter().map(|key| model.insert(*key)).collect();
                    prop_assert_eq!(seen.insert_new(&batch), are_new);
                }
                if is_saved {
                    let unsaved: Vec<u64> = model.difference(&saved).copied().collect();
                    prop_assert_eq!(seen.unsaved(), unsaved.len());
                    prop_assert_eq!(seen.take_unsaved(), unsaved);
                    saved = model.clone();
                }
                prop_assert_eq!(seen.len(), model.len());
            }
            prop_assert!(seen.iter().eq(model.iter().copied()));
            prop_assert!(model.iter().all(|key| seen.contains(*key)));
        }
    }
}
