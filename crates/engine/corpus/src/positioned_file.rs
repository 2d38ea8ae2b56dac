//! A file that is read at any position.
//!
//! Parquet and Arrow files have their index at the end, and standard input is read twice from a
//! temporary file. Each clone has a position of its own, unlike the clones of a [`File`].

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// A file and a position in it.
#[derive(Clone, Debug)]
pub(crate) struct PositionedFile {
    file: Arc<File>,
    position: u64,
}

impl PositionedFile {
    /// Copies `input` to a file without a name in `directory`, which vanishes with the process.
    ///
    /// # Errors
    /// I/O errors of the system, such as a full disk.
    pub(crate) fn spool(input: &mut dyn Read, directory: &Path) -> io::Result<Self> {
        let mut file = tempfile::tempfile_in(directory)?;
        io::copy(input, &mut file)?;
        Ok(Self::from(file))
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
}

impl From<File> for PositionedFile {
    fn from(file: File) -> Self {
        Self {
            file: Arc::new(file),
            position: 0,
        }
    }
}

impl Read for PositionedFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = disk::read_at(&self.file, into, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for PositionedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::End(by) => (self.length()?, by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let position = base.checked_add_signed(by);
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl Length for PositionedFile {
    fn len(&self) -> u64 {
        self.length().unwrap_or_default()
    }
}

impl ChunkReader for PositionedFile {
    type T = BufReader<Self>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(BufReader::new(Self {
            file: Arc::clone(&self.file),
            position: start,
        }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        // A damaged file may ask for any length: nothing beyond its end is allocated.
        let left = self.length()?.saturating_sub(start);
        if left < length as u64 {
            return Err(ParquetError::EOF(format!(
                "expected {length} bytes at {start}, got {left}"
            )));
        }
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
