//! A segment of a set: a packed run, and the changes since it was packed.

use super::packed::{LEADING, Packed};
use crate::tables::prefetch;

/// A list of changes is merged into the run when it reaches this share of the run's length, with a
/// minimum and a maximum length.
const SHARE: usize = 16;
const MIN_CHANGES: usize = 32;
const MAX_CHANGES: usize = 4_096;

/// Maximum distance from the expected position where a value is searched first.
const NEAR: usize = 8;

/// Distinct values with the same leading bits.
///
/// Invariant: `recent` and `gone` ascend; `base` contains all values of `gone` and none of
/// `recent`.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    base: Packed,
    recent: Vec<u64>,
    gone: Vec<u64>,
}

impl Segment {
    pub(super) fn len(&self) -> usize {
        self.base.len() + self.recent.len() - self.gone.len()
    }

    #[inline]
    pub(super) fn contains(&self, value: u64) -> bool {
        if self.base.contains(value) {
            return !is_in(&self.gone, value);
        }
        is_in(&self.recent, value)
    }

    /// Returns the lower halves of the values with this upper half: first from the run, ascending,
    /// then from later insertions, ascending.
    #[inline]
    pub(super) fn under(&self, upper: u32) -> impl Iterator<Item = u32> {
        let gone = between(&self.gone, upper);
        let recent = between(&self.recent, upper);
        let stays = |low: &u32| gone.is_empty() || !gone.iter().any(|value| *value as u32 == *low);
        let base = self.base.under(upper).filter(stays);
        base.chain(recent.iter().map(|value| *value as u32))
    }

    /// Adds `value`; returns false if it was present. `number` is the number of the segment.
    pub(super) fn insert(&mut self, value: u64, number: usize) -> bool {
        if self.base.contains(value) {
            return take(&mut self.gone, value);
        }
        let at = place(&self.recent, value);
        if self.recent.get(at) == Some(&value) {
            return false;
        }
        let is_merged = self.make_room(number);
        put(&mut self.recent, if is_merged { 0 } else { at }, value);
        true
    }

    /// Removes `value`; returns false if it was not present.
    pub(super) fn remove(&mut self, value: u64, number: usize) -> bool {
        if take(&mut self.recent, value) {
            return true;
        }
        if !self.base.contains(value) || is_in(&self.gone, value) {
            return false;
        }
        self.make_room(number);
        let at = place(&self.gone, value);
        put(&mut self.gone, at, value);
        true
    }

    /// Adds ascending values. Of all values with the same upper half, keeps the first `most`.
    pub(super) fn absorb(&mut self, values: &[u64], number: usize, most: usize) {
        let is_crowded = |values: &[u64]| {
            let mut apart = values.iter().zip(values.get(most..).unwrap_or_default());
            apart.any(|(one, other)| one >> 32 == other >> 32)
        };
        if self.len() == 0 && !is_crowded(values) {
            *self = Self {
                base: Packed::of(values),
                ..Self::default()
            };
            return;
        }
        let mut all = self.values(number);
        merge(&mut all, values);
        all.dedup();
        if is_crowded(&all) {
            let mut held = 0;
            let mut upper = None;
            all.retain(|value| {
                held = if upper == Some(value >> 32) {
                    held + 1
                } else {
                    1
                };
                upper = Some(value >> 32);
                held <= most
            });
        }
        self.pack(&all);
    }

    /// Returns all values, ascending.
    pub(super) fn values(&self, number: usize) -> Vec<u64> {
        let mut values = Vec::with_capacity(self.base.len() + self.recent.len());
        self.base.unpack(number, &mut values);
        if !self.gone.is_empty() {
            let mut gone = self.gone.iter().peekable();
            values.retain(|value| gone.next_if_eq(&value).is_none());
        }
        merge(&mut values, &self.recent);
        values
    }

    #[inline]
    pub(super) fn prefetch_start(&self, upper: u32) {
        self.base.prefetch_start(upper);
        prefetch(&self.recent, guess(&self.recent, u64::from(upper) << 32));
    }

    #[inline]
    pub(super) fn prefetch_bucket(&self, upper: u32) {
        self.base.prefetch_bucket(upper);
    }

    /// Returns the number of bytes held in addition to the segment itself.
    pub(super) fn memory(&self) -> usize {
        self.base.memory() + (self.recent.capacity() + self.gone.capacity()) * size_of::<u64>()
    }

    /// Merges the changes into the run if there are enough; returns true if it did.
    fn make_room(&mut self, number: usize) -> bool {
        let changes = self.recent.len() + self.gone.len();
        let is_enough = changes >= (self.base.len() / SHARE).clamp(MIN_CHANGES, MAX_CHANGES);
        if is_enough {
            let values = self.values(number);
            self.pack(&values);
        }
        is_enough
    }

    fn pack(&mut self, values: &[u64]) {
        self.base = Packed::of(values);
        self.recent.clear();
        self.gone = Vec::new();
    }
}

/// Returns the position of `value` among ascending values, whether present or not. They share their
/// leading bits and are probably evenly distributed, so a look at the expected position is nearly
/// enough and causes few cache misses.
#[inline]
fn place(values: &[u64], value: u64) -> usize {
    if values.is_empty() {
        return 0;
    }
    let guess = guess(values, value);
    let is_below = |at: &usize| values[*at] < value;
    let mut reach = NEAR;
    if is_below(&guess) {
        let mut low = guess + 1;
        while let Some(high) = Some(guess + reach)
            .filter(|at| *at < values.len())
            .filter(is_below)
        {
            (low, reach) = (high + 1, 2 * reach);
        }
        let high = values.len().min(guess + reach);
        return low + values[low..high].partition_point(|held| *held < value);
    }
    let mut high = guess;
    while let Some(low) = guess.checked_sub(reach).filter(|at| !is_below(at)) {
        (high, reach) = (low, 2 * reach);
    }
    let low = guess.saturating_sub(reach);
    low + values[low..high].partition_point(|held| *held < value)
}

/// Returns the expected position of `value` among evenly distributed values.
#[inline]
fn guess(values: &[u64], value: u64) -> usize {
    let share = (value << LEADING) >> 32;
    ((share * values.len() as u64) >> 32) as usize
}

#[inline]
fn is_in(values: &[u64], value: u64) -> bool {
    !values.is_empty() && values.get(place(values, value)) == Some(&value)
}

/// Removes `value`; returns false if it was not present.
fn take(values: &mut Vec<u64>, value: u64) -> bool {
    let at = place(values, value);
    let is_here = values.get(at) == Some(&value);
    if is_here {
        values.remove(at);
    }
    is_here
}

/// Inserts `value` at its position, growing by a quarter: doubling would leave half of the list
/// empty.
fn put(values: &mut Vec<u64>, at: usize, value: u64) {
    if values.len() == values.capacity() {
        values.reserve_exact((values.len() / 4).max(4));
    }
    values.insert(at, value);
}

/// Returns the values with this upper half.
#[inline]
fn between(values: &[u64], upper: u32) -> &[u64] {
    if values.is_empty() {
        return values;
    }
    let rest = &values[place(values, u64::from(upper) << 32)..];
    let is_under = |value: &&u64| *value >> 32 == u64::from(upper);
    &rest[..rest.iter().take_while(is_under).count()]
}

/// Merges ascending values into ascending values, from the back and in place.
fn merge(values: &mut Vec<u64>, more: &[u64]) {
    let (mut left, mut coming) = (values.len(), more.len());
    values.resize(left + coming, 0);
    let mut to = values.len();
    while coming > 0 {
        to -= 1;
        if left > 0 && values[left - 1] > more[coming - 1] {
            left -= 1;
            values[to] = values[left];
        } else {
            coming -= 1;
            values[to] = more[coming];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_is_placed_as_by_binary_search_for_any_distribution(
            mut values in prop::collection::vec((any::<u64>(), LEADING..64), 0..300),
            (value, shift) in (any::<u64>(), LEADING..64),
        ) {
            values.sort_by_key(|(value, shift)| value >> shift);
            let values: Vec<u64> = values.iter().map(|(value, shift)| value >> shift).collect();
            for value in values.iter().copied().chain([value >> shift, 0, u64::MAX >> LEADING]) {
                prop_assert_eq!(
                    place(&values, value),
                    values.partition_point(|held| *held < value),
                );
            }
        }
    }
}
