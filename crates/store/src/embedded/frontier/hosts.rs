//! The hosts of the crawl, and their turns.
//!
//! A host has a number, in the order in which hosts became known; that order is a function of the
//! journal. Some of its state outlasts the process (its name, its pages so far, its pace, the
//! number of its unsettled entries), some does not (its leases, the entries read ahead from the
//! blocks).

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

use web::{Host, Pace, Timestamp};

use super::awaited::Awaited;
use super::place::{Body, Level, Place, Rank, Urgency};
use super::probe_turns::{HostProbes, ProbeTurns};
use super::tally::Tally;
use super::turns::{Levels, Turn, Turns};
use crate::budget::{self, DomainCounts};
use crate::discovered_url::DiscoveredUrl;
use crate::dry_spell::DrySpell;
use crate::frontier::{FrontierRules, LeftOut};

/// The hosts of a crawl.
pub(super) struct Hosts {
    rules: FrontierRules,
    numbers: HashMap<Host, u32>,
    hosts: Vec<HostState>,
    /// The turns of the hosts with an entry of each kind to lease and room for one.
    due: [Turns; Wanted::KINDS],
    /// The turns of the hosts with probes to lease: a kind of their own until their domain is open.
    probes: ProbeTurns,
    /// The domain of each host, by its number.
    domain_of: Vec<u32>,
    /// The hosts that a slot may stay empty for.
    awaited: Awaited,
    sums: Sums,
    /// The time before which no host is asked.
    floor: Timestamp,
    /// The number of hosts of each domain.
    domains: DomainCounts,
}

/// One host.
#[derive(Debug)]
pub(super) struct HostState {
    pub(super) name: Host,
    pub(super) pace: Pace,
    /// Fetched pages, as far as recorded.
    pub(super) pages: u64,
    /// Its pages off topic since the last one on topic.
    pub(super) dry_spell: DrySpell,
    /// Unsettled entries.
    pub(super) all: Tally,
    /// Requisites among them.
    pub(super) requisites: Tally,
    /// Probes among them.
    pub(super) probes: Tally,
    /// Probes of mirrors among these.
    pub(super) mirrored: Tally,
    /// All of them by their urgency, where the best host goes first.
    pub(super) levels: Option<Levels>,
    /// Entries out on lease.
    pub(super) leased: u64,
    /// The time of the last lease in this session.
    pub(super) asked: Timestamp,
    /// Fetched pages that are not recorded yet.
    pub(super) unrecorded: u64,
    /// Settled entries that still lie in blocks.
    pub(super) gone: u32,
    /// The first waiting entries.
    pub(super) heads: VecDeque<(Rank, Body)>,
    /// The last rank up to which waiting entries are among the heads.
    pub(super) read_to: Option<Rank>,
    /// True if it had its turn in this round.
    passed: bool,
    /// True if none of its entries is leased any more: see working_copy.rs.
    closed: bool,
}

/// The values that the sums and the order depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Agenda {
    waiting: u64,
    leased: u64,
    aside: u64,
    pages: u64,
    requisites: u64,
    /// Entries other than the probes of mirrors.
    others: u64,
    probes: HostProbes,
    /// Entries and requisites that are worth waiting for.
    hopeful: [u64; 2],
    /// Entries of a host past its last chance.
    unreachable: u64,
    due: [Option<Turn>; Wanted::KINDS],
    awaited: Option<Turn>,
}

impl HostState {
    pub(super) fn new(name: Host, pace: Pace) -> Self {
        Self {
            name,
            pace,
            pages: 0,
            dry_spell: DrySpell::default(),
            all: Tally::default(),
            requisites: Tally::default(),
            probes: Tally::default(),
            mirrored: Tally::default(),
            levels: None,
            leased: 0,
            asked: Timestamp::default(),
            unrecorded: 0,
            gone: 0,
            heads: VecDeque::new(),
            read_to: None,
            passed: false,
            closed: false,
        }
    }

    /// Changes the count for this rank.
    pub(super) fn tally(&mut self, rank: Rank, count: impl Fn(&mut Tally)) {
        count(&mut self.all);
        if rank.is_requisite() {
            count(&mut self.requisites);
        }
        if rank.is_probed() {
            count(&mut self.probes);
        }
        if rank.is_mirrored() {
            count(&mut self.mirrored);
        }
        if let Some(levels) = &mut self.levels {
            levels.tally(rank, count);
        }
    }

    /// Records its pace: the latest counts, but no wait becomes shorter.
    pub(super) fn keep_pace(&mut self, pace: Pace) {
        self.pace = self.pace.then(pace);
    }

    /// Returns true if one more entry can be leased now, limits of pages aside.
    fn has_slot(&self, rules: &FrontierRules) -> bool {
        self.leased < rules.leases_of(&self.name) as u64
    }

    /// Returns true if the limits leave room for one more of its pages. An entry on lease may turn
    /// out to be a page.
    fn has_room(&self, rules: &FrontierRules) -> bool {
        self.has_slot(rules) && self.is_below_limit(rules)
    }

    fn is_below_limit(&self, rules: &FrontierRules) -> bool {
        let pages = self.pages + self.unrecorded + self.leased;
        rules.max_pages_of(&self.name).is_none_or(|max| pages < max)
    }

    /// Returns the level of its first entry that waits; none where hosts take turns by time alone.
    /// The first entry is of the kind that is leased: requisites come first, and probes are leased
    /// where nothing else of their host waits.
    fn first_level(&self) -> Option<Level> {
        self.levels.as_ref().and_then(Levels::first)
    }

    /// Returns the urgency of that entry.
    fn urgency(&self) -> Urgency {
        self.urgency_of(self.first_level())
    }

    /// Returns the level of its first entry that waits or is out.
    fn expected_level(&self) -> Option<Level> {
        self.levels.as_ref().and_then(Levels::first_expected)
    }

    /// Returns the urgency of that entry.
    fn expected_urgency(&self) -> Urgency {
        self.urgency_of(self.expected_level())
    }

    fn urgency_of(&self, level: Option<Level>) -> Urgency {
        level.map_or_else(Urgency::default, |level| {
            level.urgency(self.dry_spell.levels())
        })
    }

    /// Returns the end of the wait for it, and the urgency of its first entry that waits or is out,
    /// if that has a promise and there is room for another page.
    fn awaited(&self, rules: &FrontierRules) -> Option<Turn> {
        if rules.patience.is_zero() {
            return None;
        }
        let level = self.expected_level()?;
        let urgency = self.expected_urgency();
        let is_awaited = !self.closed && self.is_below_limit(rules) && level.is_promised();
        let end = match self.has_slot(rules) {
            true => self.pace.ready,
            false => self.asked + rules.patience,
        };
        is_awaited.then_some(Turn {
            ready: end,
            urgency,
        })
    }

    /// Rewinds the entries read ahead to this rank, so that they do not pass over it.
    pub(super) fn rewind(&mut self, rank: Rank) {
        if self.read_to.is_some_and(|read_to| rank <= read_to) {
            while self.heads.back().is_some_and(|(last, _)| *last >= rank) {
                self.heads.pop_back();
            }
            self.read_to = rank.before();
        }
    }

    fn agenda(&self, rules: &FrontierRules) -> Agenda {
        let (waiting, requisites) = (self.all.waiting(), self.requisites.waiting());
        let (probes, mirrored) = (self.probes.waiting(), self.mirrored.waiting());
        let own_probes = probes - mirrored;
        let may_go = !self.passed && !self.closed && self.has_slot(rules);
        // Requisites come before pages, so the first entry of a host without room for pages is no
        // page; probes come last.
        let is_due = may_go && (requisites > 0 || waiting > probes && self.has_room(rules));
        let is_open = self.is_below_limit(rules);
        let is_unreachable = self
            .pace
            .is_past_last_chance(self.pages + self.unrecorded > 0);
        let ordinary = match is_open {
            _ if is_unreachable => 0,
            true => waiting - probes,
            false => requisites,
        };
        let ordinary = ordinary + self.all.out - self.probes.out;
        let may_probe = may_go && is_open;
        let open_probes = if is_open && !is_unreachable {
            own_probes
        } else {
            0
        };
        let turn = Turn {
            ready: self.pace.ready,
            urgency: self.urgency(),
        };
        let mut due = [None; Wanted::KINDS];
        due[Wanted::All as usize] = is_due.then_some(turn);
        due[Wanted::Requisites as usize] = (may_go && requisites > 0).then_some(turn);
        due[Wanted::Mirrored as usize] = (may_probe && mirrored > 0).then_some(turn);
        let probes = HostProbes {
            ordinary,
            ready: (may_probe && own_probes > 0).then_some(self.pace.ready),
        };
        let is_any_due = due.iter().any(Option::is_some) || probes.ready.is_some();
        let may_come = |tally: &Tally, due: bool| match is_unreachable {
            true => 0,
            false => tally.later + tally.aside + if due { tally.waiting() } else { 0 },
        };
        Agenda {
            waiting,
            leased: self.leased,
            aside: self.all.aside,
            pages: self.pages + self.unrecorded,
            requisites: self.requisites.live,
            others: ordinary + open_probes + self.probes.out - self.mirrored.out,
            probes,
            hopeful: [
                may_come(&self.all, is_any_due),
                may_come(&self.requisites, due[Wanted::Requisites as usize].is_some()),
            ],
            unreachable: if is_unreachable { self.all.live } else { 0 },
            due,
            awaited: self.awaited(rules),
        }
    }
}

impl Hosts {
    pub(super) fn new(rules: FrontierRules) -> Self {
        let (best_first, patience) = (rules.best_first, rules.patience);
        Self {
            rules,
            numbers: HashMap::new(),
            hosts: Vec::new(),
            due: std::array::from_fn(|_| Turns::new(best_first)),
            probes: ProbeTurns::default(),
            domain_of: Vec::new(),
            awaited: Awaited::new(patience),
            sums: Sums::default(),
            floor: Timestamp::default(),
            domains: DomainCounts::default(),
        }
    }

    /// Removes the URLs of a host beyond the limit of its domain; seeds stay.
    pub(super) fn leave_out(&self, discovered: &mut Vec<DiscoveredUrl>) -> Option<LeftOut> {
        let max = self.rules.max_hosts_per_domain?;
        budget::leave_out(discovered, max, &self.domains, |host| {
            self.numbers.contains_key(host)
        })
    }

    /// Returns the number of a host; a new host gets one.
    pub(super) fn number(&mut self, name: &Host) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let mut state = HostState::new(name.clone(), self.floor.into());
        state.levels = self.rules.best_first.then(Levels::default);
        self.add(state)
    }

    /// Stops the leasing of a host's entries, or starts it again.
    pub(super) fn set_closed(&mut self, number: u32, closed: bool) {
        self.change(number, |host| host.closed = closed);
    }

    /// Forgets a host and its entries. If it comes back, it gets another number.
    pub(super) fn forget(&mut self, number: u32) {
        let name = self.get(number).name.clone();
        self.numbers.remove(&name);
        self.domains.remove(&name);
        self.change(number, |host| *host = HostState::new(name, Pace::default()));
    }

    /// Returns true if this number is the present one of its host.
    pub(super) fn is_present(&self, number: u32) -> bool {
        self.find(&self.get(number).name) == Some(number)
    }

    /// Returns the number of a known host.
    pub(super) fn find(&self, name: &Host) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// Adds a host, which has no number yet.
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

    /// Changes a host, and keeps `due`, `awaited` and the sums in step.
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
        if before.awaited != after.awaited {
            let awaited = &mut self.awaited;
            before
                .awaited
                .into_iter()
                .for_each(|turn| awaited.remove(turn, number));
            after
                .awaited
                .into_iter()
                .for_each(|turn| awaited.insert(turn, number));
        }
    }

    /// Changes the counts of the host of this place for the kinds of its entry.
    pub(super) fn tally(&mut self, place: Place, count: impl Fn(&mut Tally)) {
        self.change(place.host, |host| host.tally(place.rank, count));
    }

    /// Takes the host whose turn it is at `now`. It is passed over until [`Hosts::next_round`].
    /// Returns none if a better page is expected.
    pub(super) fn take_due(&mut self, now: Timestamp, wanted: Wanted) -> Option<u32> {
        let number = self.first_due(now, wanted)?;
        if self.expects_better(number, now) {
            return None;
        }
        self.change(number, |host| host.passed = true);
        Some(number)
    }

    /// Returns the host whose turn it is at `now`, were it not for better pages to come. Hosts with
    /// probes alone take turns with the others, and behind them where the best goes first.
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

    /// Returns true if a slot stays empty rather than take the first entry of this host: a better
    /// promise is expected soon.
    fn expects_better(&mut self, number: u32, now: Timestamp) -> bool {
        let hosts = &self.hosts;
        let host = &hosts[number as usize];
        let expected = |number: u32| hosts[number as usize].expected_urgency();
        let best = self.awaited.best(now, expected);
        host.first_level().is_some_and(Level::is_promised)
            && best.is_some_and(|best| best < host.urgency())
    }

    /// Gives these hosts another turn.
    pub(super) fn next_round(&mut self, passed: &mut Vec<u32>) {
        for number in passed.drain(..) {
            self.change(number, |host| host.passed = false);
        }
    }

    /// Returns the time at which the next host becomes ready, or is no longer waited for, if any
    /// has an entry that waits.
    pub(super) fn next_ready(&mut self, now: Timestamp, wanted: Wanted) -> Option<Timestamp> {
        if let Some(first) = self.first_due(now, wanted)
            && self.expects_better(first, now)
        {
            let ends = [
                self.awaited.next_end(now),
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

    /// Makes all hosts wait after the death of a session, because any may have been asked just
    /// before it: known ones as `pace` says, and none is asked before `floor`.
    pub(super) fn wait_after_death(&mut self, floor: Timestamp, pace: impl Fn(Pace) -> Pace) {
        self.set_floor(floor);
        for number in self.numbers() {
            self.change(number, |host| host.pace = pace(host.pace));
        }
    }

    /// Moves the times of all hosts to a clock that was set back. Returns the hosts whose entries
    /// are to be moved too, and the amount.
    pub(super) fn set_back(
        &mut self,
        now: Timestamp,
        least_wait: Duration,
    ) -> Vec<(u32, Duration)> {
        self.set_floor(self.floor.min(now + least_wait));
        let mut moved = Vec::new();
        for number in self.numbers() {
            let (pace, by) = self.get(number).pace.set_back(now, least_wait);
            if pace != self.get(number).pace {
                self.change(number, |host| host.pace = pace);
            }
            if !by.is_zero() {
                moved.push((number, by));
            }
        }
        moved
    }

    /// Returns the latest time of an answer of any host.
    pub(super) fn last_answered(&self) -> Timestamp {
        let answered = self.hosts.iter().map(|host| host.pace.answered);
        answered.max().unwrap_or_default()
    }

    /// Gives the hosts that have had their last chance another one.
    pub(super) fn give_new_chances(&mut self, now: Timestamp) {
        let least_wait = self.rules.least_wait;
        for number in self.numbers() {
            let host = self.get(number);
            if host.pace.is_past_last_chance(host.pages > 0) {
                self.change(number, |host| {
                    host.pace = host.pace.with_new_chance(now, least_wait);
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

    /// Sets the time before which hosts that become known are not asked.
    pub(super) fn set_floor(&mut self, floor: Timestamp) {
        self.floor = floor;
    }

    /// Returns the limits of the frontier.
    pub(super) fn rules(&self) -> &FrontierRules {
        &self.rules
    }

    /// Returns the sums over all hosts, kept as they change.
    pub(super) fn sums(&self) -> Sums {
        self.sums
    }
}

/// The kind of entries to lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All but the probes of mirrors, and of domains that have other pages left.
    All,
    /// Requisites only.
    Requisites,
    /// Probes of mirrors: when no other page waits or is out, on any host. A mirror is visited
    /// behind its original then, and not beside it.
    Mirrored,
}

impl Wanted {
    const KINDS: usize = 3;
}

/// Sums over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Entries that wait for their host's turn.
    pub(super) waiting: u64,
    /// Pages out on lease.
    pub(super) leased: u64,
    /// Pages that are set aside.
    pub(super) aside: u64,
    /// Hosts with pages that wait, are set aside or are out.
    pub(super) active_hosts: u64,
    /// Hosts with at least one fetched page.
    pub(super) visited_hosts: u64,
    /// Unsettled requisites.
    pub(super) requisites: u64,
    /// Entries other than probes of mirrors that wait or are out, of hosts with room for them.
    pub(super) others: u64,
    /// Entries, and requisites among them, that wait and may be leased, of hosts that are not past
    /// their last chance.
    pub(super) hopeful: [u64; 2],
    /// Unsettled entries of hosts past their last chance.
    pub(super) unreachable: u64,
    /// The number of these hosts.
    pub(super) unreachable_hosts: u64,
}

impl Sums {
    fn replace(&mut self, before: &Agenda, after: &Agenda) {
        let active = |agenda: &Agenda| u64::from(agenda.waiting + agenda.leased + agenda.aside > 0);
        let visited = |agenda: &Agenda| u64::from(agenda.pages > 0);
        self.waiting = self.waiting + after.waiting - before.waiting;
        self.leased = self.leased + after.leased - before.leased;
        self.aside = self.aside + after.aside - before.aside;
        self.active_hosts = self.active_hosts + active(after) - active(before);
        self.requisites = self.requisites + after.requisites - before.requisites;
        self.others = self.others + after.others - before.others;
        for (sum, (before, after)) in self
            .hopeful
            .iter_mut()
            .zip(before.hopeful.into_iter().zip(after.hopeful))
        {
            *sum = *sum + after - before;
        }
        let unreachable = |agenda: &Agenda| u64::from(agenda.unreachable > 0);
        self.unreachable = self.unreachable + after.unreachable - before.unreachable;
        self.unreachable_hosts = self.unreachable_hosts + unreachable(after) - unreachable(before);
        self.visited_hosts = self.visited_hosts + visited(after) - visited(before);
    }
}
