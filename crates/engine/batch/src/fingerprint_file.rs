//! Files of fingerprints, read sequentially.
//!
//! A header of 64 bytes, then blocks of up to 65,536 fingerprints. All numbers are little-endian:
//!
//! | bytes | header | | bytes | block of n |
//! |---|---|---|---|---|
//! | 8 | `NEARDUPF` | | 8n | fingerprints |
//! | 2 | version of the format: 1 | | 8n | ids, where flag 1 is set |
//! | 2 | [`ALGORITHM`] | | 8 | low half of xxh3-128 of the above, seeded with the block's number |
//! | 4 | flags: 1, there are ids | | | |
//! | 8 | how many fingerprints | | | |
//! | 16 | [`ParametersDigest`] | | | |
//! | 16 | zero | | | |
//! | 8 | low half of xxh3-128 of the above | | | |
//!
//! The header is written last, so an unfinished file is a damaged one. Invariant: the format is
//! stable for ever (`golden/fingerprints.hex`); another format gets another version.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use neardup::{ALGORITHM, Fingerprint, ParametersDigest};

use crate::error::BatchError;
use crate::fields::{checksum, take};
use crate::shard::Shard;

const VERSION: u16 = 1;
const HEADER: usize = 64;
/// The position of the header's checksum.
const CHECKED: usize = HEADER - 8;
const WITH_IDS: u32 = 1;
/// The number of fingerprints of a full block.
const BLOCK: usize = 1 << 16;

/// An opened and checked file of fingerprints.
#[derive(Clone, Debug)]
pub struct FingerprintFile {
    path: PathBuf,
    len: u64,
    has_ids: bool,
    parameters_digest: ParametersDigest,
}

impl FingerprintFile {
    /// The first bytes of every file of fingerprints.
    pub const MAGIC: [u8; 8] = *b"NEARDUPF";

    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// [`BatchError::Read`], [`BatchError::Damaged`], [`BatchError::OtherFormat`] or
    /// [`BatchError::OtherAlgorithm`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, BatchError> {
        let path = path.into();
        let mut header = [0; HEADER];
        let length = match File::open(&path).and_then(|mut file| {
            file.read_exact(&mut header)?;
            file.metadata()
        }) {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(BatchError::damaged(&path, "it is too short"));
            }
            Err(source) => return Err(BatchError::Read { path, source }),
        };
        let mut fields = &header[..];
        if take::<8>(&mut fields) != Self::MAGIC {
            return Err(BatchError::damaged(&path, "its magic bytes are wrong"));
        }
        // Before the checksum, because another version may have another header.
        let version = u16::from_le_bytes(take(&mut fields));
        if version != VERSION {
            return Err(BatchError::OtherFormat { path, version });
        }
        if checksum(0, &header[..CHECKED]) != header[CHECKED..] {
            return Err(BatchError::damaged(
                &path,
                "the checksum of its header is wrong",
            ));
        }
        let algorithm = u16::from_le_bytes(take(&mut fields));
        if algorithm != ALGORITHM {
            return Err(BatchError::OtherAlgorithm { path, algorithm });
        }
        let flags = u32::from_le_bytes(take(&mut fields));
        if flags & !WITH_IDS != 0 {
            return Err(BatchError::damaged(&path, "it has unknown flags"));
        }
        let file = Self {
            path,
            len: u64::from_le_bytes(take(&mut fields)),
            has_ids: flags == WITH_IDS,
            parameters_digest: ParametersDigest::from_bytes(take(&mut fields)),
        };
        let bytes = u128::from(file.len) * file.entry() as u128
            + u128::from(file.blocks()) * 8
            + HEADER as u128;
        if bytes != u128::from(length) {
            return Err(BatchError::damaged(
                &file.path,
                "its length differs from its header",
            ));
        }
        Ok(file)
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of fingerprints.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns true if the file contains no fingerprints.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if each fingerprint has an id.
    #[must_use]
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// Returns the parameters digest of the fingerprints.
    #[must_use]
    pub fn parameters_digest(&self) -> ParametersDigest {
        self.parameters_digest
    }

    /// Returns a reader from the beginning.
    ///
    /// # Errors
    /// [`BatchError::Read`] if the file cannot be opened.
    pub fn read(&self) -> Result<FingerprintReader<'_>, BatchError> {
        self.read_shard(Shard::WHOLE)
    }

    /// Returns a reader of a shard of the file, which consists of whole blocks.
    ///
    /// # Errors
    /// [`BatchError::Read`] if the file cannot be opened.
    pub fn read_shard(&self, shard: Shard) -> Result<FingerprintReader<'_>, BatchError> {
        let Range { start, end } = shard.range(self.blocks());
        let opened = File::open(&self.path).and_then(|mut file| {
            file.seek(io::SeekFrom::Start(self.place_of(start)))?;
            Ok(file)
        });
        let source = opened.map_err(|source| BatchError::Read {
            path: self.path.clone(),
            source,
        })?;
        Ok(FingerprintReader {
            file: self,
            source,
            block: start,
            end,
            bytes: Vec::new(),
            bits: Vec::new(),
            ids: Vec::new(),
        })
    }

    /// Returns the number of fingerprints in a shard.
    #[must_use]
    pub fn len_of(&self, shard: Shard) -> u64 {
        let Range { start, end } = positions(shard, self.len);
        end - start
    }

    /// Returns a reader of ids by position.
    ///
    /// # Errors
    /// [`BatchError::Read`] if the file cannot be opened.
    pub fn ids(&self) -> Result<IdReader<'_>, BatchError> {
        Ok(IdReader {
            reader: self.read()?,
            held: 0..0,
        })
    }

    fn blocks(&self) -> u64 {
        self.len.div_ceil(BLOCK as u64)
    }

    /// Returns the position of a block in the file, in bytes.
    fn place_of(&self, block: u64) -> u64 {
        HEADER as u64 + block * (BLOCK * self.entry() + 8) as u64
    }

    /// Returns the size of a fingerprint with its id, in bytes.
    fn entry(&self) -> usize {
        if self.has_ids { 16 } else { 8 }
    }
}

/// Returns the positions of a shard of `len` fingerprints, which consists of whole blocks.
pub(crate) fn positions(shard: Shard, len: u64) -> Range<u64> {
    let Range { start, end } = shard.range(len.div_ceil(BLOCK as u64));
    let before = |blocks: u64| len.min(blocks.saturating_mul(BLOCK as u64));
    before(start)..before(end)
}

/// A reader of a file of fingerprints, block by block.
#[derive(Debug)]
pub struct FingerprintReader<'f> {
    file: &'f FingerprintFile,
    source: File,
    /// The number of the next block.
    block: u64,
    /// The number of the first block that is not read.
    end: u64,
    bytes: Vec<u8>,
    bits: Vec<u64>,
    ids: Vec<u64>,
}

/// A block of consecutive fingerprints of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block<'r> {
    /// The number of fingerprints before the block.
    pub position: u64,
    /// The bits of the fingerprints.
    pub bits: &'r [u64],
    /// The id of each fingerprint; empty if the file lacks ids.
    pub ids: &'r [u64],
}

impl FingerprintReader<'_> {
    /// Returns the next block, or `None` at the end.
    ///
    /// # Errors
    /// [`BatchError::Read`], or [`BatchError::Damaged`] if the block does not match its checksum.
    pub fn next_block(&mut self) -> Result<Option<Block<'_>>, BatchError> {
        let position = self.block * BLOCK as u64;
        if self.block >= self.end {
            return Ok(None);
        }
        let count = (self.file.len - position).min(BLOCK as u64) as usize;
        let length = count * self.file.entry();
        self.bytes.resize(length + 8, 0);
        self.source
            .read_exact(&mut self.bytes)
            .map_err(|source| BatchError::Read {
                path: self.file.path.clone(),
                source,
            })?;
        let (entries, sum) = self.bytes.split_at(length);
        if checksum(self.block, entries) != *sum {
            return Err(BatchError::damaged(
                &self.file.path,
                "the checksum of a block is wrong",
            ));
        }
        let (bits, ids) = entries.split_at(8 * count);
        numbers(bits, &mut self.bits);
        numbers(ids, &mut self.ids);
        self.block += 1;
        Ok(Some(Block {
            position,
            bits: &self.bits,
            ids: &self.ids,
        }))
    }
}

/// A reader of single ids, which holds one block. Positions that ascend read each block once.
#[derive(Debug)]
pub struct IdReader<'f> {
    reader: FingerprintReader<'f>,
    /// The positions whose ids the reader holds.
    held: Range<u64>,
}

impl IdReader<'_> {
    /// Returns the id of the fingerprint at `position`; `None` past the end, or if the file lacks
    /// ids.
    ///
    /// # Errors
    /// [`BatchError::Read`], or [`BatchError::Damaged`] if the block does not match its checksum.
    pub fn id(&mut self, position: u64) -> Result<Option<u64>, BatchError> {
        let file = self.reader.file;
        if !file.has_ids || position >= file.len {
            return Ok(None);
        }
        if !self.held.contains(&position) {
            self.held = 0..0;
            let block = position / BLOCK as u64;
            let moved = io::SeekFrom::Start(file.place_of(block));
            let sought = self.reader.source.seek(moved);
            sought.map_err(|source| BatchError::Read {
                path: file.path.clone(),
                source,
            })?;
            self.reader.block = block;
            if let Some(read) = self.reader.next_block()? {
                self.held = read.position..read.position + read.ids.len() as u64;
            }
        }
        let at = position - self.held.start;
        Ok(self.reader.ids.get(at as usize).copied())
    }
}

/// A writer of a file of fingerprints; the file is valid after [`FingerprintWriter::finish`].
#[derive(Debug)]
pub struct FingerprintWriter {
    path: PathBuf,
    target: BufWriter<File>,
    parameters_digest: ParametersDigest,
    has_ids: bool,
    len: u64,
    bits: Vec<u8>,
    ids: Vec<u8>,
}

impl FingerprintWriter {
    /// Creates a file at `path`, replacing an earlier one, for fingerprints made by `parameters
    /// digest`, with or without ids.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub fn create(
        path: impl Into<PathBuf>,
        parameters_digest: ParametersDigest,
        has_ids: bool,
    ) -> Result<Self, BatchError> {
        let path = path.into();
        match File::create(&path) {
            Ok(file) => Self::of(file, path, parameters_digest, has_ids),
            Err(source) => Err(BatchError::Write { path, source }),
        }
    }

    /// Writes to the new file at `path`, which is open already; otherwise like
    /// [`FingerprintWriter::create`].
    ///
    /// # Errors
    /// As [`FingerprintWriter::create`].
    pub fn of(
        file: File,
        path: PathBuf,
        parameters_digest: ParametersDigest,
        has_ids: bool,
    ) -> Result<Self, BatchError> {
        let mut target = BufWriter::with_capacity(1 << 20, file);
        match target.write_all(&[0; HEADER]) {
            Ok(()) => Ok(Self {
                path,
                target,
                parameters_digest,
                has_ids,
                len: 0,
                bits: Vec::new(),
                ids: Vec::new(),
            }),
            Err(source) => Err(BatchError::Write { path, source }),
        }
    }

    /// Adds a fingerprint. Its `id` is stored if the file has ids.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub fn push(&mut self, fingerprint: Fingerprint, id: u64) -> Result<(), BatchError> {
        self.bits.extend(fingerprint.as_u64().to_le_bytes());
        if self.has_ids {
            self.ids.extend(id.to_le_bytes());
        }
        self.len += 1;
        if self.bits.len() == 8 * BLOCK {
            self.write_block()?;
        }
        Ok(())
    }

    /// Writes the remaining fingerprints and the header.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub fn finish(mut self) -> Result<FingerprintFile, BatchError> {
        if !self.bits.is_empty() {
            self.write_block()?;
        }
        let mut header = Vec::with_capacity(HEADER);
        header.extend(FingerprintFile::MAGIC);
        header.extend(VERSION.to_le_bytes());
        header.extend(ALGORITHM.to_le_bytes());
        header.extend(if self.has_ids { WITH_IDS } else { 0 }.to_le_bytes());
        header.extend(self.len.to_le_bytes());
        header.extend(self.parameters_digest.to_bytes());
        header.resize(CHECKED, 0);
        header.extend(checksum(0, &header));
        let written = self.target.flush().and_then(|()| {
            let file = self.target.get_mut();
            file.rewind()?;
            file.write_all(&header)?;
            file.sync_all()
        });
        match written {
            Ok(()) => Ok(FingerprintFile {
                path: self.path,
                len: self.len,
                has_ids: self.has_ids,
                parameters_digest: self.parameters_digest,
            }),
            Err(source) => Err(BatchError::Write {
                path: self.path,
                source,
            }),
        }
    }

    fn write_block(&mut self) -> Result<(), BatchError> {
        let number = (self.len - 1) / BLOCK as u64;
        self.bits.append(&mut self.ids);
        self.bits.extend(checksum(number, &self.bits));
        let written = self.target.write_all(&self.bits);
        self.bits.clear();
        written.map_err(|source| BatchError::Write {
            path: self.path.clone(),
            source,
        })
    }
}

fn numbers(bytes: &[u8], numbers: &mut Vec<u64>) {
    numbers.clear();
    numbers.extend(
        bytes
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| u64::from_le_bytes(*bytes)),
    );
}
