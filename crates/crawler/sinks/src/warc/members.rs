//! The packed records of one visit, on their way to the archive.
//!
//! Bytes that do not fit in memory go to a spool, so that a visit of any size takes at most
//! [`HELD`] bytes of memory. If the disk refuses a spool, the bytes stay in memory: the archive may
//! still find room in the reserve.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use disk::Spool;

/// Bytes of packed records that are held in memory.
const HELD: usize = 1 << 20;

/// Capacity kept for the next visit; the excess of a rare large page is freed.
pub(super) const KEPT_ROOM: usize = 256 << 10;

/// Bytes that are read back from the spool at a time.
const PIECE: usize = 256 << 10;

/// Packed records, in the order of writing.
#[derive(Debug)]
pub(super) struct Members {
    directory: PathBuf,
    spooled: Option<Spool>,
    held: Vec<u8>,
    /// Set if the disk refused a spool.
    is_refused: bool,
}

impl Members {
    /// Returns an empty buffer that spools to the file system of `directory`.
    pub(super) fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
            spooled: None,
            held: Vec::new(),
            is_refused: false,
        }
    }

    /// Returns the number of bytes.
    pub(super) fn length(&self) -> u64 {
        self.spooled.as_ref().map_or(0, Spool::length) + self.held.len() as u64
    }

    /// Returns the buffer in memory, for callers whose bytes fit there.
    pub(super) fn held(&mut self) -> &mut Vec<u8> {
        &mut self.held
    }

    /// Passes all bytes on, piece by piece, and stops at the first error.
    pub(super) fn for_each_piece<E: From<io::Error>>(
        &self,
        mut use_piece: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(spool) = &self.spooled {
            let mut piece = vec![0; PIECE];
            let mut offset = 0;
            while offset < spool.length() {
                let read = spool.read_at(&mut piece, offset)?;
                use_piece(&piece[..read])?;
                offset += read as u64;
            }
        }
        if self.held.is_empty() {
            return Ok(());
        }
        use_piece(&self.held)
    }

    /// Removes all bytes.
    pub(super) fn clear(&mut self) {
        self.held.clear();
        self.held.shrink_to(KEPT_ROOM);
        self.spooled = None;
        self.is_refused = false;
    }

    fn spill(&mut self) -> io::Result<()> {
        let spool = match &mut self.spooled {
            Some(spool) => spool,
            none => none.insert(Spool::in_directory(&self.directory)?),
        };
        spool.append(&self.held)?;
        self.held.clear();
        Ok(())
    }
}

impl Write for Members {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        let is_much = self.held.len() > HELD && !self.is_refused;
        if is_much && let Err(error) = self.spill() {
            let directory = self.directory.display();
            tracing::warn!(%directory, %error, "no spool: a large page stays in memory");
            self.is_refused = true;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
