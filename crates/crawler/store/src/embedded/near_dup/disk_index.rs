//! The signature index on disk: the keys of all documents, their records, and the kept duplicates.
//!
//! Keys are in sorted tables (tables.rs): an exact key under its 32 bits, a fingerprint once per
//! permutation of the design, permuted. Tree `seats` has a small value per retained duplicate, tree
//! `distinct` one per pair of distinct pages.
//!
//! Invariant: an interrupted addition or removal of a document is harmless. Adding writes the
//! record first and the page's key last; removing deletes that key before the record. So a document
//! with its page's key has a record and all other keys, and every change may be repeated.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use journal::StoreFault;
use neardup::Fingerprint;
use neardup::keys::{KeyTable, MAX_PER_KEY, ShortKey};
use neardup::tables::{MAX_EQUAL, QuarterTables};
use web::UrlKey;

use super::keys::{ExactKey, KINDS, KeyKind, MAX_TABLES, NearKeys, table_of_permutation};
use super::memory_index::MemoryIndex;
use super::memtable::Memtable;
use super::records::{SignatureRecord, SignatureRecords};
use super::settings::Design;
use crate::embedded::database::{Batch, Database, Tree, seal};
use crate::embedded::tables::{Posting, SortedTables, Table};
use crate::known::RetainedEntry;

const RETAINED_TREE: &str = "seats";
const DISTINCT_TREE: &str = "distinct";

pub(super) struct DiskIndex {
    tables: SortedTables,
    records: SignatureRecords,
    retained: Tree,
    distinct: Tree,
    design: Design,
}

impl DiskIndex {
    pub(super) fn open(database: &Database, design: Design) -> Result<Self, StoreFault> {
        Ok(Self {
            tables: SortedTables::open(database)?,
            records: SignatureRecords::open(database)?,
            retained: database.tree(RETAINED_TREE)?,
            distinct: database.tree(DISTINCT_TREE)?,
            design,
        })
    }

    /// Removes everything.
    pub(super) fn clear(&self) -> Result<(), StoreFault> {
        for kind in KeyKind::all() {
            self.tables.clear(kind.table())?;
        }
        for number in 0..MAX_TABLES {
            self.tables.clear(table_of_permutation(number))?;
        }
        self.records.clear()?;
        self.retained.clear()?;
        self.distinct.clear()
    }

    /// Returns the record of a document that a table names.
    pub(super) fn record(&self, document: u32) -> Result<SignatureRecord, StoreFault> {
        let record = self.records.get(document)?;
        record.ok_or_else(|| {
            self.retained
                .broken(format!("the record of document {document} is missing"))
        })
    }

    /// Adds to the result the documents below `end` with this exact key.
    pub(super) fn under(
        &self,
        key: ExactKey,
        end: u32,
        documents: &mut Vec<u32>,
    ) -> Result<(), StoreFault> {
        let most = documents.len() + MAX_PER_KEY;
        self.tables
            .under(key.kind.table(), key.short.as_u32().into(), |document| {
                if document >= end || documents.len() == most {
                    return ControlFlow::Break(());
                }
                documents.push(document);
                ControlFlow::Continue(())
            })
    }

    /// Returns true if this document has this key.
    pub(super) fn contains(&self, key: ExactKey, document: u32) -> Result<bool, StoreFault> {
        let posting = Posting::new(key.short.as_u32().into(), document);
        self.tables.contains(key.kind.table(), posting)
    }

    /// Adds the documents below `end` that may be near; a document may be added several times.
    pub(super) fn near(
        &self,
        resemblance: &NearKeys,
        distance: u32,
        end: u32,
        documents: &mut Vec<u32>,
    ) -> Result<(), StoreFault> {
        for (number, low, high) in self.design.ranges(resemblance.fingerprint) {
            let permutation = &self.design.tables.tables()[number];
            let probe = permutation.apply(resemblance.fingerprint.as_u64());
            // At most as many documents with equal fingerprints as the tables in memory hold.
            let (mut last, mut equal) = (None, 0);
            self.tables
                .range(table_of_permutation(number), low..=high, |posting| {
                    if (posting.key ^ probe).count_ones() <= distance && posting.document < end {
                        equal = 1 + if last == Some(posting.key) { equal } else { 0 };
                        last = Some(posting.key);
                        if equal <= MAX_EQUAL {
                            documents.push(posting.document);
                        }
                    }
                    ControlFlow::Continue(())
                })?;
        }
        for band in resemblance.bands {
            self.under(band, end, documents)?;
        }
        Ok(())
    }

    /// Writes the memtable's changes.
    pub(super) fn write(&self, memtable: &Memtable) -> Result<(), StoreFault> {
        let added = memtable.added.iter();
        let records = added.map(|(document, record)| (*document, SignatureRecord::clone(record)));
        self.records.update(&records.collect::<Vec<_>>(), &[])?;
        let permutations = self.design.tables.tables();
        for (number, permutation) in permutations.iter().enumerate() {
            let postings = |records: &BTreeMap<u32, Arc<SignatureRecord>>| {
                let held = records.iter().filter_map(|(document, record)| {
                    let permuted = permutation.apply(record.fingerprint()?.as_u64());
                    Some(Posting::new(permuted, *document))
                });
                sorted(held.collect())
            };
            let (added, removed) = (postings(&memtable.added), postings(&memtable.removed));
            self.tables
                .update(table_of_permutation(number), &added, &removed)?;
        }
        let (mut added, mut removed) = (by_kind(&memtable.added), by_kind(&memtable.removed));
        let others = KeyKind::all().filter(|kind| *kind != KeyKind::PAGE);
        for kind in others.chain([KeyKind::PAGE]) {
            let take =
                |postings: &mut [Vec<Posting>]| sorted(std::mem::take(&mut postings[kind.index()]));
            let (added, removed) = (take(&mut added), take(&mut removed));
            self.tables.update(kind.table(), &added, &removed)?;
        }
        let removed: Vec<u32> = memtable.removed.keys().copied().collect();
        self.records.update(&[], &removed)?;
        let mut batch = Batch::default();
        for (page, retained) in &memtable.retained {
            let key = page.as_u64().to_be_bytes();
            match retained {
                Some(retained) => batch.insert(&key, &seal::written(&key, retained)),
                None => batch.remove(&key),
            }
        }
        self.retained.apply(batch)?;
        let mut batch = Batch::default();
        for ((page, original), place) in &memtable.distinct {
            let key = [page, original]
                .map(|key| key.as_u64().to_be_bytes())
                .concat();
            batch.insert(&key, &seal::written(&key, place));
        }
        self.distinct.apply(batch)
    }

    /// Returns the pairs of distinct pages that were recorded before position `end` of the journal.
    pub(super) fn distinct(&self, end: u64) -> Result<Vec<(UrlKey, UrlKey)>, StoreFault> {
        let mut found = Vec::new();
        for entry in self.distinct.under(&[]) {
            let (key, value) = entry?;
            let place: u64 = self.distinct.open_seal(&key, &value)?;
            let ([page, original], []) = key.as_chunks::<8>() else {
                let what = "a pair of pages is malformed".to_owned();
                return Err(self.distinct.broken(what));
            };
            if place < end {
                let key = |bytes: &[u8; 8]| UrlKey::from_u64(u64::from_be_bytes(*bytes));
                found.push((key(page), key(original)));
            }
        }
        Ok(found)
    }

    /// Returns the duplicates that were kept before position `end` of the journal.
    pub(super) fn retained(&self, end: u64) -> Result<Vec<(UrlKey, RetainedEntry)>, StoreFault> {
        let mut found = Vec::new();
        for entry in self.retained.under(&[]) {
            let (key, value) = entry?;
            let retained: RetainedEntry = self.retained.open_seal(&key, &value)?;
            let page = <[u8; 8]>::try_from(&*key)
                .map_err(|_length| self.retained.broken("a page's key is malformed".to_owned()))?;
            if retained.place < end {
                found.push((UrlKey::from_u64(u64::from_be_bytes(page)), retained));
            }
        }
        Ok(found)
    }

    /// Returns the live documents below `end`, ordered by their keys.
    pub(super) fn pages(&self, end: u32) -> Result<Vec<u32>, StoreFault> {
        let mut documents = Vec::new();
        self.each_block(KeyKind::PAGE.table(), end, |block| {
            documents.extend(block.iter().map(|posting| posting.document));
            Ok(())
        })?;
        Ok(documents)
    }

    /// Reads all keys of the documents below `end` into memory, with two threads.
    pub(super) fn to_memory(&self, end: u32) -> Result<MemoryIndex, StoreFault> {
        let kinds: Vec<KeyKind> = KeyKind::all().collect();
        // The fingerprints take as long as two or three kinds of keys.
        let (first, second) = kinds.split_at(kinds.len() / 2 - 1);
        std::thread::scope(|threads| {
            let helper = threads.spawn(move || self.key_tables(second, end));
            let fingerprints = self.fingerprints(end)?;
            let mut exact = self.key_tables(first, end)?;
            let rest = helper.join();
            exact.extend(rest.map_err(|_panic| {
                self.retained
                    .broken("reading the tables panicked".to_owned())
            })??);
            Ok(MemoryIndex::of(fingerprints, exact))
        })
    }

    fn key_tables(&self, kinds: &[KeyKind], end: u32) -> Result<Vec<KeyTable>, StoreFault> {
        kinds
            .iter()
            .map(|kind| self.key_table(*kind, end))
            .collect()
    }

    fn key_table(&self, kind: KeyKind, end: u32) -> Result<KeyTable, StoreFault> {
        let mut table = KeyTable::new();
        let mut pairs = Vec::new();
        let not_ascending = || {
            self.retained
                .broken("a table of keys does not ascend".to_owned())
        };
        self.each_block(kind.table(), end, |block| {
            for posting in block {
                let short = u32::try_from(posting.key).map_err(|_wide| not_ascending())?;
                pairs.push((ShortKey::new(short), posting.document));
            }
            if pairs.len() >= PAIRS_AT_A_TIME {
                table
                    .extend_ascending(pairs.drain(..))
                    .map_err(|_broken| not_ascending())?;
            }
            Ok(())
        })?;
        table
            .extend_ascending(pairs)
            .map_err(|_broken| not_ascending())?;
        Ok(table)
    }

    fn fingerprints(&self, end: u32) -> Result<QuarterTables, StoreFault> {
        let Some(permutation) = self.design.tables.tables().first() else {
            return Ok(QuarterTables::new());
        };
        let table = table_of_permutation(0);
        let count = usize::try_from(self.tables.count(table)?).unwrap_or(0);
        let mut items = Vec::with_capacity(count.min(end as usize));
        self.each_block(table, end, |block| {
            let fingerprint = |posting: &Posting| Fingerprint::new(permutation.undo(posting.key));
            items.extend(
                block
                    .iter()
                    .map(|posting| (fingerprint(posting), posting.document)),
            );
            Ok(())
        })?;
        Ok(QuarterTables::build(items))
    }

    /// Visits a table's postings for documents below `end`.
    fn each_block(
        &self,
        table: Table,
        end: u32,
        mut visit: impl FnMut(&[Posting]) -> Result<(), StoreFault>,
    ) -> Result<(), StoreFault> {
        let mut scan = self.tables.all(table)?;
        let mut block = Vec::new();
        while scan.next_block(&mut block)? {
            block.retain(|posting| posting.document < end);
            visit(&block)?;
            block.clear();
        }
        Ok(())
    }
}

/// Number of pairs that are read before they are merged into a table in memory: larger batches
/// merge each of its thousand segments less often.
const PAIRS_AT_A_TIME: usize = 1 << 20;

fn by_kind(records: &BTreeMap<u32, Arc<SignatureRecord>>) -> Vec<Vec<Posting>> {
    let mut postings = vec![Vec::new(); KINDS];
    for (document, record) in records {
        for ExactKey { kind, short } in record.keys() {
            postings[kind.index()].push(Posting::new(short.as_u32().into(), *document));
        }
    }
    postings
}

fn sorted(mut postings: Vec<Posting>) -> Vec<Posting> {
    postings.sort_unstable();
    postings.dedup();
    postings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Cluster;

    #[test]
    fn a_retained_entry_is_pinned_to_the_byte() {
        let cluster = Cluster {
            original: UrlKey::from_u64(2),
            earlier: true,
        };
        let retained = RetainedEntry {
            place: 1,
            cluster,
            rank: 3,
            copy: (4, 5),
        };
        assert_eq!(
            postcard::to_allocvec(&retained).unwrap(),
            [1, 2, 1, 3, 4, 5]
        );
    }

    #[test]
    fn no_two_tables_have_one_number() {
        let exact = KeyKind::all().map(KeyKind::table);
        let mut tables: Vec<_> = exact
            .chain((0..MAX_TABLES).map(table_of_permutation))
            .collect();
        assert_eq!(tables.first(), Some(&Table::new(0x10)));
        let count = tables.len();
        tables.sort_unstable();
        tables.dedup();
        assert_eq!(tables.len(), count);
    }
}
