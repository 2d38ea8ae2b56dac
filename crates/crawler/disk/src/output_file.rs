//! A file that gets its name once it is complete.
//!
//! Until then it is called `NAME.part`, and it is removed if it is not completed: a full disk or an
//! interrupt never leaves an incomplete file ([`DraftPath`]), and a killed process leaves a draft
//! that the next process replaces. An earlier file of that name stays until the end, so a file can
//! be read and replaced by its own result.
//!
//! Files with other guarantees are written in other ways:
//!
//! * A file that a later process continues stays after an interrupt: `export::WholeFile`.
//! * A small file of a crawl goes through a [`Disk`](crate::Disk), which tests can make fail:
//!   [`Disk::replace`](crate::Disk::replace).
//! * A directory or a hard link has no open file, so it is a [`DraftPath`] alone.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::draft::{DraftPath, create_draft};

/// A file in progress, which is removed unless it is completed.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    path: PathBuf,
    /// The path until the file is complete; `None` for a pipe or a device, and afterwards.
    draft: Option<DraftPath>,
    written: u64,
    failure: Option<i32>,
}

impl OutputFile {
    /// Begins the file at `path`.
    ///
    /// # Errors
    /// [`io::ErrorKind::ResourceBusy`] if another process writes the file, otherwise the system's
    /// error.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let (file, draft) = DraftPath::begin(&draft_of(path), create_draft)?;
        Ok(Self {
            draft: Some(draft),
            ..Self::direct(path, file)
        })
    }

    /// Begins the file that will replace the file at `path`, or its target if `path` is a link.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin), and if something other than a file is there.
    pub fn replacing(path: &Path) -> io::Result<Self> {
        let target = path.canonicalize().ok().filter(|_| path.is_symlink());
        let path = target.as_deref().unwrap_or(path);
        if path.exists() && !path.is_file() {
            return Err(io::Error::other(
                "it is not a file; use - for standard output",
            ));
        }
        Self::begin(path)
    }

    /// Writes directly to an open pipe or device. Only errors need its path.
    #[must_use]
    pub fn direct(path: &Path, file: File) -> Self {
        Self {
            file,
            path: path.to_owned(),
            draft: None,
            written: 0,
            failure: None,
        }
    }

    /// Syncs the file and gives it its name, durably. If that fails, the file is removed. Nothing
    /// may be written afterwards.
    ///
    /// # Errors
    /// The error of the system.
    pub fn complete(&mut self) -> io::Result<()> {
        let Some(draft) = self.draft.take() else {
            return Ok(());
        };
        self.file.sync_all()?;
        draft.complete(&self.path)?;
        let directory = self.path.parent().unwrap_or(Path::new(""));
        File::open(Path::new(".").join(directory))?.sync_all()
    }

    /// Returns the file, for a library that writes or reads it at positions. What is written there
    /// does not count as [`written`](Self::written).
    ///
    /// # Errors
    /// The error of the system.
    pub fn file(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Returns the name that the file gets.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes that were written.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Returns the system's error that made a write fail, if one did. Libraries that write to the
    /// file turn errors into text.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        self.failure.map(io::Error::from_raw_os_error)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        let written = written.inspect_err(|error| self.failure = error.raw_os_error())?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Returns the name of a file or directory until it is complete: `NAME.part`.
#[must_use]
pub fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_gets_its_name_at_the_end_and_leaves_nothing_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kept");
        fs::write(&path, "earlier").unwrap();
        let mut file = OutputFile::begin(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "earlier");
        assert!(!draft_of(&path).exists());
        let mut file = OutputFile::begin(&path).unwrap();
        file.write_all(b"?hole").unwrap();
        file.rewind().unwrap();
        file.write_all(b"w").unwrap();
        file.complete().unwrap();
        assert_eq!((file.path(), file.written()), (&*path, 6));
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole");
        assert!(!draft_of(&path).exists());
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_link_is_replaced_and_other_things_than_files_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (
            directory.path().join("target"),
            directory.path().join("link"),
        );
        fs::write(&target, "earlier").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let mut file = OutputFile::replacing(&link).unwrap();
        file.file().unwrap().write_all(b"whole").unwrap();
        file.complete().unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "whole");
        assert!(link.is_symlink());
        OutputFile::replacing(directory.path()).unwrap_err();
    }

    #[test]
    fn a_file_that_cannot_get_its_name_is_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        let mut file = OutputFile::begin(&path).unwrap();
        fs::create_dir(&path).unwrap();
        file.complete().unwrap_err();
        assert!(!draft_of(&path).exists());
    }
}
