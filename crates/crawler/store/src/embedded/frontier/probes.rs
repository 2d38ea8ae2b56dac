//! Probes and excluded URLs in the queue: those that are found again, and places that are dropped.
//!
//! `crate::seen` and `crate::patterns` decide; this module moves the entries, and journals each
//! move. The place of a probe behind everything else is dropped when its turn comes
//! ([`Record::Superseded`]) if its URL was also found elsewhere. Its record is revoked if it was
//! excluded by then.

use journal::{DiscoveredUrl, Journal, Position, Record, StoreFault};

use super::place::{Body, Rank};
use super::state::Void;
use super::{Queue, broken};
use crate::seen::requeued;

impl Queue {
    /// Returns true for a known URL; an ordinary URL is new if it is known only as a probe.
    pub(super) fn is_seen(&self, discovered: &DiscoveredUrl) -> bool {
        let is_seen = |key| self.seen.contains(key);
        self.out.probes().is_seen(discovered, is_seen)
    }

    /// Removes the discovered URLs that were excluded as probes, and returns each with the place of
    /// its visit.
    pub(super) fn take_wanted_again(
        &self,
        discovered: &mut Vec<DiscoveredUrl>,
    ) -> Vec<(DiscoveredUrl, Position)> {
        let is_seen = |key| self.seen.contains(key);
        let patterns = &self.state.patterns;
        patterns.take_wanted_again(discovered, is_seen)
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
                let is_seen = |key| self.seen.contains(key);
                let found = requeued(&void.visit, void.priority, is_seen);
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
        let is_known = self.seen.contains(entry.discovered.url.key());
        if !is_known && !self.hold_probe(journal, &entry.discovered)? {
            return Ok(false);
        }
        debug_assert_eq!(Rank::of(&entry.discovered, entry.sequence), rank);
        self.record(journal, &Record::Superseded { entry })?;
        // Its last visit may have been revoked after it reached other URLs.
        self.queue_unclaimed(journal)?;
        Ok(true)
    }
}

/// Reads the visit record of an unvisited page from the journal.
fn void_at(journal: &Journal, place: Position) -> Result<Void, StoreFault> {
    match journal.replay(place)?.next_record()? {
        Some((_, Record::Settled(settled))) => Ok(Void {
            visit: settled.visit.record,
            reached: Vec::new(),
            priority: settled.priority,
        }),
        _ => Err(broken(
            "expected the settlement of an excluded page, found another record".to_owned(),
        )),
    }
}
