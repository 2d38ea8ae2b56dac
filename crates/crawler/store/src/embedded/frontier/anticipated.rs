//! Anticipated hosts: hosts that are not ready but soon will be, with a better page than others.
//!
//! Under [`FrontierRules::anticipation`](crate::FrontierRules::anticipation), a slot stays empty
//! rather than take a page with a low link score while a host with a better page is expected. A
//! resting host is expected when its rest ends. A host with pages out on lease is expected at any
//! time, and these pages count too, because their links may be as good. It is not expected for
//! longer than the anticipation after its last lease, because it may never respond.
//!
//! Invariant: `soon` has the entries of `by_end` that end in (`reached`, `reached + anticipation`],
//! so the best one is found without a search.

use std::collections::BTreeSet;
use std::ops::Bound::{Excluded, Included};
use std::time::Duration;

use web::Timestamp;

use super::place::Urgency;
use super::turns::Turn;

/// The anticipated hosts, by their numbers. Each has a [`Turn`] at the end of its wait.
#[derive(Debug, Default)]
pub(super) struct Anticipated {
    anticipation: Duration,
    by_end: BTreeSet<(Timestamp, u32)>,
    soon: BTreeSet<(Urgency, u32)>,
    /// The time of the last lease.
    reached: Timestamp,
}

impl Anticipated {
    pub(super) fn new(anticipation: Duration) -> Self {
        Self {
            anticipation,
            ..Self::default()
        }
    }

    pub(super) fn insert(&mut self, turn: Turn, host: u32) {
        self.by_end.insert((turn.ready, host));
        if self.is_soon(turn.ready) {
            self.soon.insert((turn.urgency, host));
        }
    }

    pub(super) fn remove(&mut self, turn: Turn, host: u32) {
        self.by_end.remove(&(turn.ready, host));
        self.soon.remove(&(turn.urgency, host));
    }

    /// Returns the best urgency of the hosts that are expected within the anticipation from `now`.
    /// `urgency` returns a host's urgency.
    pub(super) fn best(
        &mut self,
        now: Timestamp,
        urgency: impl Fn(u32) -> Urgency,
    ) -> Option<Urgency> {
        self.reach(now, urgency);
        self.soon.first().map(|(urgency, _)| *urgency)
    }

    /// Returns the end of the first wait that ends after `now`.
    pub(super) fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.after(now, Timestamp::NEVER).next().map(|(end, _)| end)
    }

    /// Moves the window of `soon` to start at `now`.
    fn reach(&mut self, now: Timestamp, urgency: impl Fn(u32) -> Urgency) {
        let end = now + self.anticipation;
        let (old, mut old_end) = (self.reached, self.reached + self.anticipation);
        self.reached = now;
        if now < old {
            self.soon.clear();
            old_end = now;
        }
        let leaving: Vec<u32> = self
            .after(old, now.min(old_end))
            .map(|(_, host)| host)
            .collect();
        for host in leaving {
            self.soon.remove(&(urgency(host), host));
        }
        let entering: Vec<u32> = self
            .after(now.max(old_end), end)
            .map(|(_, host)| host)
            .collect();
        self.soon
            .extend(entering.into_iter().map(|host| (urgency(host), host)));
    }

    /// Returns the hosts whose wait ends after `from` and not after `to`.
    fn after(&self, from: Timestamp, to: Timestamp) -> impl Iterator<Item = (Timestamp, u32)> {
        let bounds = (Excluded((from, u32::MAX)), Included((to, u32::MAX)));
        let is_empty = to <= from;
        let ends = (!is_empty).then(|| self.by_end.range(bounds));
        ends.into_iter().flatten().copied()
    }

    fn is_soon(&self, end: Timestamp) -> bool {
        end > self.reached && end <= self.reached + self.anticipation
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The clock goes in both directions, and waits begin and end.
        #[test]
        fn the_best_of_the_hosts_that_are_expected_soon_is_that_of_a_search(
            steps in proptest::collection::vec((0..6_u32, 0..20_u64, 0..4_u32, 0..20_u64), 1..60),
            anticipation in 0..6_u64,
        ) {
            let anticipation = Duration::from_millis(anticipation);
            let mut anticipated = Anticipated::new(anticipation);
            let mut hosts: [Option<Turn>; 6] = [None; 6];
            for (host, end, urgency, now) in steps {
                let (ready, now) = (Timestamp::from_millis(end), Timestamp::from_millis(now));
                match hosts[host as usize].take() {
                    Some(turn) => anticipated.remove(turn, host),
                    None => {
                        let urgency = Urgency(urgency);
                        let turn = Turn { ready, urgency };
                        hosts[host as usize] = Some(turn);
                        anticipated.insert(turn, host);
                    }
                }
                let later = hosts.iter().flatten().filter(|turn| turn.ready > now);
                let soon = later.clone().filter(|turn| turn.ready <= now + anticipation);
                let best = soon.map(|turn| turn.urgency).min();
                let found = anticipated.best(now, |host| hosts[host as usize].unwrap().urgency);
                prop_assert_eq!(found, best);
                prop_assert_eq!(anticipated.next_end(now), later.map(|turn| turn.ready).min());
            }
        }
    }
}
