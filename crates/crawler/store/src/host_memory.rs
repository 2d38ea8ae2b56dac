//! Per-host state that outlives a lease: request pacing and robots.txt.
//!
//! [`Frontier::hosts`](crate::Frontier::hosts) returns it. The pace that a settlement reports is
//! the same state: [`Frontier::settle`](crate::Frontier::settle) records it like
//! [`HostMemory::record_pace`].

use async_trait::async_trait;
use journal::{Robots, StoreFault};
use web::{Host, Pace};

/// The pacing state and the robots.txt of each host, across all sessions of a crawl.
#[async_trait]
pub trait HostMemory: Send + Sync {
    /// Returns the last recorded pacing state of a host, from this session or an earlier one;
    /// `None` if it was never recorded.
    ///
    /// # Errors
    /// A fault of the store.
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault>;

    /// Records the pacing state of a host after a request that no lease of this host covers: the
    /// target of a redirect, or its robots.txt. The frontier leases none of its pages before
    /// `pace.ready`, nor before a `ready` recorded earlier.
    ///
    /// # Errors
    /// A fault of the store.
    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault>;

    /// Returns the last recorded robots.txt of an origin (scheme, host and port), from this session
    /// or an earlier one. It expires at [`Robots::until`].
    ///
    /// # Errors
    /// A fault of the store, or a damaged record.
    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault>;

    /// Records the robots.txt of an origin. Later sessions see it once the next checkpoint has
    /// made it durable.
    ///
    /// # Errors
    /// A fault of the store.
    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault>;
}
