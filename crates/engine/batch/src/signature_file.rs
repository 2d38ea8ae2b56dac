//! Files of signatures, which represent documents in comparisons.
//!
//! A signature file is the output of one part of a corpus, the index of an earlier run, or the
//! progress of a run that was interrupted: with the same signatures a run reaches the same
//! decisions. A header of 64 bytes comes first, then blocks; the last block is empty. All numbers
//! are little-endian:
//!
//! | bytes | header | | bytes | block |
//! |---|---|---|---|---|
//! | 8 | `NEARDUPS` | | 4 | documents; 0 in the last block |
//! | 2 | version of the format: 1 | | 4 | bytes of their records |
//! | 2 | [`ALGORITHM`] | | n | records; in the last block 8: documents read |
//! | 2, 2 | bands and their rows | | 8 | low half of xxh3-128 of the above |
//! | 4 | flags: 1, originals only; 2, with shingles | | | |
//! | 4, 4 | shard, from 1, and number of shards | | | |
//! | 16 | [`ParametersDigest`] | | | |
//! | 12 | zero | | | |
//! | 8 | low half of xxh3-128 of the above | | | |
//!
//! The checksum of a block is seeded with its number. A record is the document's number in reading
//! order (8 bytes), the length of its id (4; the highest bit is set for a whole number, in decimal
//! digits), the id, the signature (`signature_bytes.rs`), the number of its bands (2) and their
//! keys (4 each); in a file with shingles then their number (4; 2³² - 1 if the document was given
//! without shingles) and the shingles (4 each).
//!
//! Invariant: the format is stable for ever (`golden/signatures.hex`). A file without its last
//! block is unfinished: it can be continued, but is not accepted otherwise.

mod merge;
mod reader;
mod writer;

use std::path::{Path, PathBuf};

use neardup::{ALGORITHM, BandDesign, ParametersDigest, ShortShingles};

use crate::error::BatchError;
use crate::fields::checksum;
use crate::shard::Shard;
use crate::signature_bytes::next;

pub use crate::signature_bytes::MAX_ID;

pub use self::merge::MergedShards;
pub use self::reader::{Numbered, SignatureReader};
pub use self::writer::{Continued, SignatureWriter};

const MAGIC: [u8; 8] = *b"NEARDUPS";
const VERSION: u16 = 1;
const HEADER: usize = 64;
const ORIGINALS_ONLY: u32 = 1;
const WITH_SHINGLES: u32 = 2;

/// The bit of an id's length that tells numbers from strings.
const IS_NUMBER: u32 = 1 << 31;

/// The number of shingles of a document that was given without shingles.
const NO_SHINGLES: u32 = u32::MAX;

/// Maximum bytes of a block's records: a full block, and one record of the greatest length.
const MAX_BLOCK: usize = BLOCK + MAX_ID + ShortShingles::MAX_BYTES + (1 << 16);

/// The number of bytes of records that fill a block.
const BLOCK: usize = 1 << 20;

/// The documents of a run whose signatures a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All documents.
    All,
    /// Documents that do not repeat an earlier one: an index for later runs.
    Originals,
    /// Every n-th document: one shard of n.
    Shard(Shard),
}

/// The header of a signature file: the kind of its signatures, and the extent of its documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignatureHeader {
    /// The parameters digest of the signatures.
    pub parameters_digest: ParametersDigest,
    /// The bands of the signatures.
    pub bands: BandDesign,
    /// The documents in the file.
    pub extent: Extent,
    /// True if documents have their shingles, for comparisons that are exact.
    pub shingles: bool,
}

impl SignatureHeader {
    fn to_bytes(self) -> [u8; HEADER] {
        let (of_extent, shard) = match self.extent {
            Extent::All => (0, Shard::WHOLE),
            Extent::Originals => (ORIGINALS_ONLY, Shard::WHOLE),
            Extent::Shard(shard) => (0, shard),
        };
        let flags = of_extent | if self.shingles { WITH_SHINGLES } else { 0 };
        let mut bytes = Vec::with_capacity(HEADER);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(ALGORITHM.to_le_bytes());
        bytes.extend((self.bands.bands() as u16).to_le_bytes());
        bytes.extend((self.bands.rows() as u16).to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend(shard.number().to_le_bytes());
        bytes.extend(shard.of().to_le_bytes());
        bytes.extend(self.parameters_digest.to_bytes());
        bytes.resize(HEADER - 8, 0);
        bytes.extend(checksum(0, &bytes));
        bytes.try_into().expect("a header has 64 bytes")
    }

    fn from_bytes(bytes: &[u8; HEADER], path: &Path) -> Result<Self, BatchError> {
        let damaged = |what| BatchError::damaged(path, what);
        let mut fields = &bytes[..];
        let mut is_short = || damaged("its header is too short");
        if next(&mut fields).ok_or_else(&mut is_short)? != MAGIC {
            return Err(damaged("its magic bytes are wrong"));
        }
        // Before the checksum, because another version may have another header.
        let version = u16::from_le_bytes(next(&mut fields).ok_or_else(&mut is_short)?);
        if version != VERSION {
            let path = path.to_owned();
            return Err(BatchError::OtherFormat { path, version });
        }
        if checksum(0, &bytes[..HEADER - 8]) != bytes[HEADER - 8..] {
            return Err(damaged("the checksum of its header is wrong"));
        }
        let algorithm = u16::from_le_bytes(next(&mut fields).ok_or_else(&mut is_short)?);
        if algorithm != ALGORITHM {
            let path = path.to_owned();
            return Err(BatchError::OtherAlgorithm { path, algorithm });
        }
        let mut size = || next(&mut fields).map(u16::from_le_bytes).map(usize::from);
        let (bands, rows) = (size().unwrap_or(0), size().unwrap_or(0));
        let mut number = || next(&mut fields).map(u32::from_le_bytes).unwrap_or(0);
        let (flags, shard, shards) = (number(), number(), number());
        let shard =
            Shard::new(shard, shards).map_err(|_invalid| damaged("its shard is invalid"))?;
        Ok(Self {
            bands: BandDesign::new(bands, rows)
                .map_err(|_invalid| damaged("its bands are invalid"))?,
            extent: match (flags & !WITH_SHINGLES, shard.of()) {
                (0, 1) => Extent::All,
                (ORIGINALS_ONLY, 1) => Extent::Originals,
                (0, _) => Extent::Shard(shard),
                _ => return Err(damaged("it has unknown flags")),
            },
            shingles: flags & WITH_SHINGLES != 0,
            parameters_digest: ParametersDigest::from_bytes(
                next(&mut fields).ok_or_else(is_short)?,
            ),
        })
    }

    /// Checks that the signatures of a file can be compared with signatures of the header `wanted`,
    /// if only by their sketches.
    ///
    /// # Errors
    /// [`BatchError::OtherSignatures`] names the difference.
    pub fn check_comparable(&self, path: &Path, wanted: &Self) -> Result<(), BatchError> {
        let other = |what| {
            Err(BatchError::OtherSignatures {
                path: path.to_owned(),
                what,
            })
        };
        if self.parameters_digest != wanted.parameters_digest {
            return other(
                "features, weights, stop words, frequencies, bits, least words or key".to_owned(),
            );
        }
        if self.bands != wanted.bands {
            let shown = |bands: BandDesign| format!("{} x {}", bands.bands(), bands.rows());
            return other(format!(
                "bands, which follow from resemblance and recall: {} there, {} here",
                shown(self.bands),
                shown(wanted.bands)
            ));
        }
        Ok(())
    }

    /// Checks that the signatures of a file equal the signatures that a run with `wanted` would
    /// make.
    ///
    /// # Errors
    /// [`BatchError::OtherSignatures`] names the difference.
    pub fn check_equal(&self, path: &Path, wanted: &Self) -> Result<(), BatchError> {
        self.check_comparable(path, wanted)?;
        if self.shingles != wanted.shingles {
            let shown = |with: bool| if with { "with" } else { "without" };
            return Err(BatchError::OtherSignatures {
                path: path.to_owned(),
                what: format!(
                    "verification: {} shingles there, {} here",
                    shown(self.shingles),
                    shown(wanted.shingles)
                ),
            });
        }
        Ok(())
    }
}

/// An opened and checked signature file.
#[derive(Clone, Debug)]
pub struct SignatureFile {
    path: PathBuf,
    header: SignatureHeader,
}

impl SignatureFile {
    /// Opens a file and checks its header.
    ///
    /// # Errors
    /// [`BatchError::Read`], [`BatchError::Damaged`], [`BatchError::OtherFormat`] or
    /// [`BatchError::OtherAlgorithm`].
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, BatchError> {
        let path = path.into();
        let header = reader::open(&path)?.1;
        Ok(Self { path, header })
    }

    /// Returns true if a file that begins with these bytes is a signature file.
    #[must_use]
    pub fn begins_one(bytes: &[u8]) -> bool {
        bytes.starts_with(&MAGIC)
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the header.
    #[must_use]
    pub fn header(&self) -> &SignatureHeader {
        &self.header
    }

    /// Returns a reader from the beginning.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(&self) -> Result<SignatureReader, BatchError> {
        SignatureReader::open(&self.path)
    }
}
