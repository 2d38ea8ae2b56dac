//! The progress of a running crawl: one line on a terminal, otherwise an occasional plain line.
//!
//! The line is rebuilt for the current width of the terminal: [`PARTS`] decides which parts stay.
//! Invariant: the line is narrower than the terminal, so it never wraps, and can be cleared
//! completely for a message.

use std::sync::Arc;
use std::time::Duration;

use console::Term;
use crawl::CrawlContext;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressStyle};
use messages::{Counter, counted, say};
use store::FrontierStats;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::terminal::is_seen;

/// The interval between updates of the bar.
const REFRESH: Duration = Duration::from_millis(250);
/// The interval between plain lines, without a terminal.
pub(crate) const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

/// Returns the line of a crawl. It is hidden without a terminal, or if `quiet` is true.
pub(crate) fn line(quiet: bool) -> ProgressBar {
    bar_of("{msg}", quiet, None)
}

/// Prints a message and draws the line again below it.
pub(crate) fn say_above(bar: &ProgressBar, message: &str) {
    bar.suspend(|| say(message));
}

/// Returns a bar that counts items of an unknown total.
pub(crate) fn counting_bar(quiet: bool) -> ProgressBar {
    let template = "{elapsed_precise} {spinner} {human_pos} {msg}, {per_sec}";
    bar_of(template, quiet, None)
}

fn bar_of(template: &str, quiet: bool, length: Option<u64>) -> ProgressBar {
    let target = match quiet {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_error| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(length, target).with_style(style)
}

/// Delay until progress is shown.
const PATIENCE: Duration = Duration::from_secs(2);

/// A count that appears after two seconds, on a terminal.
pub(crate) struct SlowCounter {
    bar: ProgressBar,
    begun: Instant,
}

impl SlowCounter {
    /// Creates a hidden display. `what` names the counted items.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = counting_bar(true);
        bar.set_message(what);
        Self {
            bar,
            begun: Instant::now(),
        }
    }
}

impl Counter for SlowCounter {
    fn show(&self, items: u64) {
        if self.begun.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() && is_seen() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(items);
    }

    fn name(&self, what: &'static str) {
        self.bar.set_message(what);
    }
}

impl Drop for SlowCounter {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the progress of the crawl until the task is aborted.
pub(crate) fn show(
    context: Arc<CrawlContext>,
    bar: ProgressBar,
    max_pages: Option<u64>,
    quiet: bool,
) -> JoinHandle<()> {
    let plain = !quiet && !is_seen();
    tokio::spawn(async move {
        let begun = Instant::now();
        let mut last = (context.frontier.stats().totals, begun);
        let before = last.0.pages;
        let every = if plain { PLAIN_LINE_EVERY } else { REFRESH };
        let mut ticks = tokio::time::interval_at(begun + every, every);
        let terminal = Term::stderr();
        loop {
            ticks.tick().await;
            let stats = context.frontier.stats();
            if last.0 != stats.totals {
                last = (stats.totals, Instant::now());
            }
            let is_idle = last.1.elapsed() >= IDLE;
            let progress = Progress {
                state: state(&context, &stats, is_idle),
                ..Progress::new(stats, before, begun.elapsed(), max_pages)
            };
            if plain {
                say(&progress.plain());
            } else {
                bar.set_message(progress.fitting(usize::from(terminal.size().1)));
                bar.tick();
            }
        }
    })
}

/// Time without the end of a visit after which the line says what the crawl waits for.
const IDLE: Duration = Duration::from_secs(5);

/// Returns the reason why no visit ends, if there is one.
fn state(context: &CrawlContext, stats: &FrontierStats, is_idle: bool) -> Option<String> {
    if context.overrides.current().pause {
        return Some("paused".to_owned());
    }
    if let Some(links) = context.telemetry.links() {
        return Some(links.to_string());
    }
    if context.disk_space.is_short() {
        return Some("disk full, waiting for space".to_owned());
    }
    if stats.is_store_away {
        return Some("waiting for the store".to_owned());
    }
    if !is_idle {
        return None;
    }
    let blocking = match context.pacer.blocking_hosts() {
        0 => String::new(),
        hosts => format!(", {} blocked the crawl", counted(hosts, "host")),
    };
    let awaited = match (stats.leased, stats.active_hosts) {
        (0, 0) => format!("waiting to retry {}", counted(stats.postponed, "URL")),
        (0, hosts) => format!("waiting for the delay of {}", counted(hosts, "host")),
        (leased, _) => format!("waiting for {}", counted(leased, "response")),
    };
    Some(awaited + &blocking)
}

/// The progress of a crawl at one moment.
struct Progress {
    stats: FrontierStats,
    /// Reason why no visit ends.
    state: Option<String>,
    /// New pages per second.
    rate: f64,
    elapsed: Duration,
    max_pages: Option<u64>,
}

/// A part of the line, empty if there is nothing to report.
type Part = fn(&Progress) -> String;

/// Parts of the line, from left to right. If the line is too long, parts with the highest rank are
/// dropped first; parts with rank 0 always stay.
const PARTS: [(u8, Part); 13] = [
    (3, Progress::time),
    (8, Progress::bar),
    (0, Progress::state),
    (0, Progress::pages),
    (1, Progress::harvest),
    (6, Progress::unique),
    (7, Progress::changed),
    (5, Progress::duplicates),
    (4, Progress::failed),
    (1, Progress::rate),
    (9, Progress::hosts),
    (2, Progress::queued),
    (10, Progress::postponed),
];

const BETWEEN: &str = " · ";

impl Progress {
    fn new(
        stats: FrontierStats,
        pages_before: u64,
        elapsed: Duration,
        max_pages: Option<u64>,
    ) -> Self {
        let new_pages = stats.totals.pages.saturating_sub(pages_before);
        Self {
            rate: new_pages as f64 / elapsed.as_secs_f64().max(0.001),
            stats,
            state: None,
            elapsed,
            max_pages,
        }
    }

    /// Returns the line for a log: everything but the time and the bar.
    fn plain(&self) -> String {
        let without_time_and_bar = PARTS.iter().skip(2);
        let parts = without_time_and_bar.map(|(_, part)| part(self));
        let parts = parts.filter(|text| !text.is_empty());
        parts.collect::<Vec<String>>().join(BETWEEN)
    }

    /// Returns the line for a terminal of this width, without its last column.
    fn fitting(&self, width: usize) -> String {
        let mut parts: Vec<_> = PARTS.map(|(rank, part)| (rank, part(self))).into();
        parts.retain(|(_, text)| !text.is_empty());
        loop {
            let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
            let line = texts.join(BETWEEN);
            let highest = parts.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
            if highest == 0 || line.chars().count() < width {
                return line.chars().take(width.saturating_sub(1)).collect();
            }
            parts.retain(|(rank, _)| *rank != highest);
        }
    }

    fn time(&self) -> String {
        let seconds = self.elapsed.as_secs();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        format!("{hours:02}:{minutes:02}:{:02}", seconds % 60)
    }

    fn bar(&self) -> String {
        let Some(most) = self.max_pages else {
            return String::new();
        };
        let (most, done) = (u128::from(most.max(1)), u128::from(self.stats.totals.pages));
        let full = usize::try_from(done * 10 / most).map_or(10, |full| full.min(10));
        format!("[{}{}]", "#".repeat(full), "-".repeat(10 - full))
    }

    fn state(&self) -> String {
        self.state.clone().unwrap_or_default()
    }

    fn pages(&self) -> String {
        let pages = self.stats.totals.pages;
        match self.max_pages {
            Some(most) => format!("{}/{} pages", HumanCount(pages), HumanCount(most)),
            None => counted(pages, "page"),
        }
    }

    /// Returns the share of pages on topic; empty without a topic, because then pages are not
    /// judged.
    fn harvest(&self) -> String {
        match self.stats.totals.harvest() {
            Some(share) => format!("{:.0} % on topic", share * 100.0),
            None => String::new(),
        }
    }

    fn unique(&self) -> String {
        format!("{} unique", HumanCount(self.stats.totals.unique))
    }

    fn changed(&self) -> String {
        unless_none(self.stats.totals.changed, "changed")
    }

    fn duplicates(&self) -> String {
        let totals = &self.stats.totals;
        let duplicates = totals
            .exact_duplicates
            .saturating_add(totals.near_duplicates);
        counted(duplicates, "duplicate")
    }

    fn failed(&self) -> String {
        format!("{} failed", HumanCount(self.stats.totals.failed))
    }

    /// Returns the rate; empty if no visit ends, because then it would be a rate of the past.
    fn rate(&self) -> String {
        match self.state {
            Some(_) => String::new(),
            None => format!("{:.1}/s", self.rate),
        }
    }

    fn hosts(&self) -> String {
        counted(self.stats.active_hosts, "active host")
    }

    fn queued(&self) -> String {
        format!("{} queued", HumanCount(self.stats.queued))
    }

    /// Returns the number of postponed URLs, so that a crawl that only waits for dead hosts shows
    /// what it waits for.
    fn postponed(&self) -> String {
        unless_none(self.stats.postponed, "to be retried")
    }
}

fn unless_none(count: u64, what: &str) -> String {
    match count {
        0 => String::new(),
        some => format!("{} {what}", HumanCount(some)),
    }
}

#[cfg(test)]
mod tests {
    use journal::Totals;
    use proptest::prelude::*;

    use super::*;

    fn progress(max_pages: Option<u64>, postponed: u64) -> Progress {
        let totals = Totals {
            pages: 1234,
            unique: 1100,
            changed: 4,
            exact_duplicates: 50,
            near_duplicates: 80,
            failed: 17,
            ..Totals::default()
        };
        let stats = FrontierStats {
            totals,
            queued: 5678,
            postponed,
            leased: 3,
            quarantined: 0,
            unreachable: 0,
            unreachable_hosts: 0,
            active_hosts: 12,
            hosts: 14,
            is_store_away: false,
        };
        Progress::new(stats, 1000, Duration::from_secs(3_723), max_pages)
    }

    #[test]
    fn the_line_fits_40_80_100_and_160_columns() {
        for (width, line, limited) in [
            (
                40,
                "1,234 pages · 0.1/s · 5,678 queued",
                "1,234/9,999 pages · 0.1/s",
            ),
            (
                80,
                "01:02:03 · 1,234 pages · 130 duplicates · 17 failed · 0.1/s · 5,678 queued",
                "01:02:03 · 1,234/9,999 pages · 17 failed · 0.1/s · 5,678 queued",
            ),
            (
                100,
                "01:02:03 · 1,234 pages · 1,100 unique · 130 duplicates · 17 failed · 0.1/s · \
                 5,678 queued",
                "01:02:03 · 1,234/9,999 pages · 1,100 unique · 130 duplicates · 17 failed · \
                 0.1/s · 5,678 queued",
            ),
            (
                160,
                "01:02:03 · 1,234 pages · 1,100 unique · 4 changed · 130 duplicates · 17 failed · \
                 0.1/s · 12 active hosts · 5,678 queued · 2 to be retried",
                "01:02:03 · [#---------] · 1,234/9,999 pages · 1,100 unique · 4 changed · 130 \
                 duplicates · 17 failed · 0.1/s · 12 active hosts · 5,678 queued · 2 to be retried",
            ),
        ] {
            assert_eq!(progress(None, 2).fitting(width), line);
            assert_eq!(progress(Some(9_999), 2).fitting(width), limited);
        }
    }

    #[test]
    fn the_reason_to_wait_replaces_the_rate_and_is_never_dropped() {
        let mut progress = progress(None, 2);
        progress.state = Some("waiting for the store".to_owned());
        let line = "waiting for the store · 1,234 pages · 5,678 queued";
        assert_eq!(progress.fitting(60), line);
        assert_eq!(progress.fitting(40), "waiting for the store · 1,234 pages");
        assert!(progress.plain().starts_with("waiting for the store · "));
    }

    #[test]
    fn a_log_has_every_count() {
        assert_eq!(
            progress(None, 2).plain(),
            "1,234 pages · 1,100 unique · 4 changed · 130 duplicates · 17 failed · 0.1/s · 12 \
             active hosts · 5,678 queued · 2 to be retried"
        );
    }

    proptest! {
        #[test]
        fn no_line_reaches_the_last_column(
            width in 0..200_usize,
            max_pages in any::<Option<u64>>(),
            pages in any::<u64>(),
            queued in any::<u64>(),
        ) {
            let mut progress = progress(max_pages, 2);
            (progress.stats.totals.pages, progress.stats.queued) = (pages, queued);
            let line = progress.fitting(width);
            prop_assert!(line.chars().count() <= width.saturating_sub(1));
        }
    }
}
