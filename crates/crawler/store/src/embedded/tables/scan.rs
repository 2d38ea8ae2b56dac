//! A scan of a whole table, ascending.

use std::sync::Arc;

use journal::StoreFault;

use super::generation::Generation;
use super::{MISCOUNTED, Posting, Summary};
use crate::embedded::database::Entries;

/// A scan of a table, made by [`SortedTables::all`](super::SortedTables::all).
#[derive(Default)]
pub struct Scan {
    /// `None` if there is no table.
    table: Option<(Arc<Generation>, Entries)>,
    /// The part that is unread, if the summary is correct.
    left: Summary,
    last: Option<Posting>,
}

impl Scan {
    pub(super) fn begin(generation: Arc<Generation>) -> Result<Self, StoreFault> {
        let (first, last) = (
            generation.key_of(Posting::default()),
            generation.key_of(Posting::LAST),
        );
        let blocks = generation.tree.range(&first[..]..=&last[..]);
        Ok(Self {
            left: generation.summary()?,
            table: Some((generation, blocks)),
            last: None,
        })
    }

    /// Adds the postings of the next block to `into`; returns false after the last block.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if a block is damaged, or if there were fewer blocks than the summary
    /// counts.
    pub fn next_block(&mut self, into: &mut Vec<Posting>) -> Result<bool, StoreFault> {
        let Some((table, blocks)) = &mut self.table else {
            return Ok(false);
        };
        let Some(entry) = blocks.next() else {
            return if self.left == Summary::default() {
                Ok(false)
            } else {
                Err(table.wrong(MISCOUNTED))
            };
        };
        let (key, value) = entry?;
        let (from, block) = (into.len(), table.read(&key, &value)?);
        block.decode(into).map_err(|broken| table.broken(broken))?;
        if self.last >= into.get(from).copied() {
            return Err(table.wrong("two blocks overlap"));
        }
        self.last = into.last().copied();
        let left = self.left.without(block.count(), key.len() + value.len());
        self.left = left.ok_or_else(|| table.wrong(MISCOUNTED))?;
        Ok(true)
    }
}
