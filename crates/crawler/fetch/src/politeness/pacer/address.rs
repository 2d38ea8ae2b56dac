//! The pacer's state of one address: its requests in flight, and the hosts that wait for it.
//!
//! A host that comes too early gets a time to come again, as in a group, so no slot of the crawl
//! sleeps. A request takes one of the address's slots first and then the next free beginning; the
//! slot is held until the response ends. So a silent server costs its own slots and no others.
//!
//! Invariant: at most `address_slots` requests are in flight, and their beginnings are at least
//! `address_gap` apart, for redirects and robots.txt too.

use std::time::Duration;

use requests::{PacedResponse, PacingRules};
use tokio::time::Instant;
use web::Host;

use super::group::{MAX_WAIT_IN_SLOT, MIN_GAP};
use super::readiness::{MIN_RETENTION, Readiness};
use super::wait_queue::WaitQueue;

/// Maximum time that a place is kept for a host that may begin.
const GRANTED: Duration = Duration::from_secs(2);
/// Maximum time to the next attempt while all slots are held.
const RECHECK: Duration = Duration::from_secs(5);

pub(super) struct AddressState {
    /// Time from one beginning to the next, averaged over the last responses.
    gap: Duration,
    /// Time from one free slot to the next, averaged likewise, and at least `gap`.
    turn: Duration,
    /// Last time when a request began or ended.
    moved: Instant,
    /// Hosts that may begin but have not begun, with the times of their grants.
    granted: Vec<(Host, Instant)>,
    queue: WaitQueue,
    /// `ready` is the next free beginning.
    pub(super) readiness: Readiness,
}

impl AddressState {
    pub(super) fn new(now: Instant, rules: &PacingRules) -> Self {
        let gap = rules.address_gap().unwrap_or_default();
        Self {
            gap,
            turn: gap.max(MIN_GAP),
            moved: now,
            granted: Vec::new(),
            queue: WaitQueue::default(),
            readiness: Readiness::with_slots(now, rules.address_slots()),
        }
    }

    /// Allows a request to this host now and returns `None`, or returns the time to come again.
    pub(super) fn enqueue_unless_ready(
        &mut self,
        host: &Host,
        now: Instant,
        rules: &PacingRules,
    ) -> Option<Instant> {
        self.granted
            .retain(|(other, at)| other != host && *at + GRANTED > now);
        let ahead = u32::try_from(self.granted.len()).unwrap_or(u32::MAX);
        let begins = self.readiness.ready.max(now) + self.gap.saturating_mul(ahead);
        let is_due = match self.queue.due(host) {
            Some(due) => due <= now + MAX_WAIT_IN_SLOT,
            // A host that is due soon does not wait for one that comes just now.
            None => self
                .queue
                .first_due(now)
                .is_none_or(|first| first >= begins + self.gap),
        };
        let is_vacant = self.readiness.free_slots() > self.granted.len();
        if is_vacant && is_due && begins <= now + MAX_WAIT_IN_SLOT {
            self.queue.leave(host);
            self.granted.push((host.clone(), now));
            return None;
        }
        let base = if is_vacant {
            begins
        } else {
            // The end of a response is unknown: the longer the silence, the later the next attempt.
            let silent = now.saturating_duration_since(self.moved);
            begins.max(now + silent.min(RECHECK).max(self.turn / 2))
        };
        let least = rules.address_gap().unwrap_or_default().max(MIN_GAP);
        let due = self.queue.schedule_spaced(host, base, self.turn, least);
        self.readiness.kept = self.readiness.kept.max(due + MIN_RETENTION);
        Some(due)
    }

    /// Takes the next free beginning for a request to this host, whose slot is held.
    pub(super) fn begin(&mut self, host: &Host, now: Instant, rules: &PacingRules) -> Instant {
        self.queue.leave(host);
        self.granted.retain(|(other, _)| other != host);
        let begins = self.readiness.ready.max(now);
        // The rules may have changed since the last response.
        let gap = self.gap.max(rules.address_gap().unwrap_or_default());
        self.readiness.postpone(begins + gap);
        self.moved = begins;
        begins
    }

    /// Records a response whose slot was held for `held`.
    pub(super) fn end(
        &mut self,
        now: Instant,
        held: Duration,
        response: &PacedResponse,
        rules: &PacingRules,
    ) {
        self.moved = now;
        let Some(gap) = rules.address_gap_after(response) else {
            return;
        };
        let slots = u32::try_from(rules.address_slots()).unwrap_or(u32::MAX);
        let turn = gap.max(held / slots).max(MIN_GAP);
        // Averages: one slow response does not move all that wait.
        self.gap = self.gap.saturating_add(gap) / 2;
        self.turn = self.turn.saturating_add(turn) / 2;
    }
}

impl AsRef<Readiness> for AddressState {
    fn as_ref(&self) -> &Readiness {
        &self.readiness
    }
}
