//! Which host's turn it is.
//!
//! Pure: hosts in the order in which they may be asked again, how many of their pages wait and are out on
//! lease, and the bounds on both. Which page of a host comes next is not its business.

use std::collections::{BTreeSet, HashMap};

use web::{Host, Timestamp};

use crate::FrontierRules;

/// The hosts of a crawl.
#[derive(Debug)]
pub(crate) struct Schedule {
    rules: FrontierRules,
    hosts: HashMap<Host, Agenda>,
    /// The hosts that could be handed out at that time: something waits, and the bounds leave room.
    due: BTreeSet<(Timestamp, Host)>,
    sums: Sums,
}

/// One host.
#[derive(Clone, Copy, Debug, Default)]
struct Agenda {
    ready: Timestamp,
    waiting: u64,
    leased: usize,
    pages: u64,
}

impl Agenda {
    fn may_be_due(&self, rules: &FrontierRules) -> bool {
        let room = rules
            .max_pages_per_host
            .is_none_or(|max| self.pages + (self.leased as u64) < max);
        self.waiting > 0 && self.leased < rules.per_host.max(1) && room
    }
}

impl Schedule {
    pub(crate) fn new(rules: FrontierRules) -> Self {
        Self {
            rules,
            hosts: HashMap::new(),
            due: BTreeSet::new(),
            sums: Sums::default(),
        }
    }

    /// More pages of this host wait.
    pub(crate) fn add_waiting(&mut self, host: &Host, more: u64) {
        self.change(host, |agenda| agenda.waiting += more);
    }

    /// This host had so many pages in earlier sessions.
    pub(crate) fn set_pages(&mut self, host: &Host, pages: u64) {
        self.change(host, |agenda| agenda.pages = pages);
    }

    /// The host that has been ready longest at `now`, not counting those in `passed`.
    pub(crate) fn next_due(&self, now: Timestamp, passed: &[Host]) -> Option<Host> {
        let ready = self.due.iter().take_while(|(ready, _)| *ready <= now);
        ready
            .map(|(_, host)| host)
            .find(|host| !passed.contains(host))
            .cloned()
    }

    /// A page of this host goes out on lease.
    pub(crate) fn lease(&mut self, host: &Host) {
        self.change(host, |agenda| {
            agenda.waiting -= 1;
            agenda.leased += 1;
        });
    }

    /// A page of this host came back: it may be asked again from `ready` on.
    pub(crate) fn settle(&mut self, host: &Host, ready: Timestamp, was: Settled) {
        self.change(host, |agenda| {
            agenda.leased -= 1;
            agenda.ready = agenda.ready.max(ready);
            match was {
                Settled::Page => agenda.pages += 1,
                Settled::NoPage => {}
                Settled::Back => agenda.waiting += 1,
            }
        });
    }

    /// When the next host becomes ready, if any waits at all.
    pub(crate) fn next_ready(&self) -> Option<Timestamp> {
        self.due.first().map(|(ready, _)| *ready)
    }

    /// Pages so far of this host.
    pub(crate) fn pages(&self, host: &Host) -> u64 {
        self.hosts.get(host).map_or(0, |agenda| agenda.pages)
    }

    /// Sums over all hosts, kept as they change.
    pub(crate) fn sums(&self) -> Sums {
        self.sums
    }

    /// Keeps `due` and the sums in step with a host's agenda.
    fn change(&mut self, host: &Host, change: impl FnOnce(&mut Agenda)) {
        let agenda = self.hosts.entry(host.clone()).or_default();
        let before = *agenda;
        change(agenda);
        let after = *agenda;
        self.sums.replace(&before, &after);
        let due = |agenda: &Agenda| agenda.may_be_due(&self.rules).then_some(agenda.ready);
        if due(&before) != due(&after) {
            if let Some(ready) = due(&before) {
                self.due.remove(&(ready, host.clone()));
            }
            if let Some(ready) = due(&after) {
                self.due.insert((ready, host.clone()));
            }
        }
    }
}

/// Sums over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Pages that wait.
    pub(crate) waiting: u64,
    /// Pages out on lease.
    pub(crate) leased: u64,
    /// Hosts with pages that wait or are out.
    pub(crate) active_hosts: u64,
    /// Hosts that had a page.
    pub(crate) visited_hosts: u64,
}

impl Sums {
    fn replace(&mut self, before: &Agenda, after: &Agenda) {
        let active = |agenda: &Agenda| u64::from(agenda.waiting > 0 || agenda.leased > 0);
        let visited = |agenda: &Agenda| u64::from(agenda.pages > 0);
        self.waiting = self.waiting + after.waiting - before.waiting;
        self.leased = self.leased + after.leased as u64 - before.leased as u64;
        self.active_hosts = self.active_hosts + active(after) - active(before);
        self.visited_hosts = self.visited_hosts + visited(after) - visited(before);
    }
}

/// How a lease came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settled {
    /// A page was had.
    Page,
    /// None was, and the URL is done with.
    NoPage,
    /// It waits again.
    Back,
}
