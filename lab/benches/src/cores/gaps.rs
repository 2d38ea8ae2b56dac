//! Gaps: times without the end of a visit, by the dates of `crawl.log`.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::Failure;
use crate::threads::Threads;

/// Minimum length of a gap.
const GAP: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// Maximum number of lines that are printed of a gap.
const LINES: usize = 3;

/// A time without the end of a visit.
pub(crate) struct Gap {
    /// Since the first line of the log.
    begin: Duration,
    length: Duration,
    /// Fraction of samples with a thread waiting for the disk.
    disk_waits: f64,
    /// The last postponed visits before its end, and other lines in it.
    lines: Vec<String>,
}

/// Returns the gaps in a log.
pub(crate) fn of(log: &str, threads: &Threads) -> Result<Vec<Gap>, Failure> {
    let mut gaps = Vec::new();
    let (mut first, mut last) = (None, None);
    let mut postponed: Vec<String> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for line in log.lines() {
        let line: Value = serde_json::from_str(line)?;
        let date = line["timestamp"].as_str().and_then(time_of_day);
        let at = date.ok_or("a line of crawl.log without a date")?;
        let begun = *first.get_or_insert(at);
        match line["message"].as_str().unwrap_or_default() {
            "visited" => {
                let before = last.replace(at).unwrap_or(begun);
                let length = since(at, before);
                if length >= GAP {
                    let begin = since(before, begun);
                    let waits = postponed.iter().rev().take(LINES);
                    let rest = others.iter().take(LINES);
                    gaps.push(Gap {
                        begin,
                        length,
                        disk_waits: threads.disk_waits(begin, begin + length),
                        lines: waits.chain(rest).cloned().collect(),
                    });
                }
                others.clear();
            }
            "will be tried again" => postponed.push(format!(
                "postponed at {:.1} s by {}: {} ({})",
                since(at, begun).as_secs_f64(),
                line["wait"].as_str().unwrap_or("?"),
                line["url"].as_str().unwrap_or("?"),
                line["reason"].as_str().unwrap_or("?")
            )),
            other => others.push(other.to_owned()),
        }
    }
    Ok(gaps)
}

/// Returns the time of day of a date such as `2026-11-28T19:25:01.199Z`.
fn time_of_day(date: &str) -> Option<Duration> {
    let time = date.split_once('T')?.1.strip_suffix('Z')?;
    let mut parts = time.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    Duration::try_from_secs_f64(hours * 3600.0 + minutes * 60.0 + seconds).ok()
}

/// Returns the time from `before` to `at`; a run may pass midnight, and lines of several threads
/// may be a little out of order.
fn since(at: Duration, before: Duration) -> Duration {
    match at.checked_sub(before) {
        Some(length) => length,
        None if before.abs_diff(at) > DAY / 2 => at + DAY - before,
        None => Duration::ZERO,
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "gap of {:.1} s after {:.1} s; a thread waited for the disk in {:.0} % of it",
            self.length.as_secs_f64(),
            self.begin.as_secs_f64(),
            100.0 * self.disk_waits
        )?;
        for line in &self.lines {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}
