//! The URLs known to the frontier.
//!
//! A URL that was found only on unarchived pages ([`DiscoveredUrl::is_probed`]) is remembered
//! separately, under its own key. When it is also found elsewhere, it is new once more. Its place
//! behind everything else is dropped when its turn comes ([`Record::Superseded`]), and its record
//! is revoked if it was excluded by then. After a visit it is known for good.
//!
//! Invariant: a URL is under its own key from the moment when it is waiting as an ordinary page,
//! was visited, or was reached.

use journal::{DiscoveredUrl, Journal, Position, Record, StoreFault, VisitRecord};
use web::UrlKey;

use super::place::{Body, Rank};
use super::state::Void;
use super::{Queue, broken};
use crate::frontier::Lease;

/// The bits that distinguish the key of a URL found only on unarchived pages. They are on disk, so
/// they never change.
const PROBED_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

fn probed(key: UrlKey) -> UrlKey {
    UrlKey::from_u64(key.as_u64() ^ PROBED_KEY)
}

/// Returns the key of a discovered URL in the set of seen URLs.
pub(in super::super) fn seen_as(discovered: &DiscoveredUrl) -> UrlKey {
    let key = discovered.url.key();
    if discovered.is_probed() {
        probed(key)
    } else {
        key
    }
}

/// Returns the key of a visited probe, which does not need another place.
pub(in super::super) fn settled_probe(visit: &VisitRecord, priority: u8) -> Option<UrlKey> {
    let was_visited = visit.excluding_pattern().is_none();
    (priority >= DiscoveredUrl::PROBED && visit.requisite == 0 && was_visited)
        .then(|| visit.url.key())
}

impl Queue {
    /// Returns true for a known URL; an ordinary URL is new if it is known only as a probe.
    pub(super) fn is_seen(&self, discovered: &DiscoveredUrl) -> bool {
        let key = discovered.url.key();
        let is_known = |key: UrlKey| self.seen.contains(key.as_u64());
        is_known(key)
            || self.out_probes.contains_key(&key)
            || discovered.is_probed() && is_known(seen_as(discovered))
    }

    /// Notes the discovered URLs that are out on lease as probes. If these visits do not take
    /// place, the URLs are queued as they were discovered now.
    pub(super) fn note_wanted(&mut self, discovered: &[DiscoveredUrl]) {
        if self.out_probes.is_empty() {
            return;
        }
        for found in discovered.iter().filter(|found| !found.is_probed()) {
            if let Some(wanted) = self.out_probes.get_mut(&found.url.key()) {
                wanted.get_or_insert_with(|| found.clone());
            }
        }
    }

    /// Removes and returns the discovery of a URL on a kept page while it was out on lease as a
    /// probe.
    pub(super) fn wanted_meanwhile(&mut self, lease: &Lease) -> Option<DiscoveredUrl> {
        let is_probed = lease.discovered().is_probed();
        self.out_probes
            .remove(&lease.url().key())
            .filter(|_| is_probed)?
    }

    /// Removes the discovered URLs that were excluded as probes, and returns each with the place of
    /// its visit.
    pub(super) fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
    ) -> Vec<(DiscoveredUrl, Position)> {
        let place = |found: &DiscoveredUrl| {
            let is_ordinary = found.requisite == 0 && !found.is_probed();
            if !is_ordinary || !self.seen.contains(probed(found.url.key()).as_u64()) {
                return None;
            }
            self.state.patterns.place_of_probe(&found.url)
        };
        let wanted = discovered.extract_if(.., |found| place(found).is_some());
        let with_place = |found: DiscoveredUrl| place(&found).map(|place| (found, place));
        wanted.filter_map(with_place).collect()
    }

    /// Queues excluded pages again, as they were discovered now.
    pub(super) fn queue_again(
        &mut self,
        journal: &Journal,
        wanted: Vec<(DiscoveredUrl, Position)>,
    ) -> Result<(), StoreFault> {
        for (found, place) in wanted {
            let void = void_at(journal, place)?;
            self.revoke_as(journal, found, void)?;
        }
        Ok(())
    }

    /// Queues again the URLs that were excluded by patterns and folders that have been reopened.
    pub(super) fn requeue_reopened(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(visits) = self.state.patterns.to_requeue() {
            let places: Vec<Position> = visits.iter().map(|(_, place)| place).collect();
            for place in places {
                let void = void_at(journal, place)?;
                let visit = &void.row;
                let found = DiscoveredUrl::new(visit.url.clone(), visit.depth, visit.via.clone());
                let found = match self.seen.contains(visit.url.key().as_u64()) {
                    true => found.with_priority_of(void.priority),
                    false => found.probed_as(void.priority),
                };
                self.revoke_as(journal, found, void)?;
            }
        }
        Ok(())
    }

    /// Returns the next entry of a host; `None` if that entry was superseded and has been dropped.
    pub(super) fn next_current(
        &mut self,
        journal: &Journal,
        host: u32,
    ) -> Result<Option<(Rank, Body)>, StoreFault> {
        let (rank, body) = self.next_of(host)?;
        let is_given_up = self.supersede(journal, rank, &body)?;
        Ok((!is_given_up).then_some((rank, body)))
    }

    /// Drops the place of a probe that has a better place, was reached, or is claimed by a
    /// redirect. Returns false for any other entry.
    pub(super) fn supersede(
        &mut self,
        journal: &Journal,
        rank: Rank,
        body: &Body,
    ) -> Result<bool, StoreFault> {
        if !rank.is_probed() {
            return Ok(false);
        }
        let entry = body.clone().into_entry(rank, 0, 0)?;
        let is_known = self.seen.contains(entry.discovered.url.key().as_u64());
        if !is_known && !self.hold_probe(journal, &entry.discovered)? {
            return Ok(false);
        }
        debug_assert_eq!(Rank::of(&entry.discovered, entry.sequence), rank);
        self.record(journal, &Record::Superseded { entry })?;
        // Its last visit may have been revoked after it reached other URLs.
        self.queue_unclaimed(journal)?;
        Ok(true)
    }

    /// Marks keys as seen.
    pub(super) fn see_keys(&mut self, keys: &[UrlKey]) {
        let numbers: Vec<u64> = keys.iter().map(|key| key.as_u64()).collect();
        // Only new URLs were selected before the record was written.
        let _seen = self.seen.insert_new(&numbers);
    }
}

/// Reads the visit record of an unvisited page from the journal.
fn void_at(journal: &Journal, place: Position) -> Result<Void, StoreFault> {
    match journal.replay(place)?.next_record()? {
        Some((_, Record::Settled(settled))) => Ok(Void {
            row: settled.visit.row,
            reached: Vec::new(),
            priority: settled.priority,
        }),
        _ => Err(broken(
            "expected the settlement of an excluded page, found another record".to_owned(),
        )),
    }
}
