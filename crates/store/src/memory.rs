//! The store without a disk: plain collections and linear searches, slow and easy to believe.
//!
//! It serves tests, and it is the oracle that the embedded store is compared with.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use neardup::{HashKey, Portrait};
use web::{Host, PageUrl, Timestamp, UrlKey};

use crate::embedded::Earlier;
use crate::known::{Known, Like, Name, Opinion};
use crate::{ArchiveSpan, Find, Frontier, FrontierRules, Lease, LikenessRules, NearDupIndex, Original, Page};
use crate::{Row, Seat, Settlement, Standing, StoreFault, Supply, Totals, Verdict};

/// A crawl's memory that ends with the process.
pub struct MemoryStore {
    rules: FrontierRules,
    state: Mutex<State>,
}

struct State {
    entries: Vec<Waiting>,
    seen: HashSet<PageUrl>,
    claims: HashMap<PageUrl, u64>,
    leased: HashMap<Host, usize>,
    ready: HashMap<Host, Timestamp>,
    pages: HashMap<Host, u64>,
    next_sequence: u64,
    rows: Vec<Row>,
    totals: Totals,
    next_ticket: u64,
    early: HashMap<u64, (Row, Vec<Find>)>,
    known: Known,
    admitted: HashMap<UrlKey, Page>,
    seated: HashMap<UrlKey, (Page, Box<Original>, Seat)>,
}

struct Waiting {
    sequence: u64,
    find: Find,
    attempts: u32,
    /// Set while it is postponed.
    not_before: Option<Timestamp>,
    leased: bool,
}

impl MemoryStore {
    /// An empty store, but for the pages of an earlier crawl if there are any.
    #[must_use]
    pub fn new(rules: FrontierRules, likeness: LikenessRules, earlier: Option<Arc<Earlier>>) -> Self {
        let key = earlier.as_ref().map_or(HashKey::ZERO, |earlier| earlier.key());
        let state = State {
            entries: Vec::new(),
            seen: HashSet::new(),
            claims: HashMap::new(),
            leased: HashMap::new(),
            ready: HashMap::new(),
            pages: HashMap::new(),
            next_sequence: 0,
            rows: Vec::new(),
            totals: Totals::default(),
            next_ticket: 0,
            early: HashMap::new(),
            known: Known::new(likeness, key, earlier),
            admitted: HashMap::new(),
            seated: HashMap::new(),
        };
        Self {
            rules,
            state: Mutex::new(state),
        }
    }

    /// What became of each page, in the order of the archive.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        self.state().rows.clone()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .expect("no panic can happen while the state is locked")
    }

    fn room(&self, state: &State, host: &Host) -> bool {
        let leased = state.leased.get(host).copied().unwrap_or(0);
        let pages = state.pages.get(host).copied().unwrap_or(0);
        let below_limit = self
            .rules
            .max_pages_per_host
            .is_none_or(|max| pages + (leased as u64) < max);
        leased < self.rules.per_host.max(1) && below_limit
    }
}

impl State {
    fn queue(&mut self, finds: Vec<Find>) -> usize {
        let before = self.entries.len();
        for find in finds {
            if self.seen.insert(find.url.clone()) {
                let sequence = self.next_sequence;
                self.next_sequence += 1;
                self.entries.push(Waiting {
                    sequence,
                    find,
                    attempts: 0,
                    not_before: None,
                    leased: false,
                });
            }
        }
        self.entries.len() - before
    }

    fn ready_at(&self, waiting: &Waiting) -> Timestamp {
        self.ready
            .get(&waiting.find.url.host())
            .copied()
            .unwrap_or_default()
    }

    fn end(&mut self, row: Row, finds: Vec<Find>) {
        self.totals.count(&row);
        self.rows.push(row);
        self.queue(finds);
    }
}

#[async_trait]
impl Frontier for MemoryStore {
    async fn discover(&self, finds: Vec<Find>) -> Result<usize, StoreFault> {
        Ok(self.state().queue(finds))
    }

    async fn lease(&self, now: Timestamp, want: usize) -> Result<Supply, StoreFault> {
        let mut state = self.state();
        for waiting in &mut state.entries {
            waiting.not_before = waiting.not_before.filter(|time| *time > now);
        }
        let mut leases = Vec::new();
        let mut round: HashSet<Host> = HashSet::new();
        while leases.len() < want {
            let candidates = state.entries.iter().enumerate().filter(|(_, waiting)| {
                let host = waiting.find.url.host();
                !waiting.leased
                    && waiting.not_before.is_none()
                    && state.ready_at(waiting) <= now
                    && self.room(&state, &host)
                    && !round.contains(&host)
            });
            let order = |waiting: &Waiting| {
                let host = waiting.find.url.host();
                let ready = state.ready.get(&host).copied().unwrap_or_default();
                (ready, host, waiting.find.depth, waiting.sequence)
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
            let waiting = &mut state.entries[index];
            waiting.leased = true;
            let Find { url, depth, via } = waiting.find.clone();
            let lease = Lease {
                url,
                depth,
                via,
                attempts: waiting.attempts,
                sequence: waiting.sequence,
            };
            let host = lease.url.host();
            *state.leased.entry(host.clone()).or_insert(0) += 1;
            round.insert(host);
            leases.push(lease);
        }
        if !leases.is_empty() {
            return Ok(Supply::Leases(leases));
        }
        let someone_out = state.leased.values().any(|count| *count > 0);
        let open = |waiting: &&Waiting| {
            !waiting.leased && waiting.not_before.is_none() && self.room(&state, &waiting.find.url.host())
        };
        let times = state
            .entries
            .iter()
            .filter(open)
            .map(|waiting| state.ready_at(waiting));
        match times
            .chain(state.entries.iter().filter_map(|waiting| waiting.not_before))
            .min()
        {
            Some(time) => Ok(Supply::NothingBefore(time)),
            None if someone_out => Ok(Supply::NothingBefore(Timestamp::NEVER)),
            None => Ok(Supply::Exhausted),
        }
    }

    async fn settle(&self, lease: Lease, settlement: Settlement, ready: Timestamp) -> Result<(), StoreFault> {
        let mut guard = self.state();
        let state = &mut *guard;
        let host = lease.url.host();
        *state.leased.entry(host.clone()).or_insert(1) -= 1;
        let known = state.ready.entry(host.clone()).or_default();
        *known = ready.max(*known);
        let index = state
            .entries
            .iter()
            .position(|waiting| waiting.sequence == lease.sequence);
        let index = index.expect("a lease is settled once");
        match settlement {
            Settlement::Returned => state.entries[index].leased = false,
            Settlement::Again { at } => {
                let waiting = &mut state.entries[index];
                waiting.leased = false;
                waiting.attempts += 1;
                waiting.not_before = Some(at);
            }
            Settlement::Done {
                row,
                archived,
                finds,
                reached,
            } => {
                state.entries.remove(index);
                *state.pages.entry(host).or_insert(0) += u64::from(row.fate.is_page());
                state.seen.extend(reached);
                match archived {
                    None => state.end(*row, finds),
                    Some(ArchiveSpan { ticket, .. }) => {
                        state.early.insert(ticket, (*row, finds));
                        while let Some((row, finds)) = state.early.remove(&state.next_ticket) {
                            state.next_ticket += 1;
                            state.end(row, finds);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    async fn claim(&self, lease: &Lease, url: &PageUrl) -> Result<bool, StoreFault> {
        let mut state = self.state();
        if state.seen.insert(url.clone()) {
            state.claims.insert(url.clone(), lease.sequence);
        }
        Ok(state.claims.get(url) == Some(&lease.sequence))
    }

    async fn adopt_seed(&self, _url: &PageUrl) -> Result<(), StoreFault> {
        Ok(())
    }

    fn standing(&self) -> Standing {
        let state = self.state();
        let at_their_host = state
            .entries
            .iter()
            .filter(|waiting| waiting.not_before.is_none());
        let active: HashSet<Host> = at_their_host.map(|waiting| waiting.find.url.host()).collect();
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
            active_hosts: active.len() as u64,
            hosts: state.pages.values().filter(|pages| **pages > 0).count() as u64,
        }
    }

    async fn checkpoint(&self) -> Result<(), StoreFault> {
        Ok(())
    }
}

#[async_trait]
impl NearDupIndex for MemoryStore {
    async fn admit(&self, page: &Page, portrait: &Portrait) -> Result<Verdict, StoreFault> {
        let mut state = self.state();
        match state.known.judge(page, portrait) {
            Opinion::Own => Ok(Verdict::Own),
            Opinion::Seated => {
                let (_, original, seat) = state.seated[&page.key()].clone();
                Ok(Verdict::LetThrough(original, seat))
            }
            Opinion::New => {
                state.known.admit(page, portrait.clone());
                state.admitted.insert(page.key(), page.clone());
                Ok(Verdict::Unique)
            }
            Opinion::Like(like) => state.compare(page, portrait, like),
        }
    }

    async fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let mut state = self.state();
        state.admitted.remove(&page);
        state.seated.remove(&page);
        state.known.forget(page);
        Ok(())
    }
}

impl State {
    fn compare(&mut self, page: &Page, portrait: &Portrait, like: Like) -> Result<Verdict, StoreFault> {
        let original = Box::new(Original {
            page: self.named(like.of)?,
            likeness: like.likeness,
            earlier: matches!(like.of, Name::Earlier(_)),
            bytes: like.bytes.map(|name| self.named(name)).transpose()?,
        });
        let Some(number) = like.seat else {
            return Ok(Verdict::Duplicate(original));
        };
        let seat = Seat {
            number,
            of: self.known.per_cluster(),
        };
        let cluster = self.known.cluster(like.of);
        self.known.seat(page, portrait.payload, cluster, number);
        self.seated
            .insert(page.key(), (page.clone(), original.clone(), seat));
        Ok(Verdict::LetThrough(original, seat))
    }

    fn named(&self, name: Name) -> Result<Page, StoreFault> {
        match name {
            Name::Earlier(number) => self
                .known
                .earlier()
                .expect("only an earlier crawl gives out its numbers")
                .page(number),
            Name::Ours(key) => Ok(self
                .admitted
                .get(&key)
                .or_else(|| self.seated.get(&key).map(|(page, ..)| page))
                .expect("what is known has a page")
                .clone()),
        }
    }
}
