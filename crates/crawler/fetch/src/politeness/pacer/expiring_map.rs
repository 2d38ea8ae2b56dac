//! A map that forgets items that say nothing any more.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

use super::readiness::Readiness;

/// Maximum rounding error of a stored time: storing a time reads two clocks in whole milliseconds.
pub(super) const ROUNDED: Duration = Duration::from_millis(2);
/// Minimum size for a sweep.
const MIN_SWEEP_SIZE: usize = 1024;
/// Maximum number of items. Beyond, waiting items are forgotten too, the soonest ready first: the
/// frontier knows their times as well.
pub(super) const MOST: usize = 1 << 18;

/// A map of items that need not be remembered for ever.
pub(super) struct ExpiringMap<K, V> {
    items: HashMap<K, V>,
    /// The size that triggers the next sweep.
    sweep_at: usize,
}

impl<K, V> Default for ExpiringMap<K, V> {
    fn default() -> Self {
        Self {
            items: HashMap::new(),
            sweep_at: 0,
        }
    }
}

impl<K: Clone + Eq + Hash, V: AsRef<Readiness>> ExpiringMap<K, V> {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.items.get(key)
    }

    /// Iterates over all items.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.items.iter_mut()
    }

    /// Returns the item under this key, or inserts a new one.
    pub(super) fn or_insert_with(
        &mut self,
        key: &K,
        now: Instant,
        new: impl FnOnce() -> V,
    ) -> &mut V {
        if !self.items.contains_key(key) {
            self.make_room(MOST, now);
        }
        self.items.entry(key.clone()).or_insert_with(new)
    }

    /// Makes a sweep now and then, and forgets items that are not worth remembering: the cost is
    /// spread over the items added since the last sweep.
    fn make_room(&mut self, most: usize, now: Instant) {
        if self.items.len() < self.sweep_at.max(MIN_SWEEP_SIZE) {
            return;
        }
        self.forget_idle(|readiness| readiness.kept <= now);
        if self.items.len() >= most {
            self.forget_soonest_ready(most / 2);
        }
        self.items.shrink_to(2 * self.items.len());
        self.sweep_at = (2 * self.items.len()).min(most);
    }

    fn forget_soonest_ready(&mut self, forget: usize) {
        let all = self.items.values().map(AsRef::as_ref);
        let idle = all.filter(|readiness| !readiness.is_in_use());
        let mut idle: Vec<Instant> = idle.map(|readiness| readiness.ready).collect();
        if idle.is_empty() {
            return;
        }
        let last = forget.min(idle.len()) - 1;
        let (_, &mut bound, _) = idle.select_nth_unstable(last);
        self.forget_idle(|readiness| readiness.ready <= bound);
    }

    fn forget_idle(&mut self, is_over: impl Fn(&Readiness) -> bool) {
        self.items.retain(|_, item| {
            let readiness = item.as_ref();
            readiness.is_in_use() || !is_over(readiness)
        });
    }
}
