//! The signature index in memory: all keys of many documents.

use neardup::keys::KeyTable;
use neardup::tables::QuarterTables;

use super::keys::{ExactKey, KINDS, NearKeys};
use super::records::SignatureRecord;

/// An index from keys to documents. About 90 bytes per document at ten million.
#[derive(Clone, Debug)]
pub(super) struct MemoryIndex {
    fingerprints: QuarterTables,
    exact: Vec<KeyTable>,
}

impl Default for MemoryIndex {
    fn default() -> Self {
        Self {
            fingerprints: QuarterTables::new(),
            exact: vec![KeyTable::new(); KINDS],
        }
    }
}

/// The memory of the signature index in bytes, by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignatureMemory {
    /// Number of originals.
    pub documents: u64,
    /// The fingerprint tables.
    pub tables: usize,
    /// The bands of the sketches.
    pub bands: usize,
    /// The keys of pages, payloads and texts.
    pub exact: usize,
    /// The memtable, and the cached signature records.
    pub records: usize,
}

impl MemoryIndex {
    /// Takes over tables that were built elsewhere: one table of exact keys per kind, ordered by
    /// kind.
    pub(super) fn of(fingerprints: QuarterTables, exact: Vec<KeyTable>) -> Self {
        debug_assert_eq!(exact.len(), KINDS);
        Self {
            fingerprints,
            exact,
        }
    }

    /// Adds the keys of a document. Beyond a table's cap, the document is found only by its other
    /// keys.
    pub(super) fn insert(&mut self, document: u32, record: &SignatureRecord) {
        let keys = record.keys();
        self.prefetch(keys.clone());
        for ExactKey { kind, short } in keys {
            self.exact[kind.index()].insert(short, document);
        }
        if let Some(fingerprint) = record.fingerprint() {
            self.fingerprints.insert(fingerprint, document);
        }
    }

    /// Prefetches the memory that is read under these keys, so that the latencies of all tables
    /// overlap.
    pub(super) fn prefetch(&self, keys: impl Iterator<Item = ExactKey> + Clone) {
        KeyTable::prefetch(keys.map(|key| (&self.exact[key.kind.index()], key.short)));
    }

    pub(super) fn remove(&mut self, document: u32, record: &SignatureRecord) {
        for ExactKey { kind, short } in record.keys() {
            self.exact[kind.index()].remove(short, document);
        }
        if let Some(fingerprint) = record.fingerprint() {
            self.fingerprints.remove(fingerprint, document);
        }
    }

    /// Adds the documents with an exact key to `documents`.
    pub(super) fn under(&self, key: ExactKey, documents: &mut Vec<u32>) {
        documents.extend(self.exact[key.kind.index()].under(key.short));
    }

    /// Returns true if this document has this key.
    pub(super) fn contains(&self, key: ExactKey, document: u32) -> bool {
        self.exact[key.kind.index()].contains(key.short, document)
    }

    /// Adds the documents that may be near; a document may be added several times.
    pub(super) fn near(&self, resemblance: &NearKeys, distance: u32, documents: &mut Vec<u32>) {
        self.fingerprints
            .each_within(resemblance.fingerprint, distance, |found| {
                documents.push(found.id);
            });
        let bands = resemblance.bands.iter();
        let tables = bands.map(|band| (&self.exact[band.kind.index()], band.short));
        KeyTable::each_under(tables, |document| documents.push(document));
    }

    pub(super) fn memory(&self) -> SignatureMemory {
        let bytes = |tables: &[KeyTable]| tables.iter().map(KeyTable::memory).sum();
        let (exact, bands) = self.exact.split_at(3);
        SignatureMemory {
            documents: exact.first().map_or(0, |pages| pages.len() as u64),
            tables: self.fingerprints.memory(),
            bands: bytes(bands),
            exact: bytes(exact),
            records: 0,
        }
    }
}
