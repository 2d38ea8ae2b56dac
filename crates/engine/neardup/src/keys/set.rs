//! An ordered set of 64-bit values whose leading bits are evenly distributed.

use super::NotAscending;
use super::packed::LEADING;
use super::segment::Segment;

const SEGMENTS: usize = 1 << LEADING;

/// Distinct values in segments by their leading bits. Values that are not evenly distributed are
/// found correctly, but more slowly.
#[derive(Clone, Debug)]
pub(super) struct PackedSet {
    segments: Vec<Segment>,
    len: usize,
}

impl Default for PackedSet {
    fn default() -> Self {
        Self {
            segments: vec![Segment::default(); SEGMENTS],
            len: 0,
        }
    }
}

impl PackedSet {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn contains(&self, value: u64) -> bool {
        self.segments[number(value)].contains(value)
    }

    /// Returns the lower halves of the values with this upper half.
    #[inline]
    pub(super) fn under(&self, upper: u32) -> impl Iterator<Item = u32> {
        self.segments[number(u64::from(upper) << 32)].under(upper)
    }

    /// Adds `value`; returns false if it was present.
    pub(super) fn insert(&mut self, value: u64) -> bool {
        let number = number(value);
        let is_new = self.segments[number].insert(value, number);
        self.len += usize::from(is_new);
        is_new
    }

    /// Removes `value`; returns false if it was not present.
    pub(super) fn remove(&mut self, value: u64) -> bool {
        let number = number(value);
        let was_here = self.segments[number].remove(value, number);
        self.len -= usize::from(was_here);
        was_here
    }

    /// Adds ascending values, each once. Of all values with the same upper half, keeps the first
    /// `most`. If the values do not ascend, some may already have been added.
    pub(super) fn extend_ascending(
        &mut self,
        values: impl Iterator<Item = u64>,
        most: usize,
    ) -> Result<(), NotAscending> {
        let mut gathered: Vec<u64> = Vec::new();
        for value in values {
            match gathered.last() {
                Some(&last) if value == last => continue,
                Some(&last) if value < last => return Err(NotAscending),
                Some(&last) if number(value) != number(last) => self.absorb(&mut gathered, most),
                _ => {}
            }
            gathered.push(value);
        }
        self.absorb(&mut gathered, most);
        Ok(())
    }

    /// Returns all values, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        let numbered = self.segments.iter().enumerate();
        numbered.flat_map(|(number, segment)| segment.values(number))
    }

    /// Prefetches the memory that a look-up reads first.
    #[inline]
    pub(super) fn prefetch_start(&self, upper: u32) {
        self.segments[number(u64::from(upper) << 32)].prefetch_start(upper);
    }

    /// Prefetches the memory that a look-up reads next; useful some time after the first.
    #[inline]
    pub(super) fn prefetch_bucket(&self, upper: u32) {
        self.segments[number(u64::from(upper) << 32)].prefetch_bucket(upper);
    }

    /// Returns the number of bytes held.
    pub(super) fn memory(&self) -> usize {
        let segments: usize = self.segments.iter().map(Segment::memory).sum();
        segments + self.segments.capacity() * size_of::<Segment>()
    }

    /// Moves the gathered values to their segment, which is the same for all.
    fn absorb(&mut self, gathered: &mut Vec<u64>, most: usize) {
        if let Some(&first) = gathered.first() {
            let number = number(first);
            let segment = &mut self.segments[number];
            self.len -= segment.len();
            segment.absorb(gathered, number, most);
            self.len += segment.len();
            gathered.clear();
        }
    }
}

#[inline]
fn number(value: u64) -> usize {
    (value >> (64 - LEADING)) as usize
}
