//! Counts by name, for names that servers choose.

use std::collections::HashMap;

use crate::limits::{MAX_NAME_CHARACTERS, MAX_NAMES};
use crate::text::cut;

/// Counts by name: at most [`MAX_NAMES`] names, and a count of everything else.
///
/// A name is in the table from its first occurrence on, or never, so that a count can be taken
/// back from where it was added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameCounts {
    counts: HashMap<Box<str>, u64>,
    other: u64,
}

impl NameCounts {
    /// Adds one to the count of a name.
    pub(crate) fn add(&mut self, name: &str) {
        self.add_many(name, 1);
    }

    /// Adds to the count of a name.
    pub(crate) fn add_many(&mut self, name: &str, count: u64) {
        let name = cut(name, MAX_NAME_CHARACTERS);
        if let Some(known) = self.counts.get_mut(name) {
            *known += count;
        } else if self.counts.len() < MAX_NAMES {
            self.counts.insert(name.into(), count);
        } else {
            self.other += count;
        }
    }

    /// Takes back one that was added.
    pub(crate) fn take_back(&mut self, name: &str) {
        let known = self.counts.get_mut(cut(name, MAX_NAME_CHARACTERS));
        let count = known.unwrap_or(&mut self.other);
        *count = count.saturating_sub(1);
    }

    /// Returns the names with their counts, largest first and then by name.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, u64)> {
        let counts = self.counts.iter().filter(|(_, count)| **count > 0);
        let mut sorted: Vec<_> = counts.map(|(name, count)| (&**name, *count)).collect();
        sorted.sort_unstable_by(|(one, left), (other, right)| {
            right.cmp(left).then_with(|| one.cmp(other))
        });
        sorted
    }

    /// Returns the count of a name; 0 for an unknown one.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Returns the count of all names that came after the table was full.
    #[must_use]
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Returns the sum of all counts.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum::<u64>() + self.other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_cap_are_counted_together_and_taken_back_from_there() {
        let mut counts = NameCounts::default();
        let names: Vec<String> = (0..=MAX_NAMES).map(|number| number.to_string()).collect();
        names.iter().for_each(|name| counts.add(name));
        assert_eq!((counts.sorted().len(), counts.other()), (MAX_NAMES, 1));
        counts.take_back(&names[0]);
        counts.add(&names[MAX_NAMES]);
        assert_eq!((counts.sorted().len(), counts.other()), (MAX_NAMES - 1, 2));
        counts.take_back(&names[MAX_NAMES]);
        assert_eq!((counts.total(), counts.other()), (MAX_NAMES as u64, 1));
    }

    #[test]
    fn long_names_are_cut_and_the_largest_count_comes_first() {
        let mut counts = NameCounts::default();
        counts.add("small");
        for end in ["a", "b"] {
            counts.add(&format!("{}{end}", "x".repeat(MAX_NAME_CHARACTERS)));
        }
        let long = "x".repeat(MAX_NAME_CHARACTERS);
        assert_eq!(counts.sorted(), [(long.as_str(), 2), ("small", 1)]);
    }
}
