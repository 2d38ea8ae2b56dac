//! Lines of any number in the order of `LC_ALL=C sort`, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use disk::Disk;

use super::batch::Batch;
use super::index::MEMORY;
use super::run::{self, Run};
use crate::fault::SinkFault;

/// Bytes of the sorted file that are read at a time.
const BUFFER: usize = 256 << 10;

/// A sorter of lines. What exceeds [`MEMORY`] goes to runs in a directory for temporary files.
pub(crate) struct LineSorter<'a> {
    disk: &'a dyn Disk,
    scratch: PathBuf,
    batch: Batch,
    runs: Vec<Run>,
    number: u64,
}

/// Sorted lines without duplicates.
pub struct SortedLines(Box<dyn BufRead>);

impl<'a> LineSorter<'a> {
    /// Creates a sorter that creates the directory `scratch` when it needs it, and leaves it empty.
    pub(crate) fn new(disk: &'a dyn Disk, scratch: &Path) -> Self {
        Self {
            disk,
            scratch: scratch.to_owned(),
            batch: Batch::default(),
            runs: Vec::new(),
            number: 0,
        }
    }

    /// Adds a line, with its line break.
    pub(crate) fn push(&mut self, line: &str) -> Result<(), SinkFault> {
        self.batch.push(line);
        if self.batch.size() < MEMORY {
            return Ok(());
        }
        self.spill()
    }

    /// Returns the lines, which may be read from a file whose name is already removed.
    pub(crate) fn finish(mut self) -> Result<SortedLines, SinkFault> {
        if self.runs.is_empty() {
            let mut lines = self.batch.sorted();
            lines.dedup();
            let mut text = Vec::new();
            for line in lines {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            return Ok(SortedLines(Box::new(Cursor::new(text))));
        }
        self.spill()?;
        let runs = std::mem::take(&mut self.runs);
        let whole = run::merge(self.disk, &runs, || self.name())?;
        for run in &runs {
            run::remove(self.disk, &run.path)?;
        }
        let file = File::open(&whole.path).map_err(SinkFault::io("read", &whole.path))?;
        run::remove(self.disk, &whole.path)?;
        Ok(SortedLines(Box::new(BufReader::with_capacity(
            BUFFER, file,
        ))))
    }

    fn spill(&mut self) -> Result<(), SinkFault> {
        let made = self.disk.create_directories(&self.scratch);
        made.map_err(SinkFault::io("create", &self.scratch))?;
        let path = self.name();
        let batch = std::mem::take(&mut self.batch);
        self.runs
            .push(run::write(self.disk, &path, batch.sorted())?);
        Ok(())
    }

    fn name(&mut self) -> PathBuf {
        self.number += 1;
        self.scratch.join(format!("{:06}.cdxj", self.number))
    }
}

impl Read for SortedLines {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl BufRead for SortedLines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.0.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use disk::SystemDisk;

    use super::*;

    #[test]
    fn more_lines_than_memory_are_sorted_and_nothing_is_left_on_the_disk() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = directory.path().join("runs");
        let mut sorter = LineSorter::new(&SystemDisk, &scratch);
        let count = MEMORY / 1_000 * 2;
        let pad = "x".repeat(1_000);
        for number in 0..count {
            let number = number * 7_919 % count;
            sorter.push(&format!("{number:08} {pad}\n")).unwrap();
            sorter.push("00000000 twice\n").unwrap();
        }
        let lines = sorter.finish().unwrap();
        assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
        let mut numbers = Vec::new();
        for line in lines.lines() {
            numbers.push(line.unwrap()[..8].parse::<usize>().unwrap());
        }
        let expected: Vec<usize> = std::iter::once(0).chain(0..count).collect();
        assert!(numbers == expected);
    }
}
