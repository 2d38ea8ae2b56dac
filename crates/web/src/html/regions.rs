//! The blocks of a page as a flat tree, in the order in which they begin.
//!
//! Invariant: a block stands after the one around it, and its lines are among the lines of that
//! one. So what is summed up for blocks is summed up in one pass from the last to the first, and
//! what is inherited in one from the first to the last; pages may be nested deeply and nothing here
//! is recursive.

use std::ops::Range;

/// A block element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Region {
    /// The block around it; the whole page has itself.
    pub parent: u32,
    /// Where it stands, itself included.
    pub flags: u32,
    /// What it says itself, be it said around it or not.
    pub own_flags: u32,
    /// Its name and class without digits: blocks of one kind are made by one template.
    pub kind: u32,
    first: u32,
    end: u32,
}

impl Region {
    /// The lines in it.
    pub(crate) fn lines(&self) -> Range<usize> {
        self.first as usize..self.end.max(self.first) as usize
    }
}

/// The blocks of a page; the first is all of it.
#[derive(Debug)]
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
    /// The innermost open block.
    pub(crate) const fn current(&self) -> u32 {
        self.current
    }

    /// A block begins, before that line.
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

    /// The block that began last ends, before that line.
    pub(crate) fn close(&mut self, line: usize) {
        let region = &mut self.all[self.current as usize];
        region.end = saturated(line);
        self.current = region.parent;
    }

    /// All blocks, once the page has ended before that line.
    pub(crate) fn finish(&mut self, line: usize) -> &[Region] {
        self.all[0].end = saturated(line);
        &self.all
    }
}

/// A body is capped far below what 32 bits can count.
fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Words of lines, summed up so that those of a block are a difference.
#[derive(Debug)]
pub(crate) struct PrefixSums(Vec<u32>);

impl PrefixSums {
    pub(crate) fn of(words: impl Iterator<Item = usize>) -> Self {
        let mut sum = 0;
        let before = std::iter::once(0);
        Self(
            before
                .chain(words.map(|words| {
                    sum += words;
                    saturated(sum)
                }))
                .collect(),
        )
    }

    pub(crate) fn within(&self, region: &Region) -> usize {
        let lines = region.lines();
        (self.0[lines.end] - self.0[lines.start]) as usize
    }

    /// The sum before a block.
    pub(crate) fn before(&self, region: &Region) -> usize {
        self.0[region.lines().start] as usize
    }

    pub(crate) fn total(&self) -> usize {
        self.0.last().copied().unwrap_or_default() as usize
    }
}
