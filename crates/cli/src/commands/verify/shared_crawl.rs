//! Checks a shared crawl: its rows against each other, and the times of its visits.
//!
//! For each archived visit, the store contains the time of its last request, by the node's clock.
//! Earlier requests of a visit, such as redirects, are in the archives:
//! `crawler verify DIR --store URL` checks them per node.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use shared_store::Audit;
use web_ui::Politeness;

use super::requests::JournalPoliteness;
use super::{Complaints, exit_code, write_complaints};
use crate::cli_error::CliError;
use crate::commands::page_counts::PageCounts;
use crate::commands::shared;
use crate::output::{self, Format};
use crate::progress::SlowProgress;

#[derive(Serialize)]
struct Report {
    agrees: bool,
    #[serde(flatten)]
    pages: PageCounts,
    terms: u64,
    live_terms: u64,
    journal_rows: u64,
    admission_rows: u64,
    /// URLs in transfer from one node to another.
    links: u64,
    revoked: u64,
    /// Left-out pages that will be visited again because their original is gone.
    due: u64,
    politeness: Requests,
    complaints_in_all: u64,
    complaints: Complaints,
}

/// The requests that were checked.
#[derive(Serialize)]
struct Requests {
    requests: u64,
    hosts: u64,
    compared: u64,
    too_soon: u64,
}

/// Checks the crawl in the store at `url`.
pub(super) fn run(url: &str, format: Option<Format>) -> Result<ExitCode, CliError> {
    let mut complaints = Complaints::default();
    let (audit, politeness) = shared::runtime()?.block_on(async {
        let crawl = shared::open_shared(url).await?;
        let settings = shared::settings_of(&crawl)?;
        let mut politeness = JournalPoliteness::without_archive(&settings);
        let mut progress = SlowProgress::new("rows read");
        let see = |record: &_| {
            progress.step();
            politeness.apply(record);
        };
        let audit = crawl
            .audit(settings.distance, see, |text| complaints.add(text))
            .await
            .map_err(shared::read_error)?;
        Ok::<_, CliError>((audit, politeness.end()))
    })?;
    for complaint in &politeness.complaints {
        complaints.add(format!("politeness: {complaint}"));
    }
    let named = politeness.complaints.len() as u64;
    complaints.count += politeness.too_soon.saturating_sub(named);
    let report = Report::new(&audit, &politeness, complaints);
    output::to_stdout(|out| match Format::or_fitting(format) {
        Format::Json => output::json_line(out, &report),
        Format::Table => report.write(out),
    })?;
    Ok(exit_code(report.agrees))
}

impl Report {
    fn new(audit: &Audit, politeness: &Politeness, complaints: Complaints) -> Self {
        Self {
            agrees: complaints.count == 0,
            pages: PageCounts::from(&audit.totals),
            terms: audit.terms,
            live_terms: audit.live,
            journal_rows: audit.rows,
            admission_rows: audit.admissions,
            links: audit.links,
            revoked: audit.revoked,
            due: audit.due,
            politeness: Requests {
                requests: politeness.requests,
                hosts: politeness.hosts,
                compared: politeness.compared,
                too_soon: politeness.too_soon,
            },
            complaints_in_all: complaints.count,
            complaints,
        }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.agrees {
            return write_complaints(out, &self.complaints.texts, self.complaints.count);
        }
        write!(
            out,
            "valid: {} pages ({} unique), {} rows of the journal, {} admissions, {} terms ({} \
             live); {} requests to {} hosts, none too early",
            self.pages.pages,
            self.pages.unique,
            self.journal_rows,
            self.admission_rows,
            self.terms,
            self.live_terms,
            self.politeness.requests,
            self.politeness.hosts,
        )?;
        if self.links > 0 {
            write!(out, "; {} URLs are in transfer between nodes", self.links)?;
        }
        if self.due > 0 {
            write!(
                out,
                "; {} duplicates are visited again, because their original is gone",
                self.due
            )?;
        }
        writeln!(out)
    }
}
