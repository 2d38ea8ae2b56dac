//! Quarantine: unreadable tables are kept beside the new ones, for a diagnosis.
//!
//! Their directory is sled's, which writes without our disk interface; so they are moved without it
//! too. That is safe: whatever a power cut makes of them, tables can be rebuilt from the journal.

use std::fs;
use std::path::Path;

use crate::fault::StoreFault;

/// Moves the tables in `path` aside, replacing those that were moved there before.
pub(in crate::embedded) fn set_aside(path: &Path, what: &str) -> Result<(), StoreFault> {
    let aside = path.with_extension("unusable");
    tracing::warn!(
        path = %path.display(),
        kept = %aside.display(),
        what,
        "tables set aside; rebuilding them from the journal"
    );
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(StoreFault::file("remove", &aside))?;
    }
    fs::rename(path, &aside).map_err(StoreFault::file("rename", path))
}
