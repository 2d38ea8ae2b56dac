//! What the pacer knows of one host.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use web::{Pace, Timestamp};

use super::expiring_map::{Expiring, KEPT, ROUNDED};
use super::slots::slots;
use crate::politeness::pacing::{Cooldown, HostPace, PacingRules};

pub(super) struct HostState {
    pub(super) pace: HostPace,
    /// How long it is left alone after its last answer, and why.
    pub(super) cooldown: Cooldown,
    /// When its last answer ended, for others.
    pub(super) answered: Timestamp,
    /// Where it was asked last.
    pub(super) address: Option<IpAddr>,
    /// When its group was said to have time for it: not before.
    pub(super) place: Option<Instant>,
    /// Whether it was asked in this session, so that what earlier ones knew says no more.
    fresh: bool,
    /// When the last answer ended, or is supposed to have.
    ended: Option<Instant>,
    /// Not before.
    ready: Instant,
    kept: Instant,
    /// A permit is a turn; whoever has or awaits one also holds this `Arc`.
    pub(super) slots: Arc<Semaphore>,
}

impl HostState {
    pub(super) fn new(ended: Option<Instant>, ready: Instant, rules: &PacingRules) -> Self {
        let pace = HostPace::default();
        Self {
            pace,
            cooldown: pace.least(rules),
            answered: Timestamp::default(),
            address: None,
            place: None,
            fresh: false,
            ended,
            ready,
            kept: ready + KEPT,
            slots: slots(rules),
        }
    }

    /// When to come back; none where it may be asked now.
    pub(super) fn waits_until(&self, now: Instant) -> Option<Instant> {
        (self.ready > now).then_some(self.ready)
    }

    /// Begins a request now, or says when to come back. With several connections to a host, the
    /// next request keeps its distance from this one's beginning too.
    pub(super) fn begin(&mut self, now: Instant, rules: &PacingRules) -> Option<Instant> {
        if let Some(ready) = self.waits_until(now) {
            return Some(ready);
        }
        self.pace = self.pace.after_idling(now - self.ready, rules);
        self.ready = now + self.pace.least(rules).wait;
        self.place = None;
        None
    }

    /// The delay counts from the request that brought it too, which ended before it was known:
    /// robots.txt itself.
    pub(super) fn ask_crawl_delay(&mut self, delay: Option<Duration>, rules: &PacingRules) {
        self.pace.crawl_delay = delay;
        self.keep_distance(rules);
    }

    /// Keeps the least distance that the rules ask for from its last answer, where it is longer
    /// than what was said before.
    pub(super) fn keep_distance(&mut self, rules: &PacingRules) {
        let least = self.pace.least(rules);
        if least.wait > self.cooldown.wait || self.cooldown.why == web::Why::CrawlDelay {
            self.cooldown = least;
        }
        if let Some(ended) = self.ended {
            self.ready = self.ready.max(ended + least.wait);
            self.kept = self.kept.max(self.ready + KEPT);
        }
    }

    /// Takes over what was remembered, as far as nothing is known that is newer or stricter.
    pub(super) fn recall(
        &mut self,
        pace: Pace,
        now: Instant,
        present: Timestamp,
        rules: &PacingRules,
    ) {
        let mut wait = pace.ready.since(present).min(rules.longest_wait());
        if !self.fresh {
            let known = HostPace {
                failures: pace.failures,
                ..HostPace::default()
            };
            let known = known.after_idling(present.since(pace.ready), rules);
            self.pace.failures = self.pace.failures.max(known.failures);
            self.pace.crawl_delay = self.pace.crawl_delay.max(pace.crawl_delay);
            self.pace.retry_after = pace.retry_after;
            self.address = pace.address;
            self.answered = pace.answered;
            if pace.wait > self.cooldown.wait {
                self.cooldown = Cooldown {
                    wait: pace.wait,
                    why: pace.why,
                };
            }
            self.keep_distance(rules);
            if !wait.is_zero() {
                wait += ROUNDED;
            }
        }
        // Not where there is no wait: since when it could have been asked is known better.
        if !wait.is_zero() {
            self.ready = self.ready.max(now + wait);
        }
        self.kept = self.kept.max(self.ready + KEPT);
    }

    /// An answer came, and this follows from it.
    pub(super) fn end(
        &mut self,
        now: Instant,
        present: Timestamp,
        pace: HostPace,
        cooldown: Cooldown,
    ) -> Instant {
        self.fresh = true;
        self.ended = Some(now);
        self.answered = present;
        self.pace = pace;
        self.cooldown = cooldown;
        self.ready = self.ready.max(now + cooldown.wait);
        self.kept = self.ready + cooldown.wait.max(KEPT);
        self.ready
    }
}

impl Expiring for HostState {
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.slots) > 1
    }

    fn ready(&self) -> Instant {
        self.ready
    }

    fn kept(&self) -> Instant {
        self.kept
    }
}
