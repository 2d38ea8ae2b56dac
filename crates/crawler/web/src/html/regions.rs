//! The block elements of a page as a flat tree, in document order.
//!
//! Invariant: a block follows its parent, and its parent's lines include its lines. So one pass
//! from the last block to the first sums up, and one pass from the first to the last inherits.
//! Nothing is recursive, even for a deeply nested page.

use std::ops::Range;

/// A block element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Region {
    /// The parent block; the whole page is its own parent.
    pub parent: u32,
    /// Flags of the block and of all blocks around it.
    pub flags: u32,
    /// The flags of the block itself, even if a parent has them too.
    pub own_flags: u32,
    /// Hash of its name and class without digits: a template generates blocks with equal hashes.
    pub kind: u32,
    first: u32,
    end: u32,
}

impl Region {
    /// Returns the lines of the block.
    pub(crate) fn lines(&self) -> Range<usize> {
        self.first as usize..self.end.max(self.first) as usize
    }
}

/// The blocks of a page; the first is the whole page.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    all: Vec<Region>,
    current: u32,
}

impl Default for Regions {
    fn default() -> Self {
        Self {
            all: vec![Region::default()],
            current: 0,
        }
    }
}

impl Regions {
    /// Returns the innermost open block.
    pub(crate) const fn current(&self) -> u32 {
        self.current
    }

    /// Opens a block before a line.
    pub(crate) fn open(&mut self, flags: u32, own_flags: u32, kind: u32, line: usize) {
        let first = saturated(line);
        let parent = self.current;
        self.current = saturated(self.all.len());
        self.all.push(Region {
            parent,
            flags,
            own_flags,
            kind,
            first,
            end: first,
        });
    }

    /// Closes the innermost block before a line.
    pub(crate) fn close(&mut self, line: usize) {
        let region = &mut self.all[self.current as usize];
        region.end = saturated(line);
        self.current = region.parent;
    }

    /// Returns all blocks at the end of the page, before a line.
    pub(crate) fn finish(&mut self, line: usize) -> &[Region] {
        self.all[0].end = saturated(line);
        &self.all
    }
}

/// Converts a count; a body is capped far below 32 bits.
pub(super) fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
