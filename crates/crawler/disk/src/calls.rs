//! The calls that change files, as a trait.
//!
//! A disk guarantees the following and nothing more (Pillai et al., "All File Systems Are Not
//! Created Equal", OSDI 2014, section 3, lists what is not guaranteed). Bytes survive a power cut
//! once [`Disk::sync`] has returned. A created, removed or changed name survives once
//! [`Disk::sync_directory`] of its directory has returned. Before that, each change may be present
//! or missing, and bytes may have any value.
//!
//! A failed sync is final for its file: the system may have dropped what it could not write, and
//! the next sync would succeed without it (Rebello et al., "Can Applications Recover from fsync
//! Failures?", USENIX ATC 2020).

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Changes files. A file has one appender at a time; every other call may come from any thread at
/// any time.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Creates a file for appending.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, otherwise the system's error.
    fn create(&self, path: &Path) -> io::Result<DiskFile>;

    /// Opens an existing file for appending.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the file does not exist, otherwise the system's error.
    fn open(&self, path: &Path) -> io::Result<DiskFile>;

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// [`ShortWrite`] with the number of bytes that were appended.
    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite>;

    /// Makes the appended bytes and the file's length durable: they survive a power cut.
    ///
    /// # Errors
    /// I/O errors of the system. The call must not be repeated: see the module's documentation.
    fn sync(&self, file: &DiskFile) -> io::Result<()>;

    /// Truncates a file to `length` bytes, or extends it with zeros.
    ///
    /// # Errors
    /// I/O errors of the system.
    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()>;

    /// Renames a file atomically and replaces a file that has the new name.
    ///
    /// # Errors
    /// I/O errors of the system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] if the file does not exist, otherwise the system's error.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// I/O errors of the system.
    fn remove_if_there(&self, path: &Path) -> io::Result<()> {
        match self.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _removed_or_not_there => Ok(()),
        }
    }

    /// Creates a directory and its missing parents. Their names are durable when this returns.
    ///
    /// # Errors
    /// I/O errors of the system.
    fn create_directories(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in this directory durable: they survive a power cut.
    ///
    /// # Errors
    /// I/O errors of the system. The call must not be repeated either.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// Returns the number of bytes that can still be written to the file system of `path`, which
    /// must exist; `None` if the system does not know.
    fn free_space(&self, path: &Path) -> Option<u64>;

    /// Replaces the content of a file with `bytes`, atomically and durably: a reader sees either
    /// the old content or the new, even after a power cut. The draft has the name of the file with
    /// `.new` appended. (An [`OutputFile`](crate::OutputFile), for files that users name, does not
    /// go through a disk of tests, and an interrupt removes its draft.)
    ///
    /// # Errors
    /// I/O errors of the system. The old content is then still in place, unless the last step
    /// failed, the sync of the directory: after that, the content may be old or new.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(".new");
        let draft = Path::new(&draft);
        self.remove_if_there(draft)?;
        let file = self.create(draft)?;
        self.append(&file, bytes).map_err(|short| short.source)?;
        self.sync(&file)?;
        self.rename(draft, path)?;
        self.sync_directory(path.parent().unwrap_or(path))
    }
}

/// An open file. Writes go through the [`Disk`] that opened it; reads are free.
#[derive(Debug)]
pub struct DiskFile {
    pub(crate) file: File,
    path: PathBuf,
    opening: u64,
}

impl DiskFile {
    /// Returns the handle of a file that was opened for appending at `path`; for implementations of
    /// [`Disk`].
    #[must_use]
    pub fn new(file: File, path: &Path) -> Self {
        static OPENINGS: AtomicU64 = AtomicU64::new(0);
        Self {
            file,
            path: path.to_owned(),
            opening: OPENINGS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the path that the file was opened with.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of this opening, unique within the process.
    #[must_use]
    pub fn opening(&self) -> u64 {
        self.opening
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// I/O errors of the system.
    pub fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|found: Metadata| found.len())
    }
}

/// An append that stopped early.
#[derive(Debug)]
pub struct ShortWrite {
    /// Number of bytes that were appended to the file.
    pub written: u64,
    /// The system's error.
    pub source: io::Error,
}

impl fmt::Display for ShortWrite {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the write ended after {} bytes", self.written)
    }
}

impl std::error::Error for ShortWrite {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<ShortWrite> for io::Error {
    fn from(short: ShortWrite) -> Self {
        short.source
    }
}
