//! Files and directories in progress, and their removal when the process is interrupted.
//!
//! The name of a draft is predictable, so in a directory that others can write to, somebody may
//! have put a symbolic link there. A draft is therefore always a new file, which replaces what an
//! earlier process left: no existing file is opened.
//!
//! A signal ends the process without unwinding, so no destructor runs. Signals concern the whole
//! process, so one table holds the paths of all its drafts. Creating, naming and removing a draft
//! happen under the lock of this table.
//!
//! Invariant: a path in the table is a draft of this process, and never a finished file. Removing
//! all drafts therefore never removes a finished file or a file of another process.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Path of a file or directory in progress, which is removed unless it is completed.
#[derive(Debug)]
pub struct DraftPath {
    path: PathBuf,
}

/// Evidence that all drafts have ended: while it lives, no draft of this process begins or is
/// completed.
#[must_use = "drafts can begin again once it is dropped"]
pub struct DraftsEnded {
    /// Number of drafts that were removed.
    pub removed: usize,
    _table: MutexGuard<'static, BTreeSet<PathBuf>>,
}

impl DraftPath {
    /// Creates a draft at `path`. If `create` fails, the path is not removed: it may be the draft
    /// of another process.
    ///
    /// # Errors
    /// The error of `create`.
    pub fn begin<T, E>(
        path: &Path,
        create: impl FnOnce(&Path) -> Result<T, E>,
    ) -> Result<(T, Self), E> {
        let mut drafts = table();
        let created = create(path)?;
        drafts.insert(path.to_owned());
        let path = path.to_owned();
        Ok((created, Self { path }))
    }

    /// Returns the path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.path
    }

    /// Gives the draft its name. If that fails, the draft is removed.
    ///
    /// # Errors
    /// The error of the system.
    pub fn complete(self, name: &Path) -> io::Result<()> {
        self.complete_with(|draft| fs::rename(draft, name))
    }

    /// Completes the draft with a function that gives it its name. If that fails, the draft is
    /// removed.
    ///
    /// # Errors
    /// The error of `name`.
    pub fn complete_with<E>(self, name: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
        let mut drafts = table();
        name(&self.path)?;
        drafts.remove(&self.path);
        Ok(())
    }
}

impl Drop for DraftPath {
    fn drop(&mut self) {
        let mut drafts = table();
        if drafts.remove(&self.path) {
            remove(&self.path);
        }
    }
}

/// Creates the file of a draft, open for reading and writing, and locks it until it is closed.
/// Removes what an earlier process left at `path`. If that is a symbolic link, its target is not
/// touched.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] if another process writes the draft, otherwise the system's
/// error.
pub(crate) fn create_draft(path: &Path) -> io::Result<File> {
    let _left = clear_draft(path)?;
    // Fails if somebody created a file or a link here in the meantime (POSIX open(), O_EXCL).
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).open(path)?;
    lock(&file, path)?;
    match fs::symlink_metadata(path).is_ok_and(|there| is_same(&there, &file)) {
        true => Ok(file),
        false => Err(busy(path)),
    }
}

/// Removes what an earlier process left at the path of a draft. As long as the result lives, no
/// other process can begin the same draft.
///
/// # Errors
/// [`io::ErrorKind::ResourceBusy`] if another process writes the draft, otherwise the system's
/// error.
pub fn clear_draft(path: &Path) -> io::Result<Option<File>> {
    let left = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    if left.is_symlink() {
        fs::remove_file(path)?;
        return Ok(None);
    }
    // Opening a pipe would block; creating the draft fails instead.
    if !left.is_file() {
        return Ok(None);
    }
    let file = File::open(path)?;
    lock(&file, path)?;
    fs::remove_file(path)?;
    Ok(Some(file))
}

/// Returns true if a draft to be continued is a file itself, not a link to a file.
///
/// # Errors
/// The error of the system. A missing file is not an error: the result is true.
pub fn is_own_file(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        found => Ok(found?.is_file()),
    }
}

/// Returns true for a draft of this process, so that a command does not read its own output.
pub fn is_own_draft(path: &Path) -> bool {
    let name = path.file_name();
    let drafts = table();
    let mut namesakes = drafts.iter().filter(|draft| draft.file_name() == name);
    namesakes.any(|draft| {
        let places = draft.canonicalize().ok().zip(path.canonicalize().ok());
        places.is_some_and(|(one, other)| one == other)
    })
}

fn lock(file: &File, path: &Path) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(busy(path)),
        Err(TryLockError::Error(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

fn busy(path: &Path) -> io::Error {
    let message = format!("another process is writing {}", path.display());
    io::Error::new(io::ErrorKind::ResourceBusy, message)
}

#[cfg(unix)]
fn is_same(there: &fs::Metadata, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let is_same = |own: fs::Metadata| (own.dev(), own.ino()) == (there.dev(), there.ino());
    file.metadata().is_ok_and(is_same)
}

#[cfg(not(unix))]
fn is_same(there: &fs::Metadata, _file: &File) -> bool {
    there.is_file()
}

/// Removes all drafts of this process, and prevents new ones as long as the result lives. Called
/// when a signal ends the process.
pub fn end_drafts() -> DraftsEnded {
    let mut drafts = table();
    drafts.iter().for_each(|path| remove(path));
    let removed = drafts.len();
    drafts.clear();
    DraftsEnded {
        removed,
        _table: drafts,
    }
}

fn table() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A panic between two changes leaves a valid set of paths.
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a draft. If the system refuses, the file that remains still has the name of a draft, so
/// it is not mistaken for a requested file.
fn remove(path: &Path) {
    drop(match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    });
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_leftover_is_replaced_and_a_draft_of_another_process_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.part");
        fs::write(&path, "left").unwrap();
        let mut file = create_draft(&path).unwrap();
        file.write_all(b"new").unwrap();
        let refused = create_draft(&path).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
        assert_eq!(fs::read(&path).unwrap(), b"new");
        drop(file);
        drop(create_draft(&path).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"");
    }

    /// The file behind a link at the name of a draft was overwritten: another user of the directory
    /// chose which.
    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_the_file_behind_it_stays() {
        let directory = tempfile::tempdir().unwrap();
        let (victim, path) = (
            directory.path().join("victim"),
            directory.path().join("a.part"),
        );
        for target in [victim.clone(), directory.path().join("nothing")] {
            fs::write(&victim, "another user's").unwrap();
            std::os::unix::fs::symlink(&target, &path).unwrap();
            assert!(!is_own_file(&path).unwrap());
            create_draft(&path).unwrap().write_all(b"ours").unwrap();
            assert_eq!(fs::read(&victim).unwrap(), b"another user's");
            assert_eq!(fs::read(&path).unwrap(), b"ours");
            assert!(is_own_file(&path).unwrap());
            fs::remove_file(&path).unwrap();
        }
        assert!(!directory.path().join("nothing").exists());
    }
}
