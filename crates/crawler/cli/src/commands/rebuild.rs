//! `crawler rebuild`: rebuilds the state of a crawl.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect::rebuild::{self, Options, Report};
use messages::{CommandError, counted, counted_as, pasted};

use super::exit_code;
use crate::args::{Arguments, RebuildArgs};
use crate::output::{self, Format};

pub(crate) fn run(args: &RebuildArgs) -> Result<ExitCode, CommandError> {
    let directory = &args.directory;
    let options = Options {
        directory,
        from_archive: args.from_archive,
        seeds: args.seeds.as_deref(),
        hash_key: args.hash_key,
    };
    let rebuilt = rebuild::rebuild(&options, Arguments::suggest_command)?;
    output::to_stdout(|out| match args.format {
        Format::Json => output::json_line(out, &rebuilt.report),
        Format::Table => write(&rebuilt.report, out, directory),
    })?;
    Ok(exit_code(rebuilt.is_complete))
}

fn write(report: &Report, out: &mut dyn Write, directory: &Path) -> io::Result<()> {
    match report.from {
        "journal" => write!(out, "tables rebuilt from the journal")?,
        _ => write!(
            out,
            "journal rebuilt from {} of the old journal and {} of the archive",
            counted(report.journal_records, "record"),
            counted(report.archived_visits, "visit")
        )?,
    }
    writeln!(
        out,
        ": {}, {} queued",
        counted(report.pages, "page"),
        report.queued
    )?;
    if report.foreign_visits > 0 {
        writeln!(
            out,
            "from files of other crawlers: {}; {} of the same pages; {} to be requested again",
            counted(report.foreign_visits, "visit"),
            counted(report.captured_again, "more capture"),
            counted_as(report.left, "redirect or failure", "redirects and failures")
        )?;
    }
    for (count, one, many) in remarks(report) {
        if count > 0 {
            writeln!(out, "{}", counted_as(count, one, many))?;
        }
    }
    if let Some(kept) = &report.kept {
        writeln!(out, "the previous state is kept in {kept}")?;
    }
    let directory = pasted(directory);
    writeln!(
        out,
        "check it with `crawler verify {directory}`; continue with `crawler --out {directory}`"
    )
}

/// Returns the counts of items that could not be fully restored, each with an explanation of one
/// item and of several.
const fn remarks(report: &Report) -> [(u64, &'static str, &'static str); 8] {
    [
        (
            report.without_original,
            "visit refers to content that is not in these files (revisit record): its URL is \
             requested again when a link points to it",
            "visits refer to content that is not in these files (revisit records): their URLs \
             are requested again when a link points to them",
        ),
        (
            report.conversions,
            "text was skipped (conversion record, as in WET files): it does not belong to a visit",
            "texts were skipped (conversion records, as in WET files): they do not belong to a \
             visit",
        ),
        (
            report.not_pages,
            "response is not a page (responses to HEAD, POST and others, partial content)",
            "responses are not pages (responses to HEAD, POST and others, partial content)",
        ),
        (
            report.unusable,
            "response was skipped, because its header, URL or date is invalid",
            "responses were skipped, because their header, URL or date is invalid",
        ),
        (
            report.without_place,
            "of these pages is compressed together with others: it cannot be indexed, and its \
             text is not available",
            "of these pages are compressed together with others: they cannot be indexed, and \
             their text is not available",
        ),
        (
            report.without_links,
            "page is unchanged since an earlier crawl, and its links are in none of the archives",
            "pages are unchanged since an earlier crawl, and their links are in none of the \
             archives",
        ),
        (
            report.links_omitted,
            "link of an off-topic page is lost: this page had more links than the archive records",
            "links of off-topic pages are lost: these pages had more links than the archive \
             records",
        ),
        (
            report.damaged_places,
            "place of the archive was unreadable",
            "places of the archive were unreadable",
        ),
    ]
}
