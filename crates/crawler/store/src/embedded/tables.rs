//! Sorted tables of postings, with many postings per value.
//!
//! A table is a set of [`Posting`]s: a key of 64 bits (the bits of a fingerprint in the order of
//! one permutation, a band of a sketch, the digest of a text, a URL) and the document that has the
//! key. A table without documents has document 0 everywhere. Postings are in blocks of a few
//! hundred, each under its first posting (block.rs), because sled takes 130–160 bytes for every
//! small key. Manku, Jain and Das Sarma (WWW 2007, section 3) use such tables.
//!
//! | key in tree `tbl` | value |
//! |---|---|
//! | table | sealed: the number of its generation, a tree of its own (generation.rs) |
//!
//! Invariants: the blocks of a table do not overlap. Its summary changes in the same batch as its
//! blocks, so reading the whole table reveals a lost block. Changes are set operations, so they may
//! be repeated: the next pass that includes the changes of an interrupted pass completes them.
//! Everything read is checked; a fault is [`StoreFault::Tables`].
//!
//! Only one pass at a time may change a table. Different tables may change concurrently, and all
//! may be read at the same time. A reader sees each batch of a pass completely or not at all.

mod block;
mod generation;
mod pass;
mod rewrite;
mod scan;

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard};

use journal::StoreFault;
use serde::{Deserialize, Serialize};

use self::generation::Generation;
use self::pass::{Changes, FULL, Pass};
pub use self::scan::Scan;
use super::database::{Batch, Database, Tree, seal};

const TREE: &str = "tbl";

/// The number of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Table(u8);

impl Table {
    /// Returns the table with this number, which is on disk forever.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }
}

/// A pair of a key and a document that has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Posting {
    /// The key: any bits. Postings are ordered by key.
    pub key: u64,
    /// The document; 0 in a table without documents.
    pub document: u32,
}

impl Posting {
    /// Returns the posting of `document` under `key`.
    #[must_use]
    pub const fn new(key: u64, document: u32) -> Self {
        Self { key, document }
    }

    const LAST: Self = Self::new(u64::MAX, u32::MAX);
}

/// The size of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of pairs of a key and a document.
    pub postings: u64,
    /// Blocks of postings.
    pub blocks: u64,
    /// Bytes of the blocks' keys and values, without the engine's overhead.
    pub bytes: u64,
}

const MISCOUNTED: &str = "a sorted table has other blocks than were counted";

impl Summary {
    fn with(self, postings: usize, bytes: usize) -> Self {
        Self {
            postings: self.postings + postings as u64,
            blocks: self.blocks + 1,
            bytes: self.bytes + bytes as u64,
        }
    }

    /// Returns the summary without a block; `None` if the block was never counted.
    fn without(self, postings: usize, bytes: usize) -> Option<Self> {
        Some(Self {
            postings: self.postings.checked_sub(postings as u64)?,
            blocks: self.blocks.checked_sub(1)?,
            bytes: self.bytes.checked_sub(bytes as u64)?,
        })
    }
}

/// Minimum number of blocks that are worth a new generation.
const FEW_BLOCKS: u64 = 32;

/// The tables of one crawl. See the module's documentation. Cheap to clone.
#[derive(Clone)]
pub struct SortedTables {
    database: Database,
    tree: Tree,
    current: Arc<Mutex<BTreeMap<Table, Arc<Generation>>>>,
}

impl SortedTables {
    /// Opens the tables in this database, and deletes unreferenced generations; so no pass may be
    /// in progress. Clones share their tables; another `open` does not.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if it is damaged; the same applies to all other functions.
    pub fn open(database: &Database) -> Result<Self, StoreFault> {
        let tree = database.tree(TREE)?;
        let mut current = BTreeMap::new();
        for entry in tree.under(&[]) {
            let (key, value) = entry?;
            let malformed = || tree.broken("the number of a table is malformed".to_owned());
            let &[table] = key.as_array().ok_or_else(malformed)?;
            let (table, number) = (Table(table), tree.open_seal(&key, &value)?);
            let name = Generation::name(table, number);
            if !database.tree_names()?.contains(&name) {
                return Err(tree.broken(format!("there is no tree {name}")));
            }
            current.insert(table, Arc::new(Generation::open(database, table, number)?));
        }
        for name in database.tree_names()? {
            let is_led_to =
                |table: &Arc<Generation>| Generation::name(table.table, table.number) == name;
            if name.starts_with(generation::NAMES) && !current.values().any(is_led_to) {
                database.drop_tree(&name)?;
            }
        }
        Ok(Self {
            database: database.clone(),
            tree,
            current: Arc::new(Mutex::new(current)),
        })
    }

    /// Adds ascending postings; postings that are already present stay.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn unite(&self, table: Table, added: &[Posting]) -> Result<(), StoreFault> {
        self.update(table, added, &[])
    }

    /// Removes ascending postings; absent postings are ignored.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn remove(&self, table: Table, removed: &[Posting]) -> Result<(), StoreFault> {
        self.update(table, &[], removed)
    }

    /// Adds and removes postings in one pass over the blocks that change. A posting in both lists
    /// is removed.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn update(
        &self,
        table: Table,
        added: &[Posting],
        removed: &[Posting],
    ) -> Result<(), StoreFault> {
        let changes = Changes::new(added, removed);
        let old = match self.generation(table) {
            Some(old) => old,
            None => self.lead_to(Generation::open(&self.database, table, 0)?)?,
        };
        // Half as many uniform changes as there are blocks fall into four of ten blocks.
        let blocks = old.summary()?.blocks;
        let is_large = changes.len() as u64 * 2 >= blocks
            && blocks.max(changes.len() as u64 / FULL as u64) >= FEW_BLOCKS;
        if is_large {
            return self.renew(old, changes);
        }
        Pass::over(&old)?.make(changes)
    }

    /// Writes the next generation of a table and deletes the previous one.
    fn renew(&self, old: Arc<Generation>, changes: Changes<'_>) -> Result<(), StoreFault> {
        let new = self.next(&old)?;
        rewrite::renew(Scan::begin(Arc::clone(&old))?, &new, changes)?;
        self.replace(old, new)
    }

    /// Returns the generation after this one, empty.
    fn next(&self, old: &Generation) -> Result<Generation, StoreFault> {
        let number = old.number.wrapping_add(1);
        let name = Generation::name(old.table, number);
        if self.database.tree_names()?.contains(&name) {
            // An earlier attempt failed.
            self.database.drop_tree(&name)?;
        }
        Generation::open(&self.database, old.table, number)
    }

    fn replace(&self, old: Arc<Generation>, new: Generation) -> Result<(), StoreFault> {
        self.lead_to(new)?;
        // Readers may still hold the old generation; in that case, the next opening deletes it.
        if Arc::strong_count(&old) == 1 {
            let name = Generation::name(old.table, old.number);
            drop(old);
            self.database.drop_tree(&name)?;
        }
        Ok(())
    }

    /// Makes this generation the current one of its table, durably.
    fn lead_to(&self, new: Generation) -> Result<Arc<Generation>, StoreFault> {
        let key = new.summary_key();
        let mut batch = Batch::default();
        batch.insert(&key, &seal::written(&key, &new.number));
        self.tree.apply(batch)?;
        self.tree.flush()?;
        let new = Arc::new(new);
        self.current().insert(new.table, Arc::clone(&new));
        Ok(new)
    }

    fn current(&self) -> MutexGuard<'_, BTreeMap<Table, Arc<Generation>>> {
        self.current
            .lock()
            .expect("no panic can happen while the generations are locked")
    }

    fn generation(&self, table: Table) -> Option<Arc<Generation>> {
        self.current().get(&table).cloned()
    }

    /// Removes all postings of a table.
    pub(super) fn clear(&self, table: Table) -> Result<(), StoreFault> {
        let Some(old) = self.generation(table) else {
            return Ok(());
        };
        let new = self.next(&old)?;
        self.replace(old, new)
    }

    /// Visits the documents with `key`, ascending, until the visitor breaks.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn under(
        &self,
        table: Table,
        key: u64,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<(), StoreFault> {
        self.range(table, key..=key, |posting| visit(posting.document))
    }

    /// Visits the postings with these keys, ascending, until the visitor breaks.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn range(
        &self,
        table: Table,
        keys: RangeInclusive<u64>,
        mut visit: impl FnMut(Posting) -> ControlFlow<()>,
    ) -> Result<(), StoreFault> {
        let Some(table) = self.generation(table) else {
            return Ok(());
        };
        let (low, high) = keys.into_inner();
        let goal = table.key_of(Posting::new(low, 0));
        let last = table.key_of(Posting::new(high, u32::MAX));
        // The blocks that begin within the range, after the block that begins before it and may
        // reach into it.
        let before = table.block_of(Posting::new(low, 0))?;
        let from = match &before {
            Some((key, _)) => Bound::Excluded(&key[..]),
            None => Bound::Included(&goal[..]),
        };
        let within = table
            .tree
            .range::<&[u8]>((from, Bound::Included(&last[..])));
        for entry in before.iter().cloned().map(Ok).chain(within) {
            let (key, value) = entry?;
            for posting in table.read(&key, &value)?.postings() {
                let posting = posting.map_err(|broken| table.broken(broken))?;
                if posting.key > high {
                    return Ok(());
                }
                if posting.key >= low && visit(posting).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns true if the table holds this posting.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn contains(&self, table: Table, posting: Posting) -> Result<bool, StoreFault> {
        let Some(table) = self.generation(table) else {
            return Ok(false);
        };
        let Some((key, value)) = table.block_of(posting)? else {
            return Ok(false);
        };
        for held in table.read(&key, &value)?.postings() {
            let held = held.map_err(|broken| table.broken(broken))?;
            if held >= posting {
                return Ok(held == posting);
            }
        }
        Ok(false)
    }

    /// Returns a scan of the whole current table, ascending, block by block. Read it before the
    /// table changes again.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn all(&self, table: Table) -> Result<Scan, StoreFault> {
        match self.generation(table) {
            Some(table) => Scan::begin(table),
            None => Ok(Scan::default()),
        }
    }

    /// Returns the number of postings in a table.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn count(&self, table: Table) -> Result<u64, StoreFault> {
        Ok(self.summary(table)?.postings)
    }

    /// Returns the size of a table.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the table is damaged.
    pub fn summary(&self, table: Table) -> Result<Summary, StoreFault> {
        self.generation(table)
            .map_or(Ok(Summary::default()), |table| table.summary())
    }
}

#[cfg(test)]
mod tests;
