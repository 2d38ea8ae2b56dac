//! A cache that drops the entries that were not used lately.
//!
//! It has two generations: a requested entry moves to the young generation. When that is full, the
//! old generation is dropped and the young one becomes the old. So the size is bounded, entries in
//! use stay, and no list needs sorting.

use std::collections::HashMap;

/// A bounded map of recently used entries.
#[derive(Debug)]
pub(crate) struct GenerationalCache<V> {
    young: HashMap<String, V>,
    old: HashMap<String, V>,
    /// The weight of the young generation.
    weight: usize,
    /// Maximum number of entries, and maximum weight, per generation.
    most: usize,
    max_weight: usize,
    weight_of: fn(&V) -> usize,
}

impl<V> GenerationalCache<V> {
    /// Returns an empty cache for this many entries of this weight together.
    pub(crate) fn new(most: usize, max_weight: usize, weight_of: fn(&V) -> usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            weight: 0,
            most: (most / 2).max(1),
            max_weight: max_weight / 2,
            weight_of,
        }
    }

    /// Returns the value under this key, which counts as used now.
    pub(crate) fn get(&mut self, key: &str) -> Option<&V> {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.insert(key, value);
        }
        self.young.get(key)
    }

    /// Returns the value under this key for a change; it counts as used now.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        self.get(key)?;
        self.young.get_mut(key)
    }

    /// Inserts a value, or replaces the value under this key.
    pub(crate) fn insert(&mut self, key: String, value: V) {
        self.weigh((self.weight_of)(&value));
        if self.young.len() >= self.most && !self.young.contains_key(&key) {
            self.grow_old();
        }
        self.old.remove(&key);
        self.young.insert(key, value);
    }

    /// Adds weight that a value of the young generation has gained.
    pub(crate) fn weigh(&mut self, weight: usize) {
        self.weight += weight;
        if self.weight > self.max_weight {
            self.grow_old();
            self.weight = weight;
        }
    }

    fn grow_old(&mut self) {
        self.old = std::mem::take(&mut self.young);
        self.weight = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recently_used_entries_stay_and_the_number_of_entries_is_bounded() {
        let mut cache = GenerationalCache::new(6, usize::MAX, |_value| 0);
        for round in 0..100 {
            cache.insert(format!("name {round}"), round);
            assert_eq!(cache.get("name 0"), Some(&0), "after {round}");
            assert!(cache.young.len() + cache.old.len() <= 6);
        }
        assert_eq!(cache.get("name 1"), None);
        cache.insert("name 0".to_owned(), 7);
        assert_eq!(cache.get("name 0"), Some(&7), "the newest value counts");
    }

    #[test]
    fn the_weight_of_the_entries_is_bounded() {
        let mut cache = GenerationalCache::new(usize::MAX, 20, |weight| *weight);
        for round in 0..100 {
            cache.insert(format!("name {round}"), 3);
            let values = cache.young.values().chain(cache.old.values());
            assert!(values.sum::<usize>() <= 20, "after {round}");
        }
        assert_eq!(cache.get("name 98"), Some(&3));
    }
}
