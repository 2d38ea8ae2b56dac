//! Saves: settled visits become durable while other visits run.
//!
//! A sync of the archive takes seconds on a busy disk, and a crawl that waited for it would lease
//! nothing meanwhile. So each save runs in its own task, one at a time, and leasing continues.
//!
//! Invariant: a crash repeats the visits since the last completed save, so the payload that no
//! completed or running save covers is bounded. While it exceeds [`MAX_UNSAVED_BYTES`], no visit
//! begins ([`Saves::are_behind`]).

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::context::CrawlContext;
use crate::fault::Fault;

/// The interval for making settled visits durable.
const SAVE_EVERY: Duration = Duration::from_secs(5);

/// Payload bytes that trigger a save before the interval ends.
const SAVE_EVERY_BYTES: u64 = 64 << 20;

/// Maximum payload bytes received since the running save began; active visits may exceed it.
const MAX_UNSAVED_BYTES: u64 = 2 * SAVE_EVERY_BYTES;

/// The saves of a session.
pub(crate) struct Saves {
    /// The save in progress, if any.
    running: JoinSet<Result<(), Fault>>,
    due: Interval,
    /// Payload bytes of the crawl when the last save began.
    covered: u64,
}

impl Saves {
    /// Returns the saves of a crawl that has received this many payload bytes so far.
    pub(crate) fn from(received: u64) -> Self {
        Self {
            running: JoinSet::new(),
            due: every(SAVE_EVERY),
            covered: received,
        }
    }

    /// Begins a save if enough bytes were received since the last one.
    pub(crate) fn begin_if_due(&mut self, context: &Arc<CrawlContext>) {
        if self.unsaved(context) >= SAVE_EVERY_BYTES {
            self.begin(context);
        }
    }

    /// Begins a save, unless one is running.
    fn begin(&mut self, context: &Arc<CrawlContext>) {
        if !self.running.is_empty() {
            return;
        }
        self.covered = received(context);
        self.due.reset();
        let context = Arc::clone(context);
        self.running.spawn(async move { context.save().await });
    }

    /// Returns true if no visit may begin before the running save has ended.
    pub(crate) fn are_behind(&self, context: &CrawlContext) -> bool {
        !self.running.is_empty() && self.unsaved(context) >= MAX_UNSAVED_BYTES
    }

    /// Waits for the end of the running save, or for the time of the next one, which then begins.
    ///
    /// # Errors
    /// [`Fault`] of the save.
    pub(crate) async fn next(&mut self, context: &Arc<CrawlContext>) -> Result<(), Fault> {
        tokio::select! {
            Some(ended) = self.running.join_next() => ended.map_err(Fault::Panicked)?,
            _ = self.due.tick() => {
                self.begin(context);
                Ok(())
            }
        }
    }

    /// Waits until no save is running.
    ///
    /// # Errors
    /// [`Fault`] of the save.
    pub(crate) async fn finish(&mut self) -> Result<(), Fault> {
        match self.running.join_next().await {
            Some(ended) => ended.map_err(Fault::Panicked)?,
            None => Ok(()),
        }
    }

    fn unsaved(&self, context: &CrawlContext) -> u64 {
        received(context).saturating_sub(self.covered)
    }
}

fn received(context: &CrawlContext) -> u64 {
    context.frontier.stats().totals.bytes
}

/// Returns ticks of this period, the first one after a period.
pub(crate) fn every(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval_at(Instant::now() + period, period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
