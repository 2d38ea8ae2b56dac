//! Room that is kept for the moment when there is none.
//!
//! A crawl that meets a full disk has pages under way whose verdicts are journalled already. The
//! reserve is a file that is removed then, so that what is under way can be written and the crawl
//! can wait, or end, in good order.
//!
//! Invariants: the file is really allocated (bytes that no file system makes fewer are written and
//! synced), or it is not there; what is freed is freed once. It is taken again only when there is
//! room for it *and* the low-water mark beyond it, so that a disk at its limit does not free and
//! take it in turns.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::calls::Disk;
use crate::error_kind::DiskErrorKind;

/// How much is written at a time.
const PIECE: usize = 1 << 20;

/// A file that takes up room, to be removed when it is needed.
#[derive(Debug)]
pub struct Reserve {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    bytes: u64,
    low_water: u64,
    spent: AtomicBool,
    /// Whoever frees or takes it: one at a time.
    turn: Mutex<()>,
}

/// What came of taking the reserve again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is there, as it was before or anew: go on.
    Held,
    /// There is not enough room yet.
    NoRoom,
}

impl Reserve {
    /// Takes `bytes` at `path`, whose directory exists; one that an earlier process left there is
    /// taken over. Where there is no room for it, the reserve is spent from the beginning:
    /// [`Reserve::is_spent`].
    ///
    /// `low_water` bytes must be free beyond the reserve before it is taken *again*.
    ///
    /// # Errors
    /// What the disk said, unless that was that it is full.
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

    /// How much room it is.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it was freed and not yet taken again: whoever begins new work should wait. Never
    /// blocks.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.spent.load(Ordering::Acquire)
    }

    /// Frees it; false where that was done before, and so there is no room to be had.
    ///
    /// # Errors
    /// What the disk said; it is held still.
    pub fn spend(&self) -> io::Result<bool> {
        let _turn = self.turn();
        if self.is_spent() {
            return Ok(false);
        }
        self.remove_file()?;
        self.spent.store(true, Ordering::Release);
        Ok(true)
    }

    /// Takes it again, if it was freed and there is room for it and the low-water mark. Writes all
    /// of it: stay off a reactor.
    ///
    /// # Errors
    /// What the disk said, unless that was that it is full.
    pub fn restore(&self) -> io::Result<Restored> {
        let _turn = self.turn();
        if !self.is_spent() {
            return Ok(Restored::Held);
        }
        let enough = self.bytes.saturating_add(self.low_water);
        let directory = self.path.parent().unwrap_or(&self.path);
        if self
            .disk
            .free_room(directory)
            .is_some_and(|room| room < enough)
        {
            return Ok(Restored::NoRoom);
        }
        let restored = self.fill()?;
        self.spent
            .store(restored == Restored::NoRoom, Ordering::Release);
        Ok(restored)
    }

    /// Ends it: the room is given back, and the file is gone.
    ///
    /// # Errors
    /// What the disk said.
    pub fn release(&self) -> io::Result<()> {
        self.spend().map(drop)
    }

    /// Writes the file, or leaves none.
    fn fill(&self) -> io::Result<Restored> {
        self.remove_file()?;
        let Err(error) = self.write_file() else {
            return Ok(Restored::Held);
        };
        let removed = self.remove_file();
        match DiskErrorKind::of(&error) {
            DiskErrorKind::Full => removed.map(|()| Restored::NoRoom),
            DiskErrorKind::ReadOnly | DiskErrorKind::Broken => Err(error),
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

    fn remove_file(&self) -> io::Result<()> {
        match self.disk.remove(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _removed_or_not_there => Ok(()),
        }
    }

    fn turn(&self) -> MutexGuard<'_, ()> {
        // There is nothing in it that a panic could leave half done.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that cannot be compressed (Marsaglia, "Xorshift RNGs", 2003).
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
