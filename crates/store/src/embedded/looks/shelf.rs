//! The looks of all documents on disk: which have which keys, their cards, and the seats.
//!
//! Keys lie in sorted tables (sorted/mod.rs): an exact key under its 32 bits, a fingerprint once
//! for each permutation of the design, in its order. Tree `seats` has a small value for each page
//! that was let through.
//!
//! Invariant: a document that was begun to be added or removed, and not ended, does harm to nobody.
//! Adding puts the card first and the page's key last, removing takes that key before the card: so
//! whoever has a page's key has a card, and is found by its other keys; and all of it may be done
//! again.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use neardup::{Fingerprint, KeyTable, MAX_EQUAL, MAX_PER_KEY, QuarterTables, ShortKey};
use web::UrlKey;

use super::super::cards::{Card, Cards};
use super::super::database::{Batch, Database, Tree};
use super::super::seal;
use super::super::sorted::{Posting, SortedTables, Table};
use super::delta::Delta;
use super::keys::{KINDS, Key, Kind, MOST_TABLES, Resemblance, table_of_permutation};
use super::mirror::Mirror;
use super::settings::Design;
use crate::StoreFault;
use crate::known::RetainedEntry;

const SEATS: &str = "seats";

pub(super) struct Shelf {
    tables: SortedTables,
    cards: Cards,
    seats: Tree,
    design: Design,
}

impl Shelf {
    pub(super) fn open(database: &Database, design: Design) -> Result<Self, StoreFault> {
        Ok(Self {
            tables: SortedTables::open(database)?,
            cards: Cards::open(database)?,
            seats: database.tree(SEATS)?,
            design,
        })
    }

    /// Takes everything out.
    pub(super) fn clear(&self) -> Result<(), StoreFault> {
        for kind in Kind::all() {
            self.tables.clear(kind.table())?;
        }
        for number in 0..MOST_TABLES {
            self.tables.clear(table_of_permutation(number))?;
        }
        self.cards.clear()?;
        self.seats.clear()
    }

    /// The card of a document that some table has.
    pub(super) fn card(&self, document: u32) -> Result<Card, StoreFault> {
        let card = self.cards.get(document)?;
        card.ok_or_else(|| {
            self.seats
                .broken(format!("the card of document {document} is missing"))
        })
    }

    /// Adds the documents under an exact key that are below `end`.
    pub(super) fn under(
        &self,
        key: Key,
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

    /// Whether this document is under this key.
    pub(super) fn contains(&self, key: Key, document: u32) -> Result<bool, StoreFault> {
        let posting = Posting::new(key.short.as_u32().into(), document);
        self.tables.contains(key.kind.table(), posting)
    }

    /// Adds the documents below `end` that may resemble this, each perhaps several times.
    pub(super) fn near(
        &self,
        resemblance: &Resemblance,
        distance: u32,
        end: u32,
        documents: &mut Vec<u32>,
    ) -> Result<(), StoreFault> {
        for (number, low, high) in self.design.ranges(resemblance.fingerprint) {
            let permutation = &self.design.tables.tables()[number];
            let probe = permutation.apply(resemblance.fingerprint.as_u64());
            // Of a crowd of equal ones as many as the tables in memory hold.
            let (mut last, mut equal) = (None, 0);
            self.tables
                .range(table_of_permutation(number), low..=high, |posting| {
                    if (posting.key ^ probe).count_ones() <= distance && posting.document < end {
                        equal = if last == Some(posting.key) {
                            equal + 1
                        } else {
                            1
                        };
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

    /// Makes these changes.
    pub(super) fn write(&self, delta: &Delta) -> Result<(), StoreFault> {
        let cards: Vec<(u32, Card)> = delta
            .added
            .iter()
            .map(|(document, card)| (*document, Card::clone(card)))
            .collect();
        self.cards.update(&cards, &[])?;
        let permutations = self.design.tables.tables();
        for (number, permutation) in permutations.iter().enumerate() {
            let postings = |cards: &BTreeMap<u32, Arc<Card>>| {
                let held = cards.iter().filter_map(|(document, card)| {
                    let fingerprint = card.tabled()?;
                    Some(Posting::new(
                        permutation.apply(fingerprint.as_u64()),
                        *document,
                    ))
                });
                sorted(held.collect())
            };
            let (added, removed) = (postings(&delta.added), postings(&delta.removed));
            self.tables
                .update(table_of_permutation(number), &added, &removed)?;
        }
        let (mut added, mut removed) = (by_kind(&delta.added), by_kind(&delta.removed));
        for kind in Kind::all()
            .filter(|kind| *kind != Kind::PAGE)
            .chain([Kind::PAGE])
        {
            let (added, removed) = (&mut added[kind.index()], &mut removed[kind.index()]);
            self.tables.update(
                kind.table(),
                &sorted(std::mem::take(added)),
                &sorted(std::mem::take(removed)),
            )?;
        }
        let removed: Vec<u32> = delta.removed.keys().copied().collect();
        self.cards.update(&[], &removed)?;
        let mut batch = Batch::default();
        for (page, seated) in &delta.seats {
            let key = page.as_u64().to_be_bytes();
            match seated {
                Some(seated) => batch.insert(&key, &seal::written(&key, seated)),
                None => batch.remove(&key),
            }
        }
        self.seats.apply(batch)
    }

    /// Who was let through before the journal's position `end`.
    pub(super) fn seats(&self, end: u64) -> Result<Vec<(UrlKey, RetainedEntry)>, StoreFault> {
        let mut found = Vec::new();
        for entry in self.seats.under(&[]) {
            let (key, value) = entry?;
            let seated: RetainedEntry =
                seal::read(&key, &value).map_err(|broken| self.seats.broken(broken.to_string()))?;
            let page = <[u8; 8]>::try_from(&*key)
                .map_err(|_length| self.seats.broken("a page's key is malformed".to_owned()))?;
            if seated.place < end {
                found.push((UrlKey::from_u64(u64::from_be_bytes(page)), seated));
            }
        }
        Ok(found)
    }

    /// The documents below `end` that live, in order of their keys.
    pub(super) fn pages(&self, end: u32) -> Result<Vec<u32>, StoreFault> {
        let mut documents = Vec::new();
        self.each_block(Kind::PAGE.table(), end, |block| {
            documents.extend(block.iter().map(|posting| posting.document));
            Ok(())
        })?;
        Ok(documents)
    }

    /// All keys of the documents below `end`, in memory: read by two threads.
    pub(super) fn mirror(&self, end: u32) -> Result<Mirror, StoreFault> {
        let kinds: Vec<Kind> = Kind::all().collect();
        // The fingerprints take as long as two kinds or three.
        let (first, second) = kinds.split_at(kinds.len() / 2 - 1);
        std::thread::scope(|threads| {
            let helper = threads.spawn(move || self.key_tables(second, end));
            let fingerprints = self.fingerprints(end)?;
            let mut exact = self.key_tables(first, end)?;
            let rest = helper.join();
            exact.extend(
                rest.map_err(|_panic| {
                    self.seats.broken("reading the tables panicked".to_owned())
                })??,
            );
            Ok(Mirror::of(fingerprints, exact))
        })
    }

    fn key_tables(&self, kinds: &[Kind], end: u32) -> Result<Vec<KeyTable>, StoreFault> {
        kinds
            .iter()
            .map(|kind| self.key_table(*kind, end))
            .collect()
    }

    fn key_table(&self, kind: Kind, end: u32) -> Result<KeyTable, StoreFault> {
        let mut table = KeyTable::new();
        let mut pairs = Vec::new();
        let not_ascending = || {
            self.seats
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
            let held = block.iter().map(|posting| {
                let fingerprint = Fingerprint::new(permutation.undo(posting.key));
                (fingerprint, posting.document)
            });
            items.extend(held);
            Ok(())
        })?;
        Ok(QuarterTables::build(items))
    }

    /// Visits what lies in a table of the documents below `end`.
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

/// Pairs that are read before they go to a table in memory, which then merges each of its thousand
/// segments less often.
const PAIRS_AT_A_TIME: usize = 1 << 20;

fn by_kind(cards: &BTreeMap<u32, Arc<Card>>) -> Vec<Vec<Posting>> {
    let mut postings = vec![Vec::new(); KINDS];
    for (document, card) in cards {
        for Key { kind, short } in card.keys() {
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
    fn a_seat_is_pinned_to_the_byte() {
        let cluster = Cluster {
            original: UrlKey::from_u64(2),
            earlier: true,
        };
        let seated = RetainedEntry {
            place: 1,
            cluster,
            rank: 3,
            copy: (4, 5),
        };
        assert_eq!(postcard::to_allocvec(&seated).unwrap(), [1, 2, 1, 3, 4, 5]);
    }

    #[test]
    fn no_two_tables_have_one_number() {
        let exact = Kind::all().map(Kind::table);
        let mut tables: Vec<_> = exact
            .chain((0..MOST_TABLES).map(table_of_permutation))
            .collect();
        assert_eq!(tables.first(), Some(&Table::new(0x10)));
        let count = tables.len();
        tables.sort_unstable();
        tables.dedup();
        assert_eq!(tables.len(), count);
    }
}
