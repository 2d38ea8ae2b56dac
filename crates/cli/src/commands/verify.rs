//! `crawler verify`: checks that archive, journal and tables agree. Prints one line and exits with
//! code 0, or prints the complaints and exits with code 1.
//!
//! Seven readings that never write to the crawl:
//! - `journal`: the internal consistency of the journal, in chronological order;
//! - `archive`: the journal against the archive, visit by visit, and the times of the requests to
//!   each host (`politeness`);
//! - `surplus`: the archive after the journal's end;
//! - `links`: the links of archived pages against the journal;
//! - `index`: the archive and its index;
//! - `search`: the search index against the rows, if there is one;
//! - `store::audit`: the tables against the journal.
//!
//! A WACZ is checked separately (`wacz`). So is a shared crawl (`shared_crawl`): its archives are
//! on the nodes, and each node's archive is compared with the store (`node`).

mod archive;
mod index;
mod journal;
mod links;
mod node;
mod politeness;
mod requests;
mod search;
mod shared_crawl;
mod surplus;
mod wacz;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use store::DirectoryLock;

use self::archive::Archive;
use self::journal::Journal;
use self::politeness::Politeness;
pub(in crate::commands) use self::requests::JournalPoliteness;
use super::exit_code;
use super::journal::damaged;
use super::page_counts::PageCounts;
use super::shared;
use crate::args::VerifyArgs;
use crate::cli_error::{CliError, usage};
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;
use crate::{control, crawl_directory};

/// Maximum number of complaints printed on a terminal.
const SHOWN: usize = 20;
/// Maximum number of complaints whose texts are kept; the rest are counted.
const KEPT: usize = 1_000;

/// All complaints; the texts of the first [`KEPT`].
#[derive(Default, Serialize)]
#[serde(transparent)]
struct Complaints {
    texts: Vec<String>,
    #[serde(skip)]
    count: u64,
}

impl Complaints {
    fn add(&mut self, complaint: impl Into<String>) {
        self.count += 1;
        if self.texts.len() < KEPT {
            self.texts.push(complaint.into());
        }
    }
}

#[derive(Serialize)]
struct Report {
    agrees: bool,
    #[serde(flatten)]
    pages: PageCounts,
    hosts: u64,
    queued: u64,
    /// Queued pages that are set aside because sessions died while visiting them.
    set_aside: u64,
    journal_records: u64,
    urls_seen: u64,
    /// Revoked rows: their pages were or will be visited again.
    revoked: u64,
    #[serde(flatten)]
    archive: archive::Counts,
    #[serde(flatten)]
    behind: surplus::Counts,
    #[serde(flatten)]
    links: links::Counts,
    #[serde(flatten)]
    index: index::Counts,
    #[serde(flatten)]
    search: search::Counts,
    politeness: politeness::Counts,
    complaints_in_all: u64,
    complaints: Complaints,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    let Some(directory) = &args.directory else {
        return match shared::url(args.store.as_ref()) {
            Some(url) => shared_crawl::run(&url, args.format),
            None => Err(usage(shared::NO_CRAWL).with_remedy(
                "give the directory of the crawl (DIR), a WACZ file, or a shared crawl: --store \
                 postgres://USER@HOST/DATABASE",
            )),
        };
    };
    if directory.is_file() {
        return wacz::run(directory, args.format);
    }
    if args.store.is_some() {
        let url = shared::required_url(args.store.as_ref())?;
        return node::run(directory, &url, args.format);
    }
    if let (Some(_), Some(url)) = (crawl_directory::node_mark(directory)?, shared::url(None)) {
        return node::run(directory, &url, args.format);
    }
    let report = check(directory)?;
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out),
    })?;
    Ok(exit_code(report.agrees))
}

/// Runs all checks of the crawl in `directory`.
fn check(directory: &Path) -> Result<Report, CliError> {
    let state = crawl_directory::state_of(directory)?;
    // Held until the last reading: the crawl must not change meanwhile.
    let _lock = DirectoryLock::share(&state)?;
    let damaged = damaged(directory);
    let mut complaints = Complaints::default();
    let journal = Journal::read(&state, &mut complaints).map_err(damaged)?;
    let settings = Settings::of_crawl(directory)?;
    let archive_directory = crawl_directory::archive(directory);
    let politeness = Politeness::new(&settings, control::shortest_delays(&settings.out)?);
    let form = settings.canonical_form();
    let mut archive = Archive::new(&archive_directory, form, politeness, &mut complaints);
    archive.read(&state, &journal).map_err(damaged)?;
    let (archive, politeness, end) = archive.end();
    if archive.lost_visits > 0 {
        complaints.add(format!(
            "{} settled visits are not in the archive: they were lost before they reached the \
             disk, as in a power cut, and are repeated when the crawl is continued",
            archive.lost_visits
        ));
    }
    let behind = surplus::check(&settings, end.as_ref(), &journal, &mut complaints)?;
    let links = links::check(&state, &settings, &journal, &mut complaints)?;
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(directory, &archive_directory, &end, &mut complaints)?,
        None => index::Counts::default(),
    };
    let search = search::check(directory, &state, &mut complaints).map_err(damaged)?;
    let audit = store::audit(&state).map_err(damaged)?;
    for complaint in &audit.complaints {
        complaints.add(format!("tables: {complaint}"));
    }
    Ok(Report {
        agrees: complaints.count == 0,
        pages: PageCounts::from(&audit.totals),
        hosts: audit.hosts,
        queued: audit.queued,
        set_aside: audit.set_aside,
        journal_records: journal.records,
        urls_seen: audit.urls_seen,
        revoked: journal.revoked,
        archive,
        behind,
        links,
        index,
        search,
        politeness,
        complaints_in_all: complaints.count,
        complaints,
    })
}

impl Report {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.agrees {
            return write_complaints(out, &self.complaints.texts, self.complaints.count);
        }
        write!(
            out,
            "valid and complete: {} pages ({} unique, {} queued), {} journal records, {} archive \
             records in {} files, all digests match; {} requests to {} hosts, none too early",
            self.pages.pages,
            self.pages.unique,
            self.queued,
            self.journal_records,
            self.archive.archive_records,
            self.archive.archive_files,
            self.politeness.requests,
            self.politeness.hosts,
        )?;
        for (count, text) in self.remarks() {
            if count > 0 {
                write!(out, "; {text}")?;
            }
        }
        writeln!(out)
    }

    /// Returns the remarks on a valid crawl, each with the count that it is about.
    fn remarks(&self) -> [(u64, String); 5] {
        let (archive, index) = (&self.archive, &self.index);
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
                self.search.indexes_of_other_format,
                "the search index has another version and was not compared: rebuild it with \
                 `crawler reindex`"
                    .to_owned(),
            ),
            (
                archive.foreign_files,
                format!(
                    "{} records in {} files of other crawlers, with {} broken places and {} \
                     oddities: their pages are in place, and their politeness is unknown",
                    archive.foreign_records,
                    archive.foreign_files,
                    archive.foreign_broken,
                    archive.foreign_oddities,
                ),
            ),
            (
                archive.unsettled_bytes,
                format!(
                    "{} bytes after the last settled visit will be cut off when it is continued, \
                     and their {} records set aside",
                    archive.unsettled_bytes, self.behind.unsettled_records
                ),
            ),
        ]
    }
}

/// Writes the first complaints and their number.
fn write_complaints(out: &mut dyn Write, texts: &[String], count: u64) -> io::Result<()> {
    for complaint in texts.iter().take(SHOWN) {
        writeln!(out, "{}", printable(complaint))?;
    }
    writeln!(out, "NOT valid: {count} findings")
}
