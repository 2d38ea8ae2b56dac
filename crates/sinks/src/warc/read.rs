//! Reading archives back, one record at a time, in bounded memory.
//!
//! Only the layout that the archive writes is read, and nothing is forgiven: in a packed file each
//! record is a gzip member (annex D.2) or a Zstandard frame of its own, so that its offset and
//! length in the file are those of the member. Blocks stream through their digests; of each, as
//! many bytes are kept as the caller asks for.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::parse::{self, EMPTY_LINE, ParseFailure};
use super::parsed::Record;
use super::unpack::{Packing, Source, Unpacker};

/// How much is read from the file, and unpacked, at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// The same, where only the head of a record is wanted.
const GLANCE: usize = 4 << 10;

/// Why an archive file cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ReadFault {
    /// The system did not let us read.
    #[error("cannot read {} at offset {offset}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Where the record begins, in bytes.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The file ends within a record, as it does after a power cut. Within what was settled, it is
    /// damage.
    #[error("{} ends within the record at offset {offset}", path.display())]
    TornTail {
        /// The file.
        path: PathBuf,
        /// Where the record begins, in bytes.
        offset: u64,
    },
    /// There is something that is not a record as we know them.
    #[error("{} is damaged at offset {offset}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the record begins, in bytes.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// A record of somebody else's archive cannot be read, and is passed over.
    #[error("{}: record {record} at offset {offset}: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The number of the record, from 1 on; those passed over count as one each time.
        record: u64,
        /// Where it begins, in bytes, or the packed member that it is in.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
}

impl ReadFault {
    /// Where the record begins that could not be read, in bytes; everything before it is in order.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Io { offset, .. }
            | Self::TornTail { offset, .. }
            | Self::Damaged { offset, .. }
            | Self::Broken { offset, .. } => *offset,
        }
    }
}

/// Reads the records of an archive file in order.
pub struct WarcReader<R> {
    path: PathBuf,
    input: Unpacker<R>,
    failed: bool,
}

impl WarcReader<BufReader<File>> {
    /// Opens a file at its beginning.
    pub fn open(path: &Path) -> Result<Self, ReadFault> {
        Self::open_at(path, 0)
    }

    /// Opens a file where a record begins. Offsets are those in the file, as ever.
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
        Ok(Self {
            path: path.to_owned(),
            input,
            failed: false,
        })
    }

    /// Goes to another place of the same file where a record begins: cheaper than opening it once
    /// more.
    ///
    /// # Errors
    /// [`ReadFault::Io`] where the system does not let us.
    pub fn go_to(&mut self, offset: u64) -> Result<(), ReadFault> {
        self.failed = false;
        self.input
            .go_to(offset)
            .map_err(|error| ParseFailure::Io(error).at(&self.path, offset))
    }
}

impl<R: Read> WarcReader<R> {
    /// Reads `input`, which faults call `path`; offsets count from where it stands now.
    pub fn new(path: &Path, input: R) -> Self {
        Self {
            path: path.to_owned(),
            input: Unpacker::new(Source::Stream(input), 0, 0, CHUNK),
            failed: false,
        }
    }

    /// The next record with the first `keep` bytes of its block; nothing at the end, or behind a
    /// fault.
    pub fn next_record(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        self.next(
            |input| parse::only_record(input, keep),
            |input| parse::next_record(input, keep),
        )
    }

    fn next(
        &mut self,
        packed: impl FnOnce(&mut Unpacker<R>) -> Result<Record, ParseFailure>,
        plain: impl FnOnce(&mut Unpacker<R>) -> Result<Record, ParseFailure>,
    ) -> Result<Option<Record>, ReadFault> {
        if self.failed {
            return Ok(None);
        }
        let record = self.read(packed, plain);
        self.failed = record.is_err();
        record.map_err(|(failure, offset)| failure.at(&self.path, offset))
    }

    fn read(
        &mut self,
        packed: impl FnOnce(&mut Unpacker<R>) -> Result<Record, ParseFailure>,
        plain: impl FnOnce(&mut Unpacker<R>) -> Result<Record, ParseFailure>,
    ) -> Result<Option<Record>, (ParseFailure, u64)> {
        let here = self.input.place();
        let in_plain = match self.input.fill() {
            Ok(rest) if !rest.is_empty() => true,
            Ok(_) => false,
            Err(error) => return Err((ParseFailure::Io(error), here)),
        };
        if !in_plain {
            match self.input.enter() {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(None),
                Err(error) => return Err((ParseFailure::Io(error), self.input.tried())),
            }
        }
        let offset = self.input.place();
        let is_plain = self
            .input
            .member()
            .is_some_and(|member| member.packing == Packing::Plain);
        let record = match is_plain {
            // What ends early in a plain file has no more, as after a power cut.
            true => plain(&mut self.input).map_err(|failure| match failure {
                ParseFailure::Short(_) => ParseFailure::Io(io::ErrorKind::UnexpectedEof.into()),
                other => other,
            }),
            false => packed(&mut self.input),
        };
        let record = record.map_err(|failure| (failure, offset))?;
        Ok(Some(Record {
            offset,
            length: self.input.place() - offset,
            breaks: if is_plain { EMPTY_LINE.len() as u64 } else { 0 },
            ..record
        }))
    }
}

impl ParseFailure {
    /// The fault that this is in the record at `offset` of the file `path`.
    pub(super) fn at(self, path: &Path, offset: u64) -> ReadFault {
        let path = path.to_owned();
        match self {
            Self::Malformed(reason) => ReadFault::Damaged {
                path,
                offset,
                reason,
            },
            Self::Short(reason) => ReadFault::Damaged {
                path,
                offset,
                reason: reason.to_owned(),
            },
            Self::Io(source) => match source.kind() {
                io::ErrorKind::UnexpectedEof => ReadFault::TornTail { path, offset },
                // What is not packed as it should be, is damaged, or fails its checksum.
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

/// The record at `offset` of a file up to the end of its HTTP message's head, of which at most
/// `keep` bytes are read: what stands behind is not even unpacked. So no digest was checked, and
/// the record's length is not known: it is 0.
pub fn read_head(path: &Path, offset: u64, keep: usize) -> Result<Record, ReadFault> {
    let mut reader = WarcReader::open_with(path, offset, GLANCE)?;
    let head = |input: &mut _| parse::head_only(input, keep);
    match reader.next(head, head)? {
        Some(record) => Ok(Record {
            length: 0,
            breaks: 0,
            ..record
        }),
        None => Err(ParseFailure::Io(io::ErrorKind::UnexpectedEof.into()).at(path, offset)),
    }
}

/// The same of the record with which `input`, a part of what faults call `path`, begins: offsets
/// count from there.
pub(crate) fn head_in(path: &Path, input: impl Read, keep: usize) -> Result<Record, ReadFault> {
    let mut reader = WarcReader {
        path: path.to_owned(),
        input: Unpacker::new(Source::Stream(input), 0, 0, GLANCE),
        failed: false,
    };
    let head = |input: &mut _| parse::head_only(input, keep);
    let record = reader.next(head, head)?;
    record.ok_or_else(|| ParseFailure::Io(io::ErrorKind::UnexpectedEof.into()).at(path, 0))
}

/// What a file was found to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCheck {
    /// How many records.
    pub records: u64,
    /// How long they are together, in bytes: the length of the file.
    pub length: u64,
    /// How many records have a digest that does not agree with what they hold.
    pub false_digests: u64,
}

/// Reads a file from end to end and shows each record, without its block, to `each`. A digest that
/// does not agree is no fault of reading: the record says so, and the next one follows.
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
