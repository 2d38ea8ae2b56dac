//! Compares the archive of a node with the store of its crawl: each visit that the node settled
//! must be in its archive, and each visit in the archive before its end must be settled.
//!
//! The rows of the node's terms are in the same order as its archive. So a mirror of these rows is
//! compared with the archive just like a journal.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use sinks::warc::name_of;
use store::DirectoryLock;

use super::archive::{self, Archive};
use super::journal::Journal;
use super::politeness::{self, Politeness};
use super::{Complaints, exit_code, index, write_complaints};
use crate::cli_error::{CliError, usage};
use crate::commands::shared::NodeMirror;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;
use crate::{control, crawl_directory};

#[derive(Serialize)]
struct Report {
    agrees: bool,
    node: String,
    #[serde(flatten)]
    archive: archive::Counts,
    #[serde(flatten)]
    index: index::Counts,
    politeness: politeness::Counts,
    complaints_in_all: u64,
    complaints: Complaints,
}

/// Compares the archive in `directory` with the crawl in the store at `url`.
pub(super) fn run(
    directory: &Path,
    url: &str,
    format: Option<Format>,
) -> Result<ExitCode, CliError> {
    let state = crawl_directory::any_state_of(directory)?;
    // Held until the end: the node must not run meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let archive_directory = crawl_directory::archive(directory);
    let mirror = match crawl_directory::node_mark(directory)? {
        Some(mark) => NodeMirror::of_mark(url, mark)?,
        // An imported crawl.
        None => {
            let files = crawl_directory::archive_files(&archive_directory).unwrap_or_default();
            let names = files.iter().filter_map(|path| name_of(path));
            let names: Vec<String> = names.map(str::to_owned).collect();
            NodeMirror::of_archive(url, &names)?
        }
    };
    let Some(mirror) = mirror else {
        let shown = directory.display();
        return Err(usage(format!(
            "{shown} is not the directory of a node of this crawl"
        ))
        .with_remedy("give the store of its crawl, and the directory that was given to --out"));
    };
    let settings = Settings::of_crawl(&mirror.directory)?;
    let mut complaints = Complaints::default();
    let politeness = Politeness::new(&settings, control::shortest_delays(directory)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut complaints);
    let rows = crawl_directory::state(&mirror.directory);
    archive.read(&rows, &Journal::of_durable_visits())?;
    let (archive, politeness, end) = archive.end();
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut complaints)?,
        None => index::Counts::default(),
    };
    let report = Report {
        agrees: complaints.count == 0,
        node: mirror.node.clone(),
        archive,
        index,
        politeness,
        complaints_in_all: complaints.count,
        complaints,
    };
    output::to_stdout(|out| match Format::or_fitting(format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out),
    })?;
    Ok(exit_code(report.agrees))
}

impl Report {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.agrees {
            return write_complaints(out, &self.complaints.texts, self.complaints.count);
        }
        write!(
            out,
            "valid and complete: the {} archive records in {} files of node {} match the store, \
             all digests match; {} requests to {} hosts, none too early",
            self.archive.archive_records,
            self.archive.archive_files,
            printable(&self.node),
            self.politeness.requests,
            self.politeness.hosts,
        )?;
        if self.archive.unsettled_bytes > 0 {
            write!(
                out,
                "; {} bytes after the last settled visit will be cut off when it is continued",
                self.archive.unsettled_bytes
            )?;
        }
        writeln!(out)
    }
}
