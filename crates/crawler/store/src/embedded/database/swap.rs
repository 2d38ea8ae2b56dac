//! The replacement of the database's directory by a new one, in steps; a process may die between
//! any two of them.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use journal::StoreFault;

pub(in crate::embedded) type Step = fn(&Path) -> Result<(), StoreFault>;

/// The steps after the copy is complete, in this order. A process may die between any two.
pub(in crate::embedded) const SWAP: [Step; 3] = [
    |path| rename(path, &beside(path, "old")),
    |path| rename(&beside(path, "new"), path),
    |path| remove(&beside(path, "old")),
];

/// Finishes or undoes an interrupted swap, so that the complete database is in `path`.
pub(in crate::embedded) fn settle(path: &Path) -> Result<(), StoreFault> {
    let (new, old) = (beside(path, "new"), beside(path, "old"));
    if !path.exists() && old.exists() {
        rename(if new.exists() { &new } else { &old }, path)?;
    }
    remove(&new)?;
    remove(&old)
}

pub(in crate::embedded) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(".");
    name.push(suffix);
    name.into()
}

/// Renames a directory durably.
fn rename(from: &Path, to: &Path) -> Result<(), StoreFault> {
    std::fs::rename(from, to).map_err(StoreFault::file("rename", from))?;
    sync_parent(to)
}

/// Removes a directory durably, if it exists.
pub(in crate::embedded) fn remove(path: &Path) -> Result<(), StoreFault> {
    if path.exists() {
        std::fs::remove_dir_all(path).map_err(StoreFault::file("remove", path))?;
        sync_parent(path)?;
    }
    Ok(())
}

fn sync_parent(path: &Path) -> Result<(), StoreFault> {
    path.parent().map_or(Ok(()), sync)
}

/// Syncs all files and directories below `directory`: the engine syncs its large file, but not the
/// directory entries.
pub(in crate::embedded) fn sync_tree(directory: &Path) -> Result<(), StoreFault> {
    for entry in std::fs::read_dir(directory).map_err(StoreFault::file("read", directory))? {
        let path = entry.map_err(StoreFault::file("read", directory))?.path();
        if path.is_dir() {
            sync_tree(&path)?;
        } else {
            sync(&path)?;
        }
    }
    sync(directory)
}

fn sync(path: &Path) -> Result<(), StoreFault> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(StoreFault::file("sync", path))
}
