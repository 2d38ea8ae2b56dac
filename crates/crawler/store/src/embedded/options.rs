//! The options of a store.

use std::sync::Arc;

use disk::Disk;
use journal::StoreFault;
use neardup::HashKey;
use neardup::tables::TableDesign;
use web::Timestamp;

use super::earlier::EarlierCrawls;
use crate::frontier::FrontierRules;
use crate::rules::ComparisonOptions;

/// The options for opening a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// The rules of the frontier.
    pub rules: FrontierRules,
    /// The scope of comparisons, and the thresholds. A crawl may be continued with
    /// other rules; verdicts already given stay.
    pub comparison: ComparisonOptions,
    /// The features of fingerprints, in the option's syntax; a crawl keeps the features that it
    /// began with.
    pub features: String,
    /// The key required for every hash, if requested; otherwise the key is an earlier crawl's, or
    /// `new_key`.
    pub key: Option<HashKey>,
    /// The key of a crawl that begins now if no key was requested; an existing crawl keeps its key.
    pub new_key: HashKey,
    /// Earlier crawls whose pages count as admitted.
    pub earlier: Option<Arc<EarlierCrawls>>,
    /// True if all signature keys are in memory: 90 bytes per page, and ten times as fast. Verdicts
    /// are the same.
    pub keys_in_memory: bool,
    /// The permuted tables of fingerprints on disk; by default four, each led by a quarter. Lookups
    /// use them if the keys are not in memory.
    pub tables: Option<TableDesign>,
    /// The current time.
    pub now: Timestamp,
    /// The disk for all files except sled's own.
    pub disk: Arc<dyn Disk>,
}

impl StoreOptions {
    /// Returns the key of a crawl that begins now.
    pub(super) fn key_to_begin_with(&self) -> Result<HashKey, StoreFault> {
        match (self.key, &self.earlier) {
            (Some(key), Some(earlier)) => earlier.check_key(key).map(|()| key),
            (Some(key), None) => Ok(key),
            (None, Some(earlier)) => Ok(earlier.key()),
            (None, None) => Ok(self.new_key),
        }
    }

    /// Fails if the crawl's key differs from the requested key.
    pub(super) fn check_key(&self, key: HashKey) -> Result<(), StoreFault> {
        if self.key.is_some_and(|asked| asked != key) {
            return Err(StoreFault::Key);
        }
        self.earlier
            .as_ref()
            .map_or(Ok(()), |earlier| earlier.check_key(key))
    }
}
