//! Runs: sorted files of lines, written from a batch, read, and merged a bounded number at a time.
//!
//! Invariant: a run is in the order of `LC_ALL=C sort`, contains each line only once, and has the
//! length and checksum that were noted when it was written. Any other run is damaged, and its lines
//! are derived again from the archive.
//!
//! `batch` has a sorter of its own: its runs are records of one length in files without names, and
//! `batch` and this crate know no crate in common.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use disk::{Disk, DiskFile};
use libdeflater::Crc;

use super::entry::MAX_LINE;
use crate::fault::SinkFault;

/// Maximum number of runs that are merged at a time; with [`BUFFER`], it bounds the memory of
/// merging.
const FAN_IN: usize = 64;
/// Bytes that are read from or written to a run at a time.
const BUFFER: usize = 64 << 10;

/// The length and checksum of a file when it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    /// Its length in bytes.
    pub(super) bytes: u64,
    /// Its CRC-32 (RFC 1952, section 8).
    pub(super) crc: u32,
}

/// A run and its path.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) path: PathBuf,
    pub(super) seal: Seal,
}

/// A failure to merge runs.
pub(super) enum MergeFault {
    /// A run is damaged: rebuild it.
    Damaged(PathBuf),
    /// A fault of the disk.
    Sink(SinkFault),
}

impl From<SinkFault> for MergeFault {
    fn from(fault: SinkFault) -> Self {
        Self::Sink(fault)
    }
}

impl From<MergeFault> for SinkFault {
    fn from(fault: MergeFault) -> Self {
        match fault {
            MergeFault::Sink(fault) => fault,
            MergeFault::Damaged(path) => Self::IndexDamaged { path },
        }
    }
}

/// Writes a run of sorted lines.
pub(super) fn write(disk: &dyn Disk, path: &Path, lines: Vec<&[u8]>) -> Result<Run, SinkFault> {
    let mut writer = Writer::create(disk, path)?;
    for line in lines {
        writer.push(line)?;
    }
    writer.finish()
}

/// A run being written.
pub(super) struct Writer<'a> {
    disk: &'a dyn Disk,
    file: DiskFile,
    buffer: Vec<u8>,
    last: Vec<u8>,
    crc: Crc,
    bytes: u64,
}

impl<'a> Writer<'a> {
    /// Creates a run and replaces any file at `path`.
    pub(super) fn create(disk: &'a dyn Disk, path: &Path) -> Result<Self, SinkFault> {
        remove(disk, path)?;
        let file = disk.create(path).map_err(SinkFault::io("create", path))?;
        Ok(Self {
            disk,
            file,
            buffer: Vec::with_capacity(2 * BUFFER),
            last: Vec::new(),
            crc: Crc::new(),
            bytes: 0,
        })
    }

    /// Appends a line without its line break, unless it equals the previous line.
    pub(super) fn push(&mut self, line: &[u8]) -> Result<(), SinkFault> {
        if self.bytes + self.buffer.len() as u64 > 0 && self.last == line {
            return Ok(());
        }
        self.last.clear();
        self.last.extend_from_slice(line);
        self.buffer.extend_from_slice(line);
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes and syncs the run; its name is durable after a sync of the directory.
    pub(super) fn finish(mut self) -> Result<Run, SinkFault> {
        self.flush()?;
        let path = self.file.path();
        self.disk
            .sync(&self.file)
            .map_err(SinkFault::io("sync", path))?;
        Ok(Run {
            path: path.to_owned(),
            seal: Seal {
                bytes: self.bytes,
                crc: self.crc.sum(),
            },
        })
    }

    fn flush(&mut self) -> Result<(), SinkFault> {
        self.crc.update(&self.buffer);
        self.bytes += self.buffer.len() as u64;
        self.disk
            .append(&self.file, &self.buffer)
            .map_err(|short| SinkFault::io("write", self.file.path())(short.source))?;
        self.buffer.clear();
        Ok(())
    }
}

/// A reader that verifies order, length and checksum of a run.
pub(super) struct Reader {
    input: BufReader<File>,
    run: Run,
    crc: Crc,
    bytes: u64,
    line: Vec<u8>,
    before: Vec<u8>,
}

impl Reader {
    pub(super) fn open(run: &Run) -> Result<Self, MergeFault> {
        let file = File::open(&run.path).map_err(|error| unreadable(&run.path, error))?;
        Ok(Self {
            input: BufReader::with_capacity(BUFFER, file),
            run: run.clone(),
            crc: Crc::new(),
            bytes: 0,
            line: Vec::new(),
            before: Vec::new(),
        })
    }

    /// Returns the next line, without its line break; `None` after the last one.
    pub(super) fn next(&mut self) -> Result<Option<&[u8]>, MergeFault> {
        std::mem::swap(&mut self.line, &mut self.before);
        self.line.clear();
        let limit = MAX_LINE as u64 + 1;
        let read = io::Read::take(&mut self.input, limit).read_until(b'\n', &mut self.line);
        read.map_err(|error| unreadable(&self.run.path, error))?;
        self.crc.update(&self.line);
        self.bytes += self.line.len() as u64;
        if self.line.is_empty() {
            let found = Seal {
                bytes: self.bytes,
                crc: self.crc.sum(),
            };
            return match found == self.run.seal {
                true => Ok(None),
                false => Err(self.damaged()),
            };
        }
        let is_first = self.bytes == self.line.len() as u64;
        if self.line.pop() != Some(b'\n') || !is_first && self.line <= self.before {
            return Err(self.damaged());
        }
        Ok(Some(&self.line))
    }

    fn damaged(&self) -> MergeFault {
        MergeFault::Damaged(self.run.path.clone())
    }
}

fn unreadable(path: &Path, error: io::Error) -> MergeFault {
    if error.kind() == io::ErrorKind::NotFound {
        return MergeFault::Damaged(path.to_owned());
    }
    SinkFault::io("read", path)(error).into()
}

/// Merges runs into one, in passes of [`FAN_IN`]; `name` returns the names of the files of each
/// pass, the result's last. The runs stay; intermediate files are removed.
pub(super) fn merge(
    disk: &dyn Disk,
    runs: &[Run],
    mut name: impl FnMut() -> PathBuf,
) -> Result<Run, MergeFault> {
    let mut level = runs.to_vec();
    let mut is_ours = false;
    loop {
        let mut next = Vec::new();
        for group in level.chunks(FAN_IN) {
            next.push(merge_group(disk, group, &name())?);
        }
        if next.is_empty() {
            next.push(merge_group(disk, &[], &name())?);
        }
        if is_ours {
            for run in &level {
                remove(disk, &run.path)?;
            }
        }
        is_ours = true;
        level = next;
        if let [whole] = level.as_slice() {
            return Ok(whole.clone());
        }
    }
}

fn merge_group(disk: &dyn Disk, group: &[Run], into: &Path) -> Result<Run, MergeFault> {
    let mut writer = Writer::create(disk, into)?;
    merged(group, &mut |line| Ok(writer.push(line)?))?;
    Ok(writer.finish()?)
}

/// Calls `each` with the lines of all these runs, in their common order, a repeated line
/// repeatedly. More than [`FAN_IN`] runs take more memory.
pub(super) fn merged(
    runs: &[Run],
    each: &mut dyn FnMut(&[u8]) -> Result<(), MergeFault>,
) -> Result<(), MergeFault> {
    let readers: Result<Vec<Reader>, MergeFault> = runs.iter().map(Reader::open).collect();
    let mut readers = readers?;
    let mut heads = BinaryHeap::with_capacity(readers.len());
    for (place, reader) in readers.iter_mut().enumerate() {
        if let Some(line) = reader.next()? {
            heads.push(Reverse((line.to_vec(), place)));
        }
    }
    while let Some(mut head) = heads.peek_mut() {
        let Reverse((line, place)) = &mut *head;
        each(line)?;
        match readers[*place].next()? {
            Some(next) => {
                line.clear();
                line.extend_from_slice(next);
            }
            None => drop(PeekMut::pop(head)),
        }
    }
    Ok(())
}

/// Removes a file, if it exists.
pub(super) fn remove(disk: &dyn Disk, path: &Path) -> Result<(), SinkFault> {
    match disk.remove(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SinkFault::io("remove", path)(error))
        }
        _removed_or_not_there => Ok(()),
    }
}
