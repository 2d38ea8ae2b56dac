//! `crawler verify`: checks that archive, journal and tables agree. Prints one line and exits with
//! code 0, or prints the findings and exits with code 1.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect::verify::{self, node, shared_crawl, wacz};
use messages::{CommandError, printable, usage};
use serde::Serialize;
use setup::{crawl_directory, shared};

use super::exit_code;
use crate::args::VerifyArgs;
use crate::output::{self, Format};

/// Maximum number of findings printed on a terminal.
const SHOWN: usize = 20;

/// A result of a check.
trait Checked: Serialize {
    /// Returns true if there is no finding.
    fn agrees(&self) -> bool;
}

impl Checked for verify::Report {
    fn agrees(&self) -> bool {
        self.agrees
    }
}

impl Checked for node::Report {
    fn agrees(&self) -> bool {
        self.agrees
    }
}

impl Checked for shared_crawl::Report {
    fn agrees(&self) -> bool {
        self.agrees
    }
}

impl Checked for wacz::Report {
    fn agrees(&self) -> bool {
        self.agrees
    }
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, CommandError> {
    let Some(directory) = &args.directory else {
        return match shared::url(args.store.as_ref()) {
            Some(url) => print(args.format, &shared_crawl::check(&url)?, write_shared),
            None => Err(usage(shared::NO_CRAWL).with_remedy(
                "give the directory of the crawl (DIR), a WACZ file, or a shared crawl: --store \
                 postgres://USER@HOST/DATABASE",
            )),
        };
    };
    if directory.is_file() {
        return print(args.format, &wacz::check(directory)?, |report, out| {
            write_wacz(report, directory, out)
        });
    }
    if args.store.is_some() {
        let url = shared::required_url(args.store.as_ref())?;
        return print(args.format, &node::check(directory, &url)?, write_node);
    }
    if let (Some(_), Some(url)) = (crawl_directory::node_file(directory)?, shared::url(None)) {
        return print(args.format, &node::check(directory, &url)?, write_node);
    }
    print(args.format, &verify::check(directory)?, write)
}

/// Prints a result as JSON, or by `write`.
fn print<R: Checked>(
    format: Option<Format>,
    report: &R,
    write: impl FnOnce(&R, &mut dyn Write) -> io::Result<()>,
) -> Result<ExitCode, CommandError> {
    output::to_stdout(|out| match Format::or_fitting(format) {
        Format::Json => output::json_line(out, report),
        Format::Table => write(report, out),
    })?;
    Ok(exit_code(report.agrees()))
}

fn write(report: &verify::Report, out: &mut dyn Write) -> io::Result<()> {
    if !report.agrees {
        return write_findings(out, &report.findings.texts, report.findings.count);
    }
    write!(
        out,
        "valid and complete: {} pages ({} unique, {} queued), {} journal records, {} archive \
         records in {} files, all digests match; {} requests to {} hosts, none too early",
        report.pages.pages,
        report.pages.unique,
        report.queued,
        report.journal_records,
        report.archive.archive_records,
        report.archive.archive_files,
        report.politeness.requests,
        report.politeness.hosts,
    )?;
    for (count, text) in remarks(report) {
        if count > 0 {
            write!(out, "; {text}")?;
        }
    }
    writeln!(out)
}

/// Returns the remarks on a valid crawl, each with the count that it is about.
fn remarks(report: &verify::Report) -> [(u64, String); 5] {
    let (archive, index) = (&report.archive, &report.index);
    [
        (
            index.index_lines,
            format!("{} lines of the index match", index.index_lines),
        ),
        (
            index.not_indexed_yet,
            format!(
                "{} captures are indexed when it is continued",
                index.not_indexed_yet
            ),
        ),
        (
            report.search.indexes_of_other_format,
            "the search index has another version and was not compared: rebuild it with \
             `crawler reindex`"
                .to_owned(),
        ),
        (
            archive.foreign_files,
            format!(
                "{} records in {} files of other crawlers, with {} broken places and {} \
                 warnings: their pages are in place, and their politeness is unknown",
                archive.foreign_records,
                archive.foreign_files,
                archive.foreign_broken,
                archive.foreign_warnings,
            ),
        ),
        (
            archive.unsettled_bytes,
            format!(
                "{} bytes after the last settled visit will be cut off when it is continued, \
                 and their {} records set aside",
                archive.unsettled_bytes, report.behind.unsettled_records
            ),
        ),
    ]
}

fn write_node(report: &node::Report, out: &mut dyn Write) -> io::Result<()> {
    if !report.agrees {
        return write_findings(out, &report.findings.texts, report.findings.count);
    }
    write!(
        out,
        "valid and complete: the {} archive records in {} files of node {} match the store, \
         all digests match; {} requests to {} hosts, none too early",
        report.archive.archive_records,
        report.archive.archive_files,
        printable(&report.node),
        report.politeness.requests,
        report.politeness.hosts,
    )?;
    if report.archive.unsettled_bytes > 0 {
        write!(
            out,
            "; {} bytes after the last settled visit will be cut off when it is continued",
            report.archive.unsettled_bytes
        )?;
    }
    writeln!(out)
}

fn write_shared(report: &shared_crawl::Report, out: &mut dyn Write) -> io::Result<()> {
    if !report.agrees {
        return write_findings(out, &report.findings.texts, report.findings.count);
    }
    write!(
        out,
        "valid: {} pages ({} unique), {} rows of the journal, {} admissions, {} terms ({} \
         live); {} requests to {} hosts, none too early",
        report.pages.pages,
        report.pages.unique,
        report.journal_rows,
        report.admission_rows,
        report.terms,
        report.live_terms,
        report.politeness.requests,
        report.politeness.hosts,
    )?;
    if report.links > 0 {
        write!(out, "; {} URLs are in transfer between nodes", report.links)?;
    }
    if report.due > 0 {
        write!(
            out,
            "; {} duplicates are visited again, because their original is gone",
            report.due
        )?;
    }
    writeln!(out)
}

fn write_wacz(report: &wacz::Report, path: &Path, out: &mut dyn Write) -> io::Result<()> {
    if !report.agrees {
        return write_findings(out, &report.findings, report.findings_total);
    }
    writeln!(
        out,
        "{} is valid and complete: {} files, {} of them archives with {} bytes, all digests \
         match; {} lines of the index point to their records; {} pages",
        printable(&path.display().to_string()),
        report.files,
        report.archive_files,
        report.archive_bytes,
        report.index_lines,
        report.pages,
    )
}

/// Writes the first findings and their number.
fn write_findings(out: &mut dyn Write, texts: &[String], count: u64) -> io::Result<()> {
    for finding in texts.iter().take(SHOWN) {
        writeln!(out, "{}", printable(finding))?;
    }
    writeln!(out, "NOT valid: {count} findings")
}
