//! Reading anybody's archives, from front to back, in bounded memory.
//!
//! Others write their records plain, each in a gzip member of its own, or all in one: whatever the layout, it is unpacked
//! into one stream in which record follows record. What [`WarcReader`](super::WarcReader) tells beyond that, where each record lies in the file,
//! is not known here.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;

use super::parse::{self, Trouble};
use super::parsed::Record;
use super::read::{CHUNK, Counted, ReadFault};

/// The first bytes of a gzip member (RFC 1952, section 2.3.1).
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Reads the records of any archive in order.
pub struct WarcStream {
    path: PathBuf,
    /// Unpacked: offsets count bytes of this.
    input: Counted<Box<dyn BufRead + Send>>,
    failed: bool,
}

impl WarcStream {
    /// Opens a file at its beginning.
    ///
    /// # Errors
    /// [`ReadFault::Io`] where the system does not let us read.
    pub fn open(path: &Path) -> Result<Self, ReadFault> {
        let unreadable = |source| Trouble::Io(source).at(path, 0);
        let file = File::open(path).map_err(unreadable)?;
        Self::new(path, BufReader::with_capacity(CHUNK, file)).map_err(unreadable)
    }

    /// Reads `input`, packed or not, which faults call `path`.
    ///
    /// # Errors
    /// What the first look at `input` meets.
    pub fn new(path: &Path, mut input: impl BufRead + Send + 'static) -> io::Result<Self> {
        let inner: Box<dyn BufRead + Send> = if input.fill_buf()?.starts_with(GZIP) {
            Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(input)))
        } else {
            Box::new(input)
        };
        Ok(Self {
            path: path.to_owned(),
            input: Counted { inner, offset: 0 },
            failed: false,
        })
    }

    /// The next record with the first `keep` bytes of its block; nothing at the end, or behind a fault. Offset and length
    /// are those in the unpacked stream.
    ///
    /// # Errors
    /// [`ReadFault`], after which nothing more is read.
    pub fn next_record(&mut self, keep: usize) -> Result<Option<Record>, ReadFault> {
        if self.failed {
            return Ok(None);
        }
        let offset = self.input.offset;
        match self.read(keep) {
            Ok(record) => Ok(record.map(|record| Record {
                offset,
                length: self.input.offset - offset,
                ..record
            })),
            Err(trouble) => {
                self.failed = true;
                Err(trouble.at(&self.path, offset))
            }
        }
    }

    fn read(&mut self, keep: usize) -> Result<Option<Record>, Trouble> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        parse::next_record(&mut self.input, keep).map(Some)
    }
}
