//! Reads our archives, one record at a time, in bounded memory.
//!
//! Only the layout that the archive writes is accepted: in a packed file each record is a gzip
//! member (annex D.2) or a Zstandard frame of its own, so it has the offset and length of its
//! member in the file. Blocks stream through their digests; the caller chooses how many bytes of
//! each are kept.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::parse::{self, EMPTY_LINE, Keep, ParseFailure};
use super::parsed::Record;
use super::spooled::SpoolRules;
use super::unpack::{Packing, Source, Unpacker};

/// Bytes that are read from the file, and unpacked, at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// The same for reading only the head of a record.
const GLANCE: usize = 4 << 10;

/// An error of reading an archive file.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The system refused the read.
    #[error("cannot read {} at offset {offset}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The start of the record in bytes.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The disk does not take the part of a record that exceeds the memory of the reader.
    #[error("the record at offset {offset} of {} cannot be kept on disk", path.display())]
    Spool {
        /// The file.
        path: PathBuf,
        /// The start of the record in bytes.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The file ends within a record, as after a power cut. Within the settled part, this is
    /// damage.
    #[error("{} ends within the record at offset {offset}", path.display())]
    TornTail {
        /// The file.
        path: PathBuf,
        /// The start of the record in bytes.
        offset: u64,
    },
    /// The bytes are not a valid record.
    #[error("{} is damaged at offset {offset}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The start of the record in bytes.
        offset: u64,
        /// The violation.
        reason: String,
    },
    /// A record of another crawler's archive cannot be read and is skipped.
    #[error("{}: record {record} at offset {offset}: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The number of the record, from 1; each skipped stretch counts as one.
        record: u64,
        /// The start of the record, or of its packed member, in bytes.
        offset: u64,
        /// The violation.
        reason: String,
    },
}

impl ReadFault {
    /// Returns the start of the unreadable record in bytes; everything before it is intact.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Io { offset, .. }
            | Self::Spool { offset, .. }
            | Self::TornTail { offset, .. }
            | Self::Damaged { offset, .. }
            | Self::Broken { offset, .. } => *offset,
        }
    }
}

/// A strict, sequential reader of the records of an archive file.
pub struct WarcReader<R> {
    path: PathBuf,
    input: Unpacker<R>,
    spool: Option<SpoolRules>,
    failed: bool,
}

impl WarcReader<BufReader<File>> {
    /// Opens a file at its start.
    ///
    /// # Errors
    /// As [`WarcReader::open_at`].
    pub fn open(path: &Path) -> Result<Self, ReadFault> {
        Self::open_at(path, 0)
    }

    /// Opens a file at the start of a record. Record offsets count from the start of the file.
    ///
    /// # Errors
    /// [`ReadFault::Io`] if the file cannot be read, [`ReadFault::Damaged`] or
    /// [`ReadFault::TornTail`] if its dictionary is damaged.
    pub fn open_at(path: &Path, offset: u64) -> Result<Self, ReadFault> {
        Self::open_with(path, offset, CHUNK)
    }

    fn open_with(path: &Path, offset: u64, chunk: usize) -> Result<Self, ReadFault> {
        let fault = |failure: io::Error| ParseFailure::Io(failure).at(path, offset);
        let file = File::open(path).map_err(fault)?;
        let mut input = Unpacker::new(Source::File(file), 0, 0, chunk);
        input.read_dictionary().map_err(fault)?;
        if offset > 0 {
            input.go_to(offset).map_err(fault)?;
        }
        Ok(Self::of(path, input))
    }
}

impl<R: Read> WarcReader<R> {
    /// Reads `input`, which faults name `path`; offsets count from its current position.
    pub fn new(path: &Path, input: R) -> Self {
        Self::of(path, Unpacker::new(Source::Stream(input), 0, 0, CHUNK))
    }

    fn of(path: &Path, input: Unpacker<R>) -> Self {
        Self {
            path: path.to_owned(),
            input,
            spool: None,
            failed: false,
        }
    }

    /// Spools the bytes of blocks that are not kept in memory to the file system of `directory`: at
    /// most `most` bytes per block. Longer blocks are then not whole.
    #[must_use]
    pub fn spooling_in(self, directory: &Path, most: u64) -> Self {
        let directory = directory.to_owned();
        let spool = Some(SpoolRules { directory, most });
        Self { spool, ..self }
    }

    /// Returns the next record with the first `keep` bytes of its block; `None` at the end and
    /// after a fault.
    ///
    /// # Errors
    /// [`ReadFault`] if the record is torn or damaged, or the system refuses the read.
    pub fn next_record(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        if self.failed {
            return Ok(None);
        }
        let spool = self.spool.take();
        let keep = Keep {
            held: keep,
            rest: spool.as_ref(),
        };
        let record = self.read(|input, is_plain| match is_plain {
            true => parse::next_record(input, keep),
            false => parse::only_record(input, keep),
        });
        self.spool = spool;
        self.failed = record.is_err();
        record.map_err(|(failure, offset)| failure.at(&self.path, offset))
    }

    /// Reads the head of the only record, with at most `keep` bytes of its block; faults name
    /// `offset`.
    fn head(mut self, offset: u64, keep: usize) -> Result<Record, ReadFault> {
        let read = self.read(|input, _is_plain| parse::head_only(input, keep));
        let nothing = || ParseFailure::Io(io::ErrorKind::UnexpectedEof.into());
        let record = read.and_then(|record| record.ok_or_else(|| (nothing(), offset)));
        let record = record.map_err(|(failure, offset)| failure.at(&self.path, offset))?;
        Ok(Record {
            length: 0,
            breaks: 0,
            ..record
        })
    }

    /// Reads a record by `parse`, which receives true if the record is not packed. Returns a
    /// failure with its position.
    fn read(
        &mut self,
        parse: impl FnOnce(&mut Unpacker<R>, bool) -> Result<Record, ParseFailure>,
    ) -> Result<Option<Record>, (ParseFailure, u64)> {
        let here = self.input.place();
        let rest = self.input.fill();
        let is_at_end = rest
            .map_err(|error| (ParseFailure::Io(error), here))?
            .is_empty();
        if is_at_end {
            match self.input.enter() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err((error.into(), self.input.tried())),
            }
        }
        let offset = self.input.place();
        let member = self.input.member();
        let is_plain = member.is_some_and(|member| member.packing == Packing::Plain);
        let record = parse(&mut self.input, is_plain).map_err(|failure| match failure {
            // A plain file that ends early has no more bytes, as after a power cut.
            ParseFailure::Short(_) if is_plain => (
                ParseFailure::Io(io::ErrorKind::UnexpectedEof.into()),
                offset,
            ),
            other => (other, offset),
        })?;
        Ok(Some(Record {
            offset,
            length: self.input.place() - offset,
            breaks: if is_plain { EMPTY_LINE.len() as u64 } else { 0 },
            ..record
        }))
    }
}

impl ParseFailure {
    /// Returns the fault of this failure in the record at `offset` of the file `path`.
    pub(super) fn at(self, path: &Path, offset: u64) -> ReadFault {
        let path = path.to_owned();
        match self {
            Self::Malformed(reason) | Self::Short(reason) => ReadFault::Damaged {
                path,
                offset,
                reason: reason.into_owned(),
            },
            Self::Spool(source) => ReadFault::Spool {
                path,
                offset,
                source,
            },
            Self::Io(source) => match source.kind() {
                io::ErrorKind::UnexpectedEof => ReadFault::TornTail { path, offset },
                // Invalid packing, damage, or a wrong checksum.
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => ReadFault::Damaged {
                    path,
                    offset,
                    reason: source.to_string(),
                },
                _ => ReadFault::Io {
                    path,
                    offset,
                    source,
                },
            },
        }
    }
}

/// Reads the record at `offset` of a file up to the end of its HTTP head, at most `keep` bytes of
/// its block; the rest is not even unpacked. So no digest is checked, and the record's length is 0,
/// for unknown.
///
/// # Errors
/// [`ReadFault`] if the record at `offset` cannot be read.
pub fn read_head(path: &Path, offset: u64, keep: usize) -> Result<Record, ReadFault> {
    WarcReader::open_with(path, offset, GLANCE)?.head(offset, keep)
}

/// Does the same for the record at the start of `input`, a part of the file that faults name
/// `path`; offsets count from the start of `input`.
pub(crate) fn head_in(path: &Path, input: impl Read, keep: usize) -> Result<Record, ReadFault> {
    let input = Unpacker::new(Source::Stream(input), 0, 0, GLANCE);
    WarcReader::of(path, input).head(0, keep)
}

/// The result of checking a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCheck {
    /// The number of records.
    pub records: u64,
    /// Their total length in bytes: the length of the file.
    pub length: u64,
    /// The number of records with a wrong digest.
    pub false_digests: u64,
}

/// Reads a whole file and calls `each` with each record, without its block. A wrong digest is not
/// an error: the record has the result of the check.
///
/// # Errors
/// [`ReadFault`] at the first record that cannot be read.
pub fn check_file(path: &Path, each: &mut impl FnMut(&Record)) -> Result<FileCheck, ReadFault> {
    let mut reader = WarcReader::open(path)?;
    let mut check = FileCheck::default();
    while let Some(record) = reader.next_record(0)? {
        check.records += 1;
        check.length = record.offset + record.length;
        check.false_digests += u64::from(!record.digests_hold());
        each(&record);
    }
    Ok(check)
}
