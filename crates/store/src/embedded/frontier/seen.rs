//! The URLs known to the frontier.
//!
//! A URL that was found on left-out pages only ([`DiscoveredUrl::is_probed`]) is remembered beside
//! the others, under a key of its own. When it is found elsewhere as well, it is new once more: its
//! place behind everything else is given up when its turn comes ([`Record::Superseded`]), and where
//! it was left out by then, its row is revoked. Once it was visited it is known for good.
//!
//! Invariant: a URL is under its own key from the moment when it waits as an ordinary page, was
//! visited, or was reached.

use web::{PageUrl, UrlKey};

use super::super::journal::Journal;
use super::super::journal::frame::Position;
use super::super::journal::record::Record;
use super::place::{Body, Place, Rank};
use super::{Queue, broken};
use crate::discovered_url::DiscoveredUrl;
use crate::fault::StoreFault;
use crate::frontier::{Lease, QueueEntry};
use crate::patterns::PatternName;
use crate::visit_record::VisitRecord;

/// Turns a URL's key into the one for what was found on left-out pages only. It is on disk, so it
/// never changes.
const PROBED_KEY: u64 = 0x9e37_79b9_7f4a_7c15;

fn probed(key: UrlKey) -> UrlKey {
    UrlKey::from_u64(key.as_u64() ^ PROBED_KEY)
}

/// Returns the key under which a discovered URL is known.
pub(in super::super) fn seen_as(found: &DiscoveredUrl) -> UrlKey {
    let key = found.url.key();
    if found.is_probed() { probed(key) } else { key }
}

/// Returns the key of a page that was found on left-out pages only, once it was visited: no other
/// place is needed.
pub(in super::super) fn settled_probe(row: &VisitRecord, priority: u8) -> Option<UrlKey> {
    let was_visited = PatternName::that_left_out(row).is_none();
    (priority >= DiscoveredUrl::PROBED && row.requisite == 0 && was_visited).then(|| row.url.key())
}

impl Queue {
    /// Returns true for a URL that is known, as far as its kind of discovery matters.
    pub(super) fn is_seen(&self, found: &DiscoveredUrl) -> bool {
        let key = found.url.key();
        let is_known = |key: UrlKey| self.seen.contains(key.as_u64());
        is_known(key)
            || self.out_probes.contains_key(&key)
            || found.is_probed() && is_known(seen_as(found))
    }

    /// Notes the finds whose URLs are under way as links of left-out pages: should these not be
    /// visited after all, they wait as they were found now.
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

    /// Returns how a URL was found elsewhere while it was under way as a link of a left-out page.
    pub(super) fn wanted_meanwhile(&mut self, lease: &Lease) -> Option<DiscoveredUrl> {
        let is_probed = lease.discovered().is_probed();
        self.out_probes
            .remove(&lease.url().key())
            .filter(|_| is_probed)?
    }

    /// Takes out the finds whose URLs were left out as links of left-out pages: they are wanted
    /// after all. Returns each with the place of its row.
    pub(super) fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
    ) -> Vec<(DiscoveredUrl, Position)> {
        let place = |found: &DiscoveredUrl| {
            let is_ordinary = found.requisite == 0 && !found.is_probed();
            let was_probed = is_ordinary && self.seen.contains(probed(found.url.key()).as_u64());
            was_probed
                .then(|| self.state.patterns.place_of_probe(&found.url))
                .flatten()
        };
        let wanted = discovered.extract_if(.., |found| place(found).is_some());
        let wanted: Vec<DiscoveredUrl> = wanted.collect();
        let with_place = |found: DiscoveredUrl| place(&found).map(|place| (found, place));
        wanted.into_iter().filter_map(with_place).collect()
    }

    /// Queues pages again that were left out, as they were found now.
    pub(super) fn queue_again(
        &mut self,
        journal: &Journal,
        wanted: Vec<(DiscoveredUrl, Position)>,
    ) -> Result<(), StoreFault> {
        for (found, place) in wanted {
            let row = row_at(journal, place)?;
            self.revoke_as(journal, found, row, Vec::new())?;
        }
        Ok(())
    }

    /// Queues again what patterns and folders left out that are open now.
    pub(super) fn requeue_reopened(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        while let Some(rows) = self.state.patterns.to_requeue() {
            let places: Vec<Position> = rows.iter().map(|(_, place)| place).collect();
            for place in places {
                let row = row_at(journal, place)?;
                let found = DiscoveredUrl::new(row.url.clone(), row.depth, row.via.clone());
                let only_probed = !self.seen.contains(row.url.key().as_u64());
                let found = if only_probed { found.probed() } else { found };
                self.revoke_as(journal, found, row, Vec::new())?;
            }
        }
        Ok(())
    }

    /// Returns the page of a host whose turn it is, and gives up the places before it that are
    /// superseded; none if no page is left.
    pub(super) fn next_current(
        &mut self,
        journal: &Journal,
        host: u32,
    ) -> Result<Option<(Rank, Body)>, StoreFault> {
        loop {
            let (rank, body) = self.next_of(host)?;
            if !rank.is_probed() {
                return Ok(Some((rank, body)));
            }
            let place = Place { host, rank };
            let entry = body.clone().into_entry(rank, 0, 0)?;
            if !self.seen.contains(entry.discovered.url.key().as_u64()) {
                return Ok(Some((rank, body)));
            }
            self.give_up(journal, place, entry)?;
            if !self.hosts.get(host).has_waiting() {
                return Ok(None);
            }
        }
    }

    fn give_up(
        &mut self,
        journal: &Journal,
        place: Place,
        entry: QueueEntry,
    ) -> Result<(), StoreFault> {
        debug_assert_eq!(Rank::of(&entry.discovered, entry.sequence), place.rank);
        self.record(journal, &Record::Superseded { entry })
    }

    /// Remembers these URLs as pages that need no other place.
    pub(super) fn see<'a>(&mut self, urls: impl Iterator<Item = &'a PageUrl>) {
        self.see_keys(urls.map(PageUrl::key).collect());
    }

    /// Remembers keys, and lets go the claims to them.
    pub(super) fn see_keys(&mut self, keys: Vec<UrlKey>) {
        let numbers: Vec<u64> = keys.iter().map(|key| key.as_u64()).collect();
        // New URLs were told apart before the record was written.
        let _seen = self.seen.insert_new(&numbers);
        for key in keys {
            self.claims.remove(&key);
        }
    }
}

/// Reads the row of a settlement from the journal.
fn row_at(journal: &Journal, place: Position) -> Result<Box<VisitRecord>, StoreFault> {
    match journal.replay(place)?.next_record()? {
        Some((_, Record::Settled(settled))) => Ok(settled.visit.row),
        _ => Err(broken(
            "expected the settlement of a left-out page, found another record".to_owned(),
        )),
    }
}
