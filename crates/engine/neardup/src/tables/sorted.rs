//! A sorted table of 64-bit values that grows.
//!
//! Nearly all values are in one sorted vector, searched by interpolation. The latest 2√n are in a
//! second, small vector, which is merged into the first when it is full, from the back and in
//! place. So an insertion moves about √n values on average and a merge costs about √n/2 per value:
//! 1 µs each at a million values, 4 µs at ten.

use super::interpolation::first_not_below;

/// Values in ascending order, each once if the caller adds each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortedTable {
    base: Vec<u64>,
    /// Number of leading bits that look-ups compare.
    prefix: u32,
    recent: Vec<u64>,
}

impl SortedTable {
    /// Creates an empty table for look-ups of values with the same `prefix` leading bits, 0 to 64.
    pub(crate) fn new(prefix: u32) -> Self {
        Self {
            prefix,
            ..Self::default()
        }
    }

    /// Creates a table of distinct values, given in any order.
    pub(crate) fn of(prefix: u32, mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        Self {
            prefix,
            base: values,
            recent: Vec::new(),
        }
    }

    /// Adds a value that is not in the table.
    pub(crate) fn insert(&mut self, value: u64) {
        let at = self.recent.partition_point(|&held| held < value);
        self.recent.insert(at, value);
        if self.recent.len() > 256.max(2 * self.base.len().isqrt()) {
            self.merge();
        }
    }

    /// Returns the values that share the leading bits with `probe`: two sorted runs.
    pub(crate) fn alike(&self, probe: u64) -> [&[u64]; 2] {
        let others = u64::MAX.checked_shr(self.prefix).unwrap_or(0);
        let (low, high) = (probe & !others, probe | others);
        [
            between(&self.base, low, high),
            between(&self.recent, low, high),
        ]
    }

    /// Keeps only values that `keep` returns true for.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        self.base.retain(|&value| keep(value));
        self.recent.retain(|&value| keep(value));
    }

    /// Returns the number of bytes held.
    pub(crate) fn memory(&self) -> usize {
        (self.base.capacity() + self.recent.capacity()) * size_of::<u64>()
    }

    fn merge(&mut self) {
        let (mut from_base, total) = (self.base.len(), self.base.len() + self.recent.len());
        if total > self.base.capacity() {
            // Reserves space for a few merges to come, instead of doubling like a vector.
            self.base.reserve_exact(self.recent.len() + total / 16);
        }
        self.base.resize(total, 0);
        let mut to = total;
        while let Some(&latest) = self.recent.last() {
            to -= 1;
            if from_base > 0 && self.base[from_base - 1] > latest {
                from_base -= 1;
                self.base[to] = self.base[from_base];
            } else {
                self.base[to] = latest;
                self.recent.pop();
            }
        }
    }
}

/// Returns the part of `sorted` from `low` to `high`, both included.
fn between(sorted: &[u64], low: u64, high: u64) -> &[u64] {
    let start = first_not_below(sorted.len(), low, |place| sorted[place]);
    let rest = &sorted[start..];
    // With long prefixes, the run is short: gallop to its end instead of searching the whole rest.
    let mut reach = 8;
    while reach < rest.len() && rest[reach] <= high {
        reach *= 2;
    }
    let within = &rest[..rest.len().min(reach)];
    &within[..within.partition_point(|&value| value <= high)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn values_with_a_prefix_are_found_before_and_after_merges() {
        for prefix in [0, 1, 8, 16, 64] {
            let mut table = SortedTable::new(prefix);
            let mut values: Vec<u64> = Vec::new();
            for n in 0..5_000_u64 {
                // Every tenth shares its upper half with others, as similar pages do.
                let value = if n % 10 == 0 {
                    (mix(n % 7) & !0xffff_ffff) | n
                } else {
                    mix(n)
                };
                table.insert(value);
                values.push(value);
                if n % 97 == 0 || n == 4_999 {
                    for probe in [value, mix(n / 2), 0, u64::MAX] {
                        let mut found = table.alike(probe).concat();
                        found.sort_unstable();
                        let mut expected: Vec<u64> = values
                            .iter()
                            .copied()
                            .filter(|value| agree(*value, probe, prefix))
                            .collect();
                        expected.sort_unstable();
                        assert_eq!(found, expected, "prefix {prefix}, {n} values");
                    }
                }
            }
            table.retain(|value| value % 2 == 0);
            let left = table
                .alike(values[0])
                .concat()
                .into_iter()
                .chain(table.alike(values[2_501]).concat());
            assert!(left.into_iter().all(|value| value % 2 == 0));
        }
    }

    fn agree(one: u64, two: u64, prefix: u32) -> bool {
        (one ^ two).leading_zeros() >= prefix
    }
}
