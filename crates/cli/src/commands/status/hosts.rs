//! `crawler status --hosts`: prints the pace of each host with its reason. A view of
//! [`CrawlStatistics`].

use std::io::{self, Write};
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;
use statistics::{CrawlStatistics, HostFigures};
use web::{Host, Timestamp, WaitReason};

use crate::assembly;
use crate::output::{self, Format};
use crate::settings::Settings;
use crate::terminal::printable;
use crate::values::Span;

/// A line of the output for a host.
#[derive(Debug, Serialize)]
struct Line<'a> {
    host: &'a str,
    /// Pages that were fetched and judged.
    pages: u64,
    /// Pages that are not settled.
    waiting: u64,
    /// URLs that could not be fetched.
    failed: u64,
    /// Number of failures and requests to slow down in a row, after the last response.
    failures: u32,
    /// Crawl-delay of its robots.txt, in seconds, and the part that is obeyed.
    crawl_delay: Option<f64>,
    crawl_delay_obeyed: Option<f64>,
    /// Retry-After of its last response, in seconds.
    retry_after: Option<f64>,
    /// Wait after its last response, in seconds, and the reason that determines it.
    delay: f64,
    why: WaitReason,
    answered_at: Option<String>,
    /// Earliest time of the next request, including the wait of its group if hosts share a pace.
    ready_at: Option<String>,
    address: Option<IpAddr>,
    last_failure: Option<&'a str>,
}

/// Writes a line per host, sorted by descending number of pages.
pub(super) fn write(
    statistics: &CrawlStatistics,
    settings: &Settings,
    format: Format,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut hosts: Vec<(&Host, &HostFigures)> = statistics.hosts().collect();
    hosts.sort_unstable_by(|(one, left), (other, right)| {
        let order = right.sums.pages.cmp(&left.sums.pages);
        order
            .then(right.waiting.cmp(&left.waiting))
            .then(one.cmp(other))
    });
    let rules = assembly::pacing(settings);
    if format == Format::Table {
        writeln!(
            out,
            "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} HOST",
            "PAGES", "WAITING", "FAILED", "DELAY", "WHY", "NOT BEFORE"
        )?;
    }
    for (host, status) in hosts {
        let (pace, rules) = (&status.pace, rules.of_host(host));
        let obeyed = pace.crawl_delay.map(|delay| rules.obeyed(delay));
        let line = Line {
            host: host.as_str(),
            pages: status.sums.pages,
            waiting: status.waiting,
            failed: status.sums.failed,
            failures: pace.failures,
            crawl_delay: pace.crawl_delay.map(|delay| delay.as_secs_f64()),
            crawl_delay_obeyed: obeyed.map(|delay| delay.as_secs_f64()),
            retry_after: pace.retry_after.map(|wait| wait.as_secs_f64()),
            delay: pace.wait.max(rules.delay).as_secs_f64(),
            why: pace.why,
            answered_at: known(pace.answered),
            ready_at: known(pace.ready),
            address: pace.address,
            last_failure: status.last_failure.as_deref(),
        };
        match format {
            Format::Json => output::json_line(out, &line)?,
            Format::Table => line.write(out)?,
        }
    }
    Ok(())
}

/// Formats a time; `None` if it is unknown.
fn known(at: Timestamp) -> Option<String> {
    (at != Timestamp::default()).then(|| at.to_string())
}

impl Line<'_> {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(
            out,
            "{:>9} {:>9} {:>8} {:>10} {:<11} {:<24} {}",
            self.pages,
            self.waiting,
            self.failed,
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
        if self.failures > 0 {
            write!(out, ", failures in a row: {}", self.failures)?;
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

/// Formats a duration to the millisecond.
fn span(seconds: f64) -> String {
    let millis = Duration::try_from_secs_f64(seconds).map_or(u128::MAX, |span| span.as_millis());
    let millis = u64::try_from(millis).unwrap_or(u64::MAX);
    Span(Duration::from_millis(millis)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_any_length_are_formatted_to_the_millisecond() {
        assert_eq!(span(1.250_4), "1s 250ms");
        assert_eq!(span(0.0), "0s");
        assert!(!span(1e300).is_empty());
    }
}
