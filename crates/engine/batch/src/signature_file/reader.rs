//! Reading signature files, block by block.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use neardup::{BandedSignature, ShortShingles};

use super::{HEADER, IS_NUMBER, MAX_BLOCK, NO_SHINGLES, SignatureHeader};
use crate::dedup::Document;
use crate::document_id::DocumentId;
use crate::error::BatchError;
use crate::fields::checksum;
use crate::signature_bytes::{decode, next};

/// A document with its number in reading order, from 0.
#[derive(Clone, Debug)]
pub struct Numbered {
    /// The number.
    pub number: u64,
    /// The document.
    pub document: Document,
}

/// A reader of the documents of a file, in their order. A damaged or missing block ends it with an
/// error.
#[derive(Debug)]
pub struct SignatureReader {
    path: PathBuf,
    header: SignatureHeader,
    source: BufReader<File>,
    /// The number of the next block.
    block: u64,
    /// The position behind the blocks that were read.
    intact: u64,
    documents: VecDeque<Numbered>,
    /// The number of documents that the whole run read, once the last block is read.
    total: Option<u64>,
    has_failed: bool,
}

/// Opens a file and reads its header.
pub(super) fn open(path: &Path) -> Result<(BufReader<File>, SignatureHeader), BatchError> {
    let mut header = [0; HEADER];
    let opened = File::open(path).and_then(|file| {
        let mut source = BufReader::with_capacity(1 << 20, file);
        source.read_exact(&mut header)?;
        Ok(source)
    });
    match opened {
        Ok(source) => Ok((source, SignatureHeader::from_bytes(&header, path)?)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err(BatchError::damaged(path, "it is too short"))
        }
        Err(source) => Err(BatchError::Read {
            path: path.to_owned(),
            source,
        }),
    }
}

impl SignatureReader {
    pub(super) fn open(path: &Path) -> Result<Self, BatchError> {
        let (source, header) = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            header,
            source,
            block: 0,
            intact: HEADER as u64,
            documents: VecDeque::new(),
            total: None,
            has_failed: false,
        })
    }

    /// Returns the header of the file.
    #[must_use]
    pub fn header(&self) -> &SignatureHeader {
        &self.header
    }

    /// Returns the number of documents that the run read, in all shards; `None` before the end.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Returns the position behind the blocks that were read, and their number.
    pub(super) fn intact(&self) -> (u64, u64) {
        (self.intact, self.block)
    }

    /// Reads the next block; false at the end of the file.
    fn read_block(&mut self) -> Result<bool, BatchError> {
        let mut block = vec![0; 8];
        self.read_exact(&mut block)?;
        let mut head = &block[..];
        let mut size = || next(&mut head).map_or(0, u32::from_le_bytes) as usize;
        let (documents, bytes) = (size(), size());
        if bytes > MAX_BLOCK {
            return Err(BatchError::damaged(
                &self.path,
                "a block exceeds the maximum length",
            ));
        }
        block.resize(8 + bytes + 8, 0);
        self.read_exact(&mut block[8..])?;
        let (content, sum) = block.split_at(8 + bytes);
        if checksum(self.block, content) != *sum {
            return Err(BatchError::damaged(
                &self.path,
                "the checksum of a block is wrong",
            ));
        }
        let mut records = &content[8..];
        let damaged = || {
            BatchError::damaged(
                &self.path,
                "a block holds fewer documents than its header \
                declares",
            )
        };
        if documents == 0 {
            self.total = Some(u64::from_le_bytes(next(&mut records).ok_or_else(damaged)?));
        }
        for _ in 0..documents {
            let numbered = record(&mut records, self.header.shingles).ok_or_else(damaged)?;
            self.documents.push_back(numbered);
        }
        if !records.is_empty() {
            return Err(damaged());
        }
        self.intact += block.len() as u64;
        self.block += 1;
        Ok(documents > 0)
    }

    fn read_exact(&mut self, bytes: &mut [u8]) -> Result<(), BatchError> {
        let path = || self.path.clone();
        self.source
            .read_exact(bytes)
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => BatchError::Unfinished { path: path() },
                _ => BatchError::Read {
                    path: path(),
                    source,
                },
            })
    }
}

impl Iterator for SignatureReader {
    type Item = Result<Numbered, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_more_wanted = self.documents.is_empty() && self.total.is_none();
        if is_more_wanted
            && !self.has_failed
            && let Err(error) = self.read_block()
        {
            self.has_failed = true;
            return Some(Err(error));
        }
        self.documents.pop_front().map(Ok)
    }
}

/// Splits the next record off `rest`.
fn record(rest: &mut &[u8], with_shingles: bool) -> Option<Numbered> {
    let number = u64::from_le_bytes(next(rest)?);
    let id_bytes = u32::from_le_bytes(next(rest)?);
    let (id, after) = rest.split_at_checked((id_bytes & !IS_NUMBER) as usize)?;
    *rest = after;
    let id = String::from_utf8(id.to_owned()).ok()?;
    let id = match id_bytes & IS_NUMBER {
        0 => id.into(),
        _ => DocumentId::of_digits(id),
    };
    let signature = decode(rest)?;
    let bands = u16::from_le_bytes(next(rest)?);
    let bands = (0..bands)
        .map(|_| next(rest).map(u32::from_le_bytes))
        .collect::<Option<_>>()?;
    let shingles = match with_shingles {
        true => shingles(rest)?,
        false => None,
    };
    let signature = BandedSignature {
        signature,
        bands,
        shingles,
    };
    Some(Numbered {
        number,
        document: Document { id, signature },
    })
}

/// Splits shingles off `rest`: `None` if `rest` is too short, `Some(None)` for a document without
/// shingles.
fn shingles(rest: &mut &[u8]) -> Option<Option<ShortShingles>> {
    let count = u32::from_le_bytes(next(rest)?);
    if count == NO_SHINGLES {
        return Some(None);
    }
    let (bytes, after) = rest.split_at_checked(4 * count as usize)?;
    *rest = after;
    ShortShingles::from_bytes(bytes).map(Some)
}
