//! Checks any WACZ: its contents must match its manifest, and its index must point to records.
//! Nothing is unpacked.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use sinks::wacz;

use super::{exit_code, write_complaints};
use crate::cli_error::{CliError, fault};
use crate::commands::unreadable;
use crate::output::{self, Format};
use crate::progress::SlowProgress;
use crate::terminal::printable;

#[derive(Serialize)]
struct Report<'a> {
    agrees: bool,
    files: u64,
    archive_files: u64,
    archive_bytes: u64,
    index_lines: u64,
    pages: u64,
    complaints_in_all: u64,
    complaints: &'a [String],
}

/// A file that is not a WACZ.
#[derive(Debug, thiserror::Error)]
#[error("{0} cannot be checked")]
struct UncheckableWacz(String, #[source] wacz::WaczFault);

pub(super) fn run(path: &Path, format: Option<Format>) -> Result<ExitCode, CliError> {
    let file = File::open(path).map_err(unreadable(path))?;
    let mut progress = SlowProgress::new("pieces of it read");
    let found = wacz::check(file, &mut || progress.step())
        .map_err(|error| fault(&UncheckableWacz(path.display().to_string(), error)))?;
    drop(progress);
    let report = Report {
        agrees: found.problem_count == 0,
        files: found.files,
        archive_files: found.archives,
        archive_bytes: found.archive_bytes,
        index_lines: found.index_lines,
        pages: found.pages,
        complaints_in_all: found.problem_count,
        complaints: &found.problems,
    };
    output::to_stdout(|out| match Format::or_fitting(format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(path, out),
    })?;
    Ok(exit_code(report.agrees))
}

impl Report<'_> {
    fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        if !self.agrees {
            return write_complaints(out, self.complaints, self.complaints_in_all);
        }
        writeln!(
            out,
            "{} is valid and complete: {} files, {} of them archives with {} bytes, all digests \
             match; {} lines of the index point to their records; {} pages",
            printable(&path.display().to_string()),
            self.files,
            self.archive_files,
            self.archive_bytes,
            self.index_lines,
            self.pages,
        )
    }
}
