//! A disk with a reserve, which it frees for the first write that finds the disk full.
//!
//! If creating or appending to a file fails because the disk is full, the reserve is freed and the
//! call repeated (an append continues after the bytes already written). The caller sees a success;
//! before starting new work, callers check [`Reserve::is_spent`] and wait. If several calls find
//! the disk full at the same time, one of them frees the reserve and all are repeated. A call that
//! begins while the reserve is spent returns the "disk full" error. A sync is never repeated.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::calls::{Disk, DiskFile, ShortWrite};
use crate::error_kind::DiskErrorKind;
use crate::reserve::Reserve;

/// A disk and a reserve on it.
#[derive(Debug)]
pub struct ReservedDisk {
    disk: Arc<dyn Disk>,
    reserve: OnceLock<Arc<Reserve>>,
}

impl ReservedDisk {
    /// Wraps `disk`; `reserve` is freed when the disk is full. The reserve must be on the same file
    /// system, and must not be written through the returned disk.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, reserve: Arc<Reserve>) -> Self {
        Self {
            disk,
            reserve: OnceLock::from(reserve),
        }
    }

    /// Wraps `disk` without a reserve until [`ReservedDisk::keep`] sets one. For callers that must
    /// write before they can take a reserve.
    #[must_use]
    pub fn bare(disk: Arc<dyn Disk>) -> Self {
        Self {
            disk,
            reserve: OnceLock::new(),
        }
    }

    /// Sets the reserve to free when the disk is full. Only the first call has an effect.
    pub fn keep(&self, reserve: Arc<Reserve>) {
        self.reserve.get_or_init(|| reserve);
    }

    /// Returns the reserve, if one is set.
    #[must_use]
    pub fn reserve(&self) -> Option<&Arc<Reserve>> {
        self.reserve.get()
    }

    /// Makes a call, and repeats it once if the reserve freed some space.
    fn with_room<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let held = self.held();
        match call() {
            Err(error) if makes_room(held, &error) => call(),
            otherwise => otherwise,
        }
    }

    /// Returns the reserve if a call that begins now may free it.
    fn held(&self) -> Option<&Reserve> {
        self.reserve()
            .map(Arc::as_ref)
            .filter(|reserve| !reserve.is_spent())
    }
}

/// Returns true if a call that began with the reserve `held`, and failed with `error`, should be
/// repeated: this call or a concurrent one freed the reserve.
fn makes_room(held: Option<&Reserve>, error: &io::Error) -> bool {
    // Free space does not lift the limit on a file's size.
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

    fn free_space(&self, path: &Path) -> Option<u64> {
        self.disk.free_space(path)
    }
}
