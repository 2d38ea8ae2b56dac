//! A disk with a reserve: the first write that finds no room gets some.
//!
//! When making a file or appending to one fails because the disk is full, the reserve is freed and
//! the call is made once more (an append goes on behind what was taken). It succeeds then, and
//! [`Reserve::is_spent`] tells everybody who begins new work that they should wait; that is all
//! they learn of it. Of several calls that find the disk full at the same time one frees the
//! reserve, and all are made once more: it was freed for each call that began before it was. For
//! those that begin with the reserve spent, a full disk is an error like any other. A sync is never
//! repeated.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::calls::{Disk, DiskFile, ShortWrite};
use crate::error_kind::DiskErrorKind;
use crate::reserve::Reserve;

/// Another disk, and a reserve on it.
#[derive(Debug)]
pub struct ReservedDisk {
    disk: Arc<dyn Disk>,
    reserve: OnceLock<Arc<Reserve>>,
}

impl ReservedDisk {
    /// `disk`, which frees `reserve` when it is full. The reserve must lie on the same file system,
    /// and must not be written through the disk that this makes.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, reserve: Arc<Reserve>) -> Self {
        Self {
            disk,
            reserve: OnceLock::from(reserve),
        }
    }

    /// `disk` without a reserve, until [`ReservedDisk::keep`] gives it one: for those who must
    /// write before they may take one.
    #[must_use]
    pub fn bare(disk: Arc<dyn Disk>) -> Self {
        Self {
            disk,
            reserve: OnceLock::new(),
        }
    }

    /// From now on frees this reserve when it is full; of several, the first counts.
    pub fn keep(&self, reserve: Arc<Reserve>) {
        self.reserve.get_or_init(|| reserve);
    }

    /// The reserve, if there is one.
    #[must_use]
    pub fn reserve(&self) -> Option<&Arc<Reserve>> {
        self.reserve.get()
    }

    /// Calls once, and where there was no room and the reserve makes some, once more.
    fn with_room<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let held = self.held();
        match call() {
            Err(error) if makes_room(held, &error) => call(),
            otherwise => otherwise,
        }
    }

    /// The reserve that a call which begins now may count on.
    fn held(&self) -> Option<&Reserve> {
        self.reserve()
            .map(Arc::as_ref)
            .filter(|reserve| !reserve.is_spent())
    }
}

/// Whether there is room now that was missing when `error` came to a call that began with this
/// reserve `held`: freed by this call, or meanwhile by another one that found the disk as full.
fn makes_room(held: Option<&Reserve>, error: &io::Error) -> bool {
    // A file that may not grow further does not grow for other files' room.
    let needs_room = DiskErrorKind::of(error) == DiskErrorKind::Full
        && error.kind() != io::ErrorKind::FileTooLarge;
    needs_room && held.is_some_and(|reserve| reserve.spend().is_ok())
}

impl Disk for ReservedDisk {
    fn create(&self, path: &Path) -> io::Result<DiskFile> {
        self.with_room(|| self.disk.create(path))
    }

    fn open(&self, path: &Path) -> io::Result<DiskFile> {
        self.disk.open(path)
    }

    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite> {
        let held = self.held();
        let Err(short) = self.disk.append(file, bytes) else {
            return Ok(());
        };
        if !makes_room(held, &short.source) {
            return Err(short);
        }
        let taken =
            usize::try_from(short.written).map_or(bytes.len(), |taken| taken.min(bytes.len()));
        self.disk
            .append(file, &bytes[taken..])
            .map_err(|again| ShortWrite {
                written: taken as u64 + again.written,
                source: again.source,
            })
    }

    fn sync(&self, file: &DiskFile) -> io::Result<()> {
        self.disk.sync(file)
    }

    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()> {
        self.with_room(|| self.disk.set_length(file, length))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.with_room(|| self.disk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)
    }

    fn create_directories(&self, path: &Path) -> io::Result<()> {
        self.with_room(|| self.disk.create_directories(path))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_directory(path)
    }

    fn free_room(&self, path: &Path) -> Option<u64> {
        self.disk.free_room(path)
    }
}
