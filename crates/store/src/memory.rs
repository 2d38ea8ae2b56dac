//! A store without a disk: plain collections and linear searches, slow and simple.
//!
//! It serves tests, and is the oracle for the embedded store.

mod near_dup;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use neardup::{HashKey, SignatureIndex};
use web::{Host, Pace, PageUrl, Timestamp, UrlKey};

use crate::budget::{self, DomainCounts};
use crate::discovered_url::DiscoveredUrl;
use crate::embedded::earlier::EarlierCrawls;
use crate::fault::StoreFault;
use crate::frontier::STRIKES_ASIDE;
use crate::frontier::{
    ArchivePlace, Durable, FinishedVisit, Frontier, FrontierRules, Lease, LeaseFilter,
};
use crate::frontier::{QueueEntry, Settlement, Standing, Supply};
use crate::host_memory::HostMemory;
use crate::host_memory::Robots;
use crate::known::Known;
use crate::near_dup::{Original, Page, RetainedDuplicate};
use crate::patterns::{PatternName, Patterns};
use crate::rules::LikenessRules;
use crate::totals::Totals;
use crate::visit_record::VisitRecord;

/// The memory of a crawl that ends with the process.
pub struct MemoryStore {
    rules: FrontierRules,
    state: Mutex<State>,
}

struct State {
    rules: FrontierRules,
    patterns: Patterns,
    entries: Vec<Waiting>,
    seen: HashSet<PageUrl>,
    /// URLs found on left-out pages only.
    probed: HashSet<PageUrl>,
    /// Probes out on lease, each with its discovery on a kept page meanwhile.
    out_probes: HashMap<PageUrl, Option<DiscoveredUrl>>,
    claims: HashMap<PageUrl, u64>,
    leased: HashMap<Host, usize>,
    paces: HashMap<Host, Pace>,
    /// The time before which no host is leased.
    floor: Timestamp,
    /// The order of discovery of hosts; of those that are ready at the same time, the first goes
    /// first.
    order: HashMap<Host, usize>,
    pages: HashMap<Host, u64>,
    robots: HashMap<String, Robots>,
    next_sequence: u64,
    rows: Vec<VisitRecord>,
    totals: Totals,
    next_ticket: u64,
    early: HashMap<u64, Ended>,
    /// The sequence of a set-aside entry out on lease: nothing else is leased meanwhile.
    alone: Option<u64>,
    /// Admitted pages that were forgotten.
    forgotten: HashSet<UrlKey>,
    /// True if an entry was leased in this session.
    asked: bool,
    known: Known<Hung>,
    /// Every page that was ever admitted or retained; known pages refer to it by index.
    kept: Vec<Page>,
    /// The verdicts of retained duplicates.
    retained: HashMap<UrlKey, (Box<Original>, RetainedDuplicate)>,
}

/// Originals in a signature index.
struct Hung {
    signature_index: SignatureIndex,
    places: HashMap<UrlKey, u64>,
}

/// An entry of the queue, and its state.
struct Waiting {
    entry: QueueEntry,
    /// Set while it is postponed.
    not_before: Option<Timestamp>,
    /// Set once it was postponed.
    due: Option<Timestamp>,
    leased: bool,
}

/// A finished visit that waits for its turn in the archive.
struct Ended {
    visit: FinishedVisit,
    waiting: Waiting,
}

impl Waiting {
    fn new(sequence: u64, discovered: DiscoveredUrl) -> Self {
        Self {
            entry: QueueEntry::new(sequence, discovered),
            not_before: None,
            due: None,
            leased: false,
        }
    }

    fn is_aside(&self) -> bool {
        self.entry.strikes >= STRIKES_ASIDE
    }

    fn lease(&mut self, pace: Pace, barred: Option<String>) -> Lease {
        self.leased = true;
        Lease {
            entry: self.entry.clone(),
            pace,
            barred,
        }
    }
}

impl MemoryStore {
    /// Returns an empty store, with the pages of an earlier crawl if there is one.
    #[must_use]
    pub fn new(
        rules: FrontierRules,
        likeness: LikenessRules,
        earlier: Option<Arc<EarlierCrawls>>,
    ) -> Self {
        let key = earlier
            .as_ref()
            .map_or(HashKey::ZERO, |earlier| earlier.key());
        let state = State {
            rules,
            patterns: Patterns::default(),
            entries: Vec::new(),
            seen: HashSet::new(),
            probed: HashSet::new(),
            out_probes: HashMap::new(),
            claims: HashMap::new(),
            leased: HashMap::new(),
            paces: HashMap::new(),
            floor: Timestamp::default(),
            order: HashMap::new(),
            pages: HashMap::new(),
            robots: HashMap::new(),
            next_sequence: 0,
            rows: Vec::new(),
            totals: Totals::default(),
            next_ticket: 0,
            early: HashMap::new(),
            alone: None,
            forgotten: HashSet::new(),
            asked: false,
            known: Known::new(
                likeness,
                key,
                Hung {
                    signature_index: SignatureIndex::new(likeness.thresholds),
                    places: HashMap::new(),
                },
                earlier,
            ),
            kept: Vec::new(),
            retained: HashMap::new(),
        };
        Self {
            rules,
            state: Mutex::new(state),
        }
    }

    /// Returns the visit records, in the order of the archive.
    #[must_use]
    pub fn rows(&self) -> Vec<VisitRecord> {
        self.state().rows.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no panic can happen while the state is locked")
    }

    fn lease_wanted(&self, now: Timestamp, want: usize, filter: LeaseFilter) -> Supply {
        let mut state = self.state();
        if state.alone.is_some() {
            return Supply::NothingBefore(Timestamp::NEVER);
        }
        for waiting in &mut state.entries {
            waiting.not_before = waiting.not_before.filter(|time| *time > now);
        }
        let mut leases = Vec::new();
        let mut round: HashSet<Host> = HashSet::new();
        let mut probes = false;
        while leases.len() < want {
            if leases.is_empty() && round.is_empty() {
                probes = !state
                    .entries
                    .iter()
                    .any(|waiting| self.is_ordinary(&state, waiting));
            }
            let candidates = state.entries.iter().enumerate().filter(|(_, waiting)| {
                let host = waiting.entry.discovered.url.host();
                filter.admits(&waiting.entry.discovered)
                    && waiting.entry.discovered.is_probed() == probes
                    && !waiting.leased
                    && !waiting.is_aside()
                    && waiting.not_before.is_none()
                    && state.ready_at(waiting) <= now
                    && self.room(&state, &waiting.entry.discovered)
                    && !round.contains(&host)
            });
            let order = |waiting: &Waiting| {
                let host = waiting.entry.discovered.url.host();
                let ready = state.pace(&host).ready;
                let DiscoveredUrl {
                    priority,
                    depth,
                    requisite,
                    ..
                } = waiting.entry.discovered;
                // What pages need goes first.
                let kind = (requisite == 0, requisite, priority);
                (
                    ready,
                    state.order[&host],
                    kind,
                    depth,
                    waiting.entry.sequence,
                )
            };
            let Some(index) = candidates
                .min_by_key(|(_, waiting)| order(waiting))
                .map(|(index, _)| index)
            else {
                if round.is_empty() {
                    break;
                }
                round.clear();
                continue;
            };
            let chosen = &state.entries[index].entry.discovered;
            if chosen.is_probed() && state.seen.contains(&chosen.url) {
                // It has a better place by now, or was reached.
                state.entries.remove(index);
                continue;
            }
            let pace = state.pace(&state.entries[index].entry.discovered.url.host());
            let barred = state.bar(index);
            let lease = state.entries[index].lease(pace, barred);
            let host = lease.url().host();
            *state.leased.entry(host.clone()).or_insert(0) += 1;
            round.insert(host);
            leases.push(lease);
        }
        if !leases.is_empty() {
            state.asked = true;
            return Supply::Leases(leases);
        }
        let someone_out = state.leased.values().any(|count| *count > 0);
        let open = |waiting: &&Waiting| {
            filter.admits(&waiting.entry.discovered)
                && waiting.entry.discovered.is_probed() == probes
                && !waiting.leased
                && !waiting.is_aside()
                && waiting.not_before.is_none()
                && self.room(&state, &waiting.entry.discovered)
        };
        let times = state
            .entries
            .iter()
            .filter(open)
            .map(|waiting| state.ready_at(waiting));
        let next = times
            .chain(
                state
                    .entries
                    .iter()
                    .filter(|waiting| filter.admits(&waiting.entry.discovered))
                    .filter_map(|waiting| waiting.not_before),
            )
            .min();
        if someone_out {
            return Supply::NothingBefore(next.unwrap_or(Timestamp::NEVER));
        }
        self.lease_aside(&mut state, now, filter).or_before(next)
    }

    /// Leases a set-aside entry, alone, when nothing is out and nothing else can be leased.
    fn lease_aside(&self, state: &mut State, now: Timestamp, filter: LeaseFilter) -> Supply {
        let aside = state.entries.iter().enumerate().filter(|(_, waiting)| {
            !waiting.leased
                && waiting.is_aside()
                && waiting.not_before.is_none()
                && filter.admits(&waiting.entry.discovered)
                && self.room(state, &waiting.entry.discovered)
        });
        let order = |waiting: &Waiting| (state.ready_at(waiting), waiting.entry.sequence);
        let first = aside.map(|(index, waiting)| (order(waiting), index)).min();
        let Some(((ready, sequence), index)) = first else {
            return Supply::Exhausted;
        };
        if ready > now {
            return Supply::NothingBefore(ready);
        }
        let host = state.entries[index].entry.discovered.url.host();
        let pace = state.pace(&host);
        *state.leased.entry(host).or_insert(0) += 1;
        state.alone = Some(sequence);
        state.asked = true;
        let barred = state.bar(index);
        Supply::Leases(vec![state.entries[index].lease(pace, barred)])
    }

    fn room(&self, state: &State, find: &DiscoveredUrl) -> bool {
        let leased = state.leased.get(&find.url.host()).copied().unwrap_or(0);
        leased < self.rules.per_host.max(1) && self.is_below_limit(state, find)
    }

    fn is_below_limit(&self, state: &State, find: &DiscoveredUrl) -> bool {
        let host = &find.url.host();
        let leased = state.leased.get(host).copied().unwrap_or(0);
        let pages = state.pages.get(host).copied().unwrap_or(0);
        let mut limit = self.rules.max_pages_per_host.iter();
        find.requisite > 0 || limit.all(|max| pages + (leased as u64) < *max)
    }

    /// Returns true for an entry that probes wait for.
    fn is_ordinary(&self, state: &State, waiting: &Waiting) -> bool {
        let may_go = !waiting.is_aside() && waiting.not_before.is_none();
        !waiting.entry.discovered.is_probed()
            && (waiting.leased || may_go && self.is_below_limit(state, &waiting.entry.discovered))
    }
}

impl State {
    fn queue(&mut self, finds: Vec<DiscoveredUrl>) -> usize {
        let before = self.entries.len();
        for find in finds.iter().filter(|find| !find.is_probed()) {
            if let Some(wanted) = self.out_probes.get_mut(&find.url) {
                wanted.get_or_insert_with(|| find.clone());
            }
        }
        let mut finds = finds;
        finds.retain(|find| !self.is_seen(find));
        if let Some(max) = self.rules.max_hosts_per_domain {
            let mut domains = DomainCounts::default();
            self.order.keys().for_each(|host| domains.add(host));
            budget::leave_out(&mut finds, max, &domains, |host| {
                self.order.contains_key(host)
            });
        }
        if self.rules.closes_patterns {
            self.patterns.put_behind(&mut finds);
        }
        let wanted_again = finds.extract_if(.., |find| {
            let is_left_out = || self.patterns.place_of_probe(&find.url).is_some();
            find.requisite == 0
                && !find.is_probed()
                && self.probed.contains(&find.url)
                && is_left_out()
        });
        let wanted_again: Vec<DiscoveredUrl> = wanted_again.collect();
        for find in finds {
            if !self.is_seen(&find) {
                self.know(&find.url.host());
                self.wait(find);
            }
        }
        for find in wanted_again {
            if !self.is_seen(&find) {
                self.revoke_left_out(find);
            }
        }
        self.entries.len() - before
    }

    fn is_seen(&self, find: &DiscoveredUrl) -> bool {
        self.seen.contains(&find.url)
            || self.out_probes.contains_key(&find.url)
            || find.is_probed() && self.probed.contains(&find.url)
    }

    /// Queues a URL at the end, and marks it as seen.
    fn wait(&mut self, find: DiscoveredUrl) {
        let known = if find.is_probed() {
            &mut self.probed
        } else {
            &mut self.seen
        };
        known.insert(find.url.clone());
        self.entries.push(Waiting::new(self.next_sequence, find));
        self.next_sequence += 1;
    }

    /// Queues a URL again that was left out unvisited.
    fn revoke_left_out(&mut self, find: DiscoveredUrl) {
        let is_its =
            |row: &VisitRecord| row.url == find.url && PatternName::that_left_out(row).is_some();
        let row = self.rows.iter().rposition(is_its);
        let row = self.rows.remove(row.expect("what is left out has a row"));
        self.totals.uncount(&row);
        self.patterns.revoked(&row);
        self.wait(find);
    }

    /// Reopens a pattern that left out few pages, if there is one.
    fn look_once_more(&mut self) -> bool {
        let closes = self.rules.closes_patterns;
        let Some(reopened) = self.patterns.last_look().filter(|_| closes) else {
            return false;
        };
        self.patterns.apply(&reopened);
        self.requeue_reopened();
        true
    }

    /// Queues again the URLs that reopened patterns and folders left out.
    fn requeue_reopened(&mut self) {
        while let Some(rows) = self.patterns.to_requeue() {
            let pages: Vec<UrlKey> = rows.iter().map(|(page, _)| page).collect();
            for page in pages {
                let is_its = |row: &&VisitRecord| {
                    row.url.key() == page && PatternName::that_left_out(row).is_some()
                };
                let row = self.rows.iter().rfind(is_its);
                let row = row.expect("what is left out has a row");
                let find = DiscoveredUrl::new(row.url.clone(), row.depth, row.via.clone());
                let only_probed = !self.seen.contains(&find.url);
                self.revoke_left_out(if only_probed { find.probed() } else { find });
            }
        }
    }

    fn know(&mut self, host: &Host) {
        let next = self.order.len();
        self.order.entry(host.clone()).or_insert(next);
    }

    fn ready_at(&self, waiting: &Waiting) -> Timestamp {
        self.pace(&waiting.entry.discovered.url.host()).ready
    }

    fn pace(&self, host: &Host) -> Pace {
        self.paces.get(host).copied().unwrap_or(self.floor.into())
    }

    /// Records a pace: the latest counts, but no wait becomes shorter.
    fn record_pace(&mut self, host: &Host, pace: Pace) {
        let pace = self.pace(host).then(pace);
        self.paces.insert(host.clone(), pace);
    }

    fn bar(&mut self, index: usize) -> Option<String> {
        let waiting = &self.entries[index];
        let DiscoveredUrl {
            url,
            requisite,
            priority,
            ..
        } = &waiting.entry.discovered;
        if waiting.entry.discovered.is_probed() {
            self.out_probes.insert(url.clone(), None);
        }
        let is_begun = waiting.entry.discovered.is_probed()
            && (waiting.entry.attempts > 0 || waiting.entry.strikes > 0);
        if *requisite > 0 || is_begun {
            return None;
        }
        self.patterns.bar(url, *priority, &self.rules)
    }

    fn end(&mut self, ended: Ended) {
        let priority = ended.waiting.entry.discovered.priority;
        let FinishedVisit { row, finds, .. } = ended.visit;
        // The links are queued by the state of the patterns when the page was read: before it is
        // counted.
        self.totals.count(&row);
        self.queue(finds);
        self.patterns.settled(&row, priority, Some(0));
        let was_visited = PatternName::that_left_out(&row).is_none();
        if priority >= DiscoveredUrl::PROBED && row.requisite == 0 && was_visited {
            self.seen.insert(row.url.clone());
        }
        let wanted = self.out_probes.remove(&row.url).flatten();
        self.rows.push(*row);
        self.queue(wanted.into_iter().collect());
        while self.rules.closes_patterns
            && let Some(change) = self.patterns.due()
        {
            self.patterns.apply(&change);
        }
        self.requeue_reopened();
        self.revoke_void();
    }

    /// Queues pages again that were left out as duplicates of a page that was forgotten.
    fn revoke_void(&mut self) {
        let forgotten = |row: &VisitRecord| {
            row.duplicate_of
                .as_ref()
                .is_some_and(|of| self.forgotten.contains(&of.key()))
        };
        let is_void = |row: &VisitRecord| !row.kept && !row.of_earlier && forgotten(row);
        let (void, rows) = std::mem::take(&mut self.rows)
            .into_iter()
            .partition(|row| is_void(row));
        self.rows = rows;
        let void: Vec<VisitRecord> = void;
        for row in void {
            self.totals.uncount(&row);
            *self.pages.entry(row.url.host()).or_insert(0) -= u64::from(row.is_page());
            let VisitRecord {
                url,
                depth,
                via,
                requisite,
                ..
            } = row;
            let find = DiscoveredUrl::new(url, depth, via).needed(requisite);
            self.entries.push(Waiting::new(self.next_sequence, find));
            self.next_sequence += 1;
        }
    }
}

#[cfg(test)]
impl State {
    /// Moves all times where the clock of the next session is behind.
    fn set_back(&mut self, now: Timestamp, least_wait: std::time::Duration) {
        let is_ahead = self.paces.values().any(|pace| pace.is_ahead_of(now));
        if !is_ahead && self.floor <= now + least_wait {
            return;
        }
        self.floor = self.floor.min(now + least_wait);
        for host in self.order.keys().cloned().collect::<Vec<_>>() {
            let (pace, by) = self.pace(&host).set_back(now, least_wait);
            self.paces.insert(host.clone(), pace);
            for waiting in &mut self.entries {
                if waiting.entry.discovered.url.host() == host {
                    waiting.due = waiting.due.map(|due| due.before(by));
                    waiting.not_before = waiting.due;
                }
            }
        }
    }

    /// Shortens all waits that end after `latest`.
    fn wait_at_most_until(&mut self, latest: Timestamp) {
        self.floor = self.floor.min(latest);
        for pace in self.paces.values_mut() {
            pace.ready = pace.ready.min(latest);
        }
        for waiting in &mut self.entries {
            waiting.due = waiting.due.map(|due| due.min(latest));
            waiting.not_before = waiting.due;
        }
    }
}

/// Ends of sessions, for the tests of the other store.
#[cfg(test)]
impl MemoryStore {
    /// Ends the session, in order or by a death, and begins the next one.
    pub(crate) fn reopen(&self, now: Timestamp, in_order: bool) {
        let mut guard = self.state();
        let state = &mut *guard;
        for (_, ended) in std::mem::take(&mut state.early) {
            let host = ended.visit.row.url.host();
            *state.pages.entry(host).or_insert(0) -= u64::from(ended.visit.row.is_page());
            for url in ended.visit.reached {
                state.seen.remove(&url);
            }
            let leased = true;
            state.entries.push(Waiting {
                leased,
                ..ended.waiting
            });
        }
        for waiting in &mut state.entries {
            waiting.entry.strikes += u32::from(waiting.leased && !in_order);
            waiting.leased = false;
            waiting.not_before = waiting.due;
        }
        for url in std::mem::take(&mut state.claims).into_keys() {
            state.seen.remove(&url);
        }
        state.asked &= !in_order;
        let rule = self.rules.after_death();
        state.set_back(now, rule.least_wait);
        if state.asked {
            state.floor = now + rule.least_wait;
            for host in state.order.keys().cloned().collect::<Vec<_>>() {
                let pace = state.pace(&host).after_restart(now, rule);
                state.record_pace(&host, pace);
            }
        }
        state.wait_at_most_until(now + self.rules.most_wait);
        state.patterns.begin_session(self.rules.probes);
        state.leased.clear();
        state.out_probes.clear();
        state.alone = None;
        state.next_ticket = 0;
    }
}

#[async_trait]
impl Frontier for MemoryStore {
    async fn discover(&self, finds: Vec<DiscoveredUrl>) -> Result<usize, StoreFault> {
        Ok(self.state().queue(finds))
    }

    async fn lease(
        &self,
        now: Timestamp,
        want: usize,
        filter: LeaseFilter,
    ) -> Result<Supply, StoreFault> {
        loop {
            let supply = self.lease_wanted(now, want, filter);
            let may_reopen = supply == Supply::Exhausted && filter == LeaseFilter::All;
            if !may_reopen || !self.state().look_once_more() {
                return Ok(supply);
            }
        }
    }

    async fn settle(
        &self,
        lease: Lease,
        settlement: Settlement,
        pace: Pace,
    ) -> Result<(), StoreFault> {
        let mut guard = self.state();
        let state = &mut *guard;
        let host = lease.url().host();
        *state.leased.entry(host.clone()).or_insert(1) -= 1;
        state.alone = state.alone.filter(|alone| *alone != lease.entry.sequence);
        state.record_pace(&host, pace);
        let index = state
            .entries
            .iter()
            .position(|waiting| waiting.entry.sequence == lease.entry.sequence);
        let index = index.expect("a lease is settled once");
        match settlement {
            Settlement::Returned => {
                state.entries[index].leased = false;
                let wanted = state.out_probes.remove(lease.url()).flatten();
                state.queue(wanted.into_iter().collect());
            }
            Settlement::Again { at } => {
                state.out_probes.remove(lease.url());
                let waiting = &mut state.entries[index];
                waiting.leased = false;
                waiting.entry.attempts += 1;
                waiting.not_before = Some(at);
                waiting.due = Some(at);
            }
            Settlement::Done(visit) => {
                let waiting = state.entries.remove(index);
                *state.pages.entry(host).or_insert(0) += u64::from(visit.row.is_page());
                state.seen.extend(visit.reached.iter().cloned());
                let ticket = visit.archived.as_ref().map(|span| span.ticket);
                let ended = Ended { visit, waiting };
                match ticket {
                    None => state.end(ended),
                    Some(ticket) => {
                        state.early.insert(ticket, ended);
                        while let Some(ended) = state.early.remove(&state.next_ticket) {
                            state.next_ticket += 1;
                            state.end(ended);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        let mut state = self.state();
        let is_under_way = state.out_probes.contains_key(url);
        if !is_under_way && state.seen.insert(url.clone()) {
            state.claims.insert(url.clone(), lease.entry.sequence);
        }
        Ok(state.claims.get(url) == Some(&lease.entry.sequence))
    }

    async fn adopt_seed(&self, _url: &PageUrl) -> Result<(), StoreFault> {
        Ok(())
    }

    fn hosts(&self) -> &dyn HostMemory {
        self
    }

    fn standing(&self) -> Standing {
        let state = self.state();
        let at_their_host = state
            .entries
            .iter()
            .filter(|waiting| waiting.not_before.is_none());
        let active: HashSet<Host> = at_their_host
            .map(|waiting| waiting.entry.discovered.url.host())
            .collect();
        let leased: usize = state.leased.values().sum();
        Standing {
            totals: state.totals,
            queued: state.entries.len() as u64,
            postponed: state
                .entries
                .iter()
                .filter(|waiting| waiting.not_before.is_some())
                .count() as u64,
            leased: leased as u64,
            set_aside: state
                .entries
                .iter()
                .filter(|waiting| waiting.is_aside())
                .count() as u64,
            active_hosts: active.len() as u64,
            hosts: state.pages.values().filter(|pages| **pages > 0).count() as u64,
        }
    }

    async fn checkpoint(&self, _archive: Option<ArchivePlace>) -> Result<Durable, StoreFault> {
        Ok(Durable::default())
    }

    async fn close(&self) -> Result<(), StoreFault> {
        self.state().asked = false;
        Ok(())
    }
}

#[async_trait]
impl HostMemory for MemoryStore {
    async fn pace(&self, host: &Host) -> Result<Option<Pace>, StoreFault> {
        Ok(self.state().paces.get(host).copied())
    }

    async fn record_pace(&self, host: &Host, pace: Pace) -> Result<(), StoreFault> {
        let mut state = self.state();
        state.know(host);
        state.record_pace(host, pace);
        Ok(())
    }

    async fn robots(&self, origin: &str) -> Result<Option<Robots>, StoreFault> {
        Ok(self.state().robots.get(origin).cloned())
    }

    async fn record_robots(&self, origin: &str, robots: Robots) -> Result<(), StoreFault> {
        self.state().robots.insert(origin.to_owned(), robots);
        Ok(())
    }
}
