//! Files and directories in progress, and their removal when the process is interrupted.
//!
//! A signal ends the process without unwinding, so no destructor runs: the paths of all drafts
//! stand in one table of the process, as signals concern the whole process. Creating, naming and
//! removing a draft happen under the lock of the table.
//!
//! Invariant: a path in the table is a draft of this process, and never a finished file. So
//! removing them all removes nothing of another process and nothing that is complete.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// The path of a file or directory in progress, which is removed unless it is completed.
#[derive(Debug)]
pub struct DraftPath {
    path: PathBuf,
}

/// The end of all drafts: while it lives, no draft of this process begins or is completed.
#[must_use = "drafts can begin again once it is dropped"]
pub struct DraftsEnded {
    /// The number of drafts that were removed.
    pub removed: usize,
    _table: MutexGuard<'static, BTreeSet<PathBuf>>,
}

impl DraftPath {
    /// Creates a draft at `path`. A path that `create` refuses is not removed: it may be the draft
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

    /// Completes the draft by a function that gives it its name. If that fails, the draft is
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

/// Removes all drafts of this process, and keeps new ones from beginning as long as the result
/// lives: for the end of the process after a signal.
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
    // A panic between two changes of a set of paths leaves a set of paths.
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a draft. If the system refuses, the name of what stays says that it is none of the files
/// that were asked for.
fn remove(path: &Path) {
    drop(match path.is_dir() {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    });
}
