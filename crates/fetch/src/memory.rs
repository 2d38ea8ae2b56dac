//! The memory that a crawl may take for what servers send.
//!
//! One budget for the whole crawl, in two halves, so that nobody who holds a share of one waits for
//! somebody who waits for the same half: received bodies draw from the first and never wait (what gets
//! no share goes to disk), reading a page draws from the second and waits its turn. A request for more
//! than a half is a request for all of it: such work is done alone.
//!
//! What a visit holds beside its shares is bounded by its own limits: header fields, links, and
//! buffers of a connection.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Shares are counted in units of this many bytes.
const UNIT: u64 = 1 << 10;

/// The least that a crawl can work with, in bytes.
const LEAST: u64 = 8 << 20;

/// A budget, shared by all who draw from it.
#[derive(Clone, Debug)]
pub struct MemoryBudget {
    bodies: Arc<Semaphore>,
    reading: Arc<Semaphore>,
    /// Units of each half.
    half: u32,
}

/// A part of the budget, returned when it is dropped.
#[derive(Debug)]
pub struct MemoryShare(OwnedSemaphorePermit);

impl MemoryBudget {
    /// Returns a budget of `bytes`, 8 MiB at least.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        let half = u32::try_from(bytes.max(LEAST) / 2 / UNIT).unwrap_or(u32::MAX >> 3);
        // Both are far below what a semaphore can count.
        let half = half.min(u32::MAX >> 3);
        Self {
            bodies: Arc::new(Semaphore::new(half as usize)),
            reading: Arc::new(Semaphore::new(half as usize)),
            half,
        }
    }

    /// Takes a share for `bytes` of a body, if it is to be had at once.
    pub(crate) fn try_body(&self, bytes: usize) -> Option<MemoryShare> {
        let share = Arc::clone(&self.bodies).try_acquire_many_owned(self.units(bytes as u64));
        share.ok().map(MemoryShare)
    }

    /// Takes a share for reading a page that takes up to `bytes`, and waits for it in turn.
    pub async fn reading(&self, bytes: u64) -> MemoryShare {
        let share = Arc::clone(&self.reading).acquire_many_owned(self.units(bytes));
        MemoryShare(share.await.expect("the semaphore is never closed"))
    }

    fn units(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).map_or(self.half, |units| units.min(self.half))
    }
}

/// The default of [`FetchOptions`](crate::FetchOptions): that of a machine with two cores.
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
    pub(crate) fn hold(self, bytes: Vec<u8>) -> Bytes {
        Bytes::from_owner(Held { bytes, _share: self })
    }
}

/// Bytes, with the share of the budget that they take until they are dropped.
struct Held {
    bytes: Vec<u8>,
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
    fn a_body_gets_a_share_while_there_is_one_and_gives_it_back_with_its_bytes() {
        let budget = MemoryBudget::new(8 << 20);
        let all = budget.try_body(4 << 20).unwrap();
        assert!(budget.try_body(1).is_none());
        let bytes = all.hold(vec![7; 3]);
        let part = bytes.slice(1..);
        drop(bytes);
        assert!(budget.try_body(1).is_none(), "a part of the bytes is still there");
        drop(part);
        assert!(budget.try_body(1).is_some());
    }

    #[tokio::test]
    async fn what_wants_more_than_there_is_gets_all_of_it_alone() {
        let budget = MemoryBudget::new(0);
        let alone = budget.reading(u64::MAX).await;
        let mut next = std::pin::pin!(budget.reading(1));
        assert!(futures_poll(&mut next).is_none());
        assert!(budget.try_body(1).is_some(), "bodies have their own half");
        drop(alone);
        assert!(futures_poll(&mut next).is_some());
    }

    fn futures_poll<T>(future: &mut std::pin::Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(value) => Some(value),
            std::task::Poll::Pending => None,
        }
    }
}
