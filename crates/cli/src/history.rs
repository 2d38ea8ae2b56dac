//! A crawl's directory, as the commands that look at it see it.

use std::path::{Path, PathBuf};

use store::embedded::EmbeddedStore;

use crate::complaint::{Complaint, usage};

/// Where the crawl's memory is.
pub(crate) fn state(directory: &Path) -> PathBuf {
    directory.join("state")
}

/// Where the pages are.
pub(crate) fn archive(directory: &Path) -> PathBuf {
    directory.join("archive")
}

/// The memory of the crawl in `directory`; a complaint where there is none.
pub(crate) fn state_of(directory: &Path) -> Result<PathBuf, Complaint> {
    let state = state(directory);
    if EmbeddedStore::exists(&state) {
        return Ok(state);
    }
    let what = if directory.exists() {
        "holds no crawl"
    } else {
        "does not exist"
    };
    let remedy = "name the directory that was given to --out (crawl/, unless told otherwise)";
    Err(usage(format!("{} {what}", directory.display())).with_remedy(remedy))
}
