//! The hosts of the crawl, and their turns.
//!
//! Hosts are numbered in the order in which they became known, which is a function of the journal.
//! Some of a host's state outlasts the process (its name, its pages so far, its pace, the number of
//! its unsettled entries), and some does not (its leases, the entries read ahead from the blocks).

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use journal::{DiscoveredUrl, ExcludedLinks};
use web::{Host, Pace, PageUrl, Timestamp};

use super::agenda::{Sums, Wanted};
use super::anticipated::Anticipated;
use super::host_state::HostState;
use super::place::{Level, Place, Rank};
use super::probe_turns::ProbeTurns;
use super::turns::{Levels, Turns};
use super::wait_counts::WaitCounts;
use crate::budget::{self, DomainCounts};
use crate::frontier::FrontierRules;

/// The hosts of a crawl.
pub(super) struct Hosts {
    rules: FrontierRules,
    numbers: HashMap<Host, u32>,
    hosts: Vec<HostState>,
    /// Turns of the hosts with an entry of each kind to lease and room for it.
    due: [Turns; Wanted::KINDS],
    /// Turns of the hosts with probes to lease: a separate kind until their domain is open.
    probes: ProbeTurns,
    /// The domain of each host, by its number.
    domain_of: Vec<u32>,
    /// Hosts that may keep a slot empty.
    anticipated: Anticipated,
    sums: Sums,
    /// Earliest time of a request to any host.
    floor: Timestamp,
    /// Number of hosts per domain.
    domains: DomainCounts,
}

impl Hosts {
    pub(super) fn new(rules: FrontierRules) -> Self {
        let (best_first, anticipation) = (rules.best_first, rules.anticipation);
        Self {
            rules,
            numbers: HashMap::new(),
            hosts: Vec::new(),
            due: std::array::from_fn(|_| Turns::new(best_first)),
            probes: ProbeTurns::default(),
            domain_of: Vec::new(),
            anticipated: Anticipated::new(anticipation),
            sums: Sums::default(),
            floor: Timestamp::default(),
            domains: DomainCounts::default(),
        }
    }

    /// Removes the URLs of a host beyond the limit of its domain; seeds stay.
    pub(super) fn exclude(&self, discovered: &mut Vec<DiscoveredUrl>) -> Option<ExcludedLinks> {
        let max = self.rules.max_hosts_per_domain?;
        budget::exclude(discovered, max, &self.domains, |host| {
            self.numbers.contains_key(host)
        })
    }

    /// Returns the number of a host, assigning one to a new host.
    pub(super) fn number(&mut self, name: &Host) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let mut state = HostState::new(name.clone(), self.floor.into());
        state.levels = self.rules.best_first.then(Levels::default);
        self.add(state)
    }

    /// Returns the number of the host of a URL, like [`Hosts::number`].
    pub(super) fn number_of(&mut self, url: &PageUrl) -> u32 {
        let name = url.as_url().host_str().unwrap_or_default();
        match self.numbers.get(name) {
            Some(number) => *number,
            None => self.number(&url.host()),
        }
    }

    /// Stops or resumes the leasing of a host's entries.
    pub(super) fn set_closed(&mut self, number: u32, closed: bool) {
        self.change(number, |host| host.closed = closed);
    }

    /// Forgets a host and its entries. If the host comes back, it gets another number.
    pub(super) fn forget(&mut self, number: u32) {
        let name = self.get(number).name.clone();
        self.numbers.remove(&name);
        self.domains.remove(&name);
        self.change(number, |host| *host = HostState::new(name, Pace::default()));
    }

    /// Returns true if this number is the current number of its host.
    pub(super) fn is_present(&self, number: u32) -> bool {
        self.find(&self.get(number).name) == Some(number)
    }

    /// Returns the number of a known host.
    pub(super) fn find(&self, name: &Host) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Adds a host that does not have a number yet.
    pub(super) fn add(&mut self, state: HostState) -> u32 {
        let number =
            u32::try_from(self.hosts.len()).expect("four billion hosts do not fit into memory");
        self.numbers.insert(state.name.clone(), number);
        self.domains.add(&state.name);
        let name = state.name.clone();
        self.domain_of.push(self.probes.domain_of(&name));
        self.hosts.push(HostState::new(name, Pace::default()));
        self.change(number, |host| *host = state);
        number
    }

    /// Returns the numbers of all hosts.
    pub(super) fn numbers(&self) -> Range<u32> {
        0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn get(&self, number: u32) -> &HostState {
        &self.hosts[number as usize]
    }

    /// Returns all hosts, by their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &HostState> {
        self.hosts.iter()
    }

    /// Returns a host for changes that affect neither the order nor the sums.
    pub(super) fn heads_of(&mut self, number: u32) -> &mut HostState {
        &mut self.hosts[number as usize]
    }

    /// Changes a host, and keeps `due`, `anticipated` and the sums in step.
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut HostState)) {
        let host = &mut self.hosts[number as usize];
        let before = host.agenda(&self.rules);
        change(host);
        let after = host.agenda(&self.rules);
        self.sums.replace(&before, &after);
        let domain = self.domain_of[number as usize];
        self.probes
            .change(domain, number, before.probes, after.probes);
        let moves = before.due.into_iter().zip(after.due);
        for (due, (before, after)) in self.due.iter_mut().zip(moves) {
            if before != after {
                before.into_iter().for_each(|turn| due.remove(turn, number));
                after.into_iter().for_each(|turn| due.insert(turn, number));
            }
        }
        if before.anticipated != after.anticipated {
            let anticipated = &mut self.anticipated;
            before
                .anticipated
                .into_iter()
                .for_each(|turn| anticipated.remove(turn, number));
            after
                .anticipated
                .into_iter()
                .for_each(|turn| anticipated.insert(turn, number));
        }
    }

    /// Changes the counts of the host of this place for the kinds of its entry.
    pub(super) fn update_counts(&mut self, place: Place, count: impl Fn(&mut WaitCounts)) {
        self.change(place.host, |host| host.update_counts(place.rank, count));
    }

    /// Takes the host whose turn it is at `now`. It is skipped until [`Hosts::next_round`]. Returns
    /// `None` if a better page is expected.
    pub(super) fn take_due(&mut self, now: Timestamp, wanted: Wanted) -> Option<u32> {
        let number = self.first_due(now, wanted)?;
        if self.expects_better(number, now) {
            return None;
        }
        self.change(number, |host| host.passed = true);
        Some(number)
    }

    /// Returns the host whose turn it is at `now`, ignoring better pages to come. Hosts with only
    /// probes take turns with all hosts; if the best host goes first, they go last.
    fn first_due(&mut self, now: Timestamp, wanted: Wanted) -> Option<u32> {
        let hosts = &self.hosts;
        let urgency = |number: u32| hosts[number as usize].urgency();
        let ordinary = self.due[wanted as usize].first(now, urgency);
        let probe = self
            .probes
            .first()
            .filter(|(ready, _)| wanted == Wanted::All && *ready <= now);
        match (ordinary, probe) {
            (Some(number), Some(turn)) if !self.rules.best_first => {
                let ready = hosts[number as usize].pace.ready;
                Some(if turn < (ready, number) {
                    turn.1
                } else {
                    number
                })
            }
            (None, Some((_, number))) => Some(number),
            (number, _) => number,
        }
    }

    /// Returns true if a slot stays empty rather than take the first entry of this host, because a
    /// better score is expected soon.
    fn expects_better(&mut self, number: u32, now: Timestamp) -> bool {
        let hosts = &self.hosts;
        let host = &hosts[number as usize];
        let expected = |number: u32| hosts[number as usize].expected_urgency();
        let best = self.anticipated.best(now, expected);
        host.first_level().is_some_and(Level::is_scored)
            && best.is_some_and(|best| best < host.urgency())
    }

    /// Gives these hosts another turn.
    pub(super) fn next_round(&mut self, passed: &mut Vec<u32>) {
        for number in passed.drain(..) {
            self.change(number, |host| host.passed = false);
        }
    }

    /// Returns the time at which the next host becomes ready or the wait for a host ends, if any
    /// host has a waiting entry.
    pub(super) fn next_ready(&mut self, now: Timestamp, wanted: Wanted) -> Option<Timestamp> {
        if let Some(first) = self.first_due(now, wanted)
            && self.expects_better(first, now)
        {
            let ends = [
                self.anticipated.next_end(now),
                self.due[wanted as usize].next_waiting(),
            ];
            return ends.into_iter().flatten().min();
        }
        let probe = self.probes.first().filter(|_| wanted == Wanted::All);
        let ordinary = self.due[wanted as usize].next_ready();
        ordinary
            .into_iter()
            .chain(probe.map(|(ready, _)| ready))
            .min()
    }

    /// Returns true if the limits leave room for one more entry of this rank.
    pub(super) fn has_room(&self, number: u32, rank: Rank) -> bool {
        let host = self.get(number);
        if rank.is_requisite() {
            return host.has_slot(&self.rules);
        }
        host.has_room(&self.rules)
    }

    /// Makes all hosts wait after the death of a session, which may have sent a request to any of
    /// them just before. Known hosts wait as `pace` says, and no host gets a request before
    /// `floor`.
    pub(super) fn wait_after_death(&mut self, floor: Timestamp, pace: impl Fn(Pace) -> Pace) {
        self.set_floor(floor);
        for number in self.numbers() {
            self.change(number, |host| host.pace = pace(host.pace));
        }
    }

    /// Moves the times of all hosts to a clock that was set back. Returns the hosts whose entries
    /// must be moved too, and the amount.
    pub(super) fn set_back(&mut self, now: Timestamp, min_wait: Duration) -> Vec<(u32, Duration)> {
        self.set_floor(self.floor.min(now + min_wait));
        let mut moved = Vec::new();
        for number in self.numbers() {
            let (pace, by) = self.get(number).pace.set_back(now, min_wait);
            if pace != self.get(number).pace {
                self.change(number, |host| host.pace = pace);
            }
            if !by.is_zero() {
                moved.push((number, by));
            }
        }
        moved
    }

    /// Returns the latest time of a response from any host.
    pub(super) fn last_answered(&self) -> Timestamp {
        let answered = self.hosts.iter().map(|host| host.pace.answered);
        answered.max().unwrap_or_default()
    }

    /// Gives another chance to the hosts that have had their last chance.
    pub(super) fn give_new_chances(&mut self, now: Timestamp) {
        let min_wait = self.rules.min_wait;
        for number in self.numbers() {
            let host = self.get(number);
            if host.pace.is_past_last_chance(host.pages > 0) {
                self.change(number, |host| {
                    host.pace = host.pace.with_new_chance(now, min_wait);
                });
            }
        }
    }

    /// Shortens all waits to `latest`.
    pub(super) fn wait_at_most_until(&mut self, latest: Timestamp) {
        self.floor = self.floor.min(latest);
        for number in self.numbers() {
            if self.get(number).pace.ready > latest {
                self.change(number, |host| host.pace.ready = latest);
            }
        }
    }

    /// Sets the earliest time of requests to hosts that become known.
    pub(super) fn set_floor(&mut self, floor: Timestamp) {
        self.floor = floor;
    }

    /// Returns the limits of the frontier.
    pub(super) fn rules(&self) -> &FrontierRules {
        &self.rules
    }

    /// Returns the sums over all hosts, which are updated with each change.
    pub(super) fn sums(&self) -> Sums {
        self.sums
    }
}
