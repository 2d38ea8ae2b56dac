//! The output directory, which gets its final name once it is complete.
//!
//! Invariant: everything is written into a new directory, and every file in it is newly created, so
//! no existing link is followed and no file is overwritten.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use disk::{DraftPath, draft_of};
use messages::{CommandError, fault, say, usage};
use settings::crawl_directory::quarantine_path;
use settings::input::unwritable;
use web::Timestamp;

/// Bytes that are copied at a time.
const PIECE: usize = 64 << 10;

/// An unfinished directory. It is removed unless [`Tree::complete`] is called.
pub(crate) struct Tree {
    output: PathBuf,
    draft: DraftPath,
    files: AtomicU64,
    bytes: AtomicU64,
}

/// The treatment of a directory that exists and is not empty.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Existing {
    /// It is an error with this remedy.
    Refused(&'static str),
    /// It is renamed when the new one is complete.
    Renamed,
}

/// A file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}, after {files} files with {bytes} bytes", path.display())]
struct Unwritten {
    path: PathBuf,
    files: u64,
    bytes: u64,
    source: io::Error,
}

impl Tree {
    /// Begins the directory `output`, which is new, empty, or replaced.
    pub(crate) fn begin(output: &Path, existing: Existing) -> Result<Self, CommandError> {
        let shown = output.display();
        let Some(name) = output.file_name() else {
            return Err(usage(format!("{shown} is not a new directory"))
                .with_remedy("--output must be a directory that does not exist yet"));
        };
        // Without a trailing slash.
        let output = output.with_file_name(name);
        match fs::symlink_metadata(&output) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unwritable(&output)(error)),
            Ok(about) if !about.is_dir() => {
                return Err(usage(format!("{shown} exists and is not a directory"))
                    .with_remedy("--output must be a directory that does not exist yet"));
            }
            Ok(_) => {
                if let Existing::Refused(remedy) = existing
                    && !is_empty(&output)?
                {
                    let error = usage(format!("{shown} exists and is not empty"));
                    return Err(error.with_remedy(remedy));
                }
            }
        }
        let begun = DraftPath::begin(&draft_of(&output), |path| fs::create_dir(path));
        let ((), draft) = begun.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => usage(format!(
                "{} exists: another process is writing it, or was killed",
                draft_of(&output).display()
            ))
            .with_remedy("remove it if no process is writing it"),
            _ => unwritable(&output)(error),
        })?;
        Ok(Self {
            output,
            draft,
            files: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        })
    }

    /// Returns the directory in progress.
    pub(crate) fn draft(&self) -> &Path {
        self.draft.as_path()
    }

    /// Writes a file; its path comes from [`unpack::FileNames`]. If the content ends with an error,
    /// the part before the error is written.
    pub(crate) fn write_from(
        &self,
        path: &str,
        content: &mut dyn Read,
    ) -> Result<(), CommandError> {
        self.add(path, content)
            .map_err(|source| self.without_space(path, source))
    }

    /// Writes a file as [`Tree::write_from`] does.
    pub(crate) fn add(&self, path: &str, content: &mut dyn Read) -> io::Result<()> {
        let path = self.draft.as_path().join(path);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        let bytes = copy(content, &mut File::create_new(&path)?)?;
        self.files.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the fault for a file that does not fit on the disk.
    pub(crate) fn without_space(&self, path: &str, source: io::Error) -> CommandError {
        self.unwritten(self.draft.as_path().join(path), source)
    }

    fn unwritten(&self, path: PathBuf, source: io::Error) -> CommandError {
        fault(&Unwritten {
            path,
            files: self.files.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            source,
        })
        .with_remedy("partial output was removed; free some space, or choose another directory")
    }

    /// Gives a directory that does not exist yet, or is empty, its final name.
    pub(crate) fn complete_new(self) -> io::Result<()> {
        let output = self.output;
        self.draft.complete_with(|draft| {
            if output.is_dir() {
                fs::remove_dir(&output)?;
            }
            fs::rename(draft, &output)
        })
    }

    /// Gives the directory its final name, and returns the number of files and bytes. An existing
    /// directory with that name is renamed.
    pub(crate) fn complete(self, now: Timestamp) -> Result<(u64, u64), CommandError> {
        let output = self.output;
        let named = self.draft.complete_with(|draft| {
            if output.is_dir() && !is_empty(&output)? {
                let kept = quarantine_path(&output, "old", now);
                fs::rename(&output, &kept).map_err(unwritable(&kept))?;
                say(&format!(
                    "the earlier {} is {}",
                    output.display(),
                    kept.display()
                ));
            } else if output.is_dir() {
                fs::remove_dir(&output).map_err(unwritable(&output))?;
            }
            fs::rename(draft, &output).map_err(unwritable(&output))
        });
        named?;
        Ok((self.files.into_inner(), self.bytes.into_inner()))
    }
}

/// Copies content up to its end or its first error. Returns the number of bytes.
fn copy(content: &mut dyn Read, file: &mut File) -> io::Result<u64> {
    let (mut piece, mut copied) = (vec![0; PIECE], 0);
    while let Ok(length @ 1..) = content.read(&mut piece) {
        file.write_all(&piece[..length])?;
        copied += length as u64;
    }
    Ok(copied)
}

fn is_empty(directory: &Path) -> Result<bool, CommandError> {
    let mut items = fs::read_dir(directory).map_err(unwritable(directory))?;
    Ok(items.next().is_none())
}
