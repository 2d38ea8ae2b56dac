//! What a store is opened with.

use std::sync::Arc;

use disk::Disk;
use neardup::{HashKey, TableDesign};
use web::Timestamp;

use super::earlier::Earlier;
use crate::{FrontierRules, LikenessRules, StoreFault};

/// How to open a store.
#[derive(Clone, Debug)]
pub struct StoreOptions {
    /// What bounds the frontier.
    pub rules: FrontierRules,
    /// Which pages are compared, and when two are alike. A crawl may go on under other rules:
    /// verdicts that were given stay.
    pub likeness: LikenessRules,
    /// What fingerprints are made of, as the option has it; a crawl keeps what it was begun with.
    pub features: String,
    /// The key that every hash must have, if one was asked for; else an earlier crawl's, or
    /// `new_key`.
    pub key: Option<HashKey>,
    /// Keys every hash, if the crawl is begun now and no key was asked for; a crawl keeps its key.
    pub new_key: HashKey,
    /// Pages that count as admitted.
    pub earlier: Option<Arc<Earlier>>,
    /// Whether what pages look like is looked up in memory: 90 bytes a page, and ten times as fast.
    /// Verdicts are the same.
    pub mirror: bool,
    /// The permuted tables of fingerprints on disk, if not four that are led by a quarter each.
    /// Without a mirror they are what is looked at.
    pub tables: Option<TableDesign>,
    /// The present.
    pub now: Timestamp,
    /// Where everything but sled's own files is written.
    pub disk: Arc<dyn Disk>,
}

impl StoreOptions {
    /// The key of a crawl that is begun now.
    pub(super) fn key_to_begin_with(&self) -> Result<HashKey, StoreFault> {
        match (self.key, &self.earlier) {
            (Some(key), Some(earlier)) => earlier.check_key(key).map(|()| key),
            (Some(key), None) => Ok(key),
            (None, Some(earlier)) => Ok(earlier.key()),
            (None, None) => Ok(self.new_key),
        }
    }

    /// Whether the crawl's own key is what was asked for.
    pub(super) fn check_key(&self, key: HashKey) -> Result<(), StoreFault> {
        if self.key.is_some_and(|asked| asked != key) {
            return Err(StoreFault::Key);
        }
        self.earlier
            .as_ref()
            .map_or(Ok(()), |earlier| earlier.check_key(key))
    }
}
