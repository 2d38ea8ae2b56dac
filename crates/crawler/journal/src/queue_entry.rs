//! Entries of the queue.

use serde::{Deserialize, Serialize};

use crate::discovered_url::DiscoveredUrl;

/// A URL in the queue, with the history of its visits.
///
/// The journal stores it (postcard): the order of the fields is on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    /// Position in the order of discovery, unique in a crawl.
    pub sequence: u64,
    /// The URL, as it was discovered.
    pub discovered: DiscoveredUrl,
    /// Number of earlier visits that failed and were retried, if they count.
    pub attempts: u32,
    /// Number of sessions that died while the entry was out on lease.
    pub crashes: u32,
}

impl QueueEntry {
    /// Returns the entry of a URL that has not been visited yet.
    #[must_use]
    pub const fn new(sequence: u64, discovered: DiscoveredUrl) -> Self {
        Self {
            sequence,
            discovered,
            attempts: 0,
            crashes: 0,
        }
    }
}
