//! Checks any WACZ: its contents must match its manifest, and its index must point to records.
//! Nothing is unpacked.

use std::fs::File;
use std::path::Path;

use messages::{CommandError, SlowProgress, fault};
use serde::Serialize;
use settings::input::unreadable;
use sinks::wacz;

/// The result of the check.
#[derive(Serialize)]
pub struct Report {
    /// True if nothing was found.
    pub agrees: bool,
    /// Number of files in it.
    pub files: u64,
    /// Number of archives in it.
    pub archive_files: u64,
    /// Length of these archives.
    pub archive_bytes: u64,
    /// Number of lines of its index.
    pub index_lines: u64,
    /// Number of pages in its list.
    pub pages: u64,
    /// Number of findings.
    pub findings_total: u64,
    /// The first findings.
    pub findings: Vec<String>,
}

/// A file that is not a WACZ.
#[derive(Debug, thiserror::Error)]
#[error("{0} cannot be checked")]
struct UncheckableWacz(String, #[source] wacz::WaczFault);

/// Checks the package at `path`.
pub fn check(path: &Path) -> Result<Report, CommandError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let mut progress = SlowProgress::new("pieces of it read");
    let found = wacz::check(file, &mut || progress.step())
        .map_err(|error| fault(&UncheckableWacz(path.display().to_string(), error)))?;
    drop(progress);
    Ok(Report {
        agrees: found.problem_count == 0,
        files: found.files,
        archive_files: found.archives,
        archive_bytes: found.archive_bytes,
        index_lines: found.index_lines,
        pages: found.pages,
        findings_total: found.problem_count,
        findings: found.problems,
    })
}
