//! The work that a host has to offer (its agenda), and the sums over all hosts.
//!
//! Both are derived from the state of the hosts. A change of a host replaces its agenda in the
//! sums, so no query about the whole crawl iterates over hosts.

use super::host_state::HostState;
use super::probe_turns::HostProbes;
use super::turns::Turn;
use super::wait_counts::WaitCounts;
use crate::frontier::FrontierRules;

/// The kind of entries to lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All except the probes of mirrors, and of domains that have other pages left.
    All,
    /// Requisites only.
    Requisites,
    /// Probes of mirrors, when no other page of any host is waiting or out: a mirror is visited
    /// after its original.
    Mirrored,
}

impl Wanted {
    /// The number of kinds.
    pub(super) const KINDS: usize = 3;
}

/// The values that the sums and the order depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Agenda {
    waiting: u64,
    leased: u64,
    quarantined: u64,
    pages: u64,
    requisites: u64,
    /// Entries other than the probes of mirrors.
    others: u64,
    pub(super) probes: HostProbes,
    /// Entries and requisites that are worth waiting for.
    hopeful: [u64; 2],
    /// Entries of a host past its last chance.
    unreachable: u64,
    pub(super) due: [Option<Turn>; Wanted::KINDS],
    pub(super) anticipated: Option<Turn>,
}

impl HostState {
    /// Returns its agenda under these limits.
    pub(super) fn agenda(&self, rules: &FrontierRules) -> Agenda {
        let (waiting, requisites) = (self.all.waiting(), self.requisites.waiting());
        let (probes, mirrored) = (self.probes.waiting(), self.mirrored.waiting());
        let own_probes = probes - mirrored;
        let (has_slot, is_open) = (self.has_slot(rules), self.is_below_limit(rules));
        let may_go = !self.passed && !self.closed && has_slot;
        // Requisites come before pages, so the first entry of a host without room for pages is not
        // a page; probes come last.
        let is_due = may_go && (requisites > 0 || waiting > probes && is_open);
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
        let may_come = |counts: &WaitCounts, due: bool| match is_unreachable {
            true => 0,
            false => counts.later + counts.quarantined + if due { counts.waiting() } else { 0 },
        };
        Agenda {
            waiting,
            leased: self.leased,
            quarantined: self.all.quarantined,
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
            anticipated: self.anticipated(rules),
        }
    }
}

/// Sums over all hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Entries that wait for their host's turn.
    pub(super) waiting: u64,
    /// Pages out on lease.
    pub(super) leased: u64,
    /// Pages that are quarantined.
    pub(super) quarantined: u64,
    /// Hosts with pages that are waiting, quarantined or out.
    pub(super) active_hosts: u64,
    /// Hosts with at least one fetched page.
    pub(super) visited_hosts: u64,
    /// Unsettled requisites.
    pub(super) requisites: u64,
    /// Entries other than probes of mirrors that are waiting or out, of hosts with room for them.
    pub(super) others: u64,
    /// Waiting entries, and waiting requisites, that may be leased, of hosts that are not past
    /// their last chance.
    pub(super) hopeful: [u64; 2],
    /// Unsettled entries of hosts past their last chance.
    pub(super) unreachable: u64,
    /// Number of hosts past their last chance.
    pub(super) unreachable_hosts: u64,
}

impl Sums {
    /// Replaces the agenda of one host.
    pub(super) fn replace(&mut self, before: &Agenda, after: &Agenda) {
        let active =
            |agenda: &Agenda| u64::from(agenda.waiting + agenda.leased + agenda.quarantined > 0);
        let visited = |agenda: &Agenda| u64::from(agenda.pages > 0);
        self.waiting = self.waiting + after.waiting - before.waiting;
        self.leased = self.leased + after.leased - before.leased;
        self.quarantined = self.quarantined + after.quarantined - before.quarantined;
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
