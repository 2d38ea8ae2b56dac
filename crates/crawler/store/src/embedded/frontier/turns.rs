//! The turns of hosts: the order of the ready hosts.
//!
//! Hosts take turns in the order in which they became ready. Under
//! [`FrontierRules::best_first`](crate::FrontierRules::best_first), the ready host with the most
//! urgent entry goes first. An urgency is a rank without its depth, lowered by the off-topic streak
//! of the host (`place.rs`).
//!
//! Invariant: a turn is in `ready` if its time is not after `reached` and best first is enabled;
//! otherwise it is in `waiting`. So a turn that changes is found without a search.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use web::Timestamp;

use super::place::{Level, Rank, Urgency};
use super::wait_counts::WaitCounts;

/// The earliest time of a host's turn, with the urgency of its first entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) ready: Timestamp,
    /// Equal for all hosts if they take turns by time alone.
    pub(super) urgency: Urgency,
}

/// The turns of hosts, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Turns {
    best_first: bool,
    waiting: BTreeSet<(Timestamp, u32)>,
    ready: BTreeSet<(Urgency, Timestamp, u32)>,
    /// The time of the last lease.
    reached: Timestamp,
}

impl Turns {
    pub(super) fn new(best_first: bool) -> Self {
        Self {
            best_first,
            ..Self::default()
        }
    }

    pub(super) fn insert(&mut self, turn: Turn, host: u32) {
        if self.is_ready(turn.ready) {
            self.ready.insert((turn.urgency, turn.ready, host));
        } else {
            self.waiting.insert((turn.ready, host));
        }
    }

    pub(super) fn remove(&mut self, turn: Turn, host: u32) {
        if self.is_ready(turn.ready) {
            self.ready.remove(&(turn.urgency, turn.ready, host));
        } else {
            self.waiting.remove(&(turn.ready, host));
        }
    }

    /// Returns the host whose turn it is at `now`. `urgency` returns the urgency of a host's first
    /// entry.
    pub(super) fn first(
        &mut self,
        now: Timestamp,
        urgency: impl Fn(u32) -> Urgency,
    ) -> Option<u32> {
        if !self.best_first {
            let (ready, host) = *self.waiting.first()?;
            return (ready <= now).then_some(host);
        }
        self.reach(now, urgency);
        self.ready.first().map(|(.., host)| *host)
    }

    /// Returns the time of the first turn that the last lease did not reach.
    pub(super) fn next_waiting(&self) -> Option<Timestamp> {
        self.waiting.first().map(|(ready, _)| *ready)
    }

    /// Returns the time of the first turn.
    pub(super) fn next_ready(&self) -> Option<Timestamp> {
        // All of these come before the waiting turns. They are few when this is called: turns that
        // could not be taken.
        let ready = self.ready.iter().map(|(_, ready, _)| *ready).min();
        ready.or_else(|| self.next_waiting())
    }

    /// Moves the turns that come due between the last lease and `now`, in either direction.
    fn reach(&mut self, now: Timestamp, urgency: impl Fn(u32) -> Urgency) {
        if now < self.reached {
            let early = self.ready.extract_if(.., |(_, ready, _)| *ready > now);
            self.waiting
                .extend(early.map(|(_, ready, host)| (ready, host)));
        }
        self.reached = now;
        while let Some(first) = self.waiting.first().filter(|(ready, _)| *ready <= now) {
            let (ready, host) = *first;
            self.waiting.pop_first();
            self.ready.insert((urgency(host), ready, host));
        }
    }

    fn is_ready(&self, ready: Timestamp) -> bool {
        self.best_first && ready <= self.reached
    }
}

/// The unsettled entries of a host by level, ascending; every level has an entry.
///
/// A host has few levels: with a topic, one per score that its links were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Levels(Vec<(Level, WaitCounts)>);

/// The stored form of the unsettled entries per level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLevels(Vec<(Level, u64)>);

impl Levels {
    /// Changes the count for this rank.
    pub(super) fn update_counts(&mut self, rank: Rank, count: impl Fn(&mut WaitCounts)) {
        let place = self.0.binary_search_by_key(&rank.level(), |level| level.0);
        let place = place.unwrap_or_else(|place| {
            self.0.insert(place, (rank.level(), WaitCounts::default()));
            place
        });
        let counts = &mut self.0[place].1;
        count(counts);
        if *counts == WaitCounts::default() {
            self.0.remove(place);
        }
    }

    /// Returns the level of the first entry that can be leased when the host's turn comes.
    pub(super) fn first(&self) -> Option<Level> {
        self.first_of(|counts| counts.waiting() > 0)
    }

    /// Returns the level of the first entry that is waiting or out: the links of a page may be as
    /// good as the page itself.
    pub(super) fn first_expected(&self) -> Option<Level> {
        self.first_of(|counts| counts.waiting() > 0 || counts.out > 0)
    }

    fn first_of(&self, is_meant: impl Fn(&WaitCounts) -> bool) -> Option<Level> {
        let first = self.0.iter().find(|(_, counts)| is_meant(counts));
        first.map(|(level, _)| *level)
    }

    pub(super) fn to_stored(&self) -> StoredLevels {
        let live = self.0.iter().map(|(level, counts)| (*level, counts.live));
        StoredLevels(live.collect())
    }
}

impl StoredLevels {
    /// Returns the number of all entries.
    pub(super) fn live(&self) -> u64 {
        self.0.iter().map(|(_, live)| live).sum()
    }

    pub(super) fn into_levels(self) -> Levels {
        let counts = |live| WaitCounts {
            live,
            ..WaitCounts::default()
        };
        let levels = self.0.into_iter();
        Levels(levels.map(|(level, live)| (level, counts(live))).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The clock goes in both directions, and turns come and go.
        #[test]
        fn the_first_turn_is_the_most_urgent_of_those_that_are_ready(
            steps in proptest::collection::vec((0..6_u32, 0..8_u64, 0..4_u32, 0..10_u64), 1..60),
            best_first in any::<bool>(),
        ) {
            let mut turns = Turns::new(best_first);
            let mut hosts: [Option<Turn>; 6] = [None; 6];
            for (host, ready, urgency, now) in steps {
                let number = host as usize;
                let (ready, now) = (Timestamp::from_millis(ready), Timestamp::from_millis(now));
                if let Some(turn) = hosts[number].take() {
                    turns.remove(turn, host);
                } else {
                    let urgency = Urgency(if best_first { urgency } else { 0 });
                    hosts[number] = Some(Turn { ready, urgency });
                    turns.insert(Turn { ready, urgency }, host);
                }
                let known = (0..).zip(&hosts).filter_map(|(host, turn)| Some((host, (*turn)?)));
                let ready = known.clone().filter(|(_, turn)| turn.ready <= now);
                let first = ready.min_by_key(|(host, turn)| (turn.urgency, turn.ready, *host));
                let found = turns.first(now, |host| hosts[host as usize].unwrap().urgency);
                prop_assert_eq!(found, first.map(|(host, _)| host));
                prop_assert_eq!(turns.next_ready(), known.map(|(_, turn)| turn.ready).min());
            }
        }
    }
}
