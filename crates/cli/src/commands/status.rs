//! `crawler status`: how a crawl stands, told from its journal; works while the crawl runs.

use std::collections::HashSet;

use serde::Serialize;
use store::Totals;
use store::embedded::{History, record::Record};

use crate::args::LookArgs;
use crate::complaint::{Complaint, fault};
use crate::history;
use crate::output::{self, Format};

/// The counts of a crawl; the names are those of the summary.
#[derive(Debug, Default, Serialize)]
struct Status {
    pages: u64,
    unique: u64,
    exact_duplicates: u64,
    near_duplicates: u64,
    failed: u64,
    excluded: u64,
    bytes: u64,
    hosts: u64,
    queued: u64,
    begun_at: Option<String>,
    last_visit_at: Option<String>,
}

pub(crate) fn run(args: &LookArgs) -> Result<(), Complaint> {
    let state = history::state_of(&args.directory)?;
    let mut status = Status::default();
    let mut totals = Totals::default();
    let mut hosts = HashSet::new();
    for record in History::open(&state).map_err(|error| fault(&error))? {
        match record.map_err(|error| fault(&error))? {
            Record::Begun { at, .. } => status.begun_at = Some(at.to_string()),
            Record::Discovered { finds, .. } => status.queued += finds.len() as u64,
            Record::Settled { row, finds, .. } => {
                status.queued = (status.queued + finds.len() as u64).saturating_sub(1);
                totals.count(&row);
                if row.fate.is_page() {
                    hosts.insert(row.url.host());
                }
                status.last_visit_at = Some(row.fetched_at.to_string());
            }
            Record::Admitted { .. }
            | Record::LetThrough(_)
            | Record::Forgotten { .. }
            | Record::Postponed { .. }
            | Record::SeedAdopted { .. } => {}
        }
    }
    status.hosts = hosts.len() as u64;
    status.pages = totals.pages;
    status.unique = totals.unique;
    status.exact_duplicates = totals.exact_duplicates;
    status.near_duplicates = totals.near_duplicates;
    status.failed = totals.failed;
    status.excluded = totals.excluded;
    status.bytes = totals.bytes;
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &status),
        Format::Table => output::columns(out, &status.lines()),
    })
}

impl Status {
    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let count = |number: u64| Some(number.to_string());
        vec![
            ("begun", self.begun_at.clone()),
            ("last visit", self.last_visit_at.clone()),
            ("pages", count(self.pages)),
            ("unique", count(self.unique)),
            ("exact duplicates", count(self.exact_duplicates)),
            ("near-duplicates", count(self.near_duplicates)),
            ("failed", count(self.failed)),
            ("excluded", count(self.excluded)),
            (
                "received",
                Some(bytesize::ByteSize(self.bytes).display().iec().to_string()),
            ),
            ("hosts", count(self.hosts)),
            ("queued", count(self.queued)),
        ]
    }
}
