//! Many sorted tables in one tree, many postings a value.
//!
//! A table is a set of [`Posting`]s: a key of 64 bits (the bits of a fingerprint in the order of
//! one permutation, a band of a sketch, the digest of a text, a URL) and the document that has it;
//! a table that needs no documents has document 0 everywhere. They lie in blocks of a few hundred
//! under the first of each (block.rs), as Manku, Jain and Das Sarma keep their tables (WWW 2007,
//! section 3), because sled takes 130–160 bytes for every small key.
//!
//! | key in tree `tbl` | value |
//! |---|---|
//! | table | sealed: the number of its generation, which lies in a tree of its own (generation.rs) |
//!
//! Invariants: the blocks of a table do not overlap; its summary is changed in the same batch as
//! its blocks, so that a lost block is found out by who reads the whole table. Changes are those of
//! a set, so that the same ones may be made again: a pass that was cut short is mended by the next
//! that includes its changes. Whatever is read is checked; what is wrong is [`StoreFault::Tables`].
//!
//! One pass at a time may change a table; different tables may be changed, and all may be read, at
//! the same time. A reader sees each batch of a pass wholly or not at all.

mod block;
mod generation;
mod pass;
mod rewrite;
mod scan;

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};

use self::generation::Generation;
use self::pass::{Changes, FULL, Pass};
pub use self::scan::Scan;
use super::database::seal;
use super::database::{Batch, Database, Tree};
use crate::StoreFault;

const TREE: &str = "tbl";

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Table(u8);

impl Table {
    /// The table with this number, which is on disk for ever.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }
}

/// That a document has a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Posting {
    /// Any bits. Postings are in their order.
    pub key: u64,
    /// Which document has it; 0 in a table without documents.
    pub document: u32,
}

impl Posting {
    /// That `document` has `key`.
    #[must_use]
    pub const fn new(key: u64, document: u32) -> Self {
        Self { key, document }
    }

    const LAST: Self = Self::new(u64::MAX, u32::MAX);
}

/// How much is in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Pairs of a key and a document.
    pub postings: u64,
    /// Values that they lie in.
    pub blocks: u64,
    /// What keys and values of the blocks take, without what the engine adds.
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

    /// The rest without a block; none where it was never counted.
    fn without(self, postings: usize, bytes: usize) -> Option<Self> {
        Some(Self {
            postings: self.postings.checked_sub(postings as u64)?,
            blocks: self.blocks.checked_sub(1)?,
            bytes: self.bytes.checked_sub(bytes as u64)?,
        })
    }
}

/// Fewer blocks are not worth a new generation.
const FEW_BLOCKS: u64 = 32;

/// The tables of one crawl. See the module's documentation. Cheap to clone.
#[derive(Clone)]
pub struct SortedTables {
    database: Database,
    tree: Tree,
    current: Arc<Mutex<BTreeMap<Table, Arc<Generation>>>>,
}

impl SortedTables {
    /// The tables in this database. No pass may be under way: a generation that no table leads to
    /// is taken for left over, and away. A table belongs to who opened it and to his clones; who
    /// opened the tables too has others.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] where it is damaged; so with all that follows.
    pub fn open(database: &Database) -> Result<Self, StoreFault> {
        let tree = database.tree(TREE)?;
        let mut current = BTreeMap::new();
        for entry in tree.under(&[]) {
            let (key, value) = entry?;
            let wrong = |what: String| tree.broken(what);
            let &[table] = key
                .as_array()
                .ok_or_else(|| wrong("the number of a table is malformed".to_owned()))?;
            let number = seal::read(&key, &value).map_err(|broken| wrong(broken.to_string()))?;
            let (name, table) = (Generation::name(Table(table), number), Table(table));
            if !database.tree_names()?.contains(&name) {
                return Err(wrong(format!("there is no tree {name}")));
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

    /// Adds postings, which ascend; those that are there already stay.
    pub fn unite(&self, table: Table, added: &[Posting]) -> Result<(), StoreFault> {
        self.update(table, added, &[])
    }

    /// Takes postings out, which ascend; those that are not there are not missed.
    pub fn remove(&self, table: Table, removed: &[Posting]) -> Result<(), StoreFault> {
        self.update(table, &[], removed)
    }

    /// Both in one pass over the blocks that change. What is added and removed at once is removed.
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
        // Of uniform changes half as many as there are blocks fall into four of ten.
        let blocks = old.summary()?.blocks;
        let is_large = changes.len() as u64 * 2 >= blocks
            && blocks.max(changes.len() as u64 / FULL as u64) >= FEW_BLOCKS;
        if is_large {
            return self.renew(old, changes);
        }
        Pass::over(&old)?.make(changes)
    }

    /// Writes the next generation of a table, and takes the one before away.
    fn renew(&self, old: Arc<Generation>, changes: Changes<'_>) -> Result<(), StoreFault> {
        let new = self.next(&old)?;
        rewrite::renew(Scan::begin(Arc::clone(&old))?, &new, changes)?;
        self.replace(old, new)
    }

    /// The generation after this one, empty.
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
        // Whoever still reads the old one got it before; if so it is taken away when the tables are
        // opened next.
        if Arc::strong_count(&old) == 1 {
            let name = Generation::name(old.table, old.number);
            drop(old);
            self.database.drop_tree(&name)?;
        }
        Ok(())
    }

    /// From now on the table is this generation of it.
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

    /// Takes everything out of a table.
    pub(super) fn clear(&self, table: Table) -> Result<(), StoreFault> {
        let Some(old) = self.generation(table) else {
            return Ok(());
        };
        let new = self.next(&old)?;
        self.replace(old, new)
    }

    /// Visits the documents that have `key`, ascending, until the visitor breaks.
    pub fn under(
        &self,
        table: Table,
        key: u64,
        mut visit: impl FnMut(u32) -> ControlFlow<()>,
    ) -> Result<(), StoreFault> {
        self.range(table, key..=key, |posting| visit(posting.document))
    }

    /// Visits the postings with these keys, ascending, until the visitor breaks.
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
        // Blocks that begin within the keys, behind the one that begins before them and may reach
        // into them.
        let before = table.block_of(Posting::new(low, 0))?;
        let from = before
            .as_ref()
            .map_or(Bound::Included(&goal[..]), |(key, _)| {
                Bound::Excluded(&key[..])
            });
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

    /// Whether the table holds this posting.
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

    /// All of a table as it is now, ascending, a block at a time. To be read before the table is
    /// changed again.
    pub fn all(&self, table: Table) -> Result<Scan, StoreFault> {
        match self.generation(table) {
            Some(table) => Scan::begin(table),
            None => Ok(Scan::default()),
        }
    }

    /// How many postings the table holds.
    pub fn count(&self, table: Table) -> Result<u64, StoreFault> {
        Ok(self.summary(table)?.postings)
    }

    /// How much is in a table.
    pub fn summary(&self, table: Table) -> Result<Summary, StoreFault> {
        self.generation(table)
            .map_or(Ok(Summary::default()), |table| table.summary())
    }
}

#[cfg(test)]
mod tests;
