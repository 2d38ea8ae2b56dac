//! `crawler verify`: archive, journal and tables agree. One line and code 0, or what is wrong and
//! code 1.
//!
//! Six readings, none of which writes anything to the crawl:
//! - `journal`: the journal by itself, in the order in which it happened;
//! - `archive`: journal and archive side by side, visit by visit, and with them how the hosts were
//!   asked (`politeness`);
//! - `surplus`: the archive behind the journal's end;
//! - `index`: the archive and its index;
//! - `search`: the search index against the rows, where there is one;
//! - `store::embedded::audit`: the tables against the journal.
//!
//! A WACZ is checked by itself (`wacz`).

mod archive;
mod index;
mod journal;
mod politeness;
mod search;
mod surplus;
mod wacz;

use std::process::ExitCode;

use serde::Serialize;
use store::StoreFault;
use store::embedded::{self, Audit, DirectoryLock};

use self::archive::Archive;
use self::journal::Journal;
use self::politeness::Politeness;
use crate::args::VerifyArgs;
use crate::cli_error::{CliError, fault};
use crate::control;
use crate::crawl_directory;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;

/// Complaints that are told one by one on a terminal.
const TOLD: usize = 20;
/// Complaints that are kept in words; the rest are counted.
const KEPT: usize = 1_000;

/// Everything that is wrong, in words up to [`KEPT`].
#[derive(Default, Serialize)]
#[serde(transparent)]
struct Complaints {
    told: Vec<String>,
    #[serde(skip)]
    count: u64,
}

impl Complaints {
    fn add(&mut self, complaint: impl Into<String>) {
        self.count += 1;
        if self.told.len() < KEPT {
            self.told.push(complaint.into());
        }
    }
}

#[derive(Serialize)]
struct Report {
    agrees: bool,
    pages: u64,
    unique: u64,
    changed: u64,
    exact_duplicates: u64,
    near_duplicates: u64,
    failed: u64,
    excluded: u64,
    hosts: u64,
    queued: u64,
    /// Of those that are queued, pages that sessions died with.
    set_aside: u64,
    journal_records: u64,
    urls_seen: u64,
    /// Rows that were taken back: their pages were visited again, or will be.
    revoked: u64,
    #[serde(flatten)]
    archive: archive::Counts,
    #[serde(flatten)]
    behind: surplus::Counts,
    #[serde(flatten)]
    index: index::Counts,
    #[serde(flatten)]
    search: search::Counts,
    politeness: politeness::Counts,
    complaints_in_all: u64,
    complaints: Complaints,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode, CliError> {
    if args.directory.is_file() {
        return wacz::run(&args.directory, args.format);
    }
    let state = crawl_directory::state_of(&args.directory)?;
    // Held until the end: what is read must not change meanwhile.
    let _nobody_writes =
        DirectoryLock::share(&state).map_err(|error| crawl_directory::cli_error(&error))?;
    let unreadable = |error: &StoreFault| match error {
        StoreFault::Damaged { .. } => {
            fault(error).with_remedy(crawl_directory::rebuild(&args.directory))
        }
        other => crawl_directory::cli_error(other),
    };
    let mut complaints = Complaints::default();
    let journal = Journal::read(&state, &mut complaints).map_err(|error| unreadable(&error))?;
    let settings = Settings::of_crawl(&args.directory)?;
    let archive_directory = crawl_directory::archive(&args.directory);
    let mut politeness = Politeness::new(&settings);
    let (delay, max_delay) = control::shortest_delays(&settings.out)?;
    politeness.set_shortest_delays(delay, max_delay);
    let mut archive = Archive::new(&archive_directory, politeness, &mut complaints);
    archive
        .read(&state, &journal)
        .map_err(|error| unreadable(&error))?;
    let (counts, politeness, end) = archive.end();
    if counts.lost_visits > 0 {
        complaints.add(format!(
            "{} settled visits are not in the archive: they were lost before they were on the \
             disk, as by a power cut, and are made \
             again when the crawl goes on",
            counts.lost_visits
        ));
    }
    let behind = surplus::check(&settings, end.as_ref(), &journal, &mut complaints)?;
    let index = match end.filter(|_| settings.cdxj.is_on()) {
        Some(end) => index::check(&args.directory, &archive_directory, &end, &mut complaints)?,
        None => index::Counts::default(),
    };
    let found = search::check(&args.directory, &state, &mut complaints)
        .map_err(|error| unreadable(&error))?;
    let audit = embedded::audit(&state).map_err(|error| unreadable(&error))?;
    let report = Report::new(
        &audit,
        &journal,
        (counts, behind, index, found, politeness),
        complaints,
    );
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out),
    })?;
    Ok(if report.agrees {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Report {
    fn new(
        audit: &Audit,
        journal: &Journal,
        (archive, behind, index, search, politeness): (
            archive::Counts,
            surplus::Counts,
            index::Counts,
            search::Counts,
            politeness::Counts,
        ),
        mut complaints: Complaints,
    ) -> Self {
        for complaint in &audit.complaints {
            complaints.add(format!("tables: {complaint}"));
        }
        let totals = audit.totals;
        Self {
            agrees: complaints.count == 0,
            pages: totals.pages,
            unique: totals.unique,
            changed: totals.changed,
            exact_duplicates: totals.exact_duplicates,
            near_duplicates: totals.near_duplicates,
            failed: totals.failed,
            excluded: totals.excluded,
            hosts: audit.hosts,
            queued: audit.queued,
            set_aside: audit.set_aside,
            journal_records: journal.records,
            urls_seen: audit.urls_seen,
            revoked: journal.revoked,
            archive,
            behind,
            index,
            search,
            politeness,
            complaints_in_all: complaints.count,
            complaints,
        }
    }

    fn write(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        if self.agrees {
            return writeln!(out, "{}", self.in_a_line());
        }
        for complaint in self.complaints.told.iter().take(TOLD) {
            writeln!(out, "{}", printable(complaint))?;
        }
        writeln!(out, "NOT valid: {} complaints", self.complaints.count)
    }

    fn in_a_line(&self) -> String {
        let mut line = format!(
            "valid and complete: {} pages ({} unique, {} queued), {} journal records, {} archive \
             records in {} files, all digests hold; \
             {} requests to {} hosts, none too soon",
            self.pages,
            self.unique,
            self.queued,
            self.journal_records,
            self.archive.archive_records,
            self.archive.archive_files,
            self.politeness.requests,
            self.politeness.hosts,
        );
        if self.index.index_lines > 0 {
            line.push_str(&format!(
                "; {} lines of the index agree",
                self.index.index_lines
            ));
        }
        if self.index.not_indexed_yet > 0 {
            line.push_str(&format!(
                "; {} captures are indexed when it goes on",
                self.index.not_indexed_yet
            ));
        }
        if self.archive.foreign_files > 0 {
            line.push_str(&format!(
                "; {} records in {} files of other crawlers, in which {} places are broken and {} \
                 things odd: \
                 their pages are where they should be, and how they asked is not known",
                self.archive.foreign_records,
                self.archive.foreign_files,
                self.archive.foreign_broken,
                self.archive.foreign_oddities,
            ));
        }
        if self.archive.unsettled_bytes > 0 {
            line.push_str(&format!(
                "; {} bytes behind the last settled visit are cut off when it goes on, and {} \
                 records in them set aside",
                self.archive.unsettled_bytes, self.behind.unsettled_records
            ));
        }
        line
    }
}
