//! Disk space that is reserved for the moment when the disk is full.
//!
//! When a disk fills up during a crawl, pages are in progress whose verdicts are already
//! journalled. The reserve is a file that is removed at this moment, so that those pages can be
//! written and the crawl can wait or end cleanly.
//!
//! Invariants: the file is either allocated in full (incompressible bytes, written and synced) or
//! absent, and it is freed once. It is taken again only if the free space exceeds its size plus the
//! low-water mark, so that a disk near its limit does not keep freeing and taking it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls::Disk;
use crate::error_kind::DiskErrorKind;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// A file that occupies disk space and is removed when the space is needed.
#[derive(Debug)]
pub struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes: u64,
    low_water: u64,
    spent: AtomicBool,
    /// Serializes freeing and taking.
    turn: Mutex<()>,
}

/// The result of taking the reserve again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The reserve is in place.
    Held,
    /// The disk has too little space.
    NoSpace,
}

impl Reserve {
    /// Allocates `bytes` at `path`, whose directory exists, or takes over the file of an earlier
    /// process. If the space is missing, the reserve starts out spent: see [`Reserve::is_spent`].
    ///
    /// `low_water` bytes must be free beyond the reserve before it is taken *again*.
    ///
    /// # Errors
    /// I/O errors of the disk, except that it is full.
    pub fn take(disk: Arc<dyn Disk>, path: &Path, bytes: u64, low_water: u64) -> io::Result<Self> {
        let reserve = Self {
            disk,
            path: path.to_owned(),
            bytes,
            low_water,
            spent: AtomicBool::new(true),
            turn: Mutex::new(()),
        };
        let left_over =
            std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == bytes);
        let held = left_over || reserve.fill()? == Restored::Held;
        reserve.spent.store(!held, Ordering::Release);
        Ok(reserve)
    }

    /// Returns the size in bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns true if the reserve is freed and not yet taken again; new work should then wait.
    /// Never blocks.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Acquire)
    }

    /// Frees the reserve; returns false if it was already freed.
    ///
    /// # Errors
    /// I/O errors of the disk; the reserve is then still held.
    pub fn spend(&self) -> io::Result<bool> {
        let _turn = self.turn();
        if self.is_spent() {
            return Ok(false);
        }
        self.disk.remove_if_there(&self.path)?;
        self.spent.store(true, Ordering::Release);
        Ok(true)
    }

    /// Takes the reserve again if it was freed and the disk has space for it plus the low-water
    /// mark. Writes the whole file, so it must not run on a reactor.
    ///
    /// # Errors
    /// I/O errors of the disk, except that it is full.
    pub fn restore(&self) -> io::Result<Restored> {
        let _turn = self.turn();
        if !self.is_spent() {
            return Ok(Restored::Held);
        }
        let enough = self.bytes.saturating_add(self.low_water);
        let directory = self.path.parent().unwrap_or(&self.path);
        let free = self.disk.free_space(directory);
        if free.is_some_and(|space| space < enough) {
            return Ok(Restored::NoSpace);
        }
        let restored = self.fill()?;
        self.spent
            .store(restored == Restored::NoSpace, Ordering::Release);
        Ok(restored)
    }

    /// Frees the reserve for good and removes its file.
    ///
    /// # Errors
    /// I/O errors of the disk.
    pub fn release(&self) -> io::Result<()> {
        self.spend().map(drop)
    }

    /// Writes the file; removes it if that fails.
    fn fill(&self) -> io::Result<Restored> {
        self.disk.remove_if_there(&self.path)?;
        let Err(error) = self.write_file() else {
            return Ok(Restored::Held);
        };
        let removed = self.disk.remove_if_there(&self.path);
        match DiskErrorKind::of(&error) {
            DiskErrorKind::Full => removed.map(|()| Restored::NoSpace),
            DiskErrorKind::ReadOnly | DiskErrorKind::TooManyFiles | DiskErrorKind::Broken => {
                Err(error)
            }
        }
    }

    fn write_file(&self) -> io::Result<()> {
        let file = self.disk.create(&self.path)?;
        let mut noise = Noise(self.bytes);
        let mut left = self.bytes;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            self.disk.append(&file, &noise.bytes(piece))?;
            left -= piece as u64;
        }
        self.disk.sync(&file)
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // The mutex guards no data, so a panic leaves nothing inconsistent.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A generator of incompressible bytes (Marsaglia, "Xorshift RNGs", 2003).
struct Noise(u64);

impl Noise {
    fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(count + 8);
        while bytes.len() < count {
            self.0 |= 1;
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            bytes.extend_from_slice(&self.0.to_le_bytes());
        }
        bytes.truncate(count);
        bytes
    }
}
