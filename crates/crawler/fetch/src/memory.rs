//! The memory budget of a crawl for data from servers.
//!
//! One budget for the whole crawl, in three parts:
//!
//! | part | of the budget | draws | if no share is free |
//! |---|---|---|---|
//! | bodies | a half | a body while it is received, and as long as it is there | it goes to disk |
//! | pages | a quarter | reading a page, and as long as its document is there | it waits its turn |
//! | large pages | a quarter | the same, of pages over 1 MiB decoded | it waits its turn |
//!
//! So no holder of a share waits for a waiter of the same part, and no crowd of large pages holds
//! up other pages. A request for more than a part gets the whole part: such work runs alone.
//!
//! The rest of a visit's memory is bounded by its own limits: header fields, links, and
//! buffers of a connection.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Shares are counted in units of this many bytes.
const UNIT: u64 = 1 << 10;

/// Minimum budget, in bytes.
const LEAST: u64 = 8 << 20;

/// A memory budget, shared by all its users.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    bodies: Part,
    pages: Part,
    large_pages: Part,
}

/// A part of the budget with its own semaphore.
#[derive(Clone, Debug)]
struct Part {
    free: Arc<Semaphore>,
    units: u32,
}

/// A part of the budget, returned when it is dropped.
#[derive(Debug)]
pub struct MemoryShare(OwnedSemaphorePermit);

impl MemoryBudget {
    /// Returns a budget of `bytes`, 8 MiB at least.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let bytes = bytes.max(LEAST);
        Self {
            bodies: Part::new(bytes / 2),
            pages: Part::new(bytes / 4),
            large_pages: Part::new(bytes / 4),
        }
    }

    /// Takes a share for `bytes` of a body, if one is free now.
    pub(crate) fn try_body(&self, bytes: usize) -> Option<MemoryShare> {
        let units = self.bodies.units_of(bytes as u64);
        let share = Arc::clone(&self.bodies.free).try_acquire_many_owned(units);
        share.ok().map(MemoryShare)
    }

    /// Returns `bytes` with a share for a body until they are dropped; `None` if none is free now.
    #[must_use]
    pub fn hold(&self, bytes: Bytes) -> Option<Bytes> {
        self.try_body(bytes.len()).map(|share| share.hold(bytes))
    }

    /// Takes a share for reading a page that takes up to `bytes`, and waits for it in turn.
    pub async fn page(&self, bytes: u64) -> MemoryShare {
        self.pages.take(bytes).await
    }

    /// Takes a share for reading a large page that takes up to `bytes`, and waits for it in turn.
    pub async fn large_page(&self, bytes: u64) -> MemoryShare {
        self.large_pages.take(bytes).await
    }
}

impl Part {
    fn new(bytes: u64) -> Self {
        // Far below the limit of a semaphore.
        let units = (bytes / UNIT).min(u64::from(u32::MAX >> 3)) as u32;
        Self {
            free: Arc::new(Semaphore::new(units as usize)),
            units,
        }
    }

    async fn take(&self, bytes: u64) -> MemoryShare {
        let share = Arc::clone(&self.free).acquire_many_owned(self.units_of(bytes));
        MemoryShare(share.await.expect("the semaphore is never closed"))
    }

    /// Returns the units for this number of bytes, at most the whole part.
    fn units_of(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).map_or(self.units, |units| units.min(self.units))
    }
}

/// The default of [`FetchOptions`](crate::FetchOptions), for a machine with two cores.
impl Default for MemoryBudget {
    fn default() -> Self {
        Self::new(64 << 20)
    }
}

impl MemoryShare {
    /// Makes one share of two of the same half.
    pub(crate) fn merge(&mut self, other: Self) {
        self.0.merge(other.0);
    }

    /// Binds this share to the bytes that it is for.
    pub(crate) fn hold(self, bytes: impl Into<Bytes>) -> Bytes {
        Bytes::from_owner(Held {
            bytes: bytes.into(),
            _share: self,
        })
    }
}

/// Bytes, with the share of the budget that they take until they are dropped.
struct Held {
    bytes: Bytes,
    _share: MemoryShare,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_from_elsewhere_take_a_share_if_one_is_free() {
        let budget = MemoryBudget::new(8 << 20);
        let held = budget.hold(vec![7; 3 << 20].into()).unwrap();
        assert_eq!(budget.hold(vec![7; 2 << 20].into()), None);
        assert_eq!(held.len(), 3 << 20);
        drop(held);
        assert!(budget.hold(vec![7; 2 << 20].into()).is_some());
    }

    #[test]
    fn a_body_takes_a_share_and_returns_it_when_its_bytes_are_dropped() {
        let budget = MemoryBudget::new(8 << 20);
        let all = budget.try_body(4 << 20).unwrap();
        assert!(budget.try_body(1).is_none());
        let bytes = all.hold(vec![7; 3]);
        let part = bytes.slice(1..);
        drop(bytes);
        assert!(
            budget.try_body(1).is_none(),
            "a slice still holds the bytes"
        );
        drop(part);
        assert!(budget.try_body(1).is_some());
    }

    #[tokio::test]
    async fn a_request_for_more_than_the_budget_takes_all_of_it_alone() {
        let budget = MemoryBudget::new(0);
        let alone = budget.large_page(u64::MAX).await;
        let mut next = std::pin::pin!(budget.large_page(1));
        assert!(polled(&mut next).is_none());
        assert!(
            budget.try_body(1).is_some(),
            "bodies have a part of their own"
        );
        budget.page(1).await;
        drop(alone);
        assert!(polled(&mut next).is_some());
    }

    fn polled<T>(future: &mut std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}
