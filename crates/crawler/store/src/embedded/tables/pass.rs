//! A pass: changes to a table, made in place in the blocks that they fall into.
//!
//! Every round takes the next change, the block that it falls into and all further changes to that
//! block, and replaces the block in one batch. So a killed process never loses a posting that was
//! in the table before. Blocks that become too large are split evenly; a block that becomes too
//! small is joined with its successors. Changes and blocks ascend, so a pass that touches
//! everything reads and writes the table once.

use journal::StoreFault;

use super::block::{KEY_BYTES, MOST, encode};
use super::generation::Generation;
use super::{MISCOUNTED, Posting, Summary};
use crate::embedded::database::{Batch, Value, seal};

/// Number of postings of a new block: below [`MOST`], so that the next pass does not split all
/// blocks.
pub(super) const FULL: usize = 384;
/// Minimum number of postings of a block that is not joined with the next.
const LEAST: usize = 128;
/// Maximum number of additions, and of removals, in a round. The next round takes the rest.
const MAX_CHANGES: usize = 8 * FULL - 1;
/// Maximum number of blocks that a round joins.
const MAX_JOINED: usize = 8;
/// Number of changed blocks at which a batch is applied; a round can add 20 more.
const BATCH_BLOCKS: usize = 12;

/// Postings to add and to remove, each ascending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changes<'a> {
    added: &'a [Posting],
    removed: &'a [Posting],
}

impl<'a> Changes<'a> {
    pub(super) fn new(added: &'a [Posting], removed: &'a [Posting]) -> Self {
        debug_assert!(added.is_sorted() && removed.is_sorted(), "changes ascend");
        Self { added, removed }
    }

    /// Returns the number of changes, including repetitions.
    pub(super) fn len(&self) -> usize {
        self.added.len() + self.removed.len()
    }

    pub(super) fn first(&self) -> Option<Posting> {
        match (self.added.first(), self.removed.first()) {
            (Some(added), Some(removed)) => Some(*added.min(removed)),
            (added, removed) => added.or(removed).copied(),
        }
    }

    /// Takes the first changes: all below `end`, and at most `most` of each list. Both lists are
    /// cut at the same posting.
    pub(super) fn take_below(&mut self, end: Option<Posting>, most: usize) -> Self {
        let last = [self.added, self.removed]
            .iter()
            .filter_map(|list| list.get(most).copied())
            .min();
        let is_taken = |change: &Posting| {
            end.is_none_or(|end| *change < end) && last.is_none_or(|last| *change <= last)
        };
        let place = |list: &[Posting]| list.partition_point(is_taken);
        let (added, later_added) = self.added.split_at(place(self.added));
        let (removed, later_removed) = self.removed.split_at(place(self.removed));
        *self = Self {
            added: later_added,
            removed: later_removed,
        };
        Self { added, removed }
    }

    /// Takes the changes up to and including `last`.
    pub(super) fn take_up_to(&mut self, last: Posting) -> Self {
        let mut taken = *self;
        let place = |list: &[Posting]| list.partition_point(|change| *change <= last);
        (taken.added, self.added) = self.added.split_at(place(self.added));
        (taken.removed, self.removed) = self.removed.split_at(place(self.removed));
        taken
    }

    pub(super) fn take_all(&mut self) -> Self {
        std::mem::replace(self, Self::new(&[], &[]))
    }

    /// Adds `old` with these changes applied to `into`.
    pub(super) fn applied_to(&self, old: &[Posting], into: &mut Vec<Posting>) {
        let (mut old, mut added, mut removed) = (old, self.added, self.removed);
        while let Some(&next) = old.first().into_iter().chain(added.first()).min() {
            old = behind(old, next);
            added = behind(added, next);
            while removed.first().is_some_and(|posting| *posting < next) {
                removed = &removed[1..];
            }
            if removed.first() != Some(&next) {
                into.push(next);
            }
        }
    }
}

/// Returns `list` without its leading postings that equal `first`.
fn behind(list: &[Posting], first: Posting) -> &[Posting] {
    let same = list.iter().take_while(|posting| **posting == first).count();
    &list[same..]
}

/// A pass over one table, and its current batch.
pub(super) struct Pass<'a> {
    generation: &'a Generation,
    summary: Summary,
    batch: Batch,
    /// The postings of a round, before and after; kept to reuse their memory.
    old: Vec<Posting>,
    new: Vec<Posting>,
}

impl<'a> Pass<'a> {
    pub(super) fn over(generation: &'a Generation) -> Result<Self, StoreFault> {
        Ok(Self {
            generation,
            summary: generation.summary()?,
            batch: Batch::default(),
            old: Vec::new(),
            new: Vec::new(),
        })
    }

    pub(super) fn make(mut self, mut changes: Changes<'_>) -> Result<(), StoreFault> {
        while let Some(first) = changes.first() {
            let is_cut = self.round(first, &mut changes)?;
            // The next round looks for its block in the tree; if that block may be from this round,
            // it must be written first.
            if is_cut || self.batch.len() >= BATCH_BLOCKS {
                self.apply()?;
            }
        }
        self.apply()
    }

    /// Changes one block, or joins several. Returns true if changes to the same place are left.
    fn round(&mut self, first: Posting, changes: &mut Changes<'_>) -> Result<bool, StoreFault> {
        let table = self.generation;
        let mut block = match table.block_of(first)? {
            Some(block) => Some(block),
            None => table.block_after(None)?,
        };
        let mut joined = Vec::new();
        self.new.clear();
        let mut room = MAX_CHANGES;
        loop {
            self.old.clear();
            let mut next = None;
            if let Some((key, value)) = &block {
                table
                    .read(key, value)?
                    .decode(&mut self.old)
                    .map_err(|broken| table.broken(broken))?;
                next = table.block_after(Some(table.first_of(key)?))?;
            }
            let end = next
                .as_ref()
                .map(|(key, _)| table.first_of(key))
                .transpose()?;
            if end.is_some_and(|end| self.old.last() >= Some(&end)) {
                return Err(table.wrong("two blocks overlap"));
            }
            let here = changes.take_below(end, room);
            room = room.saturating_sub(here.added.len().max(here.removed.len()));
            let is_cut = changes
                .first()
                .is_some_and(|left| end.is_none_or(|end| left < end));

            let is_alone = joined.is_empty();
            if is_alone && here.first() != Some(first) {
                return Err(table.wrong("blocks are not in order"));
            }
            let is_behind = here.first() > self.old.last().copied();
            if is_alone && is_behind && self.old.len() >= LEAST && here.added.len() >= LEAST {
                // Changes after a block leave it unchanged: a table that grows at its end is not
                // written twice.
                self.old.clear();
            } else {
                joined.extend(block.take());
            }
            here.applied_to(&self.old, &mut self.new);
            if is_alone && self.new == self.old {
                return Ok(is_cut);
            }
            let is_enough = self.new.len() >= LEAST || joined.len() >= MAX_JOINED;
            if is_cut || is_enough || next.is_none() {
                self.replace(&joined)?;
                return Ok(is_cut);
            }
            block = next;
        }
    }

    /// Replaces the joined blocks by the new postings.
    fn replace(&mut self, joined: &[(Value, Value)]) -> Result<(), StoreFault> {
        for (key, value) in joined {
            self.batch.remove(key);
            let count = self.generation.read(key, value)?.count();
            let without = self.summary.without(count, key.len() + value.len());
            self.summary = without.ok_or_else(|| self.generation.wrong(MISCOUNTED))?;
        }
        let parts = match self.new.len() {
            0..=MOST => 1,
            many => many.div_ceil(FULL),
        };
        let mut rest = &self.new[..];
        for left in (1..=parts).rev() {
            let (part, behind) = rest.split_at(rest.len().div_ceil(left));
            rest = behind;
            let Some(first) = part.first() else { continue };
            let key = self.generation.key_of(*first);
            let value = encode(&key, part);
            self.batch.insert(&key, &value);
            self.summary = self.summary.with(part.len(), KEY_BYTES + value.len());
        }
        Ok(())
    }

    fn apply(&mut self) -> Result<(), StoreFault> {
        if self.batch.len() == 0 {
            return Ok(());
        }
        let key = self.generation.summary_key();
        self.batch.insert(&key, &seal::written(&key, &self.summary));
        self.generation.tree.apply(std::mem::take(&mut self.batch))
    }
}
