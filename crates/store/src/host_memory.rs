//! Per-host state that outlives a lease: request pacing and robots.txt.
//!
//! [`Frontier::hosts`](crate::Frontier::hosts) returns it. The pace that a settlement reports is
//! the same state: [`Frontier::settle`](crate::Frontier::settle) records it like
//! [`HostMemory::record_pace`].

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use web::{Host, Pace, Timestamp};

use crate::fault::StoreFault;

/// The pacing state and the robots.txt of each host, over all sessions of a crawl.
#[async_trait]
pub trait HostMemory: Send + Sync {
    /// Returns the pacing state of a host that was recorded last, in this session or an earlier
    /// one; none for a host without a record.
    ///
    /// # Errors
    /// A fault of the store.
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault>;

    /// Records the pacing state of a host after a request that no lease of this host covers: a
    /// redirect led there, or its robots.txt was read. The frontier leases none of its pages
    /// before `pace.ready`, nor before an earlier recorded `ready`.
    ///
    /// # Errors
    /// A fault of the store.
    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault>;

    /// Returns the robots.txt that was last recorded for an origin (scheme, host and port), in
    /// this session or an earlier one. [`Robots::until`] says when it expires.
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

/// A cached robots.txt. The journal stores it (postcard): the order of the fields is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    /// Its text, at most [`web::MAX_ROBOTS_BYTES`]; none where the site has no robots.txt and
    /// every URL may be fetched.
    pub text: Option<Vec<u8>>,
    /// The time at which it expires and is fetched again.
    pub until: Timestamp,
}
