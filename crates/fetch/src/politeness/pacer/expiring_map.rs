//! What is known of many, until it says nothing any more: a map that forgets.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// A host is remembered at least so long after it was ready.
pub(super) const KEPT: Duration = Duration::from_secs(60);
/// What rounding may have taken off a remembered time: two clocks are read in whole milliseconds to
/// write one down.
pub(super) const ROUNDED: Duration = Duration::from_millis(2);
/// Below so many nobody looks for some to forget.
const FEW: usize = 1024;
/// The most to remember. Beyond, those that merely wait are forgotten too, the soonest ready first:
/// the frontier knows their times as well.
pub(super) const MOST: usize = 1 << 18;

/// Something that need not be remembered for ever.
pub(super) trait Expiring {
    /// Somebody has or awaits a turn.
    fn is_in_use(&self) -> bool;
    /// When it may be asked.
    fn ready(&self) -> Instant;
    /// Worth remembering until.
    fn kept(&self) -> Instant;
}

pub(super) struct ExpiringMap<K, V> {
    items: HashMap<K, V>,
    /// Look for some to forget when there are so many.
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

impl<K: Clone + Eq + Hash, V: Expiring> ExpiringMap<K, V> {
    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.items.get(key)
    }

    /// All that is known.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        self.items.iter_mut()
    }

    /// What is known under this key; from now on this, where nothing was.
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

    /// Forgets what is not worth remembering, now and then: the cost of a sweep is spread over
    /// those that came since the last one.
    fn make_room(&mut self, most: usize, now: Instant) {
        if self.items.len() < self.sweep_at.max(FEW) {
            return;
        }
        self.items
            .retain(|_, item| item.is_in_use() || item.kept() > now);
        if self.items.len() >= most {
            self.forget_soonest_ready(most / 2);
        }
        self.items.shrink_to(2 * self.items.len());
        self.sweep_at = (2 * self.items.len()).min(most);
    }

    fn forget_soonest_ready(&mut self, forget: usize) {
        let idle = self.items.values().filter(|item| !item.is_in_use());
        let mut idle: Vec<Instant> = idle.map(Expiring::ready).collect();
        if idle.is_empty() {
            return;
        }
        let last = forget.min(idle.len()) - 1;
        let (_, &mut bound, _) = idle.select_nth_unstable(last);
        self.items
            .retain(|_, item| item.is_in_use() || item.ready() > bound);
    }
}
