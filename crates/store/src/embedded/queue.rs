//! The frontier's head: everything about the queue that is kept in memory.
//!
//! Memory holds each host's agenda and the first few of its pages; the rest of the queue stays in the tables. Each verb
//! decides, appends to the journal, and only then changes tables and memory.
//!
//! Archived pages are journalled in the order of the archive (see [`Frontier::settle`](crate::Frontier::settle)): a settlement that comes before its turn
//! waits in `early` until those before it have come. What still waits when the process dies was never recorded: its page
//! is visited again, and its place in the archive lies beyond the recorded end, where it is cut off.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use web::{Host, PageUrl, Timestamp, UrlKey};

use super::journal::Journal;
use super::record::{Entry, Record, entries};
use super::tables::{Checkpoint, Tables};
use crate::schedule::{Schedule, Settled};
use crate::{Find, FrontierRules, Lease, Row, Settlement, Standing, StoreFault, Supply};

/// Pages of a host that are read from the tables at a time.
const HEADS: usize = 16;

pub(super) struct Queue {
    schedule: Schedule,
    heads: HashMap<Host, VecDeque<Entry>>,
    /// Postponed entries by due time.
    later: BTreeMap<(Timestamp, u64), Entry>,
    seen: HashSet<UrlKey>,
    /// Which entry claimed a URL, until that entry is settled.
    claims: HashMap<UrlKey, u64>,
    /// Sequence numbers out on lease.
    leased: HashSet<u64>,
    next_ticket: u64,
    early: BTreeMap<u64, Ended>,
    checkpoint: Checkpoint,
    unsaved_seen: Vec<UrlKey>,
    unsaved_hosts: HashSet<Host>,
}

/// A visit that ended.
struct Ended {
    lease: Lease,
    row: Box<Row>,
    archived: Option<crate::ArchiveSpan>,
    finds: Vec<Find>,
    reached: Vec<PageUrl>,
}

impl Queue {
    pub(super) fn load(
        tables: &Tables,
        rules: FrontierRules,
        checkpoint: Checkpoint,
        seen: HashSet<UrlKey>,
        host_pages: HashMap<Host, u64>,
    ) -> Result<Self, StoreFault> {
        let mut schedule = Schedule::new(rules);
        for (host, waiting) in tables.queue_lengths()? {
            schedule.add_waiting(&host, waiting);
        }
        for (host, pages) in host_pages {
            schedule.set_pages(&host, pages);
        }
        let postponed = tables.postponed()?;
        let later = postponed
            .into_iter()
            .map(|(due, entry)| ((due, entry.sequence), entry))
            .collect();
        Ok(Self {
            schedule,
            heads: HashMap::new(),
            later,
            seen,
            claims: HashMap::new(),
            leased: HashSet::new(),
            next_ticket: 0,
            early: BTreeMap::new(),
            checkpoint,
            unsaved_seen: Vec::new(),
            unsaved_hosts: HashSet::new(),
        })
    }

    pub(super) fn discover(
        &mut self,
        journal: &Journal,
        tables: &Tables,
        finds: Vec<Find>,
    ) -> Result<usize, StoreFault> {
        let finds = self.only_new(finds);
        if finds.is_empty() {
            return Ok(0);
        }
        let first = self.checkpoint.next_sequence;
        let record = Record::Discovered { first, finds };
        self.record(journal, tables, &record)?;
        let Record::Discovered { finds, .. } = record else {
            return Ok(0);
        };
        self.enqueue(first, &finds);
        Ok(finds.len())
    }

    pub(super) fn lease(
        &mut self,
        tables: &Tables,
        now: Timestamp,
        want: usize,
    ) -> Result<Supply, StoreFault> {
        self.recall_due(tables, now)?;
        let mut leases = Vec::new();
        // One page of each ready host a round, so that a fast host does not starve the others.
        while leases.len() < want {
            let mut round: Vec<Host> = Vec::new();
            while leases.len() < want
                && let Some(host) = self.schedule.next_due(now, &round)
            {
                let entry = self.next_entry(tables, &host)?;
                self.schedule.lease(&host);
                self.leased.insert(entry.sequence);
                let Find { url, depth, via } = entry.find;
                leases.push(Lease {
                    url,
                    depth,
                    via,
                    attempts: entry.attempts,
                    sequence: entry.sequence,
                });
                round.push(host);
            }
            if round.is_empty() {
                break;
            }
        }
        if !leases.is_empty() {
            return Ok(Supply::Leases(leases));
        }
        let host_ready = self.schedule.next_ready();
        let recalled = self.later.keys().next().map(|(due, _)| *due);
        match host_ready.into_iter().chain(recalled).min() {
            Some(time) => Ok(Supply::NothingBefore(time)),
            None if !self.leased.is_empty() => Ok(Supply::NothingBefore(Timestamp::NEVER)),
            None => Ok(Supply::Exhausted),
        }
    }

    pub(super) fn settle(
        &mut self,
        journal: &Journal,
        tables: &Tables,
        lease: Lease,
        settlement: Settlement,
        ready: Timestamp,
    ) -> Result<(), StoreFault> {
        let host = lease.url.host();
        match settlement {
            Settlement::Done {
                row,
                archived,
                finds,
                reached,
            } => {
                let was = if row.fate.is_page() {
                    Settled::Page
                } else {
                    Settled::NoPage
                };
                self.schedule.settle(&host, ready, was);
                self.unsaved_hosts.insert(host);
                let ended = Ended {
                    lease,
                    row,
                    archived,
                    finds,
                    reached,
                };
                match &ended.archived {
                    None => self.end(journal, tables, ended),
                    Some(span) => {
                        self.early.insert(span.ticket, ended);
                        self.end_in_order(journal, tables)
                    }
                }
            }
            Settlement::Again { at } => {
                let entry = entry_of(lease, 1);
                self.record(
                    journal,
                    tables,
                    &Record::Postponed {
                        entry: entry.clone(),
                        at,
                    },
                )?;
                // It waits for its own time, not in its host's queue.
                self.schedule.settle(&host, ready, Settled::NoPage);
                self.leased.remove(&entry.sequence);
                self.later.insert((at, entry.sequence), entry);
                Ok(())
            }
            Settlement::Returned => {
                let entry = entry_of(lease, 0);
                self.schedule.settle(&host, ready, Settled::Back);
                self.leased.remove(&entry.sequence);
                self.keep_heads_sorted(&host, &entry);
                Ok(())
            }
        }
    }

    pub(super) fn claim(&mut self, lease: &Lease, url: &PageUrl) -> bool {
        // Not yet `unsaved_seen`: only the settlement that names it makes it part of the crawl's memory.
        if self.seen.insert(url.key()) {
            self.claims.insert(url.key(), lease.sequence);
        }
        self.claims.get(&url.key()) == Some(&lease.sequence)
    }

    pub(super) fn adopt_seed(
        &mut self,
        journal: &Journal,
        tables: &Tables,
        url: &PageUrl,
    ) -> Result<(), StoreFault> {
        if self.checkpoint.adopted.contains(url) {
            return Ok(());
        }
        self.record(journal, tables, &Record::SeedAdopted { url: url.clone() })
    }

    pub(super) fn standing(&self) -> Standing {
        let sums = self.schedule.sums();
        Standing {
            totals: self.checkpoint.totals,
            queued: sums.waiting + sums.leased + self.later.len() as u64,
            postponed: self.later.len() as u64,
            leased: sums.leased,
            active_hosts: sums.active_hosts,
            hosts: sums.visited_hosts,
        }
    }

    /// What a checkpoint must save: itself, the page counts that changed, and the URLs seen since the last one.
    pub(super) fn snapshot(&mut self, journal: &Journal) -> (Checkpoint, Vec<(Host, u64)>, Vec<UrlKey>) {
        self.checkpoint.position = journal.end();
        let hosts = self
            .unsaved_hosts
            .drain()
            .map(|host| (host.clone(), self.schedule.pages(&host)))
            .collect();
        (
            self.checkpoint.clone(),
            hosts,
            std::mem::take(&mut self.unsaved_seen),
        )
    }

    pub(super) fn seen_runs(&mut self, runs: u64) {
        self.checkpoint.seen_runs = runs;
    }

    fn record(&mut self, journal: &Journal, tables: &Tables, record: &Record) -> Result<(), StoreFault> {
        journal.append(record)?;
        super::apply(tables, &mut self.checkpoint, record)
    }

    fn only_new(&mut self, finds: Vec<Find>) -> Vec<Find> {
        let mut new = finds;
        new.retain(|find| {
            let key = find.url.key();
            let is_new = self.seen.insert(key);
            if is_new {
                self.unsaved_seen.push(key);
            }
            is_new
        });
        new
    }

    fn enqueue(&mut self, first: u64, finds: &[Find]) {
        for entry in entries(first, finds) {
            let host = entry.find.url.host();
            self.schedule.add_waiting(&host, 1);
            self.keep_heads_sorted(&host, &entry);
        }
    }

    /// The heads are the first entries of the queue in the tables. An entry that belongs before the last of them
    /// makes them wrong: they are read again when the host's turn comes.
    fn keep_heads_sorted(&mut self, host: &Host, entry: &Entry) {
        let last = self.heads.get(host).and_then(VecDeque::back);
        if last.is_some_and(|last| rank(entry) < rank(last)) {
            self.heads.remove(host);
        }
    }

    fn next_entry(&mut self, tables: &Tables, host: &Host) -> Result<Entry, StoreFault> {
        let heads = self.heads.entry(host.clone()).or_default();
        if heads.is_empty() {
            heads.extend(tables.heads(host, &self.leased, HEADS)?);
        }
        let entry = heads.pop_front();
        if heads.is_empty() {
            self.heads.remove(host);
        }
        let what = || format!("the queue of {host} has fewer pages than were counted");
        entry.ok_or_else(|| StoreFault::Tables {
            path: "sled".into(),
            what: what(),
        })
    }

    fn recall_due(&mut self, tables: &Tables, now: Timestamp) -> Result<(), StoreFault> {
        while let Some(first) = self.later.first_entry()
            && first.key().0 <= now
        {
            let entry = first.remove();
            tables.recall(&entry)?;
            let host = entry.find.url.host();
            self.schedule.add_waiting(&host, 1);
            self.keep_heads_sorted(&host, &entry);
        }
        Ok(())
    }

    fn end_in_order(&mut self, journal: &Journal, tables: &Tables) -> Result<(), StoreFault> {
        while let Some(ended) = self.early.remove(&self.next_ticket) {
            self.next_ticket += 1;
            self.end(journal, tables, ended)?;
        }
        Ok(())
    }

    fn end(&mut self, journal: &Journal, tables: &Tables, ended: Ended) -> Result<(), StoreFault> {
        let Ended {
            lease,
            row,
            archived,
            finds,
            reached,
        } = ended;
        for key in reached.iter().map(PageUrl::key) {
            self.unsaved_seen.push(key);
            self.claims.remove(&key);
        }
        let finds = self.only_new(finds);
        let first = self.checkpoint.next_sequence;
        let record = Record::Settled {
            sequence: lease.sequence,
            row,
            archived,
            first,
            finds,
            reached,
        };
        self.record(journal, tables, &record)?;
        self.leased.remove(&lease.sequence);
        if let Record::Settled { finds, .. } = &record {
            self.enqueue(first, finds);
        }
        Ok(())
    }
}

fn rank(entry: &Entry) -> (u32, u64) {
    (entry.find.depth, entry.sequence)
}

fn entry_of(lease: Lease, more_attempts: u32) -> Entry {
    let Lease {
        url,
        depth,
        via,
        attempts,
        sequence,
    } = lease;
    Entry {
        sequence,
        find: Find { url, depth, via },
        attempts: attempts + more_attempts,
    }
}
