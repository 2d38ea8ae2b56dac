//! Quarantine: unreadable tables are kept next to the new ones, for diagnosis.
//!
//! Their directory belongs to sled, which writes without our disk interface, so they are also moved
//! without it. That is safe: even if a power cut damages them, the tables can be rebuilt from the
//! journal.

use std::fs;
use std::path::Path;

use journal::StoreFault;

/// Moves the tables in `path` aside, replacing any tables moved there before.
pub(in crate::embedded) fn set_aside(path: &Path, what: &str) -> Result<(), StoreFault> {
    let aside = path.with_extension("unusable");
    tracing::warn!(
        path = %path.display(),
        kept = %aside.display(),
        what,
        "tables set aside: rebuilding them from the journal"
    );
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(StoreFault::file("remove", &aside))?;
    }
    fs::rename(path, &aside).map_err(StoreFault::file("rename", path))
}
