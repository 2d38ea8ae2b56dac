//! The connections of a host or group that may be used at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::politeness::pacing::PacingRules;

/// Returns a semaphore with one permit per connection.
pub(super) fn slots(rules: &PacingRules) -> Arc<Semaphore> {
    let most = rules.connections_per_host.clamp(1, Semaphore::MAX_PERMITS);
    Arc::new(Semaphore::new(most))
}

/// Takes a permit, and waits for it in turn.
pub(super) async fn acquire(slots: Arc<Semaphore>) -> OwnedSemaphorePermit {
    let slot = slots.acquire_owned().await;
    slot.expect("the semaphore is never closed")
}
