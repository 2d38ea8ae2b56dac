//! The signature index in memory: all keys of many documents.

use std::num::NonZero;
use std::sync::{Arc, Mutex};
use std::thread;

use neardup::keys::KeyTable;
use neardup::tables::QuarterTables;

use super::keys::{ExactKey, KINDS, NearKeys};
use super::records::SignatureRecord;

/// Minimum number of documents that are merged into the tables, instead of inserted one by one.
const MIN_MERGED: usize = 4_096;
/// A merge rewrites the tables. So fewer documents than the indexed ones divided by this number are
/// inserted one by one.
const MAX_GROWTH: usize = 16;
/// Maximum number of threads of a merge.
const MAX_THREADS: usize = 4;

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

    /// Adds the keys of documents in ascending order, like [`MemoryIndex::insert`] one by one. Many
    /// are sorted first, and merged into their tables by several threads.
    pub(super) fn extend(&mut self, added: &[(u32, Arc<SignatureRecord>)]) {
        let indexed = self.exact.first().map_or(0, KeyTable::len);
        if added.len() < MIN_MERGED.max(indexed / MAX_GROWTH) {
            for (document, record) in added {
                self.insert(*document, record);
            }
            return;
        }
        let mut pairs = vec![Vec::with_capacity(added.len()); self.exact.len()];
        for (document, record) in added {
            for ExactKey { kind, short } in record.keys() {
                pairs[kind.index()].push((short, *document));
            }
        }
        let tables = Mutex::new(self.exact.iter_mut().zip(pairs));
        let next = || {
            tables
                .lock()
                .expect("no panic happens while it is locked")
                .next()
        };
        let merge = || {
            while let Some((table, mut pairs)) = next() {
                pairs.sort_unstable();
                table.extend_ascending(pairs).expect("the pairs are sorted");
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _helper in 1..threads.min(MAX_THREADS) {
                scope.spawn(merge);
            }
            for (document, record) in added {
                if let Some(fingerprint) = record.fingerprint() {
                    self.fingerprints.insert(fingerprint, *document);
                }
            }
            merge();
        });
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

#[cfg(test)]
mod tests {
    use neardup::keys::MAX_PER_KEY;
    use neardup::{Fingerprint, PageSignature, SKETCH_BYTES, Sketch, TextSignature};
    use web::UrlKey;

    use super::*;

    /// Returns a record. Every second record has the same text, and records whose numbers differ by
    /// 7,001 have the same fingerprint and sketch.
    fn record(number: u64) -> Arc<SignatureRecord> {
        let mixed = UrlKey::from_u64(number % 7_001)
            .as_u64()
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bytes: [u8; SKETCH_BYTES] =
            std::array::from_fn(|at| (mixed >> (at % 57)) as u8 ^ at as u8);
        let text = TextSignature {
            digest: if number.is_multiple_of(2) {
                1
            } else {
                number.into()
            },
            words: 500,
            main_content: None,
            fingerprint: Fingerprint::new(mixed),
            sketch: Some(Sketch::from_bytes(&bytes)),
            bag: None,
            title_terms: None,
        };
        Arc::new(SignatureRecord {
            position: number,
            page: UrlKey::from_u64(number.wrapping_mul(0xd6e8_feb8_6659_fd93)),
            group: 0,
            signature: PageSignature {
                payload: number.into(),
                text: Some(Box::new(text)),
            },
        })
    }

    #[test]
    fn merged_documents_are_found_like_documents_that_were_inserted_one_by_one() {
        let documents: Vec<_> = (0..3 * MIN_MERGED as u32)
            .map(|document| (document, record(document.into())))
            .collect();
        assert!(
            documents.len() > 2 * MAX_PER_KEY,
            "the crowd is larger than its cap"
        );
        let mut inserted = MemoryIndex::default();
        for (document, record) in &documents {
            inserted.insert(*document, record);
        }
        for ends in [
            [0, 0],
            [0, 1],
            [MIN_MERGED, MIN_MERGED],
            [1, MIN_MERGED + 1],
        ] {
            let mut merged = MemoryIndex::default();
            let (first, rest) = documents.split_at(ends[0]);
            let (second, third) = rest.split_at(ends[1]);
            for part in [first, second, third] {
                merged.extend(part);
            }
            for (merged, inserted) in merged.exact.iter().zip(&inserted.exact) {
                assert!(merged.iter().eq(inserted.iter()), "{ends:?}");
            }
            for (_, record) in &documents[..100] {
                let probe = record.fingerprint().unwrap();
                let found = merged.fingerprints.within(probe, 3);
                assert_eq!(found, inserted.fingerprints.within(probe, 3));
                assert!(!found.is_empty());
            }
        }
    }
}
