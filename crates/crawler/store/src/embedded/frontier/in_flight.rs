//! The entries in flight by the journal, and the entries that sessions crashed with.
//!
//! An entry is in flight from the record of its lease until the record of the lease's end. If the
//! process dies in between, the next session records a crash of the entry. After enough crashes,
//! the entry is quarantined. `out.rs` has the same leases by the calls of this process: there, an
//! entry is out before its lease is recorded.
//!
//! Invariants: a function of the journal, except for the places, which are looked up when an entry
//! is first quarantined. A settled entry is in neither collection. The layout is on disk, as a part
//! of [`FrontierState`](super::state::FrontierState).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::place::Place;
use crate::frontier::CRASHES_TO_QUARANTINE;

/// The entries whose visits have begun, as far as the journal says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct InFlight {
    /// Leases that have not come back.
    leased: BTreeSet<u64>,
    /// Entries that sessions crashed with.
    crashed: BTreeMap<u64, Crashed>,
}

/// An entry that sessions crashed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Crashed {
    crashes: u32,
    /// Its place, once it has been looked up.
    place: Option<Place>,
}

impl InFlight {
    /// Adds leased entries.
    pub(super) fn lease(&mut self, sequences: &[u64]) {
        self.leased.extend(sequences);
    }

    /// Takes back a leased entry.
    pub(super) fn come_back(&mut self, sequence: u64) {
        self.leased.remove(&sequence);
    }

    /// Forgets a settled entry.
    pub(super) fn settle(&mut self, sequence: u64) {
        self.leased.remove(&sequence);
        self.crashed.remove(&sequence);
    }

    /// Takes back all leases, at the end of a session.
    pub(super) fn clear(&mut self) {
        self.leased.clear();
    }

    /// Counts a crash of an entry that was leased when its session died.
    pub(super) fn crash(&mut self, sequence: u64) {
        self.leased.remove(&sequence);
        self.crashed.entry(sequence).or_default().crashes += 1;
    }

    /// Returns the leased entries.
    pub(super) fn leased(&self) -> &BTreeSet<u64> {
        &self.leased
    }

    /// Returns the number of sessions that crashed with an entry.
    pub(super) fn crashes(&self, sequence: u64) -> u32 {
        let crashed = self.crashed.get(&sequence);
        crashed.map_or(0, |crashed| crashed.crashes)
    }

    /// Returns true if enough sessions crashed with an entry.
    pub(super) fn is_quarantined(&self, sequence: u64) -> bool {
        self.crashes(sequence) >= CRASHES_TO_QUARANTINE
    }

    /// Returns the places of the quarantined entries, `None` where it has not been looked up; in
    /// the order of discovery.
    pub(super) fn quarantined(&self) -> impl Iterator<Item = Option<Place>> {
        let crashed = self.crashed.values();
        let quarantined = crashed.filter(|crashed| crashed.is_quarantined());
        quarantined.map(|crashed| crashed.place)
    }

    /// Notes the place of an entry if it is quarantined and its place is not known.
    pub(super) fn note_place(&mut self, place: Place) {
        let crashed = self.crashed.get_mut(&place.rank.sequence);
        if let Some(crashed) = crashed.filter(|crashed| crashed.is_quarantined()) {
            crashed.place.get_or_insert(place);
        }
    }

    /// Forgets the crashed entries of hosts that leave this queue, which must not be leased.
    pub(super) fn forget(&mut self, is_theirs: impl Fn(&Place) -> bool) {
        let is_theirs = |crashed: &Crashed| crashed.place.as_ref().is_some_and(&is_theirs);
        self.crashed.retain(|_, crashed| !is_theirs(crashed));
    }
}

impl Crashed {
    const fn is_quarantined(&self) -> bool {
        self.crashes >= CRASHES_TO_QUARANTINE
    }
}
