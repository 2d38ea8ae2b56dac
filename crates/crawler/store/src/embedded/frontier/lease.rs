//! The choice of the next leases.
//!
//! The first entries of a host are read from its blocks and from memory when its turn comes, a few
//! at a time. If an entry arrives later that belongs before them, the host reads again from there.
//! Quarantined entries are leased one at a time, when nothing is out and no other entry can be
//! leased.
//!
//! A lease has two steps: [`Queue::take`] takes entries off the queue, and [`Queue::begin_visits`]
//! records their leases. In between, the caller reads their URLs, which takes longer than both and
//! needs no state: the queue is not locked meanwhile. An entry that was taken is out already.

use journal::{Journal, QueueEntry, Record, StoreFault};
use web::Timestamp;

use super::agenda::Wanted;
use super::place::{Body, Place, Rank};
use super::{Queue, broken};
use crate::frontier::{Lease, LeaseFilter, Supply};

/// Maximum size of the entries read ahead, over all hosts.
const HEADS_BYTES: u64 = 16 << 20;
/// Approximate size of an entry read ahead.
const HEAD_BYTES: u64 = 160;
/// Minimum and maximum number of entries of a host that are read ahead.
const HEADS: std::ops::RangeInclusive<u64> = 2..=64;

/// An entry off the queue whose URL has not been read.
pub(in super::super) struct Taken {
    place: Place,
    body: Body,
    attempts: u32,
    crashes: u32,
}

impl Taken {
    /// Reads the URL. Returns the entry with the number of its host.
    pub(in super::super) fn read(self) -> Result<(u32, QueueEntry), StoreFault> {
        let Place { host, rank } = self.place;
        let entry = self.body.into_entry(rank, self.attempts, self.crashes)?;
        Ok((host, entry))
    }
}

impl Queue {
    /// Takes entries for leases.
    pub(in super::super) fn take(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply<Taken>, StoreFault> {
        if self.out.is_closed() {
            return Ok(Supply::NothingBefore(Timestamp::NEVER));
        }
        self.recall_due(now);
        let mut wanted = match filter {
            LeaseFilter::All => Wanted::All,
            LeaseFilter::Requisites => Wanted::Requisites,
        };
        let mut taken = self.take_rounds(journal, now, want, wanted)?;
        if taken.is_empty() && wanted == Wanted::All && self.hosts.sums().others == 0 {
            wanted = Wanted::Mirrored;
            taken = self.take_rounds(journal, now, want, wanted)?;
        }
        if !taken.is_empty() {
            return Ok(Supply::Leases(taken));
        }
        let times = [
            self.hosts.next_ready(now, wanted),
            self.next_postponed(filter),
        ];
        let next = times.into_iter().flatten().min();
        if self.hosts.sums().leased > 0 {
            return Ok(Supply::NothingBefore(next.unwrap_or(Timestamp::NEVER)));
        }
        let quarantined = self.take_quarantined(journal, now, want, filter)?;
        let mut supply = quarantined.or_before(next);
        let [all, requisites] = self.hosts.sums().hopeful;
        let hopeful = match filter {
            LeaseFilter::All => all,
            LeaseFilter::Requisites => requisites,
        };
        if matches!(supply, Supply::NothingBefore(_)) && hopeful == 0 {
            supply = Supply::Exhausted;
        }
        let is_exhausted = matches!(supply, Supply::Exhausted);
        if is_exhausted && filter == LeaseFilter::All && self.take_last_look(journal)? {
            return self.take(journal, now, want, filter);
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
    fn take_rounds(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        wanted: Wanted,
    ) -> Result<Vec<Taken>, StoreFault> {
        let mut taken = Vec::new();
        let mut round = Vec::new();
        while taken.len() < want {
            while taken.len() < want
                && let Some(host) = self.hosts.take_due(now, wanted)
            {
                match self.next_current(journal, host)? {
                    Some((rank, body)) => {
                        round.push(host);
                        taken.push(self.take_entry(Place { host, rank }, body, now)?);
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
        Ok(taken)
    }

    /// Returns the time at which the first postponed entry is due.
    fn next_postponed(&self, filter: LeaseFilter) -> Option<Timestamp> {
        match filter {
            LeaseFilter::All => self.retries.next_due(|_any| true),
            LeaseFilter::Requisites if self.hosts.sums().requisites == 0 => None,
            LeaseFilter::Requisites => self.retries.next_due(|place| place.rank.is_requisite()),
        }
    }

    /// Takes a quarantined entry when nothing is out and no other entry can be leased.
    fn take_quarantined(
        &mut self,
        journal: &Journal,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply<Taken>, StoreFault> {
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
            return self.take(journal, now, want, filter);
        }
        self.out.lease_alone(place);
        let taken = self.take_entry(place, body, now)?;
        Ok(Supply::Leases(vec![taken]))
    }

    /// Takes an entry whose turn it is.
    fn take_entry(
        &mut self,
        place: Place,
        body: Body,
        now: Timestamp,
    ) -> Result<Taken, StoreFault> {
        self.out.lease(place);
        if place.rank.is_probed() {
            // From now on, links to it are noted.
            let probe = body.clone().into_entry(place.rank, 0, 0)?;
            self.out.lease_probe(&probe.discovered);
        }
        self.hosts.change(place.host, |host| {
            host.update_counts(place.rank, |counts| counts.out += 1);
            host.leased += 1;
            host.asked = now;
        });
        Ok(Taken {
            place,
            body,
            attempts: self.retries.attempts(place),
            crashes: self.state.in_flight.crashes(place.rank.sequence),
        })
    }

    /// Journals the leases of the entries that were taken, before they are handed out.
    pub(in super::super) fn begin_visits(
        &mut self,
        journal: &Journal,
        entries: Vec<(u32, QueueEntry)>,
    ) -> Result<Vec<Lease>, StoreFault> {
        let rules = self.hosts.rules();
        let leases = entries.into_iter().map(|(host, entry)| Lease {
            pace: self.hosts.get(host).pace,
            excluded: self.state.patterns.exclusion(&entry, rules),
            runs_scripts: self
                .state
                .patterns
                .runs_scripts(&entry.discovered.url, rules),
            entry,
        });
        let leases: Vec<Lease> = leases.collect();
        let sequences = leases.iter().map(|lease| lease.entry.sequence).collect();
        self.record(journal, &Record::Leased { sequences })?;
        Ok(leases)
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
