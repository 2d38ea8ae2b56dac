//! `crawler status`: prints the counts of a crawl. A view of [`CrawlStatistics`]; works while the
//! crawl runs.

mod hosts;

use std::collections::BTreeMap;

use crawl::control_file;
use journal::CutSum;
use serde::Serialize;
use statistics::{CrawlStatistics, NameCounts, REDIRECTED};
use store::PatternState;
use web::Timestamp;

use super::column;
use super::page_counts::PageCounts;
use super::shared::OpenCrawl;
use crate::args::StatusArgs;
use crate::cli_error::CliError;
use crate::control::{self, ControlInForce};
use crate::crawl_directory;
use crate::leftovers::{self, Leftover};
use crate::limits;
use crate::output::{self, Format, counted};
use crate::settings::Settings;
use crate::terminal::printable;

/// The counts of a crawl. Field names are the same as in the summary.
#[derive(Debug, Default, Serialize)]
struct Status {
    #[serde(flatten)]
    counts: PageCounts,
    bytes: u64,
    hosts: u64,
    requisites: u64,
    requisites_missing: u64,
    queued: u64,
    set_aside: u64,
    /// Queued URLs of hosts that are down, and the last failure per host.
    unreachable: u64,
    unreachable_hosts: BTreeMap<String, String>,
    /// URL patterns closed because they bring nothing new, and the number of URLs left out for that
    /// reason.
    closed_patterns: u64,
    left_out_by_pattern: u64,
    /// Links that were left out as traps, by rule.
    left_out_links: BTreeMap<String, u64>,
    /// Visits that a limit cut, and the links that it cost, by the limit's name.
    limits: BTreeMap<&'static str, CutSum>,
    /// Archived documents whose text and links are not read, by format.
    not_read: BTreeMap<&'static str, u64>,
    begun_at: Option<String>,
    last_visit_at: Option<String>,
    /// Content of the control.toml in effect; `None` without the file.
    control: Option<toml::Table>,
    /// Leftover files, which `crawler clean` removes.
    left_over: Vec<Leftover>,
    /// Excluded URLs that redirect to pages of the crawl: nothing is missing.
    redirected: u64,
    #[serde(skip)]
    control_in_words: Option<String>,
    #[serde(skip)]
    failed_by: Option<String>,
    #[serde(skip)]
    excluded_by: Option<String>,
    #[serde(skip)]
    statuses: Option<String>,
    #[serde(skip)]
    types: Option<String>,
}

pub(crate) fn run(args: &StatusArgs) -> Result<(), CliError> {
    let crawl = OpenCrawl::open(args.directory.as_deref(), &args.store)?;
    let directory = crawl.directory();
    let state = crawl_directory::state_of(directory)?;
    let format = Format::or_fitting(args.format);
    if args.hosts {
        let settings = Settings::of_crawl(directory)?;
        let (statistics, _) = CrawlStatistics::read(&state)?;
        return output::to_stdout(|out| hosts::write(&statistics, &settings, format, out));
    }
    let (statistics, _) = CrawlStatistics::read(&state)?;
    let mut status = Status::of(&statistics);
    if let Some(ControlInForce { table, overrides }) = control::last_in_force(directory)? {
        status.control_in_words = Some(control_file::describe(&overrides));
        status.control = Some(table);
    }
    // A file that disappears meanwhile was only in use briefly.
    status.left_over = leftovers::find(directory).unwrap_or_default();
    output::to_stdout(|out| match format {
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
    /// Returns the counts of a crawl that are in its journal.
    fn of(statistics: &CrawlStatistics) -> Self {
        let counts = statistics.counts();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let mut status = Self {
            counts: PageCounts::from(counts),
            bytes: counts.bytes,
            hosts: counts.hosts,
            requisites: counts.requisites,
            requisites_missing: counts.requisites_missing,
            queued: counts.queued,
            set_aside: counts.set_aside,
            left_out_links: statistics.left_out_links().clone(),
            limits: limits::by_name(statistics.totals()),
            not_read: limits::unread_by_name(statistics.totals()),
            begun_at: text(counts.begun_at),
            last_visit_at: text(counts.last_visit_at),
            redirected: statistics.exclusion_reasons().count(REDIRECTED),
            failed_by: named(statistics.failure_kinds(), None),
            excluded_by: named(statistics.exclusion_reasons(), Some(REDIRECTED)),
            statuses: named(statistics.status_codes(), None),
            types: named(statistics.types(), None),
            ..Self::default()
        };
        for (host, figures) in statistics.hosts() {
            let is_down = figures.pace.is_past_last_chance(figures.sums.pages > 0);
            if is_down && figures.waiting > 0 {
                status.unreachable += figures.waiting;
                let failure = figures.last_failure.as_deref().unwrap_or_default();
                let named = (host.to_string(), failure.to_owned());
                status.unreachable_hosts.extend([named]);
            }
        }
        for report in statistics.patterns().reports() {
            status.closed_patterns += u64::from(report.state == PatternState::Closed);
            status.left_out_by_pattern += report.left_out;
        }
        status
    }

    /// Describes the closed URL patterns and the URLs left out because of them; `None` without any.
    fn patterns(&self) -> Option<String> {
        let (closed, left_out) = (self.closed_patterns, self.left_out_by_pattern);
        (closed > 0 || left_out > 0)
            .then(|| format!("{closed} closed, {left_out} URLs excluded (`crawler patterns`)"))
    }

    /// Describes the share of pages on topic; `None` without a topic.
    fn harvest(&self) -> Option<String> {
        let share = self.counts.harvest? * 100.0;
        Some(format!("{share:.1} % of the pages were on topic"))
    }

    fn trap_links(&self) -> Option<String> {
        let rules = self.left_out_links.iter();
        let rules: Vec<String> = rules
            .map(|(rule, links)| format!("{links} {rule}"))
            .collect();
        (!rules.is_empty()).then(|| rules.join(", "))
    }

    /// Describes the URLs of hosts that are down; `None` without any.
    fn unreachable(&self) -> Option<String> {
        let (first, failure) = self.unreachable_hosts.first_key_value()?;
        let others = match self.unreachable_hosts.len() - 1 {
            0 => String::new(),
            others => format!(" and {}", counted(others as u64, "other host")),
        };
        let urls = self.unreachable;
        let hosts = printable(&format!("{first} ({failure}){others}"));
        Some(format!("{urls}, requested by the next run; down: {hosts}"))
    }

    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let if_any = |count: u64| (count > 0).then_some(count);
        let left_over = (!self.left_over.is_empty())
            .then(|| format!("{} (`crawler clean`)", leftovers::total(&self.left_over)));
        let excluded = self.counts.excluded.saturating_sub(self.redirected);
        let of_redirects = |count: u64| format!("{count} to pages of this crawl");
        let received = bytesize::ByteSize(self.bytes).display().iec();
        vec![
            column("begun", self.begun_at.as_ref()),
            column("last visit", self.last_visit_at.as_ref()),
            column("pages", Some(self.counts.pages)),
            column("unique", Some(self.counts.unique)),
            column("changed", if_any(self.counts.changed)),
            column("exact duplicates", Some(self.counts.exact_duplicates)),
            column("near-duplicates", Some(self.counts.near_duplicates)),
            column(
                "failed",
                Some(with(self.counts.failed, self.failed_by.as_ref())),
            ),
            column("redirects", if_any(self.redirected).map(of_redirects)),
            column("excluded", Some(with(excluded, self.excluded_by.as_ref()))),
            column("off topic", self.counts.off_topic),
            column("harvest", self.harvest()),
            column("received", Some(received)),
            column("hosts", Some(self.hosts)),
            column("requisites", if_any(self.requisites)),
            column("missing ones", if_any(self.requisites_missing)),
            column("statuses", self.statuses.as_ref()),
            column("types", self.types.as_ref()),
            column("queued", Some(self.queued)),
            column("unreachable", self.unreachable()),
            column("set aside", if_any(self.set_aside)),
            column("patterns", self.patterns()),
            column("trap links", self.trap_links()),
            column("truncated", limits::in_words(&self.limits)),
            column("not read", limits::unread_in_words(&self.not_read)),
            column("control.toml", self.control_in_words.as_ref()),
            column("left over", left_over),
        ]
    }
}

/// Maximum number of names listed; the rest are counted.
const LISTED: usize = 6;

/// Lists the largest counts, except the count of `without`; `None` without any.
fn named(counts: &NameCounts, without: Option<&str>) -> Option<String> {
    let mut sorted = counts.sorted();
    sorted.retain(|(name, _)| Some(*name) != without);
    let listed = sorted.iter().take(LISTED);
    let mut listed: Vec<String> = listed
        .map(|(name, count)| format!("{} ({count})", printable(name)))
        .collect();
    let more: u64 = sorted.iter().skip(LISTED).map(|(_, count)| count).sum();
    if more + counts.other() > 0 {
        listed.push(format!("others ({})", more + counts.other()));
    }
    (!listed.is_empty()).then(|| listed.join(", "))
}

/// Returns a count and its breakdown.
fn with(count: u64, named: Option<&String>) -> String {
    match named {
        Some(named) => format!("{count}: {named}"),
        None => count.to_string(),
    }
}
