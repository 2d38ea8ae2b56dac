//! The pacer's state of hosts that share their pace.
//!
//! | a response of any host | what it means for all |
//! |---|---|
//! | fine | the host's own wait: its delay, its slowness, its Crawl-delay |
//! | 429, 503 | the host's own wait; the count in a row is over all hosts |
//! | none, another fault of the server | the wait after a good response: the failure is the host's
//! own |

use std::time::Duration;

use requests::{Cooldown, HostPace, PacedResponse, PacingRules, ResponseKind};
use tokio::time::Instant;
use web::{Host, Pace, Timestamp, WaitReason};

use super::expiring_map::ROUNDED;
use super::readiness::{MIN_RETENTION, Readiness};
use super::wait_queue::WaitQueue;

/// The longest wait that is made with a slot of the crawl in hand.
pub(super) const MAX_WAIT_IN_SLOT: Duration = Duration::from_millis(100);
/// Minimum distance between the times that hosts are given.
pub(super) const MIN_GAP: Duration = Duration::from_millis(10);

pub(super) struct GroupState {
    /// Requests to slow down in a row, of any of the hosts.
    failures: u32,
    /// The approximate time from one request to the next.
    gap: Duration,
    /// The beginning of the last request.
    began: Instant,
    /// The host that may ask but has not begun, with the time of its grant.
    granted: Option<(Host, Instant)>,
    queue: WaitQueue,
    /// True if one of the hosts was asked in this session, so that the state of earlier ones is
    /// obsolete.
    fresh: bool,
    pub(super) readiness: Readiness,
}

impl GroupState {
    pub(super) fn new(ready: Instant, now: Instant, rules: &PacingRules) -> Self {
        Self {
            failures: 0,
            gap: HostPace::default().least(rules).wait.max(MIN_GAP),
            began: now,
            granted: None,
            queue: WaitQueue::default(),
            fresh: false,
            readiness: Readiness::new(ready, rules),
        }
    }

    /// Allows a host to be asked now and returns `None`, or returns the time to come again.
    pub(super) fn enqueue_unless_ready(&mut self, host: &Host, now: Instant) -> Option<Instant> {
        let first_due = self.queue.first_due(now);
        let is_due = match self.queue.due(host) {
            Some(due) => due <= now + MAX_WAIT_IN_SLOT,
            // A host that is due in a moment does not wait for one that comes just now.
            None => first_due.is_none_or(|first| first > now + self.gap),
        };
        let (vacant, ready) = (self.is_vacant(host, now), self.readiness.ready);
        if vacant && is_due && ready <= now + MAX_WAIT_IN_SLOT {
            self.queue.leave(host);
            self.granted = Some((host.clone(), now));
            self.began = now;
            return None;
        }
        let base = if vacant {
            ready.max(now)
        } else {
            // The end of the response is unknown.
            let expected = (self.began + self.gap).max(now + self.gap / 2);
            ready.max(expected)
        };
        let due = self.queue.schedule(host, base, self.gap);
        self.readiness.kept = self.readiness.kept.max(due + MIN_RETENTION);
        Some(due)
    }

    /// Returns true if a connection is free and granted to no other host. Waiters are served first.
    fn is_vacant(&self, host: &Host, now: Instant) -> bool {
        let promised = self
            .granted
            .as_ref()
            .is_some_and(|(other, at)| other != host && *at + self.gap + MAX_WAIT_IN_SLOT > now);
        !promised && self.readiness.free_slots() > 0
    }

    /// Lengthens the delay of all by this, counted from the last response.
    pub(super) fn wait_longer(&mut self, by: Duration) {
        self.readiness.postpone(self.readiness.ready + by);
    }

    /// Records the beginning of a request to this host, which was granted or is a redirect's
    /// target.
    pub(super) fn begin(&mut self, host: &Host, now: Instant, least: Cooldown) {
        self.queue.leave(host);
        if self
            .granted
            .as_ref()
            .is_some_and(|(granted, _)| granted == host)
        {
            self.granted = None;
        }
        self.began = now;
        self.readiness.postpone(now + least.wait);
    }

    /// Records a response, and returns the wait of the whole group.
    pub(super) fn end(
        &mut self,
        now: Instant,
        response: &PacedResponse,
        host: HostPace,
        rules: &PacingRules,
        chance: f64,
    ) -> Cooldown {
        self.fresh = true;
        let calm = PacedResponse {
            kind: ResponseKind::Fine,
            ..*response
        };
        let pace = HostPace {
            failures: self.failures,
            ..host
        };
        let (_, usual) = pace.after(&calm, rules, chance);
        let cooldown = match response.kind {
            ResponseKind::Failed | ResponseKind::Blocked | ResponseKind::Broken { .. } => usual,
            ResponseKind::Fine | ResponseKind::SlowDown { .. } => {
                let (pace, cooldown) = pace.after(response, rules, chance);
                self.failures = pace.failures;
                cooldown
            }
        };
        // Averaged with the old gap: one slow response does not move all that wait.
        self.gap = ((self.gap + response.elapsed.saturating_add(usual.wait)) / 2).max(MIN_GAP);
        let readiness = &mut self.readiness;
        readiness.postpone(now + cooldown.wait);
        readiness.kept = readiness.kept.max(readiness.ready + cooldown.wait);
        cooldown
    }

    /// Takes over the stored pace of one of the hosts.
    pub(super) fn recall(
        &mut self,
        pace: Pace,
        now: Instant,
        present: Timestamp,
        rules: &PacingRules,
    ) {
        if !self.fresh && matches!(pace.why, WaitReason::SlowDown | WaitReason::RetryAfter) {
            self.failures = self.failures.max(pace.failures);
        }
        let wait = pace.shared_rest(rules.delay).since(present);
        if wait.is_zero() {
            return;
        }
        let wait = wait.min(rules.longest_wait()) + ROUNDED;
        self.readiness.postpone(now + wait);
    }
}

impl AsRef<Readiness> for GroupState {
    fn as_ref(&self) -> &Readiness {
        &self.readiness
    }
}
