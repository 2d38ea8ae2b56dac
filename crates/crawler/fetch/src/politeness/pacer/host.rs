//! The pacer's state of one host.

use std::net::IpAddr;
use std::time::Duration;

use requests::{Cooldown, HostPace, PacingRules};
use tokio::time::Instant;
use web::{Pace, PageUrl, Timestamp};

use super::expiring_map::ROUNDED;
use super::readiness::{MIN_RETENTION, Readiness};

pub(super) struct HostState {
    pub(super) pace: HostPace,
    /// The failures in a row before its last response.
    failures_before: u32,
    /// The wait after its last response, with the reason.
    pub(super) cooldown: Cooldown,
    /// The end of its last response, for callers.
    pub(super) answered: Timestamp,
    /// The address of its last request.
    pub(super) address: Option<IpAddr>,
    /// The page that it answered last with success.
    pub(super) answered_page: Option<PageUrl>,
    /// True if it has answered a page with success.
    pub(super) has_answered_page: bool,
    /// Its time in the group's queue: not before.
    pub(super) place: Option<Instant>,
    /// True if it was asked in this session, so that the state of earlier ones is obsolete.
    fresh: bool,
    /// The end of the last response, or its assumed end.
    ended: Option<Instant>,
    pub(super) readiness: Readiness,
}

impl HostState {
    pub(super) fn new(ended: Option<Instant>, ready: Instant, rules: &PacingRules) -> Self {
        let pace = HostPace::default();
        Self {
            pace,
            failures_before: 0,
            cooldown: pace.least(rules),
            answered: Timestamp::default(),
            address: None,
            answered_page: None,
            has_answered_page: false,
            place: None,
            fresh: false,
            ended,
            readiness: Readiness::new(ready, rules),
        }
    }

    /// Begins a request now, or returns the time to come back. With several connections to a host,
    /// the next request keeps its distance from this one's beginning too.
    pub(super) fn begin(&mut self, now: Instant, rules: &PacingRules) -> Option<Instant> {
        if let Some(ready) = self.readiness.waits_until(now) {
            return Some(ready);
        }
        let idle = now - self.readiness.ready;
        self.pace = self.pace.after_idling(idle, rules);
        self.readiness.postpone(now + self.pace.least(rules).wait);
        self.place = None;
        None
    }

    /// Sets the `Crawl-delay`. It counts from the request for robots.txt itself, which ended before
    /// the delay was known.
    pub(super) fn set_crawl_delay(&mut self, delay: Option<Duration>, rules: &PacingRules) {
        self.pace.crawl_delay = delay;
        self.keep_distance(rules);
    }

    /// Keeps the minimum distance of the rules from the last response, if it is longer than before.
    pub(super) fn keep_distance(&mut self, rules: &PacingRules) {
        let least = self.pace.least(rules);
        if least.wait > self.cooldown.wait || self.cooldown.why == web::WaitReason::CrawlDelay {
            self.cooldown = least;
        }
        if let Some(ended) = self.ended {
            self.readiness.postpone(ended + least.wait);
        }
    }

    /// Takes over a stored pace, unless newer or stricter state is known.
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
        // Without a stored wait, the known time is more precise.
        let known = self.readiness.ready;
        let ready = if wait.is_zero() { known } else { now + wait };
        self.readiness.postpone(ready);
    }

    /// Takes back that the last response was fine: it was a block page, and no page.
    pub(super) fn take_back(&mut self) {
        self.pace.failures = self.failures_before;
        self.answered_page = None;
    }

    /// Records a response and its consequences.
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
        self.failures_before = self.pace.failures;
        self.pace = pace;
        self.cooldown = cooldown;
        let ready = self.readiness.ready.max(now + cooldown.wait);
        self.readiness.ready = ready;
        self.readiness.kept = ready + cooldown.wait.max(MIN_RETENTION);
        ready
    }
}

impl AsRef<Readiness> for HostState {
    fn as_ref(&self) -> &Readiness {
        &self.readiness
    }
}
