//! Probes: the fingerprints of an index near one.

use std::ops::Range;

use neardup::Fingerprint;
use neardup::tables::MAX_DISTANCE;

use super::column::{BLOCK_IN_MEMORY, Column};
use super::file::FingerprintIndex;
use super::layout::{Layout, TableColumns, low_bits};
use super::steps::{Step, steps, upper_errors};
use crate::error::BatchError;

/// The number of blocks that a reader holds.
const HELD: usize = 64;

/// A fingerprint of an index near a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexMatch {
    /// The number of bits that differ.
    pub distance: u32,
    /// The position in the file of fingerprints that was indexed.
    pub position: u64,
}

/// A reader of an index, which holds the latest blocks: 264 KB.
#[derive(Debug)]
pub struct IndexReader<'i> {
    index: &'i FingerprintIndex,
    /// The number of the block that each place holds; the number of the header for an empty place.
    held: Vec<u64>,
    blocks: Vec<[u8; BLOCK_IN_MEMORY]>,
    blocks_read: u64,
}

/// A fingerprint in question, in the order of one table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) permuted: u64,
    /// The number of its bits beyond the width of the index, which differ from every fingerprint.
    above: u32,
    distance: u32,
}

impl FingerprintIndex {
    /// Returns a reader. Several readers may read at the same time.
    #[must_use]
    pub fn read(&self) -> IndexReader<'_> {
        IndexReader {
            index: self,
            held: vec![0; HELD],
            blocks: vec![[0; BLOCK_IN_MEMORY]; HELD],
            blocks_read: 0,
        }
    }

    /// Returns the probe of a fingerprint, which is `permuted` in the order of a table.
    pub(super) fn probe(&self, permuted: u64, fingerprint: Fingerprint, distance: u32) -> Probe {
        let bits = fingerprint.as_u64();
        Probe {
            permuted,
            above: (bits ^ low_bits(bits, self.layout().bits)).count_ones(),
            distance,
        }
    }

    /// Returns the steps within a distance.
    ///
    /// # Errors
    /// [`BatchError::Distance`] for more than [`MAX_DISTANCE`].
    pub(super) fn steps(&self, distance: u32) -> Result<Vec<Step>, BatchError> {
        match distance {
            0..=MAX_DISTANCE => Ok(steps(distance, self.layout().quarters())),
            _ => Err(BatchError::Distance(distance)),
        }
    }
}

impl IndexReader<'_> {
    /// Returns all fingerprints within `distance` bits of `probe`, nearest first and positions
    /// ascending.
    ///
    /// # Errors
    /// [`BatchError::Distance`] for more than [`MAX_DISTANCE`]; [`BatchError::Read`], or
    /// [`BatchError::Damaged`] if a block does not match its checksum.
    pub fn within(
        &mut self,
        probe: Fingerprint,
        distance: u32,
    ) -> Result<Vec<IndexMatch>, BatchError> {
        let mut found = Vec::new();
        for step in self.index.steps(distance)? {
            let permuted = self.index.layout().permuted(step.table, probe.as_u64());
            let probe = self.index.probe(permuted, probe, distance);
            self.look(probe, step, |near| {
                found.push(near);
                Ok::<(), BatchError>(())
            })?;
        }
        found.sort_unstable();
        Ok(found)
    }

    /// Returns the id of the fingerprint at `position`; `None` past the end, or if the index lacks
    /// ids.
    ///
    /// # Errors
    /// [`BatchError::Read`], or [`BatchError::Damaged`] if the block does not match its checksum.
    pub fn id(&mut self, position: u64) -> Result<Option<u64>, BatchError> {
        let ids = self.index.columns().ids;
        if position >= ids.len {
            return Ok(None);
        }
        self.number(ids, position).map(|id| Some(id as u64))
    }

    /// Returns the number of blocks read so far, without blocks that were held.
    #[must_use]
    pub fn blocks_read(&self) -> u64 {
        self.blocks_read
    }

    /// Passes the matches of one step to `visit`.
    pub(super) fn look<E: From<BatchError>>(
        &mut self,
        probe: Probe,
        step: Step,
        mut visit: impl FnMut(IndexMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = self.index.layout();
        let width = layout.quarters()[step.table];
        let wanted = probe.permuted ^ step.flip << (layout.bits - width);
        let leading = wanted.checked_shr(layout.suffix_bits()).unwrap_or(0);
        // The directory may resolve some bits of the sibling: only buckets with few errors in these
        // are scanned, in the order of the file.
        let of_sibling = layout.directory_bits().saturating_sub(width);
        let first = leading >> of_sibling << of_sibling;
        for bucket in first..first + (1 << of_sibling) {
            if (bucket ^ leading).count_ones() <= step.most {
                self.scan(probe, step, bucket, &mut visit)?;
            }
        }
        Ok(())
    }

    /// Passes the matches of a step among the entries with these leading bits to `visit`.
    fn scan<E: From<BatchError>>(
        &mut self,
        probe: Probe,
        step: Step,
        bucket: u64,
        visit: &mut impl FnMut(IndexMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let layout = self.index.layout();
        let judged = Judged::new(layout, probe, step);
        let TableColumns { entries, directory } = self.index.columns().tables[step.table];
        let mut next = self.number(directory, bucket)? as u64;
        let end = self.number(directory, bucket + 1)? as u64;
        if next > end || end > layout.len {
            return Err(self
                .index
                .damaged("a directory entry is out of range")
                .into());
        }
        let (position_bits, suffix) = (layout.position_bits(), layout.suffix_bits());
        let leading = bucket.checked_shl(suffix).unwrap_or(0);
        while next < end {
            let (block, first) = entries.place_of(next);
            let count = (entries.per_block - first as u64).min(end - next);
            let bytes = self.block(block)?;
            let last = first + count as usize - 1;
            let mut is_reported = false;
            for place in first..=last {
                let entry = entries.number(bytes, place);
                let difference = (leading | (entry >> position_bits) as u64) ^ probe.permuted;
                if let Some(distance) = judged.distance(difference) {
                    let position = low_bits(entry as u64, position_bits);
                    visit(IndexMatch { distance, position })?;
                    is_reported = true;
                }
            }
            let fingerprint = |place| entries.number(bytes, place) >> position_bits;
            let (one, other) = (fingerprint(first), fingerprint(last));
            next += count;
            if one == other && !is_reported && end - next > entries.per_block {
                next = self.end_of_equal(entries, next..end, one, position_bits)?;
            }
        }
        Ok(())
    }

    /// Returns the first of these entries that has another fingerprint: many documents may share a
    /// fingerprint, and their entries need not be read.
    fn end_of_equal(
        &mut self,
        entries: Column,
        mut within: Range<u64>,
        fingerprint: u128,
        position_bits: u32,
    ) -> Result<u64, BatchError> {
        while !within.is_empty() {
            let middle = u64::midpoint(within.start, within.end);
            match self.number(entries, middle)? >> position_bits == fingerprint {
                true => within.start = middle + 1,
                false => within.end = middle,
            }
        }
        Ok(within.start)
    }

    fn number(&mut self, column: Column, at: u64) -> Result<u128, BatchError> {
        let (block, place) = column.place_of(at);
        Ok(column.number(self.block(block)?, place))
    }

    fn block(&mut self, number: u64) -> Result<&[u8; BLOCK_IN_MEMORY], BatchError> {
        let place = (number % HELD as u64) as usize;
        if self.held[place] != number {
            self.held[place] = 0;
            self.index.read_block(number, &mut self.blocks[place])?;
            self.held[place] = number;
            self.blocks_read += 1;
        }
        Ok(&self.blocks[place])
    }
}

/// The condition for reporting a fingerprint in a step.
struct Judged {
    probe: Probe,
    step: Step,
    /// The bits of both quarters that do not lead, and of the other half alone.
    behind_leader: u32,
    other_half: u32,
    sibling: u32,
    /// The minimum number of errors in the other half: matches of the upper half are not found
    /// again.
    min_in_other: u32,
}

impl Judged {
    fn new(layout: Layout, probe: Probe, step: Step) -> Self {
        let quarters = layout.quarters();
        let behind_leader = layout.bits - quarters[step.table];
        let sibling = quarters[step.table ^ 1];
        Self {
            probe,
            step,
            behind_leader,
            other_half: behind_leader - sibling,
            sibling,
            min_in_other: match step.table {
                0 | 1 => 0,
                _ => upper_errors(probe.distance) + 1,
            },
        }
    }

    /// Returns the distance of a fingerprint that differs in these bits, in the order of the table;
    /// `None` if the step does not report it.
    #[inline]
    fn distance(&self, difference: u64) -> Option<u32> {
        let distance = difference.count_ones() + self.probe.above;
        if distance > self.probe.distance || difference >> self.behind_leader != self.step.flip {
            return None;
        }
        let in_sibling = low_bits(difference >> self.other_half, self.sibling).count_ones();
        let in_other = low_bits(difference, self.other_half).count_ones();
        let is_reported = (self.step.least..=self.step.most).contains(&in_sibling)
            && in_other >= self.min_in_other;
        is_reported.then_some(distance)
    }
}
