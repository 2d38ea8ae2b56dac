//! `crawler verify`: checks that archive, journal and tables agree. Prints one line and exits with
//! code 0, or prints the findings and exits with code 1.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect::verify::{self, node, shared_crawl, wacz};
use messages::{CommandError, counted, printable, usage};
use serde::Serialize;
use settings::crawl_directory;
use setup::shared;

use super::exit_code;
use crate::args::VerifyArgs;
use crate::output::{self, Format};

/// Maximum number of findings printed on a terminal.
const SHOWN: usize = 20;

/// A result of a check.
trait Checked: Serialize {
    /// Returns true if nothing was found.
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
    let directory = match (&args.directory, shared::url(args.store.as_ref())) {
        (Some(directory), _) => directory,
        (None, Some(url)) => {
            return print(args.format, &shared_crawl::check(&url)?, write_shared);
        }
        (None, None) => &crawl_directory::default_crawl()?,
    };
    if directory.extension().is_some_and(|name| name == "wacz") && !directory.exists() {
        let error = usage(format!("{} does not exist", directory.display()));
        return Err(error.with_remedy("check the name of the file"));
    }
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
    format: Format,
    report: &R,
    write: impl FnOnce(&R, &mut dyn Write) -> io::Result<()>,
) -> Result<ExitCode, CommandError> {
    output::to_stdout(|out| match format {
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
        "valid and complete: {} ({} unique, {} queued), {}, {} in {}, all digests match; {} to {}, \
         none too early",
        counted(report.pages.pages, "page"),
        report.pages.unique,
        report.queued,
        counted(report.journal_records, "journal record"),
        counted(report.archive.archive_records, "archive record"),
        counted(report.archive.archive_files, "file"),
        counted(report.politeness.requests, "request"),
        counted(report.politeness.hosts, "host"),
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
            format!(
                "{} of the index checked",
                counted(index.index_lines, "line")
            ),
        ),
        (
            index.not_indexed_yet,
            format!(
                "{} to be indexed when it is continued",
                counted(index.not_indexed_yet, "capture")
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
                "{} in {} of other crawlers, with {} and {}: their pages are in place, and their \
                 politeness is unknown",
                counted(archive.foreign_records, "record"),
                counted(archive.foreign_files, "file"),
                counted(archive.foreign_broken, "broken place"),
                counted(archive.foreign_warnings, "warning"),
            ),
        ),
        (
            archive.unsettled_bytes,
            format!(
                "{} after the last settled visit will be cut off when it is continued, and {} set \
                 aside",
                counted(archive.unsettled_bytes, "byte"),
                counted(report.behind.unsettled_records, "record")
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
        "valid and complete: {} in {} of node {}, as in the store, all digests match; {} to {}, \
         none too early",
        counted(report.archive.archive_records, "archive record"),
        counted(report.archive.archive_files, "file"),
        printable(&report.node),
        counted(report.politeness.requests, "request"),
        counted(report.politeness.hosts, "host"),
    )?;
    if report.archive.unsettled_bytes > 0 {
        write!(
            out,
            "; {} after the last settled visit will be cut off when it is continued",
            counted(report.archive.unsettled_bytes, "byte")
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
        "valid: {} ({} unique), {} of the journal, {}, {} ({} live); {} to {}, none too early",
        counted(report.pages.pages, "page"),
        report.pages.unique,
        counted(report.journal_rows, "row"),
        counted(report.admission_rows, "admission"),
        counted(report.terms, "term"),
        report.live_terms,
        counted(report.politeness.requests, "request"),
        counted(report.politeness.hosts, "host"),
    )?;
    if report.links > 0 {
        write!(
            out,
            "; {} in transfer between nodes",
            counted(report.links, "URL")
        )?;
    }
    if report.due > 0 {
        write!(
            out,
            "; {} to be visited again, because the original is gone",
            counted(report.due, "duplicate")
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
        "{} is valid and complete: {}, {} of them archives with {}, all digests match; {} of the \
         index with a record; {}",
        printable(&path.display().to_string()),
        counted(report.files, "file"),
        report.archive_files,
        counted(report.archive_bytes, "byte"),
        counted(report.index_lines, "line"),
        counted(report.pages, "page"),
    )
}

/// Writes the first findings and their number.
fn write_findings(out: &mut dyn Write, texts: &[String], count: u64) -> io::Result<()> {
    for finding in texts.iter().take(SHOWN) {
        writeln!(out, "{}", printable(finding))?;
    }
    writeln!(out, "NOT valid: {}", counted(count, "finding"))
}
