//! The turns of hosts with probes. A domain without other pages left is open.
//!
//! A probe waits behind all other pages of its registrable domain, and pages of other domains do
//! not delay it. A domain may have many hosts, and opens and closes with each page that a probe
//! finds. So each domain keeps the turns of its hosts, and only the first turn of an open domain is
//! among the turns of the crawl.
//!
//! Invariant: `open` has the first turn of each domain without ordinary entries.

use std::collections::{BTreeSet, HashMap};

use web::{Host, Timestamp, UrlKey};

/// The earliest time of a host's turn, and the host's number.
type HostTurn = (Timestamp, u32);

/// The turns of hosts with probes.
#[derive(Debug, Default)]
pub(super) struct ProbeTurns {
    numbers: HashMap<UrlKey, u32>,
    domains: Vec<DomainTurns>,
    open: BTreeSet<HostTurn>,
}

/// The hosts of a registrable domain.
#[derive(Debug, Default)]
pub(super) struct DomainTurns {
    /// Entries other than probes that are waiting or out, of hosts with room for them.
    ordinary: u64,
    /// The turns of hosts with probes and room for one.
    turns: BTreeSet<HostTurn>,
}

/// The part of a host's state that its domain depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostProbes {
    /// Its entries other than probes that are waiting or out.
    pub(super) ordinary: u64,
    /// The earliest time at which a probe may be leased; `None` without a probe or room for one.
    pub(super) ready: Option<Timestamp>,
}

impl ProbeTurns {
    /// Returns the number of a host's domain.
    pub(super) fn domain_of(&mut self, host: &Host) -> u32 {
        let key = UrlKey::of_name(host.registrable_domain());
        *self.numbers.entry(key).or_insert_with(|| {
            self.domains.push(DomainTurns::default());
            u32::try_from(self.domains.len() - 1).expect("there are fewer domains than hosts")
        })
    }

    /// Changes the state of a host of this domain.
    pub(super) fn change(&mut self, domain: u32, host: u32, before: HostProbes, after: HostProbes) {
        if before == after {
            return;
        }
        let turns = &mut self.domains[domain as usize];
        let first = turns.first();
        turns.ordinary = turns.ordinary + after.ordinary - before.ordinary;
        if let Some(ready) = before.ready {
            turns.turns.remove(&(ready, host));
        }
        if let Some(ready) = after.ready {
            turns.turns.insert((ready, host));
        }
        let next = turns.first();
        if first != next {
            first
                .into_iter()
                .for_each(|turn| _ = self.open.remove(&turn));
            self.open.extend(next);
        }
    }

    /// Returns the first turn of a host whose domain is open.
    pub(super) fn first(&self) -> Option<HostTurn> {
        self.open.first().copied()
    }
}

impl DomainTurns {
    /// Returns the first turn, if the domain is open.
    fn first(&self) -> Option<HostTurn> {
        let first = self.turns.first().copied();
        first.filter(|_| self.ordinary == 0)
    }
}
