//! `crawler status --hosts`: host by host, what it asked for, what is done about it and why. Told
//! from the journal alone, so it works while the crawl runs; memory holds a line for each host and
//! nothing else.

use std::collections::HashMap;
use std::io::{self, Write};
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use store::embedded::History;
use store::embedded::record::{Record, SettledVisit};
use store::{Fate, FinishedVisit, StoreFault};
use web::{Host, Pace, Timestamp, Why};

use crate::assembly;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;
use crate::values::Span;

/// Characters of a failure that are kept.
const MOST_CHARACTERS: usize = 200;

/// A host, as it is told.
#[derive(Debug, Serialize)]
struct Line<'a> {
    host: &'a str,
    /// Pages that were had.
    pages: u64,
    /// Pages that are not settled.
    waiting: u64,
    /// Failures and pleas to slow down, in a row.
    failures: u32,
    /// What its robots.txt asks for, in seconds, and what of it is obeyed.
    crawl_delay: Option<f64>,
    crawl_delay_obeyed: Option<f64>,
    /// What its last answer asked for, in seconds.
    retry_after: Option<f64>,
    /// How long it is left alone after its last answer, in seconds, and the reason that was the
    /// longest.
    delay: f64,
    why: Why,
    answered_at: Option<String>,
    /// Not to be asked before; where hosts share a pace, its group's turn included.
    ready_at: Option<String>,
    address: Option<IpAddr>,
    last_failure: Option<&'a str>,
}

/// A host, as the journal tells of it.
#[derive(Default)]
pub(super) struct Told {
    pages: u64,
    waiting: u64,
    pace: Pace,
    last_failure: Option<Box<str>>,
}

/// Writes a line for each host, those with most pages first.
pub(super) fn write(
    hosts: HashMap<Host, Told>,
    settings: &Settings,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut hosts: Vec<(Host, Told)> = hosts.into_iter().collect();
    hosts.sort_unstable_by(|(one, left), (other, right)| {
        let order = right.pages.cmp(&left.pages);
        order
            .then(right.waiting.cmp(&left.waiting))
            .then(one.cmp(other))
    });
    let rules = assembly::pacing(settings);
    let lines = hosts.iter().map(|(host, told)| Line {
        host: host.as_str(),
        pages: told.pages,
        waiting: told.waiting,
        failures: told.pace.failures,
        crawl_delay: told.pace.crawl_delay.map(|delay| delay.as_secs_f64()),
        crawl_delay_obeyed: told
            .pace
            .crawl_delay
            .map(|delay| rules.obeyed(delay).as_secs_f64()),
        retry_after: told.pace.retry_after.map(|wait| wait.as_secs_f64()),
        delay: told.pace.wait.max(rules.delay).as_secs_f64(),
        why: told.pace.why,
        answered_at: moment(told.pace.answered),
        ready_at: moment(told.pace.ready),
        address: told.pace.address,
        last_failure: told.last_failure.as_deref(),
    });
    if format == Format::Table {
        writeln!(
            out,
            "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} HOST",
            "PAGES", "WAITING", "FAILURES", "DELAY", "WHY", "NOT BEFORE"
        )?;
    }
    for line in lines {
        match format {
            Format::Json => output::json_line(out, &line)?,
            Format::Table => line.write(out)?,
        }
    }
    Ok(())
}

/// What the journal tells of each host.
pub(super) fn read(state: &Path) -> Result<HashMap<Host, Told>, StoreFault> {
    let mut hosts: HashMap<Host, Told> = HashMap::new();
    for record in History::open(state)? {
        match record? {
            Record::Discovered { finds, .. } => {
                for find in finds {
                    hosts.entry(find.url.host()).or_default().waiting += 1;
                }
            }
            Record::Settled(SettledVisit { pace, visit, .. }) => {
                let FinishedVisit { row, finds, .. } = visit;
                for find in finds {
                    hosts.entry(find.url.host()).or_default().waiting += 1;
                }
                let told = hosts.entry(row.url.host()).or_default();
                told.waiting = told.waiting.saturating_sub(1);
                told.pages += u64::from(row.is_page());
                told.pace = told.pace.then(pace);
                if row.fate == Fate::Failed {
                    told.last_failure = row.reason.as_deref().map(cut);
                }
            }
            Record::Revoked { row, .. } => {
                let told = hosts.entry(row.url.host()).or_default();
                told.waiting += 1;
                told.pages = told.pages.saturating_sub(u64::from(row.is_page()));
            }
            Record::Superseded { entry } => {
                let told = hosts.entry(entry.discovered.url.host()).or_default();
                told.waiting = told.waiting.saturating_sub(1);
            }
            Record::Postponed { entry, pace, .. } => {
                let told = hosts.entry(entry.discovered.url.host()).or_default();
                told.pace = told.pace.then(pace);
            }
            Record::Paced { host, pace } | Record::Returned { host, pace, .. } => {
                let told = hosts.entry(host).or_default();
                told.pace = told.pace.then(pace);
            }
            Record::Resumed { at, least_wait } => {
                for told in hosts.values_mut() {
                    told.pace = told.pace.after_death(at, least_wait);
                }
            }
            Record::Restarted { at, rule } => {
                for told in hosts.values_mut() {
                    told.pace = told.pace.after_restart(at, rule);
                }
            }
            Record::ClockSetBack { to, least_wait } => {
                for told in hosts.values_mut() {
                    (told.pace, _) = told.pace.set_back(to, least_wait);
                }
            }
            // Nothing else is about a host.
            _ => {}
        }
    }
    Ok(hosts)
}

fn cut(reason: &str) -> Box<str> {
    let end = reason.char_indices().nth(MOST_CHARACTERS);
    reason[..end.map_or(reason.len(), |(end, _)| end)].into()
}

fn moment(at: Timestamp) -> Option<String> {
    (at != Timestamp::default()).then(|| at.to_string())
}

impl Line<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} {}",
            self.pages,
            self.waiting,
            self.failures,
            span(self.delay),
            self.why.as_str(),
            self.ready_at.as_deref().unwrap_or_default(),
            printable(self.host)
        )?;
        if let (Some(asked), Some(obeyed)) = (self.crawl_delay, self.crawl_delay_obeyed) {
            write!(out, ", Crawl-delay {}", span(asked))?;
            if obeyed < asked {
                write!(out, " (obeyed: {})", span(obeyed))?;
            }
        }
        if let Some(wait) = self.retry_after {
            write!(out, ", Retry-After {}", span(wait))?;
        }
        if let Some(failure) = self.last_failure {
            write!(out, ", last failure: {}", printable(failure))?;
        }
        writeln!(out)
    }
}

/// To the millisecond: finer is nobody's business.
fn span(seconds: f64) -> String {
    let millis = Duration::try_from_secs_f64(seconds).map_or(u128::MAX, |span| span.as_millis());
    Span(Duration::from_millis(
        u64::try_from(millis).unwrap_or(u64::MAX),
    ))
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_cut_between_characters() {
        let long = "ü".repeat(MOST_CHARACTERS + 1);
        assert_eq!(cut(&long).chars().count(), MOST_CHARACTERS);
        assert_eq!(&*cut("short"), "short");
    }

    #[test]
    fn spans_are_told_to_the_millisecond_however_long() {
        assert_eq!(span(1.250_4), "1s 250ms");
        assert_eq!(span(0.0), "0s");
        assert!(!span(1e300).is_empty());
    }
}
