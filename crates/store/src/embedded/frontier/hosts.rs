//! The hosts of the crawl, and whose turn it is.
//!
//! A host is known by its number, in the order in which hosts became known; that order is a
//! function of the journal. Kept are what outlasts the process (its name, its pages so far, how it
//! wants to be asked, how many of its pages are not settled) and what does not (which are out, the
//! next ones as they were read from the blocks).

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::time::Duration;

use web::{AfterDeath, Host, Pace, Timestamp};

use super::place::{Body, Rank};
use crate::budget::{self, DomainCounts};
use crate::{DiscoveredUrl, FrontierRules, LeftOut};

/// The hosts of a crawl.
pub(super) struct Hosts {
    rules: FrontierRules,
    numbers: HashMap<Host, u32>,
    hosts: Vec<HostState>,
    /// The hosts that could be handed out at that time: something waits, and the bounds leave room.
    due: BTreeSet<(Timestamp, u32)>,
    /// Those of them where something waits that a page needs.
    due_requisites: BTreeSet<(Timestamp, u32)>,
    /// The hosts where something waits that was found on left-out pages only, in the same way.
    due_probes: BTreeSet<(Timestamp, u32)>,
    sums: Sums,
    /// No host is asked before then.
    floor: Timestamp,
    /// How many hosts there are of each domain.
    domains: DomainCounts,
}

/// One host.
#[derive(Debug)]
pub(super) struct HostState {
    pub(super) name: Host,
    pub(super) pace: Pace,
    /// Pages that were had, as far as is recorded.
    pub(super) pages: u64,
    /// What is not settled.
    pub(super) all: Tally,
    /// What of that pages need.
    pub(super) requisites: Tally,
    /// What of that was found on left-out pages only.
    pub(super) probes: Tally,
    /// Those that are out on lease.
    pub(super) leased: u64,
    /// Pages that were had and are not recorded yet.
    pub(super) unrecorded: u64,
    /// Pages that are done with and still lie in blocks.
    pub(super) gone: u32,
    /// The first pages that wait.
    pub(super) heads: VecDeque<(Rank, Body)>,
    /// What waits up to here is among the heads.
    pub(super) read_to: Option<Rank>,
    /// It had its turn in this round.
    passed: bool,
}

/// What of a host is not settled, as far as is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// All of it.
    pub(super) live: u64,
    /// What of it waits for a time of its own.
    pub(super) later: u64,
    /// What of it was handed out and whose settlement is not recorded.
    pub(super) out: u64,
    /// What of it is set aside.
    pub(super) aside: u64,
}

impl Tally {
    /// What may be handed out when its host's turn comes.
    fn waiting(&self) -> u64 {
        self.live.saturating_sub(self.later + self.out + self.aside)
    }
}

/// What the sums and the order depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Agenda {
    waiting: u64,
    leased: u64,
    aside: u64,
    pages: u64,
    requisites: u64,
    ordinary: u64,
    due: Option<Timestamp>,
    due_requisites: Option<Timestamp>,
    due_probes: Option<Timestamp>,
}

impl HostState {
    pub(super) fn new(name: Host, pace: Pace) -> Self {
        Self {
            name,
            pace,
            pages: 0,
            all: Tally::default(),
            requisites: Tally::default(),
            probes: Tally::default(),
            leased: 0,
            unrecorded: 0,
            gone: 0,
            heads: VecDeque::new(),
            read_to: None,
            passed: false,
        }
    }

    /// Counts something of this rank.
    pub(super) fn tally(&mut self, rank: Rank, count: impl Fn(&mut Tally)) {
        count(&mut self.all);
        if rank.is_requisite() {
            count(&mut self.requisites);
        }
        if rank.is_probed() {
            count(&mut self.probes);
        }
    }

    /// Takes note of how it wants to be asked: the latest word counts, but what it was promised
    /// stays.
    pub(super) fn keep_pace(&mut self, pace: Pace) {
        self.pace = self.pace.then(pace);
    }

    /// Returns whether something may be handed out when its turn comes.
    pub(super) fn has_waiting(&self) -> bool {
        self.all.waiting() > 0
    }

    /// Whether one more may be handed out now, if the limits of pages do not bound it.
    fn has_slot(&self, rules: &FrontierRules) -> bool {
        self.leased < rules.per_host.max(1) as u64
    }

    /// Whether the bounds leave room for one more of its pages. What is out may turn out to be one.
    fn has_room(&self, rules: &FrontierRules) -> bool {
        self.has_slot(rules) && self.is_below_limit(rules)
    }

    fn is_below_limit(&self, rules: &FrontierRules) -> bool {
        let pages = self.pages + self.unrecorded + self.leased;
        rules.max_pages_per_host.is_none_or(|max| pages < max)
    }

    /// A page that waits stands here: what was read ahead must not pass over it.
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
        let probes = self.probes.waiting();
        let may_go = !self.passed && self.has_slot(rules);
        // What pages need stands before the pages, so that the first of a host without room for
        // pages is none; probes stand behind.
        let is_due = may_go && (requisites > 0 || waiting > probes && self.has_room(rules));
        let is_open = self.is_below_limit(rules);
        let ordinary = if is_open {
            waiting - probes
        } else {
            requisites
        };
        Agenda {
            waiting,
            leased: self.leased,
            aside: self.all.aside,
            pages: self.pages + self.unrecorded,
            requisites: self.requisites.live,
            ordinary: ordinary + self.all.out - self.probes.out,
            due: is_due.then_some(self.pace.ready),
            due_requisites: (may_go && requisites > 0).then_some(self.pace.ready),
            due_probes: (may_go && is_open && probes > 0).then_some(self.pace.ready),
        }
    }
}

impl Hosts {
    pub(super) fn new(rules: FrontierRules) -> Self {
        Self {
            rules,
            numbers: HashMap::new(),
            hosts: Vec::new(),
            due: BTreeSet::new(),
            due_requisites: BTreeSet::new(),
            due_probes: BTreeSet::new(),
            sums: Sums::default(),
            floor: Timestamp::default(),
            domains: DomainCounts::default(),
        }
    }

    /// Takes out what is of a host too many of its domain; seeds stay.
    pub(super) fn leave_out(&self, finds: &mut Vec<DiscoveredUrl>) -> Option<LeftOut> {
        let max = self.rules.max_hosts_per_domain?;
        budget::leave_out(finds, max, &self.domains, |host| {
            self.numbers.contains_key(host)
        })
    }

    /// The number of a host, which is given to it now if it has none.
    pub(super) fn number(&mut self, name: &Host) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let state = HostState::new(name.clone(), self.floor.into());
        self.add(state)
    }

    /// The number of a host that is known.
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
        self.hosts.push(HostState::new(name, Pace::default()));
        self.change(number, |host| *host = state);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.hosts.len()
    }

    pub(super) fn get(&self, number: u32) -> &HostState {
        &self.hosts[number as usize]
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &HostState> {
        self.hosts.iter()
    }

    /// For what neither the order of the hosts nor the sums depend on.
    pub(super) fn heads_of(&mut self, number: u32) -> &mut HostState {
        &mut self.hosts[number as usize]
    }

    /// Changes a host, and keeps `due` and the sums in step.
    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut HostState)) {
        let host = &mut self.hosts[number as usize];
        let before = host.agenda(&self.rules);
        change(host);
        let after = host.agenda(&self.rules);
        self.sums.replace(&before, &after);
        move_due(&mut self.due, number, before.due, after.due);
        move_due(
            &mut self.due_requisites,
            number,
            before.due_requisites,
            after.due_requisites,
        );
        move_due(
            &mut self.due_probes,
            number,
            before.due_probes,
            after.due_probes,
        );
    }

    fn due(&self, what: Wanted) -> &BTreeSet<(Timestamp, u32)> {
        match what {
            Wanted::All => &self.due,
            Wanted::Requisites => &self.due_requisites,
            Wanted::Probes => &self.due_probes,
        }
    }

    /// The host that has been ready longest at `now`. It is passed over until
    /// [`Hosts::next_round`].
    pub(super) fn take_due(&mut self, now: Timestamp, what: Wanted) -> Option<u32> {
        let (ready, number) = *self.due(what).first()?;
        if ready > now {
            return None;
        }
        self.change(number, |host| host.passed = true);
        Some(number)
    }

    /// These hosts, which had their turn, may have another.
    pub(super) fn next_round(&mut self, passed: &mut Vec<u32>) {
        for number in passed.drain(..) {
            self.change(number, |host| host.passed = false);
        }
    }

    /// When the next host becomes ready, if any waits at all.
    pub(super) fn next_ready(&self, what: Wanted) -> Option<Timestamp> {
        self.due(what).first().map(|(ready, _)| *ready)
    }

    /// Whether the bounds leave room for one more of this rank.
    pub(super) fn has_room(&self, number: u32, rank: Rank) -> bool {
        let host = self.get(number);
        if rank.is_requisite() {
            return host.has_slot(&self.rules);
        }
        host.has_room(&self.rules)
    }

    /// Any host may have been asked at `at`: none is asked before its least wait has passed.
    pub(super) fn wait_after_death(&mut self, at: Timestamp, least_wait: Duration) {
        self.set_floor(at + least_wait);
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            self.change(number, |host| {
                host.pace = host.pace.after_death(at, least_wait)
            });
        }
    }

    /// Any host may have been asked at `at`: none is asked before the wait that is known of it has
    /// passed.
    pub(super) fn wait_after_restart(&mut self, at: Timestamp, rule: AfterDeath) {
        self.set_floor(at + rule.least_wait);
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            self.change(number, |host| host.pace = host.pace.after_restart(at, rule));
        }
    }

    /// Moves the times of all hosts to a clock that was set back; returns those whose pages are to
    /// be moved too, and by how much.
    pub(super) fn set_back(
        &mut self,
        now: Timestamp,
        least_wait: Duration,
    ) -> Vec<(u32, Duration)> {
        self.set_floor(self.floor.min(now + least_wait));
        let mut moved = Vec::new();
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
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

    /// The latest moment at which a host is known to have answered.
    pub(super) fn last_answered(&self) -> Timestamp {
        let answered = self.hosts.iter().map(|host| host.pace.answered);
        answered.max().unwrap_or_default()
    }

    /// Whatever was said before, each host may be asked from `latest` on.
    pub(super) fn wait_at_most_until(&mut self, latest: Timestamp) {
        self.floor = self.floor.min(latest);
        for number in 0..u32::try_from(self.hosts.len()).unwrap_or(u32::MAX) {
            if self.get(number).pace.ready > latest {
                self.change(number, |host| host.pace.ready = latest);
            }
        }
    }

    /// Hosts that become known are not asked before then.
    pub(super) fn set_floor(&mut self, floor: Timestamp) {
        self.floor = floor;
    }

    /// What bounds a frontier.
    pub(super) fn rules(&self) -> &FrontierRules {
        &self.rules
    }

    /// Sums over all hosts, kept as they change.
    pub(super) fn sums(&self) -> Sums {
        self.sums
    }
}

/// What is to be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All but probes.
    All,
    /// What pages need, and no page.
    Requisites,
    /// What was found on left-out pages only: when no other page waits or is out, on whatever host.
    /// A mirror is visited behind its original then, and not beside it.
    Probes,
}

fn move_due(
    due: &mut BTreeSet<(Timestamp, u32)>,
    number: u32,
    before: Option<Timestamp>,
    after: Option<Timestamp>,
) {
    if before == after {
        return;
    }
    if let Some(ready) = before {
        due.remove(&(ready, number));
    }
    if let Some(ready) = after {
        due.insert((ready, number));
    }
}

/// Sums over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Pages that wait for their host's turn.
    pub(super) waiting: u64,
    /// Pages out on lease.
    pub(super) leased: u64,
    /// Pages that are set aside.
    pub(super) aside: u64,
    /// Hosts with pages that wait, are set aside or are out.
    pub(super) active_hosts: u64,
    /// Hosts that a page was had from.
    pub(super) visited_hosts: u64,
    /// What pages need and is not settled.
    pub(super) requisites: u64,
    /// What waits or is out and was not found on left-out pages only, of hosts with room for it.
    pub(super) ordinary: u64,
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
        self.ordinary = self.ordinary + after.ordinary - before.ordinary;
        self.visited_hosts = self.visited_hosts + visited(after) - visited(before);
    }
}
