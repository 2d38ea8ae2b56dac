//! The progress of a running crawl: a bar on a terminal, a plain line now and then otherwise.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use store::{Frontier, Standing};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::terminal::{is_seen, say};

/// The interval between updates of the bar.
const REFRESH: Duration = Duration::from_millis(250);
/// The interval between plain lines, without a terminal.
pub(crate) const PLAIN_LINE_EVERY: Duration = Duration::from_secs(10);

/// Returns the bar, hidden without a terminal or if the user wants quiet.
pub(crate) fn bar(quiet: bool, max_pages: Option<u64>) -> ProgressBar {
    let template = match max_pages {
        Some(_) => "{elapsed_precise} [{bar:20}] {pos}/{len} pages · {msg}",
        None => "{elapsed_precise} {spinner} {pos} pages · {msg}",
    };
    bar_of(template, quiet, max_pages)
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

/// The time after which progress is shown.
const PATIENCE: Duration = Duration::from_secs(2);

/// A progress display that appears after two seconds, on a terminal.
pub(crate) struct SlowProgress {
    bar: ProgressBar,
    begun: Instant,
    steps: u64,
}

impl SlowProgress {
    /// Creates it hidden; `what` names the counted items.
    pub(crate) fn new(what: &'static str) -> Self {
        let bar = counting_bar(true);
        bar.set_message(what);
        Self {
            bar,
            begun: Instant::now(),
            steps: 0,
        }
    }

    /// Counts one more item.
    pub(crate) fn step(&mut self) {
        self.steps += 1;
        if !self.steps.is_multiple_of(256) || self.begun.elapsed() < PATIENCE {
            return;
        }
        if self.bar.is_hidden() && is_seen() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(self.steps);
    }
}

impl Drop for SlowProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Shows the progress of the crawl until the task is aborted.
pub(crate) fn show(frontier: Arc<dyn Frontier>, bar: ProgressBar, quiet: bool) -> JoinHandle<()> {
    let plain = !quiet && !is_seen();
    tokio::spawn(async move {
        let begun = Instant::now();
        let before = frontier.standing().totals.pages;
        let every = if plain { PLAIN_LINE_EVERY } else { REFRESH };
        let mut ticks = tokio::time::interval_at(begun + every, every);
        loop {
            ticks.tick().await;
            let standing = frontier.standing();
            let new_pages = standing.totals.pages.saturating_sub(before);
            let rate = new_pages as f64 / begun.elapsed().as_secs_f64().max(0.001);
            let line = describe(&standing, rate);
            if plain {
                say(&format!("{} pages · {line}", standing.totals.pages));
            } else {
                bar.set_position(standing.totals.pages);
                bar.set_message(line);
                bar.tick();
            }
        }
    })
}

fn describe(standing: &Standing, rate: f64) -> String {
    let totals = &standing.totals;
    let again = match standing.postponed {
        0 => String::new(),
        some => format!(", {some} of them to be tried again"),
    };
    let changed = match totals.changed {
        0 => String::new(),
        some => format!(" · {some} changed"),
    };
    format!(
        "{} unique{changed} · {} duplicates · {} failed · {rate:.1}/s · {} active hosts · {} \
         queued{again}",
        totals.unique,
        totals.exact_duplicates + totals.near_duplicates,
        totals.failed,
        standing.active_hosts,
        standing.queued,
    )
}

#[cfg(test)]
mod tests {
    use store::Totals;

    use super::*;

    #[test]
    fn a_line_counts_the_visited_pages_and_the_queue() {
        let totals = Totals {
            pages: 9,
            unique: 6,
            exact_duplicates: 1,
            near_duplicates: 2,
            failed: 1,
            ..Totals::default()
        };
        let standing = Standing {
            totals,
            queued: 40,
            postponed: 0,
            leased: 3,
            set_aside: 0,
            active_hosts: 2,
            hosts: 4,
        };
        let line = describe(&standing, 1.25);
        assert_eq!(
            line,
            "6 unique · 3 duplicates · 1 failed · 1.2/s · 2 active hosts · 40 queued"
        );
        // A crawl of dead hosts alone reports what it waits for.
        let line = describe(
            &Standing {
                postponed: 2,
                ..standing
            },
            1.25,
        );
        assert!(
            line.ends_with("40 queued, 2 of them to be tried again"),
            "{line}"
        );
    }
}
