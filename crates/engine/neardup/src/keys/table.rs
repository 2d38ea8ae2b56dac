//! A table of pages that share a key.

use super::set::PackedSet;
use super::{NotAscending, ShortKey};

/// Maximum number of pages per key; later pages are not found by it. This bounds the work for a
/// crowd, such as a site whose frame fills most of every page.
pub const MAX_PER_KEY: usize = 1_024;

/// A map from keys to ids of pages: a set of pairs. About 5 bytes per pair at ten million pages
/// with dense ids.
///
/// Any id is valid; each takes the number of bits of the greatest id.
///
/// ```
/// use neardup::keys::{KeyTable, ShortKey};
///
/// let mut table = KeyTable::new();
/// let band = ShortKey::of(0xfeed);
/// assert!(table.insert(band, 7) && table.insert(band, 3));
/// assert!(!table.insert(band, 7), "it is there already");
/// let mut pages: Vec<u32> = table.under(band).collect();
/// pages.sort_unstable();
/// assert_eq!(pages, [3, 7]);
///
/// // On disk and back.
/// let stored: Vec<(ShortKey, u32)> = table.iter().collect();
/// assert_eq!(KeyTable::from_ascending(stored).map(|table| table.len()), Ok(2));
/// ```
#[derive(Clone, Debug, Default)]
pub struct KeyTable {
    /// Each pair as one number: the key in the upper bits, the id in the lower.
    pairs: PackedSet,
}

impl KeyTable {
    /// Creates an empty table.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the table of these pairs, sorted as by [`KeyTable::iter`]: ascending by key, then by
    /// id. A repeated pair is held once. For each key, the [`MAX_PER_KEY`] lowest ids are kept.
    ///
    /// # Errors
    /// [`NotAscending`] if a pair is less than the one before; some pairs may already have been
    /// added.
    pub fn from_ascending(
        pairs: impl IntoIterator<Item = (ShortKey, u32)>,
    ) -> Result<Self, NotAscending> {
        let mut table = Self::new();
        table.extend_ascending(pairs)?;
        Ok(table)
    }

    /// Adds ascending pairs, merging each segment once. Suited for many pairs at a time, such as
    /// one of several files. Otherwise as [`KeyTable::from_ascending`].
    ///
    /// # Errors
    /// [`NotAscending`] if a pair is less than the one before; some pairs may already have been
    /// added.
    pub fn extend_ascending(
        &mut self,
        pairs: impl IntoIterator<Item = (ShortKey, u32)>,
    ) -> Result<(), NotAscending> {
        let values = pairs.into_iter().map(|(key, id)| value(key, id));
        self.pairs.extend_ascending(values, MAX_PER_KEY)
    }

    /// Adds the page `id` under `key`. Returns false, and adds nothing, if it is already there, or
    /// if [`MAX_PER_KEY`] others are.
    pub fn insert(&mut self, key: ShortKey, id: u32) -> bool {
        self.pairs
            .under(key.as_u32())
            .nth(MAX_PER_KEY - 1)
            .is_none()
            && self.pairs.insert(value(key, id))
    }

    /// Removes the page `id` from `key`; returns false if it was not there.
    pub fn remove(&mut self, key: ShortKey, id: u32) -> bool {
        self.pairs.remove(value(key, id))
    }

    /// Returns the pages under `key`, in no particular order, each once, at most [`MAX_PER_KEY`].
    #[inline]
    pub fn under(&self, key: ShortKey) -> impl Iterator<Item = u32> {
        self.pairs.under(key.as_u32())
    }

    /// Calls `visit` with the pages under the key of each table. The results equal those from
    /// [`KeyTable::under`], but this is faster, because memory latencies overlap. A page is visited
    /// once for each table that contains it.
    pub fn each_under<'a>(
        tables: impl IntoIterator<Item = (&'a Self, ShortKey), IntoIter: Clone>,
        mut visit: impl FnMut(u32),
    ) {
        let tables = tables.into_iter();
        Self::prefetch(tables.clone());
        for (table, key) in tables {
            table.under(key).for_each(&mut visit);
        }
    }

    /// Prefetches the memory that a look-up or an insertion reads under the key of each table, so
    /// that the latencies of all tables overlap.
    pub fn prefetch<'a>(tables: impl IntoIterator<Item = (&'a Self, ShortKey), IntoIter: Clone>) {
        let tables = tables.into_iter();
        for (table, key) in tables.clone() {
            table.pairs.prefetch_start(key.as_u32());
        }
        for (table, key) in tables {
            table.pairs.prefetch_bucket(key.as_u32());
        }
    }

    /// Returns true if the page `id` is under `key`.
    #[must_use]
    pub fn contains(&self, key: ShortKey, id: u32) -> bool {
        self.pairs.contains(value(key, id))
    }

    /// Returns all pairs, ascending by key, then by id, to store or scan them.
    pub fn iter(&self) -> impl Iterator<Item = (ShortKey, u32)> {
        let values = self.pairs.iter();
        values.map(|value| (ShortKey::new((value >> 32) as u32), value as u32))
    }

    /// Returns the number of pairs held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Returns true if the collection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes held, including spare capacity.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.pairs.memory()
    }
}

fn value(key: ShortKey, id: u32) -> u64 {
    u64::from(key.as_u32()) << 32 | u64::from(id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn sorted(pages: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut pages: Vec<u32> = pages.collect();
        pages.sort_unstable();
        pages
    }

    fn under(model: &BTreeSet<(ShortKey, u32)>, key: ShortKey) -> Vec<u32> {
        model
            .range((key, 0)..=(key, u32::MAX))
            .map(|(_, id)| *id)
            .collect()
    }

    #[test]
    fn a_crowd_is_cut_at_its_cap_in_any_order_of_insertion() {
        let (crowd, other) = (ShortKey::of(1), ShortKey::of(2));
        let mut table = KeyTable::new();
        for id in 0..MAX_PER_KEY as u32 {
            assert!(table.insert(crowd, id));
        }
        assert!(!table.insert(crowd, MAX_PER_KEY as u32), "one past the cap");
        assert!(
            table.insert(other, MAX_PER_KEY as u32),
            "the cap is each key's own"
        );
        assert!(table.remove(crowd, 3));
        assert!(table.insert(crowd, MAX_PER_KEY as u32), "one has gone");
        assert_eq!(table.under(crowd).count(), MAX_PER_KEY);

        let too_many = (0..3_000).map(|id| (crowd, id));
        let table = KeyTable::from_ascending(too_many.clone()).unwrap();
        assert_eq!(
            sorted(table.under(crowd)),
            Vec::from_iter(0..MAX_PER_KEY as u32)
        );
        assert_eq!(table.len(), MAX_PER_KEY);
        let mut table = KeyTable::from_ascending((2_000..2_500).map(|id| (crowd, id))).unwrap();
        table.extend_ascending(too_many).unwrap();
        assert_eq!(
            sorted(table.under(crowd)),
            Vec::from_iter(0..MAX_PER_KEY as u32)
        );
    }

    #[test]
    fn pairs_that_do_not_ascend_are_refused() {
        let [one, two] = [1, 2].map(ShortKey::new);
        for pairs in [[(two, 1), (one, 1)], [(one, 2), (one, 1)]] {
            assert_eq!(KeyTable::from_ascending(pairs).err(), Some(NotAscending));
        }
        assert_eq!(
            KeyTable::from_ascending([(one, 1), (one, 1)]).map(|table| table.len()),
            Ok(1)
        );
    }

    #[test]
    fn a_hundred_thousand_pages_come_and_go_and_are_found_through_all_merges() {
        let mut table = KeyTable::new();
        let mut model = BTreeSet::new();
        for id in 0..100_000_u32 {
            // Every sixteenth shares its key with others.
            let key = ShortKey::of(u64::from(if id % 16 == 0 { id % 1_024 } else { id }));
            assert!(table.insert(key, id) && model.insert((key, id)));
            if id % 5 == 4 {
                let gone = id / 2;
                let key = ShortKey::of(u64::from(if gone % 16 == 0 { gone % 1_024 } else { gone }));
                assert_eq!(table.remove(key, gone), model.remove(&(key, gone)));
            }
        }
        assert_eq!(table.len(), model.len());
        assert!(table.iter().eq(model.iter().copied()));
        for id in 0..100_000 {
            let key = ShortKey::of(id);
            assert_eq!(sorted(table.under(key)), under(&model, key), "{id}");
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert(ShortKey, u32),
        Remove(ShortKey, u32),
        Extend(BTreeSet<(ShortKey, u32)>),
        /// Write it, and read it back.
        Reopen,
    }

    /// Few segments, few keys and any ids, so that merges, crowds and second comings are frequent.
    fn pair() -> impl Strategy<Value = (ShortKey, u32)> {
        let key = (0..3_u32, 0..40_u32)
            .prop_map(|(segment, key)| ShortKey::new(segment << 30 | key << 11));
        (key, prop_oneof![4 => 0..30_u32, 1 => any::<u32>()])
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            60 => pair().prop_map(|(key, id)| Step::Insert(key, id)),
            30 => pair().prop_map(|(key, id)| Step::Remove(key, id)),
            1 => prop::collection::btree_set(pair(), 0..100).prop_map(Step::Extend),
            1 => Just(Step::Reopen),
        ]
    }

    proptest! {
        #[test]
        fn a_table_is_a_set_of_pairs_after_any_operations(
            start in prop::collection::btree_set(pair(), 0..600),
            steps in prop::collection::vec(step(), 0..400),
        ) {
            let mut table = KeyTable::from_ascending(start.iter().copied()).unwrap();
            let mut model = start;
            for step in steps {
                match step {
                    Step::Insert(key, id) => {
                        prop_assert_eq!(table.insert(key, id), model.insert((key, id)));
                        prop_assert_eq!(sorted(table.under(key)), under(&model, key));
                    }
                    Step::Remove(key, id) => {
                        prop_assert_eq!(table.remove(key, id), model.remove(&(key, id)));
                        prop_assert_eq!(sorted(table.under(key)), under(&model, key));
                        prop_assert!(!table.contains(key, id));
                    }
                    Step::Extend(pairs) => {
                        table.extend_ascending(pairs.iter().copied()).unwrap();
                        model.extend(pairs);
                    }
                    Step::Reopen => {
                        table = KeyTable::from_ascending(table.iter()).unwrap();
                    }
                }
                prop_assert_eq!(table.len(), model.len());
            }
            prop_assert!(table.iter().eq(model.iter().copied()));
            let pairs: BTreeSet<_> = model.iter().map(|(key, id)| (*key, !*id)).rev().collect();
            let other = KeyTable::from_ascending(pairs).unwrap();
            for (key, id) in &model {
                prop_assert!(table.contains(*key, *id));
                let mut found = Vec::new();
                KeyTable::each_under([(&table, *key), (&other, *key)], |id| found.push(id));
                prop_assert_eq!(found, Vec::from_iter(table.under(*key).chain(other.under(*key))));
            }
        }
    }
}
