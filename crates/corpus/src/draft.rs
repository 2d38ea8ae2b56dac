//! A file that gets its name once it is complete.
//!
//! Until then it is called `NAME.part`, and it is removed if it is not completed: a full disk or an
//! interrupt never leaves an incomplete file ([`DraftPath`]), and a killed process leaves a draft
//! that the next process replaces. An earlier file of that name stays until the end, so a file can
//! be read and replaced by its own result.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use disk::{DraftPath, create_draft};

use crate::names::is_standard_input;

/// A file in progress.
#[derive(Debug)]
pub(crate) struct Draft {
    file: File,
    /// The name that it gets.
    pub(crate) path: PathBuf,
    /// The path until it is complete; `None` for a device or a pipe, and once it is complete.
    draft: Option<DraftPath>,
    /// The number of bytes written.
    pub(crate) written: u64,
    /// The system's code of the last error, which libraries turn into text.
    failure: Option<i32>,
}

/// An error of a draft, with the number of bytes before it.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {} after {written} bytes", path.display())]
pub(crate) struct DraftError {
    pub(crate) path: PathBuf,
    pub(crate) written: u64,
    pub(crate) source: io::Error,
}

impl Draft {
    /// Begins a file that will be at `path`. Other targets, such as a pipe, are written directly;
    /// `-` is standard output.
    pub(crate) fn begin(path: &Path) -> Result<Self, DraftError> {
        let is_special = path.metadata().is_ok_and(|about| !about.is_file());
        let begun = if is_standard_input(path) {
            let out = io::stdout().as_fd().try_clone_to_owned();
            out.map(|out| (File::from(out), None))
        } else if is_special {
            let device = File::options().write(true).open(path);
            device.map(|device| (device, None))
        } else {
            let begun = DraftPath::begin(&draft_of(path), create_draft);
            begun.map(|(file, draft)| (file, Some(draft)))
        };
        let (file, draft) = begun.map_err(|source| DraftError {
            path: path.to_owned(),
            written: 0,
            source,
        })?;
        Ok(Self {
            file,
            path: path.to_owned(),
            draft,
            written: 0,
            failure: None,
        })
    }

    /// Renames the file to its final name and returns its length in bytes.
    pub(crate) fn complete(&mut self) -> Result<u64, DraftError> {
        let path = self.path.clone();
        let named = self.draft.take().map_or(Ok(()), |draft| {
            self.file.sync_all().and_then(|()| draft.complete(&path))
        });
        match named {
            Ok(()) => Ok(self.written),
            Err(source) => Err(self.error(source)),
        }
    }

    /// Returns the error of the system that made a write fail, if one did.
    pub(crate) fn failure(&self) -> Option<DraftError> {
        let code = self.failure?;
        Some(self.error(io::Error::from_raw_os_error(code)))
    }

    /// Returns the error for a failure of the system.
    pub(crate) fn error(&self, source: io::Error) -> DraftError {
        DraftError {
            path: self.path.clone(),
            written: self.written,
            source,
        }
    }
}

impl Write for Draft {
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

/// Returns the name of a file or directory until it is complete.
pub(crate) fn draft_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_gets_its_name_at_the_end_and_leaves_nothing_before() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kept");
        std::fs::write(&path, "earlier").unwrap();
        let mut draft = Draft::begin(&path).unwrap();
        draft.write_all(b"half").unwrap();
        drop(draft);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "earlier");
        assert!(!draft_of(&path).exists());
        let mut draft = Draft::begin(&path).unwrap();
        draft.write_all(b"whole").unwrap();
        assert_eq!(draft.complete().unwrap(), 5);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
        assert!(!draft_of(&path).exists());
    }
}
