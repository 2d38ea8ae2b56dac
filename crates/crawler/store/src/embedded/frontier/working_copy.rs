//! Hosts that enter and leave this queue, which holds a part of a shared crawl.
//!
//! The journal of a shared crawl is kept elsewhere, and this queue is the working copy for some of
//! its hosts. Records of other sessions are applied like a replay; a host that leaves is forgotten
//! along with its entries. In this case, the journal of this store is not its source of truth, and
//! the store is not opened again.

use std::collections::BTreeSet;

use journal::{ArchiveSpan, DiscoveredUrl, Journal, Record, StoreFault};
use web::{Host, RestartRule, Timestamp};

use super::place::Place;
use super::{Queue, RecordWatch};

impl Queue {
    /// Begins the working copy of a shared crawl. Entries are numbered from `first`, above the
    /// entries of all earlier sessions; `archive` is the valid end of the archive.
    pub(in super::super) fn begin_working_copy(
        &mut self,
        first: u64,
        archive: Option<ArchiveSpan>,
        watch: RecordWatch,
    ) {
        self.state.next_sequence = first;
        self.state.archive = archive;
        self.waiting.doubt_before(0);
        self.watch = Some(watch);
    }

    /// Applies records of earlier sessions about hosts that were not here. If the last of these
    /// sessions left entries in progress, it died; the record of its death is applied too, and
    /// returned.
    pub(in super::super) fn take_over(
        &mut self,
        journal: &Journal,
        records: &[Record],
    ) -> Result<Option<Record>, StoreFault> {
        let own = (
            self.state.next_sequence,
            self.state.in_flight.leased().clone(),
        );
        for record in records {
            let span = journal.append_at(record)?;
            self.apply(span, record);
        }
        self.state.next_sequence = own.0;
        let leased = self.state.in_flight.leased();
        let sequences: Vec<u64> = leased.difference(&own.1).copied().collect();
        if sequences.is_empty() {
            return Ok(None);
        }
        let died = Record::Died { sequences };
        let span = journal.append_at(&died)?;
        self.apply(span, &died);
        Ok(Some(died))
    }

    /// Begins the session of hosts whose records were applied, like [`Queue::begin_session`] but
    /// without the rest after a death.
    pub(in super::super) fn begin_session_of(
        &mut self,
        journal: &Journal,
        is_meant: impl Fn(&Host) -> bool,
        now: Timestamp,
    ) -> Result<(), StoreFault> {
        let names = self.hosts.iter().map(|host| &host.name);
        let names: BTreeSet<&str> = names
            .filter(|host| is_meant(host))
            .map(Host::as_str)
            .collect();
        let probes = self.hosts.rules().probes;
        let patterns = &mut self.state.patterns;
        patterns.begin_session_of(probes, |host| names.contains(host));
        self.wait_at_most_until(now + self.hosts.rules().max_wait);
        self.hosts.give_new_chances(now);
        self.quarantine()?;
        self.change_patterns(journal)?;
        self.queue_unclaimed(journal)
    }

    /// Returns all entries that are out on lease, at the end of a session.
    pub(in super::super) fn return_leases(&mut self, journal: &Journal) -> Result<(), StoreFault> {
        for place in self.out.leased() {
            let state = self.hosts.get(place.host);
            let (host, pace) = (state.name.clone(), state.pace);
            let returned = Record::Returned {
                sequence: place.rank.sequence,
                host,
                pace,
            };
            self.record(journal, &returned)?;
        }
        self.give_up_all_claims(journal)
    }

    /// Makes hosts rest if another session may have sent requests to them just before `at`. New
    /// hosts do not get a request before the minimum wait has passed either.
    pub(in super::super) fn rest_after_death(
        &mut self,
        is_meant: impl Fn(&Host) -> bool,
        at: Timestamp,
        rule: RestartRule,
    ) {
        for number in self.hosts.numbers() {
            if self.hosts.is_present(number) && is_meant(&self.hosts.get(number).name) {
                self.hosts
                    .change(number, |host| host.pace = host.pace.after_restart(at, rule));
            }
        }
        self.state.floor = self.state.floor.max(at + rule.min_wait);
        self.hosts.set_floor(self.state.floor);
    }

    /// Stops leasing entries of the selected hosts. Returns the number of their entries that are
    /// out on lease.
    pub(in super::super) fn close_hosts(&mut self, is_meant: impl Fn(&Host) -> bool) -> u64 {
        let mut out = 0;
        for number in self.hosts.numbers() {
            if self.hosts.is_present(number) && is_meant(&self.hosts.get(number).name) {
                self.hosts.set_closed(number, true);
                out += self.hosts.get(number).all.out;
            }
        }
        out
    }

    /// Forgets hosts that another session takes over, along with their entries. None of these
    /// entries may be out on lease.
    pub(in super::super) fn forget_hosts(&mut self, is_meant: impl Fn(&Host) -> bool) {
        let present = |number: &u32| self.hosts.is_present(*number);
        let meant = |number: &u32| is_meant(&self.hosts.get(*number).name);
        let numbers = self.hosts.numbers().filter(present).filter(meant);
        let numbers: BTreeSet<u32> = numbers.collect();
        let name = |number: &u32| self.hosts.get(*number).name.as_str();
        let names: BTreeSet<&str> = numbers.iter().map(name).collect();
        self.state.patterns.forget(|host| names.contains(host));
        let is_theirs = |found: &DiscoveredUrl| names.contains(found.url.host().as_str());
        self.state.held.forget(is_theirs);
        for number in &numbers {
            self.waiting.forget(*number);
            self.retries.forget_host(*number);
            self.hosts.forget(*number);
        }
        let is_theirs = |place: &Place| numbers.contains(&place.host);
        self.out.forget(is_theirs);
        self.state.in_flight.forget(is_theirs);
    }
}
