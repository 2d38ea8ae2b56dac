//! A rewrite of a table: its next generation, written from end to end.
//!
//! It merges the previous generation, block by block, with the changes, and holds at most a few
//! megabytes. The new tree is not read before it is complete and durable.

use journal::StoreFault;

use super::block::encode;
use super::generation::Generation;
use super::pass::{Changes, FULL};
use super::scan::Scan;
use super::{Posting, Summary};
use crate::embedded::database::{Batch, seal};

/// Number of blocks that are appended at once.
const APPENDED: usize = 1 << 10;

/// Writes `old` with `changes` applied to `new`, which must be empty.
pub(super) fn renew(
    mut old: Scan,
    new: &Generation,
    mut changes: Changes<'_>,
) -> Result<(), StoreFault> {
    let mut writer = Writer {
        new,
        summary: Summary::default(),
        entries: Vec::new(),
    };
    let (mut block, mut merged) = (Vec::new(), Vec::new());
    loop {
        block.clear();
        let is_over = !old.next_block(&mut block)?;
        // The changes up to the end of this block; after the last block, all remaining changes.
        let mut here = match block.last() {
            Some(last) => changes.take_up_to(*last),
            None => changes.take_all(),
        };
        let mut rest = &block[..];
        // In parts, in case many changes fall into one place.
        loop {
            let some = here.take_below(None, APPENDED * FULL);
            let (below, above) = match here.first() {
                Some(next) => rest.split_at(rest.partition_point(|posting| *posting < next)),
                None => (rest, &[][..]),
            };
            rest = above;
            some.applied_to(below, &mut merged);
            let whole = merged.len() / FULL * FULL;
            // Up to two blocks' worth stay, so that the last blocks get about the same size.
            writer.write(&merged[..whole.saturating_sub(FULL)])?;
            merged.drain(..whole.saturating_sub(FULL));
            if here.first().is_none() {
                break;
            }
        }
        if is_over {
            break;
        }
    }
    let half = merged
        .len()
        .div_ceil(if merged.len() > FULL { 2 } else { 1 })
        .max(1);
    for part in merged.chunks(half) {
        writer.block(part)?;
    }
    writer.finish()
}

struct Writer<'a> {
    new: &'a Generation,
    summary: Summary,
    entries: Vec<([u8; super::block::KEY_BYTES], Vec<u8>)>,
}

impl Writer<'_> {
    /// Writes whole blocks of postings.
    fn write(&mut self, postings: &[Posting]) -> Result<(), StoreFault> {
        postings.chunks(FULL).try_for_each(|part| self.block(part))
    }

    fn block(&mut self, postings: &[Posting]) -> Result<(), StoreFault> {
        let Some(first) = postings.first() else {
            return Ok(());
        };
        let key = self.new.key_of(*first);
        let value = encode(&key, postings);
        self.summary = self.summary.with(postings.len(), key.len() + value.len());
        self.entries.push((key, value));
        if self.entries.len() == APPENDED {
            self.new.tree.append(&self.entries)?;
            self.entries.clear();
        }
        Ok(())
    }

    fn finish(self) -> Result<(), StoreFault> {
        self.new.tree.append(&self.entries)?;
        let key = self.new.summary_key();
        let mut batch = Batch::default();
        batch.insert(&key, &seal::written(&key, &self.summary));
        self.new.tree.apply(batch)?;
        self.new.tree.flush()
    }
}
