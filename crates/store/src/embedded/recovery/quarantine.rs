//! Tables that cannot be read are kept beside the new ones: they may be wanted to find out why.
//!
//! Their directory is sled's, which writes behind the disk's back; so it is moved behind its back,
//! too. That costs nothing: whatever a power cut makes of it, tables can be made again from the
//! journal.

use std::fs;
use std::path::Path;

use crate::StoreFault;

/// Moves the tables in `path` aside, in the place of those that were moved there before.
pub(in crate::embedded) fn set_aside(path: &Path, what: &str) -> Result<(), StoreFault> {
    let aside = path.with_extension("unusable");
    tracing::warn!(path = %path.display(), kept = %aside.display(), what, "tables set aside; making them again from the journal");
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(StoreFault::file("remove", &aside))?;
    }
    fs::rename(path, &aside).map_err(StoreFault::file("rename", path))
}
