//! The queue of the store without a disk, and the state of its hosts.

use std::collections::{BTreeMap, HashMap, HashSet};

use journal::{DiscoveredUrl, FinishedVisit, QueueEntry, Robots, Totals, VisitRecord};
use store::{
    CRASHES_TO_QUARANTINE, DomainCounts, FrontierRules, FrontierStats, Lease, LeasedProbes,
    OffTopicStreak, Patterns, Settlement, seen_as, settled_probe,
};
use web::{Host, Pace, PageUrl, Timestamp, UrlKey};

/// The state of the frontier.
#[derive(Default)]
pub(super) struct Queue {
    pub(super) rules: FrontierRules,
    pub(super) patterns: Patterns,
    pub(super) entries: Vec<Waiting>,
    /// The keys of the URLs seen: [`store::seen_as`].
    pub(super) seen: HashSet<UrlKey>,
    pub(super) leased_probes: LeasedProbes,
    /// The leased entry that claimed a URL.
    pub(super) claims: HashMap<PageUrl, u64>,
    /// URLs that were discovered while they were claimed.
    pub(super) held: BTreeMap<UrlKey, DiscoveredUrl>,
    /// URLs that a revoked visit reached, with the entry that may claim them again.
    pub(super) reserved: BTreeMap<UrlKey, (u64, DiscoveredUrl)>,
    /// The URLs that the last visit of each page reached.
    reached: HashMap<PageUrl, Vec<PageUrl>>,
    pub(super) leased: HashMap<Host, usize>,
    /// The time of the last lease of each host in this session.
    pub(super) asked_at: HashMap<Host, Timestamp>,
    pub(super) paces: HashMap<Host, Pace>,
    /// Earliest time of a lease of any host.
    floor: Timestamp,
    /// The order of discovery of hosts, which breaks ties between hosts that become ready at the
    /// same time.
    pub(super) order: HashMap<Host, usize>,
    pub(super) pages: HashMap<Host, u64>,
    pub(super) off_topic_streaks: HashMap<Host, OffTopicStreak>,
    pub(super) robots: HashMap<String, Robots>,
    pub(super) next_sequence: u64,
    pub(super) visits: Vec<VisitRecord>,
    /// The priority of each URL at its last visit.
    pub(super) priorities: HashMap<PageUrl, u8>,
    pub(super) totals: Totals,
    next_archive_sequence: u64,
    early: HashMap<u64, Ended>,
    /// The sequence number of a quarantined entry out on lease, which excludes all other leases.
    pub(super) alone: Option<u64>,
    /// Admitted pages that were forgotten.
    pub(super) forgotten: HashSet<UrlKey>,
    /// True if an entry was leased in this session.
    pub(super) asked: bool,
}

/// An entry of the queue, and its state.
pub(super) struct Waiting {
    pub(super) entry: QueueEntry,
    /// Set while it is postponed.
    pub(super) not_before: Option<Timestamp>,
    /// Set once it has been postponed.
    due: Option<Timestamp>,
    pub(super) leased: bool,
}

/// A finished visit that waits for its turn in the order of the archive.
struct Ended {
    visit: FinishedVisit,
    waiting: Waiting,
}

impl Waiting {
    pub(super) fn host(&self) -> Host {
        self.entry.discovered.url.host()
    }

    pub(super) fn is_quarantined(&self) -> bool {
        self.entry.crashes >= CRASHES_TO_QUARANTINE
    }
}

impl Queue {
    pub(super) fn new(rules: FrontierRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    pub(super) fn discover(&mut self, mut discovered: Vec<DiscoveredUrl>) -> usize {
        let before = self.entries.len();
        self.leased_probes.note_wanted(&discovered);
        self.hold_claimed(&mut discovered);
        discovered.retain(|found| !self.is_seen(found));
        self.exclude(&mut discovered);
        self.patterns.put_behind(&mut discovered, &self.rules);
        let wanted_again = self.take_wanted_again(&mut discovered);
        for found in discovered {
            if !self.is_seen(&found) {
                self.know(&found.url.host());
                self.wait(found);
            }
        }
        for found in wanted_again {
            if !self.is_seen(&found) {
                self.revoke_excluded(found);
            }
        }
        self.entries.len() - before
    }

    /// Removes the URLs of a host beyond the limit of its domain.
    pub(super) fn exclude(&self, discovered: &mut Vec<DiscoveredUrl>) {
        if let Some(max) = self.rules.max_hosts_per_domain {
            let mut domains = DomainCounts::default();
            self.order.keys().for_each(|host| domains.add(host));
            let is_known = |host: &Host| self.order.contains_key(host);
            store::exclude(discovered, max, &domains, is_known);
        }
    }

    pub(super) fn is_seen(&self, discovered: &DiscoveredUrl) -> bool {
        let is_seen = |key: UrlKey| self.seen.contains(&key);
        self.leased_probes.is_seen(discovered, is_seen)
    }

    /// Queues a URL at the end, and marks it as seen.
    pub(super) fn wait(&mut self, discovered: DiscoveredUrl) {
        self.seen.insert(seen_as(&discovered));
        self.push(discovered);
    }

    fn push(&mut self, discovered: DiscoveredUrl) {
        self.drop_held(&discovered);
        self.entries.push(Waiting {
            entry: QueueEntry::new(self.next_sequence, discovered),
            not_before: None,
            due: None,
            leased: false,
        });
        self.next_sequence += 1;
    }

    pub(super) fn know(&mut self, host: &Host) {
        let next = self.order.len();
        self.order.entry(host.clone()).or_insert(next);
    }

    pub(super) fn ready_at(&self, waiting: &Waiting) -> Timestamp {
        self.pace(&waiting.host()).ready
    }

    pub(super) fn pace(&self, host: &Host) -> Pace {
        self.paces.get(host).copied().unwrap_or(self.floor.into())
    }

    /// Returns true if the crawl does not wait for this host any more.
    pub(super) fn is_past_last_chance(&self, host: &Host) -> bool {
        let pages = self.pages.get(host).copied().unwrap_or(0);
        self.pace(host).is_past_last_chance(pages > 0)
    }

    /// Records a pace: the latest pace counts, but no wait becomes shorter.
    pub(super) fn record_pace(&mut self, host: &Host, pace: Pace) {
        let pace = self.pace(host).then(pace);
        self.paces.insert(host.clone(), pace);
    }

    pub(super) fn settle(&mut self, lease: &Lease, settlement: Settlement, pace: Pace) {
        let host = lease.url().host();
        let sequence = lease.entry.sequence;
        *self.leased.entry(host.clone()).or_insert(1) -= 1;
        self.alone = self.alone.filter(|alone| *alone != sequence);
        self.record_pace(&host, pace);
        let is_its = |waiting: &Waiting| waiting.entry.sequence == sequence;
        let index = self.entries.iter().position(is_its);
        let index = index.expect("a lease is settled once");
        match settlement {
            Settlement::Returned => {
                self.entries[index].leased = false;
                self.give_up_claims(sequence);
                let wanted = self.leased_probes.end(lease.discovered());
                self.discover(wanted.into_iter().collect());
            }
            Settlement::Again { at, counts, .. } => {
                let _begun = self.leased_probes.end(lease.discovered());
                let waiting = &mut self.entries[index];
                waiting.leased = false;
                waiting.entry.attempts += u32::from(counts);
                (waiting.not_before, waiting.due) = (Some(at), Some(at));
                self.give_up_claims(sequence);
            }
            Settlement::Done(visit) => {
                let waiting = self.entries.remove(index);
                *self.pages.entry(host).or_insert(0) += u64::from(visit.record.is_page());
                let archive_sequence = visit.archived.as_ref().map(|span| span.archive_sequence);
                let ended = Ended { visit, waiting };
                let Some(archive_sequence) = archive_sequence else {
                    return self.end(ended);
                };
                self.early.insert(archive_sequence, ended);
                while let Some(ended) = self.early.remove(&self.next_archive_sequence) {
                    self.next_archive_sequence += 1;
                    self.end(ended);
                }
            }
        }
    }

    /// Returns the entries of finished visits that wait for their turn in the order of the archive.
    pub(super) fn ended(&self) -> impl Iterator<Item = &Waiting> {
        self.early.values().map(|ended| &ended.waiting)
    }

    fn end(&mut self, ended: Ended) {
        let QueueEntry {
            sequence,
            discovered,
            ..
        } = ended.waiting.entry;
        let priority = discovered.priority;
        let FinishedVisit {
            record: visit,
            mut finds,
            reached,
            ..
        } = ended.visit;
        finds.retain(|found| !reached.contains(&found.url));
        // The links are queued by the state of the patterns when the page was read, before it is
        // counted.
        self.totals.count(&visit);
        let is_new = |found: &&DiscoveredUrl| !self.is_seen(found);
        let new_finds: Vec<DiscoveredUrl> = finds.iter().filter(is_new).cloned().collect();
        self.discover(finds);
        self.reach(&reached);
        self.end_entry(sequence);
        self.reached.insert(visit.url.clone(), reached);
        let off_topic_streak = self.off_topic_streaks.entry(visit.url.host()).or_default();
        off_topic_streak.count(&visit);
        self.patterns.settled(&visit, &new_finds, priority, Some(0));
        self.seen.extend(settled_probe(&visit, priority));
        let wanted = self.leased_probes.end(&discovered);
        self.priorities.insert(visit.url.clone(), priority);
        self.visits.push(*visit);
        self.discover(wanted.into_iter().collect());
        self.give_up_claims(sequence);
        while let Some(change) = self.patterns.due(&self.rules) {
            self.patterns.apply(&change);
        }
        self.requeue_reopened();
        self.revoke_void();
    }

    /// Forgets an admitted page. If the page is kept, pages that were not
    /// archived as its duplicates stay so.
    pub(super) fn forget(&mut self, page: UrlKey) {
        if !self.visits.iter().any(|visit| visit.url.key() == page) {
            self.forgotten.insert(page);
            self.revoke_void();
        }
    }

    /// Queues again the pages that were not archived as duplicates of a forgotten page.
    fn revoke_void(&mut self) {
        let is_void = |visit: &mut VisitRecord| {
            let original = visit.duplicate_of.as_ref();
            let is_forgotten = original.is_some_and(|of| self.forgotten.contains(&of.key()));
            !visit.kept && !visit.of_earlier && is_forgotten
        };
        let void: Vec<VisitRecord> = self.visits.extract_if(.., is_void).collect();
        for visit in void {
            self.totals.uncount(&visit);
            *self.pages.entry(visit.url.host()).or_insert(0) -= u64::from(visit.is_page());
            let priority = self.priorities[&visit.url];
            let reached = self.reached.remove(&visit.url).unwrap_or_default();
            let found = visit.discovered().with_priority_of(priority);
            self.reserve(&found, &reached);
            self.push(found);
        }
    }

    pub(super) fn stats(&self) -> FrontierStats {
        let count = |is_counted: &dyn Fn(&Waiting) -> bool| {
            self.entries
                .iter()
                .filter(|waiting| is_counted(waiting))
                .count() as u64
        };
        let hosts = self.entries.iter().map(Waiting::host);
        let unreachable: HashSet<Host> = hosts
            .filter(|host| self.is_past_last_chance(host))
            .collect();
        let at_their_host = self
            .entries
            .iter()
            .filter(|waiting| waiting.not_before.is_none());
        let active: HashSet<Host> = at_their_host.map(Waiting::host).collect();
        FrontierStats {
            totals: self.totals,
            queued: self.entries.len() as u64,
            postponed: count(&|waiting| waiting.not_before.is_some()),
            leased: self.leased.values().sum::<usize>() as u64,
            quarantined: count(&Waiting::is_quarantined),
            unreachable: count(&|waiting| self.is_past_last_chance(&waiting.host())),
            unreachable_hosts: unreachable.len() as u64,
            active_hosts: active.len() as u64,
            hosts: self.pages.values().filter(|pages| **pages > 0).count() as u64,
            is_store_away: false,
        }
    }
}

impl Queue {
    /// Ends the session, cleanly or by a death, and begins the next one.
    pub(super) fn begin_session(&mut self, now: Timestamp, in_order: bool) {
        for (_, ended) in std::mem::take(&mut self.early) {
            let host = ended.visit.record.url.host();
            *self.pages.entry(host).or_insert(0) -= u64::from(ended.visit.record.is_page());
            let leased = true;
            self.entries.push(Waiting {
                leased,
                ..ended.waiting
            });
        }
        for waiting in &mut self.entries {
            waiting.entry.crashes += u32::from(waiting.leased && !in_order);
            waiting.leased = false;
            waiting.not_before = waiting.due;
        }
        self.asked &= !in_order;
        let rule = self.rules.after_death();
        self.set_back(now, rule.min_wait);
        if self.asked {
            self.floor = now + rule.min_wait;
            for host in self.order.keys().cloned().collect::<Vec<_>>() {
                let pace = self.pace(&host).after_restart(now, rule);
                self.record_pace(&host, pace);
            }
        }
        self.wait_at_most_until(now + self.rules.max_wait);
        for host in self.paces.keys().cloned().collect::<Vec<_>>() {
            if self.is_past_last_chance(&host) {
                let pace = self.pace(&host).with_new_chance(now, rule.min_wait);
                self.paces.insert(host, pace);
            }
        }
        self.patterns.begin_session(self.rules.probes);
        self.leased.clear();
        self.asked_at.clear();
        self.leased_probes.clear();
        self.alone = None;
        self.next_archive_sequence = 0;
        self.claims.clear();
        self.queue_unclaimed();
    }

    /// Moves all times if the clock of the next session is behind.
    fn set_back(&mut self, now: Timestamp, min_wait: std::time::Duration) {
        let is_ahead = self.paces.values().any(|pace| pace.is_ahead_of(now));
        if !is_ahead && self.floor <= now + min_wait {
            return;
        }
        self.floor = self.floor.min(now + min_wait);
        for host in self.order.keys().cloned().collect::<Vec<_>>() {
            let (pace, by) = self.pace(&host).set_back(now, min_wait);
            self.paces.insert(host.clone(), pace);
            for waiting in &mut self.entries {
                if waiting.host() == host {
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
