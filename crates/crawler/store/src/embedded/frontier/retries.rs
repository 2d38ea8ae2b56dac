//! The entries that have been tried before, and when they are due.
//!
//! An entry whose visit failed is postponed. When it is due, it waits for its host's turn like any
//! other, and its attempts are still counted.
//!
//! Invariant: `due` has exactly the entries that wait for their time, each under the time in
//! `tries`.

use std::collections::BTreeMap;
use std::time::Duration;

use web::Timestamp;

use super::place::{Place, Rank};

/// The attempts of all entries that are not settled.
#[derive(Debug, Default)]
pub(super) struct Retries {
    tries: BTreeMap<Place, Tries>,
    due: BTreeMap<(Timestamp, u64), Place>,
}

/// The attempts of an entry.
#[derive(Clone, Copy, Debug)]
struct Tries {
    attempts: u32,
    due: Timestamp,
    /// True if it was not due at the last lease.
    waits: bool,
}

impl Retries {
    /// Postpones an entry that has no other time, after this number of attempts.
    pub(super) fn postpone(&mut self, place: Place, attempts: u32, due: Timestamp) {
        let waits = true;
        let tries = Tries {
            attempts,
            due,
            waits,
        };
        self.tries.insert(place, tries);
        self.due.insert((due, place.rank.sequence), place);
    }

    /// Forgets the attempts of an entry. Returns true if it was postponed.
    pub(super) fn forget(&mut self, place: Place) -> bool {
        let tries = self.tries.remove(&place);
        tries.is_some_and(|tries| {
            let key = (tries.due, place.rank.sequence);
            self.due.remove(&key).is_some()
        })
    }

    /// Forgets the attempts of a host's entries.
    pub(super) fn forget_host(&mut self, host: u32) {
        let tries = self.tries.range(places_of(host));
        let places: Vec<Place> = tries.map(|(place, _)| *place).collect();
        for place in places {
            self.forget(place);
        }
    }

    /// Takes the first postponed entry that is due at `now`.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Option<Place> {
        let first = self.due.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let place = first.remove();
        if let Some(tries) = self.tries.get_mut(&place) {
            tries.waits = false;
        }
        Some(place)
    }

    /// Returns the number of attempts of an entry.
    pub(super) fn attempts(&self, place: Place) -> u32 {
        self.tries.get(&place).map_or(0, |tries| tries.attempts)
    }

    /// Returns true for an entry that waits for its time.
    pub(super) fn is_postponed(&self, place: Place) -> bool {
        self.tries.get(&place).is_some_and(|tries| tries.waits)
    }

    /// Returns the number of postponed entries.
    pub(super) fn postponed(&self) -> usize {
        self.due.len()
    }

    /// Returns the time at which the first of the selected postponed entries is due.
    pub(super) fn next_due(&self, is_meant: impl Fn(Place) -> bool) -> Option<Timestamp> {
        let first = self.due.iter().find(|(_, place)| is_meant(**place));
        first.map(|((due, _), _)| *due)
    }

    /// Returns the rank, the attempts and the time of each entry of a host, by rank.
    pub(super) fn of_host(&self, host: u32) -> impl Iterator<Item = (Rank, u32, Timestamp)> {
        let tries = self.tries.range(places_of(host));
        tries.map(|(place, tries)| (place.rank, tries.attempts, tries.due))
    }

    /// Shortens all waits to `latest`.
    pub(super) fn wait_at_most_until(&mut self, latest: Timestamp) {
        while let Some((&(due, sequence), &place)) = self.due.last_key_value()
            && due > latest
        {
            self.due.remove(&(due, sequence));
            self.due.insert((latest, sequence), place);
            if let Some(tries) = self.tries.get_mut(&place) {
                tries.due = latest;
            }
        }
    }

    /// Moves the times of a host's entries to a clock that was set back.
    pub(super) fn set_back(&mut self, host: u32, by: Duration) {
        for (place, tries) in self.tries.range_mut(places_of(host)) {
            let (due, sequence) = (tries.due, place.rank.sequence);
            tries.due = due.before(by);
            if self.due.remove(&(due, sequence)).is_some() {
                self.due.insert((tries.due, sequence), *place);
            }
        }
    }
}

fn places_of(host: u32) -> std::ops::RangeInclusive<Place> {
    Place::first_of(host)..=Place::last_of(host)
}
