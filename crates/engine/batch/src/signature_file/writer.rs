//! Writing signature files, and continuing unfinished ones.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use neardup::ShortShingles;

use super::{BLOCK, IS_NUMBER, MAX_ID, NO_SHINGLES, SignatureHeader, SignatureReader};
use crate::dedup::Document;
use crate::error::BatchError;
use crate::fields::checksum;
use crate::signature_bytes::encode;

/// A writer of a signature file; the file is complete after [`finish`](Self::finish). After a kill
/// it has all blocks but the last one.
#[derive(Debug)]
pub struct SignatureWriter<W = File> {
    /// The path for messages.
    path: PathBuf,
    bands: usize,
    with_shingles: bool,
    target: W,
    /// The number of the next block.
    number: u64,
    records: Vec<u8>,
    documents: u32,
}

/// The state of a file that is continued.
#[derive(Debug)]
pub enum Continued {
    /// The file is finished.
    Finished,
    /// The file ends early. To compare its documents with the corpus, read them with
    /// [`SignatureFile::read`](super::SignatureFile::read), whose last item is an error.
    Unfinished {
        /// The writer behind the intact part.
        writer: SignatureWriter,
    },
}

impl SignatureWriter<File> {
    /// Creates a file at `path`, replacing an earlier one.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the system refuses.
    pub fn create(path: impl Into<PathBuf>, header: &SignatureHeader) -> Result<Self, BatchError> {
        let path = path.into();
        match File::create(&path) {
            Ok(file) => Self::begin(file, path, header),
            Err(source) => Err(BatchError::Write { path, source }),
        }
    }

    /// Continues the file at `path`, which an interrupted run left. An incomplete block is cut off.
    ///
    /// # Errors
    /// [`BatchError::OtherSignatures`] if the file does not have this header,
    /// [`BatchError::Write`], and the errors of
    /// [`SignatureFile::open`](super::SignatureFile::open).
    pub fn resume(path: &Path, header: &SignatureHeader) -> Result<Continued, BatchError> {
        let mut reader = SignatureReader::open(path)?;
        reader.header().check_equal(path, header)?;
        if reader.header().extent != header.extent {
            return Err(BatchError::OtherSignatures {
                path: path.to_owned(),
                what: "documents: another shard, or an index of originals".to_owned(),
            });
        }
        loop {
            match reader.next() {
                Some(Ok(_)) => {}
                None => return Ok(Continued::Finished),
                Some(Err(BatchError::Unfinished { .. } | BatchError::Damaged { .. })) => break,
                Some(Err(error)) => return Err(error),
            }
        }
        let (intact, blocks) = reader.intact();
        let opened = OpenOptions::new()
            .write(true)
            .open(path)
            .and_then(|mut file| {
                file.set_len(intact)?;
                file.seek(SeekFrom::End(0))?;
                Ok(file)
            });
        match opened {
            Ok(file) => Ok(Continued::Unfinished {
                writer: Self::behind(path.to_owned(), file, header, blocks),
            }),
            Err(source) => Err(BatchError::Write {
                path: path.to_owned(),
                source,
            }),
        }
    }
}

impl<W: Write> SignatureWriter<W> {
    /// Begins a file in `target`, which errors name `path`.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the target refuses.
    pub fn begin(
        mut target: W,
        path: impl Into<PathBuf>,
        header: &SignatureHeader,
    ) -> Result<Self, BatchError> {
        let path = path.into();
        match target.write_all(&header.to_bytes()) {
            Ok(()) => Ok(Self::behind(path, target, header, 0)),
            Err(source) => Err(BatchError::Write { path, source }),
        }
    }

    fn behind(path: PathBuf, target: W, header: &SignatureHeader, blocks: u64) -> Self {
        Self {
            path,
            bands: header.bands.bands(),
            with_shingles: header.shingles,
            target,
            number: blocks,
            records: Vec::new(),
            documents: 0,
        }
    }

    /// Adds a document with its number in reading order; numbers ascend.
    ///
    /// # Errors
    /// [`BatchError::LongId`], [`BatchError::OtherBands`], or [`BatchError::Write`].
    pub fn push(&mut self, number: u64, document: &Document) -> Result<(), BatchError> {
        let (id, banded) = (document.id.as_bytes(), &document.signature);
        if id.len() > MAX_ID {
            return Err(BatchError::LongId { bytes: id.len() });
        }
        if !banded.bands.is_empty() && banded.bands.len() != self.bands {
            return Err(BatchError::OtherBands {
                expected: self.bands,
                got: banded.bands.len(),
            });
        }
        self.records.extend(number.to_le_bytes());
        let kind = if document.id.is_number() {
            IS_NUMBER
        } else {
            0
        };
        self.records.extend((id.len() as u32 | kind).to_le_bytes());
        self.records.extend(id);
        encode(&banded.signature, &mut self.records);
        self.records
            .extend((banded.bands.len() as u16).to_le_bytes());
        let keys = banded.bands.iter();
        self.records.extend(keys.flat_map(|key| key.to_le_bytes()));
        if self.with_shingles {
            self.push_shingles(banded.shingles.as_ref());
        }
        self.documents += 1;
        match self.records.len() >= BLOCK {
            true => self.write_block(),
            false => Ok(()),
        }
    }

    fn push_shingles(&mut self, shingles: Option<&ShortShingles>) {
        let count = shingles.map_or(NO_SHINGLES, |shingles| shingles.len() as u32);
        self.records.extend(count.to_le_bytes());
        if let Some(shingles) = shingles {
            self.records.extend_from_slice(&shingles.to_bytes());
        }
    }

    /// Writes the remaining documents and the last block, with the number of documents that the run
    /// read, in all shards. Returns the target, which the caller syncs.
    ///
    /// # Errors
    /// [`BatchError::Write`] if the target refuses.
    pub fn finish(mut self, total: u64) -> Result<W, BatchError> {
        if self.documents > 0 {
            self.write_block()?;
        }
        self.records.extend(total.to_le_bytes());
        self.write_block()?;
        Ok(self.target)
    }

    fn write_block(&mut self) -> Result<(), BatchError> {
        let mut block = Vec::with_capacity(8 + self.records.len() + 8);
        block.extend(self.documents.to_le_bytes());
        block.extend((self.records.len() as u32).to_le_bytes());
        block.append(&mut self.records);
        block.extend(checksum(self.number, &block));
        self.documents = 0;
        self.number += 1;
        let written = self.target.write_all(&block);
        written
            .and_then(|()| self.target.flush())
            .map_err(|source| self.unwritable(source))
    }

    fn unwritable(&self, source: std::io::Error) -> BatchError {
        BatchError::Write {
            path: self.path.clone(),
            source,
        }
    }
}
