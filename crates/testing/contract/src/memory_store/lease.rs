//! The choice of the next leases of the store without a disk.

use std::collections::{BTreeSet, HashSet};

use journal::DiscoveredUrl;
use store::{Lease, LeaseFilter, Supply};
use web::{Host, Timestamp};

use super::queue::{Queue, Waiting};

impl Queue {
    pub(super) fn lease(&mut self, now: Timestamp, want: usize, filter: LeaseFilter) -> Supply {
        loop {
            let supply = self.lease_waiting(now, want, filter);
            let may_reopen = supply == Supply::Exhausted && filter == LeaseFilter::All;
            if !may_reopen || !self.take_last_look() {
                return supply;
            }
        }
    }

    fn lease_waiting(&mut self, now: Timestamp, want: usize, filter: LeaseFilter) -> Supply {
        if self.alone.is_some() {
            return Supply::NothingBefore(Timestamp::NEVER);
        }
        for waiting in &mut self.entries {
            waiting.not_before = waiting.not_before.filter(|time| *time > now);
        }
        let mut leases = Vec::new();
        let mut round: HashSet<Host> = HashSet::new();
        let mut mirrors = false;
        while leases.len() < want {
            if leases.is_empty() && round.is_empty() {
                let others = |waiting: &&Waiting| !waiting.entry.discovered.is_mirrored();
                mirrors = filter == LeaseFilter::All
                    && !self.unsettled().filter(others).any(|one| self.may_go(one))
                    && !self.has_unreachable(now, filter);
            }
            let first = self.first(now, filter, mirrors, &round);
            let Some(index) = first.filter(|index| !self.expects_better(*index, now)) else {
                if round.is_empty() {
                    break;
                }
                round.clear();
                continue;
            };
            if self.supersede(index) {
                continue;
            }
            let lease = self.hand_out(index, now);
            round.insert(lease.url().host());
            leases.push(lease);
        }
        if !leases.is_empty() {
            return Supply::Leases(leases);
        }
        let wanted = self
            .entries
            .iter()
            .filter(|waiting| filter.admits(&waiting.entry.discovered));
        let next = self
            .times(now, filter, mirrors)
            .into_iter()
            .chain(wanted.filter_map(|waiting| waiting.not_before))
            .min();
        if self.leased.values().any(|count| *count > 0) {
            return Supply::NothingBefore(next.unwrap_or(Timestamp::NEVER));
        }
        let supply = self.lease_quarantined(now, want, filter).or_before(next);
        match supply {
            Supply::NothingBefore(_) if !self.is_worth_waiting(filter) => Supply::Exhausted,
            supply => supply,
        }
    }

    /// Returns true if an entry is waiting whose host is not past its last chance.
    fn is_worth_waiting(&self, filter: LeaseFilter) -> bool {
        self.entries.iter().any(|waiting| {
            let found = &waiting.entry.discovered;
            let may_go =
                waiting.is_quarantined() || waiting.not_before.is_some() || self.has_room(found);
            filter.admits(found) && may_go && !self.is_past_last_chance(&waiting.host())
        })
    }

    /// Returns true if an entry other than the probe of a mirror can be leased now. If mirrors do
    /// not wait for any entry, this entry is of a host past its last chance.
    fn has_unreachable(&self, now: Timestamp, filter: LeaseFilter) -> bool {
        let first = self.first(now, filter, false, &HashSet::new());
        first.is_some_and(|index| !self.expects_better(index, now))
    }

    /// Returns the entry whose turn it is at `now`, ignoring better entries to come. The hosts in
    /// `round` have had their turn.
    fn first(
        &self,
        now: Timestamp,
        filter: LeaseFilter,
        mirrors: bool,
        round: &HashSet<Host>,
    ) -> Option<usize> {
        let busy = self.busy_domains();
        let candidates = self.entries.iter().enumerate().filter(|(_, waiting)| {
            self.is_open(waiting, filter, mirrors, &busy)
                && self.ready_at(waiting) <= now
                && !round.contains(&waiting.host())
        });
        let first = candidates.min_by_key(|(_, waiting)| self.turn(waiting));
        first.map(|(index, _)| index)
    }

    /// Returns the times at which hosts become ready or the waits for hosts end.
    fn times(&self, now: Timestamp, filter: LeaseFilter, mirrors: bool) -> Vec<Timestamp> {
        let busy = self.busy_domains();
        let open = self
            .entries
            .iter()
            .filter(|waiting| self.is_open(waiting, filter, mirrors, &busy));
        let first = self.first(now, filter, mirrors, &HashSet::new());
        if !first.is_some_and(|first| self.expects_better(first, now)) {
            return open.map(|waiting| self.ready_at(waiting)).collect();
        }
        // Probes go after the anticipated pages.
        let pages = open.filter(|waiting| !waiting.entry.discovered.is_probed());
        let times = pages.map(|waiting| self.ready_at(waiting));
        let ends = self.anticipated().into_iter().map(|(end, _)| end);
        times.chain(ends).filter(|time| *time > now).collect()
    }

    /// Returns true if this entry is not leased because a better score is expected.
    fn expects_better(&self, index: usize, now: Timestamp) -> bool {
        let found = &self.entries[index].entry.discovered;
        let is_page = found.requisite == 0;
        let own = self.among_hosts(found);
        let is_better = |(end, place): &(Timestamp, u16)| {
            *end > now && *end <= now + self.rules.anticipation && *place < own
        };
        is_page && found.link_score().is_some() && self.anticipated().iter().any(is_better)
    }

    /// Returns the end of the wait for each host with a score, and the rank of its best URL.
    fn anticipated(&self) -> Vec<(Timestamp, u16)> {
        if !self.rules.best_first || self.rules.anticipation.is_zero() {
            return Vec::new();
        }
        let first_of = |host: &Host| {
            let waits =
                |waiting: &Waiting| !waiting.is_quarantined() && waiting.not_before.is_none();
            let open = self
                .entries
                .iter()
                .filter(|waiting| waiting.leased || waits(waiting));
            let expected = open.chain(self.ended()).filter(|one| one.host() == *host);
            expected.min_by_key(|waiting| self.turn(waiting))
        };
        let anticipated = self.order.keys().filter_map(|host| {
            let first = &first_of(host)?.entry.discovered;
            let is_page = first.requisite == 0 && first.link_score().is_some();
            let leased = self.leased.get(host).copied().unwrap_or(0);
            let end = match leased < self.rules.leases_of(host) {
                true => self.pace(host).ready,
                false => self.asked_at[host] + self.rules.anticipation,
            };
            let place = self.among_hosts(first);
            (is_page && self.is_below_limit(first)).then_some((end, place))
        });
        anticipated.collect()
    }

    /// Leases a quarantined entry, alone, when nothing is out and no other entry can be leased.
    fn lease_quarantined(&mut self, now: Timestamp, want: usize, filter: LeaseFilter) -> Supply {
        let quarantined = self.entries.iter().enumerate().filter(|(_, waiting)| {
            !waiting.leased
                && waiting.is_quarantined()
                && waiting.not_before.is_none()
                && filter.admits(&waiting.entry.discovered)
                && self.has_room(&waiting.entry.discovered)
        });
        let turn = |waiting: &Waiting| (self.ready_at(waiting), waiting.entry.sequence);
        let first = quarantined
            .map(|(index, waiting)| (turn(waiting), index))
            .min();
        let Some(((ready, sequence), index)) = first else {
            return Supply::Exhausted;
        };
        if ready > now {
            return Supply::NothingBefore(ready);
        }
        if self.supersede(index) {
            return self.lease_waiting(now, want, filter);
        }
        self.alone = Some(sequence);
        Supply::Leases(vec![self.hand_out(index, now)])
    }

    fn hand_out(&mut self, index: usize, now: Timestamp) -> Lease {
        let excluded = self.exclusion(index);
        let host = self.entries[index].host();
        let pace = self.pace(&host);
        self.asked_at.insert(host.clone(), now);
        *self.leased.entry(host).or_insert(0) += 1;
        self.asked = true;
        let waiting = &mut self.entries[index];
        waiting.leased = true;
        let url = &waiting.entry.discovered.url;
        let runs_scripts = self.patterns.runs_scripts(url, &self.rules);
        Lease {
            runs_scripts,
            entry: waiting.entry.clone(),
            pace,
            excluded,
        }
    }

    /// Returns the order of leasing: the lowest goes first.
    fn turn(&self, waiting: &Waiting) -> impl Ord + use<> {
        let host = waiting.host();
        let DiscoveredUrl {
            priority,
            depth,
            requisite,
            off_scope,
            ..
        } = waiting.entry.discovered;
        // Requisites go first, then the pages that a user wants to have visited.
        let is_ordered = priority == DiscoveredUrl::ORDERED;
        let kind = (requisite == 0, requisite, !is_ordered);
        let best_first = self.rules.best_first;
        let ready = self.pace(&host).ready;
        (
            best_first.then(|| (kind, self.in_turns(&waiting.entry.discovered))),
            ready,
            self.order[&host],
            kind,
            priority,
            off_scope,
            depth,
            waiting.entry.sequence,
        )
    }

    /// Returns the rank of an entry among the entries of other hosts: probes take turns by time
    /// alone.
    fn in_turns(&self, found: &DiscoveredUrl) -> u16 {
        match found.is_probed() && !found.is_mirrored() {
            true => u16::from(DiscoveredUrl::PROBED) << 8,
            false => self.among_hosts(found),
        }
    }

    /// Returns the rank of a page among the pages of other hosts, by its score and the off-topic
    /// streak of its host.
    fn among_hosts(&self, found: &DiscoveredUrl) -> u16 {
        let off_topic_streak = self.off_topic_streaks.get(&found.url.host());
        let levels = off_topic_streak.map_or(0, |spell| spell.levels());
        DiscoveredUrl::among_hosts(found.priority, levels)
    }

    /// Returns true for an entry that can be leased once its host is ready.
    fn is_open(
        &self,
        waiting: &Waiting,
        filter: LeaseFilter,
        mirrors: bool,
        busy: &BTreeSet<String>,
    ) -> bool {
        let discovered = &waiting.entry.discovered;
        let is_kept_back = discovered.is_probed()
            && !discovered.is_mirrored()
            && !busy.is_empty()
            && busy.contains(discovered.url.registrable_domain());
        filter.admits(discovered)
            && discovered.is_mirrored() == mirrors
            && !is_kept_back
            && !waiting.leased
            && !waiting.is_quarantined()
            && waiting.not_before.is_none()
            && self.has_room(discovered)
    }

    /// Returns all entries whose visits are not recorded.
    fn unsettled(&self) -> impl Iterator<Item = &Waiting> {
        self.entries.iter().chain(self.ended())
    }

    /// Returns the domains with pages that their probes wait for.
    fn busy_domains(&self) -> BTreeSet<String> {
        let is_probed = |waiting: &Waiting| waiting.entry.discovered.is_probed();
        if !self.entries.iter().any(is_probed) {
            return BTreeSet::new();
        }
        let ordinary = |waiting: &&Waiting| !is_probed(waiting);
        let busy = self
            .unsettled()
            .filter(ordinary)
            .filter(|one| self.may_go(one));
        let domain = |waiting: &Waiting| {
            let url = &waiting.entry.discovered.url;
            url.registrable_domain().to_owned()
        };
        busy.map(domain).collect()
    }

    /// Returns true for an entry that is out, or can be leased when its host's turn comes.
    fn may_go(&self, waiting: &Waiting) -> bool {
        let is_kept_back = waiting.is_quarantined()
            || waiting.not_before.is_some()
            || self.is_past_last_chance(&waiting.host());
        waiting.leased || !is_kept_back && self.is_below_limit(&waiting.entry.discovered)
    }

    fn has_room(&self, discovered: &DiscoveredUrl) -> bool {
        let host = &discovered.url.host();
        let leased = self.leased.get(host).copied().unwrap_or(0);
        leased < self.rules.leases_of(host) && self.is_below_limit(discovered)
    }

    fn is_below_limit(&self, discovered: &DiscoveredUrl) -> bool {
        let host = &discovered.url.host();
        let leased = self.leased.get(host).copied().unwrap_or(0) as u64;
        let pages = self.pages.get(host).copied().unwrap_or(0);
        let max = self.rules.max_pages_of(host);
        discovered.requisite > 0 || max.is_none_or(|max| pages + leased < max)
    }
}
