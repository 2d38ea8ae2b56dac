//! The keys of all URLs seen, in memory.
//!
//! `crate::seen` says which key a URL has, and when it is new.
//!
//! Invariant: every key is on disk, in the set's list of unsaved keys, or in `unsaved`.

use neardup::keys::{NotAscending, SeenKeys};
use web::UrlKey;

/// The keys of the URLs seen, with the keys that no flush has written.
pub(super) struct Seen {
    keys: SeenKeys,
    /// Keys of a failed flush.
    unsaved: Vec<u64>,
}

impl Seen {
    pub(super) fn new() -> Self {
        Self {
            keys: SeenKeys::new(),
            unsaved: Vec::new(),
        }
    }

    /// Returns the set of these keys, which are on disk.
    pub(super) fn from_ascending(keys: Vec<u64>) -> Result<Self, NotAscending> {
        Ok(Self {
            keys: SeenKeys::from_ascending(keys)?,
            unsaved: Vec::new(),
        })
    }

    pub(super) fn contains(&self, key: UrlKey) -> bool {
        self.keys.contains(key.as_u64())
    }

    /// Adds keys.
    pub(super) fn add(&mut self, keys: &[UrlKey]) {
        let numbers: Vec<u64> = keys.iter().map(|key| key.as_u64()).collect();
        // Only new URLs were selected before the record was written.
        let _seen = self.keys.insert_new(&numbers);
    }

    /// Returns all keys, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = UrlKey> + '_ {
        self.keys.iter().map(UrlKey::from_u64)
    }

    /// Returns the number of keys added since the last flush.
    pub(super) fn added(&self) -> usize {
        self.keys.unsaved()
    }

    /// Takes the keys to write, ascending.
    pub(super) fn begin_flush(&mut self) -> Vec<u64> {
        let mut unsaved = std::mem::take(&mut self.unsaved);
        unsaved.extend(self.keys.take_unsaved());
        unsaved.sort_unstable();
        unsaved
    }

    /// Takes back the keys of a failed flush.
    pub(super) fn abort_flush(&mut self, keys: Vec<u64>) {
        self.unsaved = keys;
    }
}
