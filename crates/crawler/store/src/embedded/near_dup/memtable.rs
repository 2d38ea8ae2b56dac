//! The memtable: changes since the last flush.

use std::collections::BTreeMap;
use std::sync::Arc;

use journal::Position;
use web::UrlKey;

use super::memory_index::MemoryIndex;
use super::records::SignatureRecord;
use crate::known::RetainedEntry;

/// Approximate memory of a record: itself, its text's signature, and its entry in a map.
pub(super) const RECORD_BYTES: usize = 64 + 272 + 48;

/// Changes that are not in the tables on disk yet.
///
/// Invariant: no document is both added and removed. A removed document may or may not be on disk:
/// an interrupted flush may have put it there.
#[derive(Clone, Debug, Default)]
pub(super) struct Memtable {
    pub(super) added: BTreeMap<u32, Arc<SignatureRecord>>,
    pub(super) removed: BTreeMap<u32, Arc<SignatureRecord>>,
    /// Duplicates that were kept; `None` if that was withdrawn.
    pub(super) retained: BTreeMap<UrlKey, Option<RetainedEntry>>,
    /// Pairs of distinct pages, with the place of their record in the journal.
    pub(super) distinct: BTreeMap<(UrlKey, UrlKey), Position>,
    /// The keys of added documents, unless all keys are in memory.
    pub(super) recent: Option<MemoryIndex>,
}

impl Memtable {
    pub(super) fn new(has_keys: bool) -> Self {
        Self {
            recent: has_keys.then(MemoryIndex::default),
            ..Self::default()
        }
    }

    pub(super) fn add(&mut self, document: u32, record: Arc<SignatureRecord>) {
        if let Some(recent) = &mut self.recent {
            recent.insert(document, &record);
        }
        self.added.insert(document, record);
    }

    pub(super) fn remove(&mut self, document: u32, record: Arc<SignatureRecord>) {
        if self.added.remove(&document).is_some()
            && let Some(recent) = &mut self.recent
        {
            recent.remove(document, &record);
        }
        self.removed.insert(document, record);
    }

    /// Appends later changes.
    pub(super) fn append(&mut self, later: Self) {
        for (document, record) in later.added {
            self.add(document, record);
        }
        for (document, record) in later.removed {
            self.remove(document, record);
        }
        self.retained.extend(later.retained);
        self.distinct.extend(later.distinct);
    }

    /// Returns the approximate memory in bytes, without the keys.
    pub(super) fn memory(&self) -> usize {
        (self.added.len() + self.removed.len()) * RECORD_BYTES
            + self.retained.len() * size_of::<(UrlKey, Option<RetainedEntry>)>()
            + self.distinct.len() * size_of::<(UrlKey, UrlKey, Position)>()
    }
}
