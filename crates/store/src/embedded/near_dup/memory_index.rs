//! All keys of many documents in memory.

use neardup::{Fingerprint, KeyTable, QuarterTables};

use super::keys::{ExactKey, KINDS, NearKeys};
use super::records::SignatureRecord;

/// Which documents have which keys. About 90 bytes a document at ten million.
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

/// Bytes in memory, by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignatureMemory {
    /// How many originals are remembered.
    pub documents: u64,
    /// The fingerprint tables.
    pub tables: usize,
    /// The bands of the sketches.
    pub bands: usize,
    /// The keys of pages, payloads and texts.
    pub exact: usize,
    /// What was heard since the last fold and is not in the tables above, and records that were read.
    pub records: usize,
}

impl MemoryIndex {
    /// Of tables that were made elsewhere: one of keys for each kind, in their order.
    pub(super) fn of(fingerprints: QuarterTables, exact: Vec<KeyTable>) -> Self {
        debug_assert_eq!(exact.len(), KINDS);
        Self {
            fingerprints,
            exact,
        }
    }

    /// Beyond the tables' caps a document is left to its other keys.
    pub(super) fn insert(&mut self, document: u32, record: &SignatureRecord) {
        for ExactKey { kind, short } in record.keys() {
            self.exact[kind.index()].insert(short, document);
        }
        if let Some(fingerprint) = record.fingerprint() {
            self.fingerprints.insert(fingerprint, document);
        }
    }

    pub(super) fn remove(&mut self, document: u32, record: &SignatureRecord) {
        for ExactKey { kind, short } in record.keys() {
            self.exact[kind.index()].remove(short, document);
        }
        if let Some(fingerprint) = record.fingerprint() {
            self.fingerprints.remove(fingerprint, document);
        }
    }

    /// Adds the documents under an exact key.
    pub(super) fn under(&self, key: ExactKey, documents: &mut Vec<u32>) {
        documents.extend(self.exact[key.kind.index()].under(key.short));
    }

    /// Whether this document is under this key.
    pub(super) fn contains(&self, key: ExactKey, document: u32) -> bool {
        self.exact[key.kind.index()].contains(key.short, document)
    }

    /// Adds the documents that may resemble this, each perhaps several times.
    pub(super) fn near(&self, resemblance: &NearKeys, distance: u32, documents: &mut Vec<u32>) {
        self.within(resemblance.fingerprint, distance, documents);
        let bands = resemblance.bands.iter();
        let tables = bands.map(|band| (&self.exact[band.kind.index()], band.short));
        KeyTable::each_under(tables, |document| documents.push(document));
    }

    fn within(&self, fingerprint: Fingerprint, distance: u32, documents: &mut Vec<u32>) {
        self.fingerprints
            .each_within(fingerprint, distance, |found| documents.push(found.id));
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
