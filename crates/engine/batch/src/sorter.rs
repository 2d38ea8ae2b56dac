//! External sorting of records.
//!
//! Records are byte strings of one length in the order of their bytes, so numbers in them are
//! big-endian. Records that fill the memory are sorted there, on all cores, and written as a run;
//! 64 runs of one level are merged into one of the next level, and the remaining runs at the end
//! (Knuth, volume 3, section 5.4.1). So a record is written once for each level: two levels hold
//! 4,096 times the memory.
//!
//! The index of an archive (`sinks::cdxj`) has a sorter of its own: its runs are lines of any
//! length that outlive the process, and `sinks` and this crate know no crate in common.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use rayon::slice::ParallelSliceMut;

use crate::control::{Control, Gauge, Step};
use crate::error::BatchError;
use crate::scratch::{Scratch, SpillFile};

/// The number of runs that are merged at once.
const FAN: usize = 64;
/// Minimum number of bytes of a run that are read at once.
const MIN_PIECE: usize = 4_096;
/// The number of records per progress report.
const REPORTED: u64 = 1 << 12;

/// A sorter that takes records in any order.
#[derive(Debug)]
pub(crate) struct Sorter<'s, const N: usize> {
    scratch: &'s Scratch,
    memory: usize,
    records: Vec<[u8; N]>,
    /// Fewer than [`FAN`] runs each; a run is merged from [`FAN`] runs of the previous level.
    levels: Vec<Vec<SpillFile>>,
}

impl<'s, const N: usize> Sorter<'s, N> {
    pub(crate) fn new(scratch: &'s Scratch, memory: usize) -> Self {
        Self {
            scratch,
            memory,
            records: Vec::new(),
            levels: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, record: [u8; N]) -> Result<(), BatchError> {
        self.records.push(record);
        if self.records.len() * N >= self.memory.max(MIN_PIECE) {
            self.records.par_sort_unstable();
            let mut run = Run::new(self.scratch)?;
            self.records
                .iter()
                .try_for_each(|record| run.push(record))?;
            self.records.clear();
            self.add_run(0, run.finish()?)?;
        }
        Ok(())
    }

    fn add_run(&mut self, level: usize, run: SpillFile) -> Result<(), BatchError> {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(run);
        if self.levels[level].len() < FAN {
            return Ok(());
        }
        let mut merged = Run::new(self.scratch)?;
        let runs = std::mem::take(&mut self.levels[level]);
        let mut sorted = self.merge(runs);
        while let Some(record) = sorted.next()? {
            merged.push(&record)?;
        }
        self.add_run(level + 1, merged.finish()?)
    }

    /// Passes all `count` records to `visit`, sorted, and reports progress.
    pub(crate) fn visit_in_order<E: From<BatchError>>(
        self,
        count: u64,
        control: Control<'_>,
        mut visit: impl FnMut(&[u8; N]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut gauge = Gauge::new(control, Some(count));
        let mut sorted = self.finish();
        let mut visited = 0;
        while let Some(record) = sorted.next()? {
            visit(&record)?;
            visited += 1;
            if visited % REPORTED == 0 {
                gauge.advance(Step::Reporting, REPORTED)?;
            }
        }
        Ok(())
    }

    /// Returns all records, sorted.
    pub(crate) fn finish(mut self) -> Sorted<N> {
        self.records.par_sort_unstable();
        let runs = std::mem::take(&mut self.levels).into_iter().flatten();
        let mut sorted = self.merge(runs.collect());
        sorted.in_memory = std::mem::take(&mut self.records).into_iter();
        sorted.latest = sorted.in_memory.next();
        sorted
    }

    fn merge(&self, runs: Vec<SpillFile>) -> Sorted<N> {
        let piece = (self.memory / 2 / runs.len().max(1)).max(MIN_PIECE);
        Sorted {
            runs: runs
                .into_iter()
                .map(|file| Reading::new(file, piece / N * N))
                .collect(),
            heads: BinaryHeap::new(),
            begun: false,
            in_memory: Vec::new().into_iter(),
            latest: None,
        }
    }
}

/// A run being written.
struct Run<'s> {
    scratch: &'s Scratch,
    file: SpillFile,
    bytes: Vec<u8>,
}

impl<'s> Run<'s> {
    fn new(scratch: &'s Scratch) -> Result<Self, BatchError> {
        Ok(Self {
            scratch,
            file: scratch.file()?,
            bytes: Vec::new(),
        })
    }

    fn push(&mut self, record: &[u8]) -> Result<(), BatchError> {
        self.bytes.extend_from_slice(record);
        if self.bytes.len() >= 1 << 16 {
            self.file.append(self.scratch, &self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<SpillFile, BatchError> {
        self.file.append(self.scratch, &self.bytes)?;
        Ok(self.file)
    }
}

/// A sorted sequence of records.
#[derive(Debug)]
pub(crate) struct Sorted<const N: usize> {
    runs: Vec<Reading>,
    heads: BinaryHeap<Reverse<([u8; N], usize)>>,
    begun: bool,
    /// The records that were never written.
    in_memory: std::vec::IntoIter<[u8; N]>,
    latest: Option<[u8; N]>,
}

impl<const N: usize> Sorted<N> {
    pub(crate) fn next(&mut self) -> Result<Option<[u8; N]>, BatchError> {
        if !self.begun {
            self.begun = true;
            for run in 0..self.runs.len() {
                if let Some(record) = self.runs[run].next()? {
                    self.heads.push(Reverse((record, run)));
                }
            }
        }
        let from_run = match (self.heads.peek(), &self.latest) {
            (Some(Reverse((head, _))), Some(latest)) => head < latest,
            (head, _) => head.is_some(),
        };
        if !from_run {
            return Ok(std::mem::replace(&mut self.latest, self.in_memory.next()));
        }
        let Some(mut head) = self.heads.peek_mut() else {
            return Ok(None);
        };
        let Reverse((record, run)) = *head;
        // The next record of the run takes its place: the heap is put in order once, not twice.
        match self.runs[run].next()? {
            Some(next) => *head = Reverse((next, run)),
            None => drop(PeekMut::pop(head)),
        }
        Ok(Some(record))
    }
}

/// A run being read.
#[derive(Debug)]
struct Reading {
    file: SpillFile,
    at: u64,
    piece: usize,
    bytes: Vec<u8>,
    /// The number of `bytes` already returned.
    given: usize,
}

impl Reading {
    fn new(file: SpillFile, piece: usize) -> Self {
        Self {
            file,
            at: 0,
            piece,
            bytes: Vec::new(),
            given: 0,
        }
    }

    fn next<const N: usize>(&mut self) -> Result<Option<[u8; N]>, BatchError> {
        if self.given == self.bytes.len() {
            let length = (self.file.len() - self.at).min(self.piece as u64) as usize;
            self.bytes.resize(length, 0);
            self.file.read_at(self.at, &mut self.bytes)?;
            self.at += length as u64;
            self.given = 0;
        }
        let record = self.bytes[self.given..].first_chunk().copied();
        self.given += record.map_or(0, |_| N);
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn runs_that_are_merged_before_the_end_come_out_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(directory.path());
        let mut sorter = Sorter::<4>::new(&scratch, 0);
        let count = 200_000_u32;
        for number in 0..count {
            let turned = number.wrapping_mul(0x9e37_79b1) % count;
            sorter.push(turned.to_be_bytes()).unwrap();
        }
        let mut expected: Vec<u32> = (0..count)
            .map(|number| number.wrapping_mul(0x9e37_79b1) % count)
            .collect();
        expected.sort_unstable();
        let mut sorted = sorter.finish();
        for number in expected {
            assert_eq!(sorted.next().unwrap(), Some(number.to_be_bytes()));
        }
        assert_eq!(sorted.next().unwrap(), None);
    }

    proptest! {
        #[test]
        fn records_come_out_in_order(
            mut records in prop::collection::vec(any::<[u8; 3]>(), 0..5_000),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let scratch = Scratch::new(directory.path());
            let mut sorter = Sorter::new(&scratch, 0);
            for record in &records {
                sorter.push(*record).unwrap();
            }
            prop_assert_eq!(scratch.written() > 0, records.len() * 3 >= MIN_PIECE);
            let mut sorted = sorter.finish();
            records.sort_unstable();
            for record in records {
                prop_assert_eq!(sorted.next().unwrap(), Some(record));
            }
            prop_assert_eq!(sorted.next().unwrap(), None);
        }
    }
}
