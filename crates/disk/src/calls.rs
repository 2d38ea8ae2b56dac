//! The calls that change files, as a trait.
//!
//! What a disk promises, and all that may be built upon (Pillai et al., "All File Systems Are Not
//! Created Equal", OSDI 2014, section 3, lists what is not on this list): bytes are there after a
//! power cut once [`Disk::sync`] returned; a name that was made, removed or changed is once
//! [`Disk::sync_directory`] of its directory did. Until then any of it may be there, be missing, or
//! (bytes) be something else.
//!
//! A failed sync is final for its file: the system may have dropped what it could not write, and
//! the next sync would succeed without it (Rebello et al., "Can Applications Recover from fsync
//! Failures?", USENIX ATC 2020).

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Changes files. One appender a file at a time; everything else may be called from anywhere at any
/// time.
pub trait Disk: Send + Sync + fmt::Debug {
    /// Makes a new file, for appending.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] where the name is taken, else what the system said.
    fn create(&self, path: &Path) -> io::Result<DiskFile>;

    /// Opens a file that is there, for appending.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where it is not, else what the system said.
    fn open(&self, path: &Path) -> io::Result<DiskFile>;

    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// [`ShortWrite`], which says how many of the bytes stand in the file now.
    fn append(&self, file: &DiskFile, bytes: &[u8]) -> Result<(), ShortWrite>;

    /// When this returns, what was appended and the file's length outlast a power cut.
    ///
    /// # Errors
    /// What the system said. The call must not be repeated: see the module's documentation.
    fn sync(&self, file: &DiskFile) -> io::Result<()>;

    /// Cuts a file to `length` bytes, or fills it up with zeros.
    ///
    /// # Errors
    /// What the system said.
    fn set_length(&self, file: &DiskFile, length: u64) -> io::Result<()>;

    /// Gives a file another name, in one step; what had that name is gone.
    ///
    /// # Errors
    /// What the system said.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where it is not there, else what the system said.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes a directory and those above it, where they are missing. When this returns, their names
    /// outlast a power cut.
    ///
    /// # Errors
    /// What the system said.
    fn create_directories(&self, path: &Path) -> io::Result<()>;

    /// When this returns, the names in this directory are as they are now after a power cut too.
    ///
    /// # Errors
    /// What the system said. Not to be repeated either.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// How many bytes may still be written to the file system that holds `path`, which exists; none
    /// where that cannot be told.
    fn free_room(&self, path: &Path) -> Option<u64>;

    /// Puts `bytes` in the place of a file, in one durable step: whoever looks, also after a power
    /// cut, finds the old content or the new. A file of the same name with `.new` behind it is used
    /// on the way.
    ///
    /// # Errors
    /// What the system said; the old content is in place then, except where the error came from the
    /// last step, the sync of the directory, after which it may be either.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(".new");
        let draft = Path::new(&draft);
        match self.remove(draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _removed_or_not_there => {}
        }
        let file = self.create(draft)?;
        self.append(&file, bytes).map_err(|short| short.source)?;
        self.sync(&file)?;
        self.rename(draft, path)?;
        self.sync_directory(path.parent().unwrap_or(path))
    }
}

/// An open file. It is written through the [`Disk`] that opened it, and may be read freely.
#[derive(Debug)]
pub struct DiskFile {
    pub(crate) file: File,
    path: PathBuf,
    opening: u64,
}

impl DiskFile {
    /// A file that was opened for appending under this name: for those who make a [`Disk`].
    #[must_use]
    pub fn new(file: File, path: &Path) -> Self {
        static OPENINGS: AtomicU64 = AtomicU64::new(0);
        Self {
            file,
            path: path.to_owned(),
            opening: OPENINGS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// The name under which it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which opening this is: no other one in this process has the same number.
    #[must_use]
    pub fn opening(&self) -> u64 {
        self.opening
    }

    /// How long the file is, in bytes.
    ///
    /// # Errors
    /// What the system said.
    pub fn length(&self) -> io::Result<u64> {
        self.file.metadata().map(|found: Metadata| found.len())
    }
}

/// An append that did not come to its end.
#[derive(Debug)]
pub struct ShortWrite {
    /// How many of the bytes were taken before that: the file is longer by so many.
    pub written: u64,
    /// What the system said then.
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
