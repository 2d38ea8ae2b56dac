//! A file that gets its final name only once it is complete. Otherwise it is removed, even if a
//! signal ends the process.
//!
//! `export::WholeFile` does the same for append-only files, and can continue an incomplete file.
//! This type also allows seeking: a ZIP writer seeks back to write the lengths of members. An index
//! is written all at once.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use disk::{DraftPath, create_draft};
use export::draft_of;

/// A file that is being written.
pub struct DraftFile {
    file: File,
    path: PathBuf,
    draft: DraftPath,
}

impl DraftFile {
    /// Creates the draft of the file at `path`, or at its target if `path` is a link.
    pub fn begin(path: &Path) -> io::Result<Self> {
        let path = match path.canonicalize() {
            Ok(target) if path.is_symlink() => target,
            _ => path.to_owned(),
        };
        if path.exists() && !path.is_file() {
            return Err(io::Error::other(
                "it is not a file; use - for standard output",
            ));
        }
        let (file, draft) = DraftPath::begin(&draft_of(&path), create_draft)?;
        Ok(Self { file, path, draft })
    }

    /// Syncs the file and gives it its final name.
    pub fn complete(self) -> io::Result<()> {
        self.file.sync_all()?;
        self.draft.complete(&self.path)?;
        let directory = self.path.parent().unwrap_or(Path::new(""));
        File::open(Path::new(".").join(directory))?.sync_all()
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
