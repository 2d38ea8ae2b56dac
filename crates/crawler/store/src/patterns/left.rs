//! The records of URLs that were excluded unvisited, by the URL's key.
//!
//! Invariant: keys are ascending and unique, so that records are queued again in an order that does
//! not depend on their insertion.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use web::UrlKey;

/// Maximum number of records that are remembered in a crawl, 16 bytes each.
pub(super) const MAX_LEFT_RECORDS: usize = 1 << 20;

/// The places of records in the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftRecords(BTreeMap<u64, u64>);

impl LeftRecords {
    /// Adds a record. Returns false if it was already there.
    pub(super) fn insert(&mut self, page: UrlKey, place: u64) -> bool {
        self.0.insert(page.as_u64(), place).is_none()
    }

    /// Removes a record. Returns false if it was not there.
    pub(super) fn remove(&mut self, page: UrlKey) -> bool {
        self.0.remove(&page.as_u64()).is_some()
    }

    pub(super) fn get(&self, page: UrlKey) -> Option<u64> {
        self.0.get(&page.as_u64()).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the key and the place of each record, by key.
    pub fn iter(&self) -> impl Iterator<Item = (UrlKey, u64)> + '_ {
        self.0
            .iter()
            .map(|(page, place)| (UrlKey::from_u64(*page), *place))
    }
}
