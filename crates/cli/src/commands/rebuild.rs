//! `crawler rebuild`: rebuilds the state of a crawl.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use inspect::rebuild::{self, Options, Report};
use messages::{CommandError, pasted};

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
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &rebuilt.report),
        Format::Table => write(&rebuilt.report, out, directory),
    })?;
    Ok(exit_code(rebuilt.is_complete))
}

fn write(report: &Report, out: &mut dyn Write, directory: &Path) -> io::Result<()> {
    match report.from {
        "journal" => write!(out, "tables made again from the journal")?,
        _ => write!(
            out,
            "journal made again from {} records of the old one and {} visits of the archive",
            report.journal_records, report.archived_visits
        )?,
    }
    writeln!(out, ": {} pages, {} queued", report.pages, report.queued)?;
    if report.foreign_visits > 0 {
        writeln!(
            out,
            "of files of other crawlers: {} visits; {} more captures of the same pages; {} \
             redirects and failures that will be asked for again",
            report.foreign_visits, report.captured_again, report.left
        )?;
    }
    for (count, text) in remarks(report) {
        if count > 0 {
            writeln!(out, "{count} {text}")?;
        }
    }
    if let Some(kept) = &report.kept {
        writeln!(out, "what was there before is kept in {kept}")?;
    }
    let directory = pasted(directory);
    writeln!(
        out,
        "`crawler verify {directory}` checks it; `crawler --out {directory}` goes on"
    )
}

/// Returns the counts of items that could not be fully restored, each with an explanation.
const fn remarks(report: &Report) -> [(u64, &'static str); 8] {
    [
        (
            report.without_original,
            "visits found what is not in these files (revisit records): whatever leads there \
             is asked for again",
        ),
        (
            report.conversions,
            "texts were skipped (conversion records, as in WET files): they belong to no visit",
        ),
        (
            report.not_pages,
            "answers stand for no page: to HEAD, POST and the like, or pieces of files",
        ),
        (
            report.unusable,
            "answers were skipped, because their head, URL or date cannot be read",
        ),
        (
            report.without_place,
            "of these pages are packed together with others: no index can name them, and \
             their text is not found again",
        ),
        (
            report.without_links,
            "pages repeat themselves in an earlier crawl, and no archive tells where they lead",
        ),
        (
            report.links_not_told,
            "links of pages off topic are lost: these pages had more than the archive notes",
        ),
        (
            report.damaged_places,
            "places of the archive could not be read",
        ),
    ]
}
