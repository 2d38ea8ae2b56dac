//! The leases out, and what they exclude.
//!
//! An entry out on lease has no turn of its host. The URLs that its redirects claim are nobody
//! else's (`claims.rs`), and a URL out as a probe is not queued as a page ([`LeasedProbes`]). A
//! quarantined entry is leased alone: while it is out, no other lease begins. Until then, it has no
//! turn of its host either.
//!
//! Invariant: an entry is out, quarantined, or neither; never both.

use std::collections::{BTreeMap, HashMap};

use journal::DiscoveredUrl;
use web::UrlKey;

use super::place::Place;
use crate::seen::LeasedProbes;

/// The leases out, with the entries that wait in quarantine for one.
#[derive(Debug, Default)]
pub(super) struct Out {
    /// Leases whose settlement is not yet in the journal.
    leases: HashMap<u64, Place>,
    /// Entries that are quarantined.
    quarantined: BTreeMap<u64, Place>,
    /// The quarantined entry out on lease.
    alone: Option<u64>,
    /// The leased entry that claimed a URL.
    claims: HashMap<UrlKey, u64>,
    probes: LeasedProbes,
}

impl Out {
    /// Leases an entry.
    pub(super) fn lease(&mut self, place: Place) {
        self.leases.insert(place.rank.sequence, place);
    }

    /// Notes that an entry leaves on a lease which excludes all others.
    pub(super) fn lease_alone(&mut self, place: Place) {
        self.alone = Some(place.rank.sequence);
    }

    /// Allows other leases again if this entry was leased alone. Its settlement may be recorded
    /// later.
    pub(super) fn end_alone(&mut self, sequence: u64) {
        if self.alone == Some(sequence) {
            self.alone = None;
        }
    }

    /// Returns true if an entry is out that excludes all other leases.
    pub(super) fn is_closed(&self) -> bool {
        self.alone.is_some()
    }

    /// Takes an entry back from its lease. Returns its place if it was out.
    pub(super) fn come_back(&mut self, sequence: u64) -> Option<Place> {
        self.leases.remove(&sequence)
    }

    /// Quarantines an entry that is not out.
    pub(super) fn quarantine(&mut self, place: Place) {
        self.quarantined.insert(place.rank.sequence, place);
    }

    /// Takes an entry out of quarantine.
    pub(super) fn release(&mut self, place: Place) {
        self.quarantined.remove(&place.rank.sequence);
    }

    /// Forgets the quarantined entries of these hosts. None of their entries may be out.
    pub(super) fn forget(&mut self, is_theirs: impl Fn(&Place) -> bool) {
        self.quarantined.retain(|_, place| !is_theirs(place));
    }

    /// Returns true for an entry without a turn of its host, because it is out or quarantined.
    pub(super) fn holds(&self, sequence: u64) -> bool {
        self.leases.contains_key(&sequence) || self.quarantined.contains_key(&sequence)
    }

    /// Returns the quarantined entries, in the order of discovery.
    pub(super) fn quarantined(&self) -> impl Iterator<Item = Place> {
        self.quarantined.values().copied()
    }

    /// Returns the entries out on lease, in the order of discovery.
    pub(super) fn leased(&self) -> Vec<Place> {
        let mut leased: Vec<Place> = self.leases.values().copied().collect();
        leased.sort_unstable_by_key(|place| place.rank.sequence);
        leased
    }
}

/// Claims of redirects: see `claims.rs`.
impl Out {
    /// Returns the leased entry that claimed a URL.
    pub(super) fn claimant(&self, url: UrlKey) -> Option<u64> {
        self.claims.get(&url).copied()
    }

    /// Returns true for a claimed URL.
    pub(super) fn is_claimed(&self, url: UrlKey) -> bool {
        self.claims.contains_key(&url)
    }

    /// Returns true if any URL is claimed.
    pub(super) fn has_claims(&self) -> bool {
        !self.claims.is_empty()
    }

    /// Claims a URL that nobody claims.
    pub(super) fn claim(&mut self, url: UrlKey, sequence: u64) {
        self.claims.insert(url, sequence);
    }

    /// Releases the claims of an entry.
    pub(super) fn give_up_claims(&mut self, sequence: u64) {
        self.claims.retain(|_, owner| *owner != sequence);
    }

    /// Releases all claims.
    pub(super) fn give_up_all_claims(&mut self) {
        self.claims.clear();
    }
}

/// Probes out on lease.
impl Out {
    /// Notes that this URL leaves on a lease, if it is a probe.
    pub(super) fn lease_probe(&mut self, leased: &DiscoveredUrl) {
        self.probes.lease(leased);
    }

    /// Ends the lease of a URL. Returns its discovery on a kept page if it was out as a probe.
    pub(super) fn end_probe(&mut self, leased: &DiscoveredUrl) -> Option<DiscoveredUrl> {
        self.probes.end(leased)
    }

    /// Notes the discovered URLs that are out as probes.
    pub(super) fn note_wanted(&mut self, discovered: &[DiscoveredUrl]) {
        self.probes.note_wanted(discovered);
    }

    /// Returns the probes out on lease, which decide whether a URL is new.
    pub(super) fn probes(&self) -> &LeasedProbes {
        &self.probes
    }
}
