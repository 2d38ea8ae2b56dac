//! The check of any WACZ: its contents match its manifest, and its index leads to records. Nothing
//! is unpacked.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use sinks::wacz::{self, WaczCheck};

use super::TOLD;
use crate::cli_error::{CliError, fault, usage};
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

pub(super) fn run(path: &Path, format: Option<Format>) -> Result<ExitCode, CliError> {
    let file = File::open(path)
        .map_err(|error| usage(format!("cannot read {}: {error}", path.display())))?;
    let mut progress = SlowProgress::new("pieces of it read");
    let found = wacz::check(file, &mut || progress.step())
        .map_err(|error| fault(&UncheckableWacz(path.display().to_string(), error)))?;
    drop(progress);
    let report = Report::of(&found);
    output::to_stdout(|out| match Format::or_fitting(format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(path, out),
    })?;
    Ok(if report.agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// A file that is no WACZ.
#[derive(Debug, thiserror::Error)]
#[error("{0} cannot be checked")]
struct UncheckableWacz(String, #[source] wacz::WaczFault);

impl<'a> Report<'a> {
    fn of(found: &'a WaczCheck) -> Self {
        Self {
            agrees: found.problem_count == 0,
            files: found.files,
            archive_files: found.archives,
            archive_bytes: found.archive_bytes,
            index_lines: found.index_lines,
            pages: found.pages,
            complaints_in_all: found.problem_count,
            complaints: &found.problems,
        }
    }

    fn write(&self, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        if !self.agrees {
            for complaint in self.complaints.iter().take(TOLD) {
                writeln!(out, "{}", printable(complaint))?;
            }
            return writeln!(out, "NOT valid: {} complaints", self.complaints_in_all);
        }
        let path = path.display().to_string();
        writeln!(
            out,
            "{} is valid and complete: {} files, {} of them archives with {} bytes, all digests \
             hold; {} lines of the index lead to their \
             records; {} pages",
            printable(&path),
            self.files,
            self.archive_files,
            self.archive_bytes,
            self.index_lines,
            self.pages,
        )
    }
}
