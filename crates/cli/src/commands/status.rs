//! `crawler status`: the counts of a crawl from its journal; works while the crawl runs.

mod hosts;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;
use store::embedded::{History, record::Record};
use store::{FinishedVisit, PatternState, Patterns, STRIKES_ASIDE, Totals};

use crate::args::StatusArgs;
use crate::cli_error::{CliError, fault};
use crate::control::{self, ControlInForce};
use crate::crawl_directory;
use crate::leftovers::{self, Leftover};
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;

/// The counts of a crawl; the names are those of the summary.
#[derive(Debug, Default, Serialize)]
struct Status {
    pages: u64,
    unique: u64,
    changed: u64,
    exact_duplicates: u64,
    near_duplicates: u64,
    failed: u64,
    excluded: u64,
    bytes: u64,
    hosts: u64,
    requisites: u64,
    requisites_missing: u64,
    queued: u64,
    set_aside: usize,
    /// URL patterns that bring nothing new any more, and how many URLs were left out for the sake
    /// of a pattern.
    closed_patterns: usize,
    left_out_by_pattern: u64,
    /// Links that were left out, by the rule that took them for traps.
    left_out_links: BTreeMap<String, u64>,
    begun_at: Option<String>,
    last_visit_at: Option<String>,
    /// The content of control.toml in force; none without one.
    control: Option<toml::Table>,
    /// Leftover files, which `crawler clean` removes.
    left_over: Vec<Leftover>,
    #[serde(skip)]
    control_told: Option<String>,
}

pub(crate) fn run(args: &StatusArgs) -> Result<(), CliError> {
    let state = crawl_directory::state_of(&args.directory)?;
    if args.hosts {
        let settings = Settings::of_crawl(&args.directory)?;
        let format = Format::or_fitting(args.format);
        let hosts = hosts::read(&state).map_err(|error| fault(&error))?;
        return output::to_stdout(|out| hosts::write(hosts, &settings, format, out));
    }
    let mut status = Status::default();
    let mut totals = Totals::default();
    let (mut hosts, mut deaths) = (HashSet::new(), HashMap::new());
    let mut patterns = Patterns::default();
    for record in History::open(&state).map_err(|error| fault(&error))? {
        let record = record.map_err(|error| fault(&error))?;
        patterns.apply(&record);
        match record {
            Record::Begun { at, .. } => status.begun_at = Some(at.to_string()),
            Record::Discovered { finds, .. } => status.queued += finds.len() as u64,
            Record::Died { sequences } => {
                for sequence in sequences {
                    *deaths.entry(sequence).or_insert(0) += 1;
                }
            }
            Record::Revoked { row, .. } => {
                status.queued += 1;
                totals.uncount(&row);
            }
            Record::Settled(settled) => {
                let FinishedVisit { row, finds, .. } = settled.visit;
                for told in settled.visit.left_out {
                    *status.left_out_links.entry(told.rule).or_insert(0) += told.links;
                }
                deaths.remove(&settled.sequence);
                status.queued = (status.queued + finds.len() as u64).saturating_sub(1);
                totals.count(&row);
                if row.is_page() {
                    hosts.insert(row.url.host());
                }
                status.last_visit_at = Some(row.fetched_at.to_string());
            }
            // Nothing else is counted.
            _ => {}
        }
    }
    status.set_aside = deaths
        .values()
        .filter(|deaths| **deaths >= STRIKES_ASIDE)
        .count();
    for report in patterns.reports() {
        status.closed_patterns += usize::from(report.state == PatternState::Closed);
        status.left_out_by_pattern += report.left_out;
    }
    status.hosts = hosts.len() as u64;
    status.pages = totals.pages;
    status.unique = totals.unique;
    status.changed = totals.changed;
    status.exact_duplicates = totals.exact_duplicates;
    status.near_duplicates = totals.near_duplicates;
    status.failed = totals.failed;
    status.excluded = totals.excluded;
    status.bytes = totals.bytes;
    status.requisites = totals.requisites;
    status.requisites_missing = totals.requisites_missing;
    if let Some(ControlInForce { table, overrides }) = control::last_in_force(&args.directory)? {
        status.control_told = Some(control::in_words(&overrides));
        status.control = Some(table);
    }
    // What goes away meanwhile was in use for a moment.
    status.left_over = leftovers::find(&args.directory).unwrap_or_default();
    output::to_stdout(|out| match Format::or_fitting(args.format) {
        Format::Json => output::json_line(out, &status),
        Format::Table => {
            output::columns(out, &status.lines())?;
            for item in &status.left_over {
                writeln!(out, "{}", printable(&item.line()))?;
            }
            Ok(())
        }
    })
}

impl Status {
    /// Describes the closed URL patterns and the URLs left out for them; none if there are none.
    fn patterns(&self) -> Option<String> {
        let (closed, left_out) = (self.closed_patterns, self.left_out_by_pattern);
        (closed > 0 || left_out > 0)
            .then(|| format!("{closed} closed, {left_out} URLs left out (`crawler patterns`)"))
    }

    fn trap_links(&self) -> Option<String> {
        let told = self
            .left_out_links
            .iter()
            .map(|(rule, links)| format!("{links} {rule}"));
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let count = |number: u64| Some(number.to_string());
        vec![
            ("begun", self.begun_at.clone()),
            ("last visit", self.last_visit_at.clone()),
            ("pages", count(self.pages)),
            ("unique", count(self.unique)),
            (
                "changed",
                (self.changed > 0).then(|| self.changed.to_string()),
            ),
            ("exact duplicates", count(self.exact_duplicates)),
            ("near-duplicates", count(self.near_duplicates)),
            ("failed", count(self.failed)),
            ("excluded", count(self.excluded)),
            (
                "received",
                Some(bytesize::ByteSize(self.bytes).display().iec().to_string()),
            ),
            ("hosts", count(self.hosts)),
            (
                "requisites",
                (self.requisites > 0).then(|| self.requisites.to_string()),
            ),
            (
                "missing ones",
                (self.requisites_missing > 0).then(|| self.requisites_missing.to_string()),
            ),
            ("queued", count(self.queued)),
            (
                "set aside",
                (self.set_aside > 0).then(|| self.set_aside.to_string()),
            ),
            ("patterns", self.patterns()),
            ("trap links", self.trap_links()),
            ("control.toml", self.control_told.clone()),
            (
                "left over",
                (!self.left_over.is_empty())
                    .then(|| format!("{} (`crawler clean`)", leftovers::total(&self.left_over))),
            ),
        ]
    }
}
