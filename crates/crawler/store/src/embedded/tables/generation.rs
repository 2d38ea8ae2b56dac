//! A generation of a table: its blocks in their own tree.
//!
//! | key in tree `tbl/`table`/`generation | value |
//! |---|---|
//! | table · first posting | a block |
//! | table | sealed: a [`Summary`] |
//!
//! Small changes are made in place. Large changes write the next generation from end to end and
//! drop the tree of the previous one. When a table was overwritten in place, it took two to four
//! times its size on disk.

use std::ops::Bound;

use journal::StoreFault;

use super::block::{Block, BrokenBlock, KEY_BYTES, first_of, key_of};
use super::{Posting, Summary, Table};
use crate::embedded::database::{Database, Tree, Value};

/// The prefix of the trees' names.
pub(super) const NAMES: &str = "tbl/";

/// One table's blocks.
pub(super) struct Generation {
    pub(super) table: Table,
    pub(super) number: u32,
    pub(super) tree: Tree,
}

impl Generation {
    pub(super) fn open(database: &Database, table: Table, number: u32) -> Result<Self, StoreFault> {
        let tree = database.tree(&Self::name(table, number))?;
        Ok(Self {
            table,
            number,
            tree,
        })
    }

    pub(super) fn name(table: Table, number: u32) -> String {
        format!("{NAMES}{}/{number}", table.0)
    }

    /// Returns the summary of the table.
    pub(super) fn summary(&self) -> Result<Summary, StoreFault> {
        let summary = self.tree.get_sealed(&self.summary_key())?;
        Ok(summary.unwrap_or_default())
    }

    pub(super) fn summary_key(&self) -> [u8; 1] {
        [self.table.0]
    }

    pub(super) fn key_of(&self, first: Posting) -> [u8; KEY_BYTES] {
        key_of(self.table, first)
    }

    /// Returns the block that `posting` falls into; `None` if it falls before the first block.
    pub(super) fn block_of(&self, posting: Posting) -> Result<Option<(Value, Value)>, StoreFault> {
        let found = self.tree.at_or_before(&self.key_of(posting))?;
        Ok(found.filter(|(key, _)| key.len() == KEY_BYTES))
    }

    /// Returns the first block that begins above `posting`; without a posting, the first block.
    pub(super) fn block_after(
        &self,
        posting: Option<Posting>,
    ) -> Result<Option<(Value, Value)>, StoreFault> {
        let first = || self.summary_key().to_vec();
        let from = posting.map_or_else(first, |posting| self.key_of(posting).to_vec());
        let blocks = (Bound::Excluded(&from[..]), Bound::Unbounded);
        self.tree.range::<&[u8]>(blocks).next().transpose()
    }

    pub(super) fn read<'a>(&self, key: &[u8], value: &'a [u8]) -> Result<Block<'a>, StoreFault> {
        Block::read(key, value).map_err(|broken| self.broken(broken))
    }

    pub(super) fn first_of(&self, key: &[u8]) -> Result<Posting, StoreFault> {
        first_of(key).map_err(|broken| self.broken(broken))
    }

    pub(super) fn broken(&self, broken: BrokenBlock) -> StoreFault {
        self.wrong(&broken.to_string())
    }

    pub(super) fn wrong(&self, what: &str) -> StoreFault {
        self.tree.broken(what.to_owned())
    }
}
