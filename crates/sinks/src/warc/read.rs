//! Reading archives back, one record at a time, in bounded memory.
//!
//! Only the layout that the archive writes is read: each record a gzip member of its own (annex D.2), so that its
//! offset and length in the file are those of the member. Blocks stream through their digests; of each, as many
//! bytes are kept as the caller asks for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;

use super::parse::{self, Trouble};
use super::parsed::Record;

/// How much is read from the file, and unpacked, at a time.
pub(super) const CHUNK: usize = 64 << 10;

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
        /// What the system said.
        source: io::Error,
    },
    /// The file ends within a record, as it does after a power cut. Within what was settled, it is damage.
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
}

impl ReadFault {
    /// Where the record begins that could not be read, in bytes; everything before it is in order.
    #[must_use]
    pub fn offset(&self) -> u64 {
        match self {
            Self::Io { offset, .. } | Self::TornTail { offset, .. } | Self::Damaged { offset, .. } => *offset,
        }
    }
}

/// Reads the records of an archive file in order.
pub struct WarcReader<R> {
    path: PathBuf,
    input: Counted<R>,
    failed: bool,
}

impl WarcReader<BufReader<File>> {
    /// Opens a file at its beginning.
    pub fn open(path: &Path) -> Result<Self, ReadFault> {
        match File::open(path) {
            Ok(file) => Ok(Self::new(path, BufReader::with_capacity(CHUNK, file))),
            Err(source) => Err(ReadFault::Io {
                path: path.to_owned(),
                offset: 0,
                source,
            }),
        }
    }
}

impl<R: BufRead> WarcReader<R> {
    /// Reads `input`, which faults call `path`; offsets count from where it stands now.
    pub fn new(path: &Path, input: R) -> Self {
        Self {
            path: path.to_owned(),
            input: Counted {
                inner: input,
                offset: 0,
            },
            failed: false,
        }
    }

    /// The next record with the first `keep` bytes of its block; nothing at the end, or behind a fault.
    pub fn next_record(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        if self.failed {
            return Ok(None);
        }
        let offset = self.input.offset;
        let record = self.read_member(keep);
        let length = self.input.offset - offset;
        match record {
            Ok(record) => Ok(record.map(|record| Record {
                offset,
                length,
                ..record
            })),
            Err(trouble) => {
                self.failed = true;
                Err(trouble.at(&self.path, offset))
            }
        }
    }

    fn read_member(&mut self, keep: usize) -> Result<Option<Record>, Trouble> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let mut member = BufReader::with_capacity(CHUNK, GzDecoder::new(&mut self.input));
        parse::only_record(&mut member, keep).map(Some)
    }
}

impl Trouble {
    /// The fault that this is in the record at `offset` of the file `path`.
    pub(super) fn at(self, path: &Path, offset: u64) -> ReadFault {
        let path = path.to_owned();
        match self {
            Self::Malformed(reason) => ReadFault::Damaged { path, offset, reason },
            Self::Io(source) => match source.kind() {
                io::ErrorKind::UnexpectedEof => ReadFault::TornTail { path, offset },
                // What is not gzip, is damaged, or fails its checksum; the words are flate2's.
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => ReadFault::Damaged {
                    path,
                    offset,
                    reason: source.to_string(),
                },
                _ => ReadFault::Io { path, offset, source },
            },
        }
    }
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

/// Reads a file from end to end and shows each record, without its block, to `each`. A digest that does not agree
/// is no fault of reading: the record says so, and the next one follows.
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

/// Counts what is consumed.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) offset: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(into)?;
        self.offset += length as u64;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.offset += length as u64;
        self.inner.consume(length);
    }
}
