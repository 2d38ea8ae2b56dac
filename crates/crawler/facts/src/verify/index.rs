//! Compares index and archive: each capture has a line, each line has a record, and the lines are
//! sorted.
//!
//! The archive after the last settled visit is not compared: when the crawl continues, this part is
//! cut off, and so is its part of the index. Captures that the index does not cover yet, after a
//! kill, are counted: they are indexed when the crawl continues.

use std::path::Path;

use messages::{CommandError, fault, pasted};
use serde::Serialize;
use sinks::ArchiveEnd;
use sinks::cdxj::{self, Difference};

use super::Findings;

/// The counts of an index.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counts {
    pub index_lines: u64,
    /// Captures that it does not cover yet.
    pub not_indexed_yet: u64,
}

/// Compares the index of the crawl in `directory` with its archive up to `end`.
pub(super) fn check(
    directory: &Path,
    archive: &Path,
    end: &ArchiveEnd,
    findings: &mut Findings,
) -> Result<Counts, CommandError> {
    let found = cdxj::compare(archive, end).map_err(|error| fault(&error))?;
    for difference in &found.differences {
        findings.add(format!("index: {}", describe(difference, archive)));
    }
    if !found.differences.is_empty() {
        findings.add(format!(
            "index: rebuild it from the archive with `crawler index {}`",
            pasted(directory)
        ));
    }
    Ok(Counts {
        index_lines: found.lines,
        not_indexed_yet: found.uncovered,
    })
}

fn describe(difference: &Difference, archive: &Path) -> String {
    match difference {
        Difference::NoIndex => format!(
            "{} does not exist, or its coverage is unknown",
            archive.join(cdxj::INDEX).display()
        ),
        Difference::NoFile(path) => format!("{} is missing", path.display()),
        Difference::Touched(path) => format!("{} has changed since it was written", path.display()),
        Difference::Unsorted(path, line) => {
            format!("{}: line {line} is not in byte order", path.display())
        }
        Difference::NoLine(line) => format!("missing line: {line}"),
        Difference::NoCapture(line) => format!("line without a capture: {line}"),
    }
}
