//! A file that gets its name only when it is complete, and is removed otherwise.
//!
//! `export::WholeFile` does the same for files that only grow, and can continue one. A ZIP seeks
//! back to write the lengths of its members, and an index is written at once.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use export::draft_of;

/// A file that is being written.
pub(crate) struct DraftFile {
    file: File,
    path: PathBuf,
    is_complete: bool,
}

impl DraftFile {
    /// Creates the draft of the file at `path`, or at the target of a link there.
    pub(crate) fn begin(path: &Path) -> io::Result<Self> {
        let path = match path.canonicalize() {
            Ok(target) if path.is_symlink() => target,
            _ => path.to_owned(),
        };
        if path.exists() && !path.is_file() {
            return Err(io::Error::other("it is not a file; - is standard output"));
        }
        let draft = draft_of(&path);
        let mut options = File::options();
        let file = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(&draft)?;
        file.try_lock().map_err(|_taken| {
            let message = format!("another process writes {}", draft.display());
            io::Error::new(io::ErrorKind::ResourceBusy, message)
        })?;
        file.set_len(0)?;
        Ok(Self {
            file,
            path,
            is_complete: false,
        })
    }

    /// Syncs the file and gives it its name.
    pub(crate) fn complete(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(draft_of(&self.path), &self.path)?;
        self.is_complete = true;
        let directory = self.path.parent().unwrap_or(Path::new(""));
        File::open(Path::new(".").join(directory))?.sync_all()
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.is_complete
            && let Err(error) = fs::remove_file(draft_of(&self.path))
        {
            tracing::debug!(path = %self.path.display(), %error, "the draft stays");
        }
    }
}

impl Write for DraftFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for DraftFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
