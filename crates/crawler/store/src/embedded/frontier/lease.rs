//! The choice of the next leases.
//!
//! The first entries of a host are read from its blocks and from memory when its turn comes, a few
//! at a time. If an entry arrives later that belongs before them, the host reads again from there.
//! Quarantined entries are leased one at a time, when nothing is out and no other entry can be
//! leased.

use journal::{Journal, Record, StoreFault};
use web::Timestamp;

use super::agenda::Wanted;
use super::place::{Body, Place, Rank};
use super::{Queue, broken};
use crate::frontier::{Lease, LeaseFilter, Supply};

/// Maximum size of the entries read ahead, over all hosts.
const HEADS_BYTES: u64 = 48 << 20;
/// Approximate size of an entry read ahead.
const HEAD_BYTES: u64 = 160;
/// Minimum and maximum number of entries of a host that are read ahead.
const HEADS: std::ops::RangeInclusive<u64> = 2..=64;

impl Queue {
    pub(in super::super) fn lease(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        if self.out.is_closed() {
            return Ok(Supply::NothingBefore(Timestamp::NEVER));
        }
        self.recall_due(now);
        let mut wanted = match filter {
            LeaseFilter::All => Wanted::All,
            LeaseFilter::Requisites => Wanted::Requisites,
        };
        let mut leases = self.lease_rounds(journal, now, want, wanted)?;
        if leases.is_empty() && wanted == Wanted::All && self.hosts.sums().others == 0 {
            wanted = Wanted::Mirrored;
            leases = self.lease_rounds(journal, now, want, wanted)?;
        }
        if !leases.is_empty() {
            return self.begin_visits(journal, leases);
        }
        let times = [
            self.hosts.next_ready(now, wanted),
            self.next_postponed(filter),
        ];
        let next = times.into_iter().flatten().min();
        if self.hosts.sums().leased > 0 {
            return Ok(Supply::NothingBefore(next.unwrap_or(Timestamp::NEVER)));
        }
        let quarantined = self.lease_quarantined(journal, now, want, filter)?;
        let mut supply = quarantined.or_before(next);
        let [all, requisites] = self.hosts.sums().hopeful;
        let hopeful = match filter {
            LeaseFilter::All => all,
            LeaseFilter::Requisites => requisites,
        };
        if matches!(supply, Supply::NothingBefore(_)) && hopeful == 0 {
            supply = Supply::Exhausted;
        }
        let may_reopen = supply == Supply::Exhausted && filter == LeaseFilter::All;
        if may_reopen && self.take_last_look(journal)? {
            return self.lease(journal, now, want, filter);
        }
        Ok(supply)
    }

    /// Reopens a pattern that excluded few pages. Returns false if there is none.
    fn take_last_look(&mut self, journal: &Journal) -> Result<bool, StoreFault> {
        let Some(reopened) = self.state.patterns.last_look(self.hosts.rules()) else {
            return Ok(false);
        };
        self.record(journal, &reopened)?;
        self.requeue_reopened(journal)?;
        Ok(true)
    }

    /// Takes one page from each ready host per round, so that a fast host does not starve the rest.
    fn lease_rounds(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        wanted: Wanted,
    ) -> Result<Vec<Lease>, StoreFault> {
        let mut leases = Vec::new();
        let mut round = Vec::new();
        while leases.len() < want {
            while leases.len() < want
                && let Some(host) = self.hosts.take_due(now, wanted)
            {
                match self.next_current(journal, host)? {
                    Some((rank, body)) => {
                        round.push(host);
                        leases.push(self.hand_out(Place { host, rank }, body, now)?);
                    }
                    // Its next entry may be of another kind, so it takes its turn again.
                    None => self.hosts.next_round(&mut vec![host]),
                }
            }
            if round.is_empty() {
                break;
            }
            self.hosts.next_round(&mut round);
        }
        Ok(leases)
    }

    /// Returns the time at which the first postponed entry is due.
    fn next_postponed(&self, filter: LeaseFilter) -> Option<Timestamp> {
        match filter {
            LeaseFilter::All => self.retries.next_due(|_any| true),
            LeaseFilter::Requisites if self.hosts.sums().requisites == 0 => None,
            LeaseFilter::Requisites => self.retries.next_due(|place| place.rank.is_requisite()),
        }
    }

    /// Leases a quarantined entry when nothing is out and no other entry can be leased.
    fn lease_quarantined(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        let open = self.out.quarantined().filter(|place| {
            let is_wanted = filter == LeaseFilter::All || place.rank.is_requisite();
            is_wanted && self.hosts.has_room(place.host, place.rank)
        });
        let ready = |place: &Place| self.hosts.get(place.host).pace.ready;
        let Some(place) = open.min_by_key(|place| (ready(place), place.rank.sequence)) else {
            return Ok(Supply::Exhausted);
        };
        let ready = ready(&place);
        if ready > now {
            return Ok(Supply::NothingBefore(ready));
        }
        let body = self.body(place)?;
        self.out.release(place);
        self.hosts.update_counts(place, |counts| {
            counts.quarantined = counts.quarantined.saturating_sub(1);
        });
        if self.supersede(journal, place.rank, &body)? {
            return self.lease(journal, now, want, filter);
        }
        self.out.lease_alone(place);
        let lease = self.hand_out(place, body, now)?;
        self.begin_visits(journal, vec![lease])
    }

    fn hand_out(&mut self, place: Place, body: Body, now: Timestamp) -> Result<Lease, StoreFault> {
        let attempts = self.retries.attempts(place);
        let crashes = self.state.in_flight.crashes(place.rank.sequence);
        let entry = body.into_entry(place.rank, attempts, crashes)?;
        self.out.lease(place);
        self.hosts.change(place.host, |host| {
            host.update_counts(place.rank, |counts| counts.out += 1);
            host.leased += 1;
            host.asked = now;
        });
        self.out.lease_probe(&entry.discovered);
        let rules = self.hosts.rules();
        let excluded = self.state.patterns.exclusion(&entry, rules);
        Ok(Lease {
            pace: self.hosts.get(place.host).pace,
            excluded,
            entry,
        })
    }

    /// Journals the leases before they are handed out.
    fn begin_visits(
        &mut self,
        journal: &Journal,
        leases: Vec<Lease>,
    ) -> Result<Supply, StoreFault> {
        let sequences = leases.iter().map(|lease| lease.entry.sequence).collect();
        self.record(journal, &Record::Leased { sequences })?;
        Ok(Supply::Leases(leases))
    }

    pub(super) fn next_of(&mut self, host: u32) -> Result<(Rank, Body), StoreFault> {
        if self.hosts.get(host).heads.is_empty() {
            self.read_ahead(host)?;
        }
        let next = self.hosts.heads_of(host).heads.pop_front();
        next.ok_or_else(|| {
            let name = &self.hosts.get(host).name;
            broken(format!(
                "the queue of {name} has fewer pages than were counted"
            ))
        })
    }

    /// Reads the first waiting entries of a host.
    fn read_ahead(&mut self, host: u32) -> Result<(), StoreFault> {
        let active = self.hosts.sums().active_hosts.max(1);
        let want = (HEADS_BYTES / HEAD_BYTES / active).clamp(*HEADS.start(), *HEADS.end());
        let want = usize::try_from(want).unwrap_or(usize::MAX);
        let after = self.hosts.get(host).read_to;
        let may_go = |place: Place| self.may_go(place);
        let found = self.waiting.read(host, after, want, may_go)?;
        let state = self.hosts.heads_of(host);
        if let Some((last, _)) = found.last() {
            state.read_to = Some(*last);
        }
        state.heads = found.into();
        Ok(())
    }

    /// Returns true if a waiting entry can be leased when its host's turn comes.
    fn may_go(&self, place: Place) -> bool {
        !self.out.holds(place.rank.sequence) && !self.retries.is_postponed(place)
    }

    fn body(&self, place: Place) -> Result<Body, StoreFault> {
        let found = self.waiting.body(place)?;
        found.ok_or_else(|| broken("a page that was quarantined is not in the queue".to_owned()))
    }

    fn recall_due(&mut self, now: Timestamp) {
        while let Some(place) = self.retries.take_due(now) {
            self.hosts.update_counts(place, |counts| {
                counts.later = counts.later.saturating_sub(1);
            });
            self.wait_again(place);
        }
    }

    /// Puts an entry back, either at its place or quarantined.
    pub(super) fn wait_again(&mut self, place: Place) {
        if self.state.in_flight.is_quarantined(place.rank.sequence) {
            self.out.quarantine(place);
            self.hosts
                .update_counts(place, |counts| counts.quarantined += 1);
        } else {
            self.hosts.heads_of(place.host).rewind(place.rank);
        }
    }
}
