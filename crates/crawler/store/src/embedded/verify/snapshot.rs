//! A snapshot: a copy of a store that can be opened without changing the store.
//!
//! Opening brings tables up to date, cuts torn ends and leaves a lock file behind; a check should
//! do none of that. The copy has its own tables and its own last segment; earlier segments never
//! change, so symbolic links suffice. It is in the system's directory for temporary files
//! (`TMPDIR`) and is removed when this is dropped.

use std::path::Path;
use std::{fs, io};

use journal::{StoreFault, segments};
use tempfile::TempDir;

use crate::embedded::lock::DirectoryLock;

/// A copy of a store. While it exists, no process can write to the store.
pub(in crate::embedded) struct Snapshot {
    directory: TempDir,
    _nobody_writes: Option<DirectoryLock>,
}

impl Snapshot {
    /// Copies the store in `directory`.
    ///
    /// # Errors
    /// [`StoreFault::InUse`] if a crawl has it open, otherwise the operating system's error: the
    /// copy needs disk space for the tables.
    pub(in crate::embedded) fn of(directory: &Path) -> Result<Self, StoreFault> {
        let nobody_writes = DirectoryLock::share(directory)?;
        let snapshot = TempDir::with_prefix("crawler-verify-")
            .map_err(StoreFault::file("create", &directory.join("snapshot")))?;
        let unwritten = || StoreFault::file("copy the tables to", snapshot.path());
        copy_directory(&directory.join("sled"), &snapshot.path().join("sled"))
            .map_err(unwritten())?;

        let journal = snapshot.path().join("journal");
        fs::create_dir(&journal).map_err(unwritten())?;
        let segments = segments(&directory.join("journal"))?;
        for (place, (_, segment)) in segments.iter().enumerate() {
            let name = segment.file_name().unwrap_or_default();
            let last = place + 1 == segments.len();
            let made = if last {
                fs::copy(segment, journal.join(name)).map(drop)
            } else {
                let segment = segment.canonicalize();
                segment.and_then(|segment| std::os::unix::fs::symlink(segment, journal.join(name)))
            };
            made.map_err(unwritten())?;
        }
        Ok(Self {
            directory: snapshot,
            _nobody_writes: nobody_writes,
        })
    }

    /// Returns the directory of the copy.
    pub(in crate::embedded) fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Copies a directory, if it exists.
fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    let listing = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        listing => listing?,
    };
    fs::create_dir(to)?;
    for item in listing {
        let item = item?;
        let target = to.join(item.file_name());
        if item.file_type()?.is_dir() {
            copy_directory(&item.path(), &target)?;
        } else {
            fs::copy(item.path(), target)?;
        }
    }
    Ok(())
}
