//! The time when a host or a group may be asked, and its connections.

use std::sync::Arc;
use std::time::Duration;

use requests::PacingRules;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// Minimum time that a host is remembered after it was ready.
pub(super) const MIN_RETENTION: Duration = Duration::from_secs(60);

/// The next time of a host or a group.
pub(super) struct Readiness {
    /// Not before.
    pub(super) ready: Instant,
    /// The time when it may be forgotten.
    pub(super) kept: Instant,
    /// One permit per connection; every holder and waiter also holds this `Arc`.
    slots: Arc<Semaphore>,
}

impl Readiness {
    pub(super) fn new(ready: Instant, rules: &PacingRules) -> Self {
        Self::with_slots(ready, rules.connections_per_host)
    }

    pub(super) fn with_slots(ready: Instant, slots: usize) -> Self {
        Self {
            ready,
            kept: ready + MIN_RETENTION,
            slots: Arc::new(Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS))),
        }
    }

    /// Returns the number of free permits.
    pub(super) fn free_slots(&self) -> usize {
        self.slots.available_permits()
    }

    /// Returns true if a permit is held or awaited.
    pub(super) fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.slots) > 1
    }

    /// Returns the time to come back; `None` if it may be asked now.
    pub(super) fn waits_until(&self, now: Instant) -> Option<Instant> {
        (self.ready > now).then_some(self.ready)
    }

    /// Keeps it from being asked before `ready`.
    pub(super) fn postpone(&mut self, ready: Instant) {
        self.ready = self.ready.max(ready);
        self.kept = self.kept.max(self.ready + MIN_RETENTION);
    }

    /// Takes a permit, and waits for it in turn.
    pub(super) fn slot(&self) -> impl Future<Output = OwnedSemaphorePermit> + use<> {
        let slot = Arc::clone(&self.slots).acquire_owned();
        async { slot.await.expect("the semaphore is never closed") }
    }
}

/// Sleeps until `waits_until` returns `None`.
pub(super) async fn sleep_while(mut waits_until: impl FnMut() -> Option<Instant>) {
    while let Some(ready) = waits_until() {
        sleep_until(ready).await;
    }
}
