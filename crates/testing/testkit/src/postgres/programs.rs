//! The search for an installed PostgreSQL server. Build scripts include this file: where they find
//! no server, the tests that need one are built as ignored.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the directory of the server's programs, the latest version first.
pub(crate) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(|directory| has_server(directory));
    let found = on_path.or_else(|| {
        let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
        let versions = versions.filter_map(Result::ok);
        let mut directories: Vec<PathBuf> = versions
            .map(|version| version.path().join("bin"))
            .filter(|directory| has_server(directory))
            .collect();
        directories.sort();
        directories.pop()
    })?;
    // `initdb` looks for the other programs beside itself, not beside a link to it.
    let program = fs::canonicalize(found.join("initdb")).ok()?;
    program.parent().map(Path::to_owned)
}

fn has_server(directory: &Path) -> bool {
    directory.join("initdb").exists() && directory.join("postgres").exists()
}
