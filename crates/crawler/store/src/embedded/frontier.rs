//! The frontier on a disk: the queue, the hosts and their turns, the URLs seen, the leases.
//!
//! ```text
//! place.rs   places in the queue     block.rs, parts.rs, queue_blocks.rs   entries in the database
//! hosts.rs   hosts and their turns   flush.rs                       writing and loading
//! host_state.rs   one host           agenda.rs                      what it has to do; sums
//! state.rs   other state             apply.rs                       the effect of a record
//! lease.rs   leasing                 settle.rs                      settlements, revocations
//! seen.rs    known URLs              working_copy.rs           hosts that come and go
//! turns.rs   the order of ready hosts   anticipated.rs           hosts worth an empty slot
//! ```
//! Memory holds the hosts, the first URLs of hosts that were leased from recently, and the URLs
//! discovered since the last flush. A URL keeps its place, in memory or in its block, from its
//! discovery to its settlement. Its state in between (leased, postponed, quarantined) is kept
//! separately, by its place.
//!
//! Every method decides, appends a record to the journal, and applies that record; so does the next
//! process when it reads the journal. Leases are journalled before they are handed out: a URL that
//! is in progress when the process dies gets a crash.
//!
//! Invariant: the tables that a flush writes are a function of the journal, except for settled URLs
//! that are still in blocks, for waits that were longer than the maximum, and for the failures of
//! hosts with a new chance.

mod agenda;
mod anticipated;
mod apply;
mod block;
mod claims;
mod flush;
mod host_state;
mod hosts;
mod lease;
mod parts;
mod place;
mod probe_turns;
mod queue_blocks;
mod seen;
mod settle;
mod state;
mod turns;
mod wait_counts;
mod working_copy;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use journal::{
    ArchiveSpan, DiscoveredUrl, ExcludedLinks, FinishedVisit, Journal, PatternName, Position,
    Record, StoreFault, Totals, UrlHarvest,
};
use neardup::keys::SeenKeys;
use web::{Host, Pace, PageUrl, Timestamp, UrlKey};

use self::flush::Generations;
pub(super) use self::flush::{Flush, robots_position};
use self::hosts::Hosts;
use self::place::{Body, Place};
use self::queue_blocks::QueueBlocks;
pub(super) use self::seen::{seen_as, settled_probe};
use self::state::FrontierState;
pub(super) use self::state::Void;
use super::database::Database;
use crate::frontier::{FrontierRules, FrontierStats, Lease};

/// Size of the URLs discovered since the last flush at which a flush is requested.
const PENDING_BYTES: usize = 12 << 20;
/// Number of settled URLs that are still in blocks, or of URLs seen since the last flush, at which
/// a flush is requested.
const PENDING_CHANGES: usize = 4 << 20;

pub(super) struct Queue {
    blocks: QueueBlocks,
    hosts: Hosts,
    state: FrontierState,
    /// URLs discovered since the last flush.
    pending: BTreeMap<Place, Body>,
    pending_bytes: usize,
    /// URLs that a flush is writing.
    flushing: Arc<BTreeMap<Place, Body>>,
    /// Settled URLs that may still be in a block.
    gone: BTreeSet<Place>,
    /// URLs that have been tried before.
    tries: BTreeMap<Place, Tries>,
    /// Postponed URLs that have been tried before.
    later: BTreeMap<(Timestamp, u64), Place>,
    /// Leases whose settlement is not yet in the journal.
    out: HashMap<u64, Place>,
    /// Entries that are quarantined.
    quarantined: BTreeMap<u64, Place>,
    /// The quarantined entry out on lease, which excludes all other leases.
    alone: Option<u64>,
    seen: SeenKeys,
    /// Keys of a failed flush.
    unsaved_seen: Vec<u64>,
    /// The leased entry that claimed a URL: see claims.rs.
    claims: HashMap<UrlKey, u64>,
    /// Probes out on lease, each with its discovery on a kept page in the meantime.
    out_probes: HashMap<UrlKey, Option<DiscoveredUrl>>,
    robots: HashMap<String, Position>,
    next_archive_sequence: u64,
    early: BTreeMap<u64, Ended>,
    /// Groups of hosts that changed since the last flush.
    dirty: BTreeSet<u32>,
    generations: Generations,
    /// Entries before this number may be in blocks although they are in memory: a flush that
    /// contained them was interrupted, or may have been.
    doubtful: u64,
    /// The start of this session, if the previous session died.
    restarted: Option<Timestamp>,
    /// Receives the records that this session makes.
    watch: Option<RecordWatch>,
}

/// A function that receives each record of the frontier that a session makes, in the order of the
/// journal. It is called while the queue is locked, so it must be short.
pub type RecordWatch = Arc<dyn Fn(&Record) + Send + Sync>;

/// The attempts of an entry.
#[derive(Clone, Copy, Debug)]
struct Tries {
    attempts: u32,
    due: Timestamp,
    /// True if it was not due at the last lease.
    waits: bool,
}

/// A finished visit that waits for its turn in the order of the archive.
struct Ended {
    lease: Lease,
    visit: FinishedVisit,
    /// The time at which its host is ready again after this visit. A later visit may be settled
    /// before this one is recorded.
    ready: Timestamp,
}

impl Queue {
    fn new(database: &Database, rules: FrontierRules) -> Result<Self, StoreFault> {
        Ok(Self {
            blocks: QueueBlocks::new(database.tree("queue")?),
            hosts: Hosts::new(rules),
            state: FrontierState::default(),
            pending: BTreeMap::new(),
            pending_bytes: 0,
            flushing: Arc::default(),
            gone: BTreeSet::new(),
            tries: BTreeMap::new(),
            later: BTreeMap::new(),
            out: HashMap::new(),
            quarantined: BTreeMap::new(),
            alone: None,
            seen: SeenKeys::new(),
            unsaved_seen: Vec::new(),
            claims: HashMap::new(),
            out_probes: HashMap::new(),
            robots: HashMap::new(),
            next_archive_sequence: 0,
            early: BTreeMap::new(),
            dirty: BTreeSet::new(),
            generations: Generations::default(),
            doubtful: u64::MAX,
            restarted: None,
            watch: None,
        })
    }

    /// Begins a session after the journal was applied to its end. Visits that were in progress when
    /// the last session died are recorded; after a death, no host gets a request before its minimum
    /// wait has passed.
    pub(super) fn begin_session(
        &mut self,
        journal: &Journal,
        now: Timestamp,
    ) -> Result<(), StoreFault> {
        self.doubtful = self.state.next_sequence;
        let rule = self.hosts.rules().after_death();
        if !self.clock_behind(now).is_zero() {
            let set_back = Record::ClockSetBack {
                to: now,
                min_wait: rule.min_wait,
            };
            self.record(journal, &set_back)?;
        }
        if !self.state.in_flight.is_empty() {
            let sequences = self.state.in_flight.iter().copied().collect();
            self.record(journal, &Record::Died { sequences })?;
        }
        if self.state.asked {
            self.record(journal, &Record::Restarted { at: now, rule })?;
            self.restarted = Some(now);
        }
        self.wait_at_most_until(now + self.hosts.rules().max_wait);
        // Not journalled either: every opening does it.
        self.hosts.give_new_chances(now);
        self.quarantine()?;
        self.state.patterns.begin_session(self.hosts.rules().probes);
        self.change_patterns(journal)?;
        self.revoke_due(journal)
    }

    /// Returns how far `now` is behind the clock of an earlier session, if its records show that: a
    /// response in the future, or the opening after a death.
    pub(super) fn clock_behind(&self, now: Timestamp) -> Duration {
        let min_wait = self.hosts.rules().min_wait;
        let opened = self.state.floor.before(min_wait);
        self.hosts.last_answered().max(opened).since(now)
    }

    /// Reopens a pattern, and queues the URLs that it excluded and that are still remembered.
    /// Returns their number; `None` if the pattern is unknown.
    pub(super) fn reopen(
        &mut self,
        journal: &Journal,
        name: &PatternName,
    ) -> Result<Option<u64>, StoreFault> {
        if !self.state.patterns.contains(name) {
            return Ok(None);
        }
        let before = self.state.next_sequence;
        self.record(journal, &Record::PatternReopened(name.clone()))?;
        self.requeue_reopened(journal)?;
        Ok(Some(self.state.next_sequence - before))
    }

    /// Shortens the waits of hosts and of postponed entries to `latest`. Not journalled: every
    /// opening does it.
    fn wait_at_most_until(&mut self, latest: Timestamp) {
        self.hosts.wait_at_most_until(latest);
        while let Some((&(due, sequence), &place)) = self.later.last_key_value()
            && due > latest
        {
            self.later.remove(&(due, sequence));
            self.later.insert((latest, sequence), place);
            if let Some(tries) = self.tries.get_mut(&place) {
                tries.due = latest;
            }
        }
    }

    pub(super) fn discover(
        &mut self,
        journal: &Journal,
        discovered: Vec<DiscoveredUrl>,
    ) -> Result<usize, StoreFault> {
        let (mut discovered, mut excluded) = (discovered, Vec::new());
        self.note_wanted(&discovered);
        self.hold_claimed(journal, &mut discovered, &mut excluded)?;
        let mut discovered = self.only_new(discovered, &mut excluded);
        for ExcludedLinks {
            rule,
            links,
            example,
        } in excluded
        {
            tracing::info!(rule, links, %example, "excluded");
        }
        let wanted_again = self.take_wanted_again(&mut discovered);
        let count = discovered.len() + wanted_again.len();
        if !discovered.is_empty() {
            let first = self.state.next_sequence;
            self.record(
                journal,
                &Record::Discovered {
                    first,
                    finds: discovered,
                },
            )?;
        }
        self.queue_again(journal, wanted_again)?;
        Ok(count)
    }

    pub(super) fn adopt_seed(
        &mut self,
        journal: &Journal,
        url: &PageUrl,
    ) -> Result<(), StoreFault> {
        if self.state.adopted.contains(url) {
            return Ok(());
        }
        self.record(journal, &Record::SeedAdopted { url: url.clone() })
    }

    /// Returns the last recorded pace of a host.
    pub(super) fn pace(&self, host: &Host) -> Option<Pace> {
        let pace = self.hosts.get(self.hosts.find(host)?).pace;
        (pace != Pace::default()).then_some(pace)
    }

    /// Returns the hosts whose last response requires a rest beyond `now`, either for them or for
    /// the hosts that share their pace.
    pub(super) fn resting(&self, now: Timestamp) -> Vec<(Host, Pace)> {
        let paces = self.hosts.iter().map(|host| {
            let mut pace = host.pace;
            // After a death, any host that had responded before may have responded just now.
            if let Some(restarted) = self.restarted
                && pace.answered != Timestamp::default()
            {
                let wait = pace.wait.min(self.hosts.rules().after_death().max_wait);
                if restarted + wait > pace.answered + pace.wait {
                    (pace.answered, pace.wait) = (restarted, wait);
                }
            }
            (&host.name, pace)
        });
        let resting = paces.filter(|(_, pace)| pace.answered + pace.wait > now);
        resting.map(|(name, pace)| (name.clone(), pace)).collect()
    }

    /// Returns the position of the last robots.txt of an origin, if it was recorded since the last
    /// flush.
    pub(super) fn robots_position(&self, origin: &str) -> Option<Position> {
        self.robots.get(origin).copied()
    }

    pub(super) fn harvests(&self, discovered: &[DiscoveredUrl]) -> Vec<UrlHarvest> {
        self.state.patterns.harvests(discovered)
    }

    pub(super) fn stats(&self) -> FrontierStats {
        let sums = self.hosts.sums();
        let postponed = self.later.len() as u64;
        let crashed = self.state.crashed.keys();
        let quarantined = crashed.filter(|sequence| self.state.is_quarantined(**sequence));
        FrontierStats {
            totals: self.state.totals,
            queued: sums.waiting + sums.leased + sums.quarantined + postponed,
            postponed,
            leased: sums.leased,
            quarantined: quarantined.count() as u64,
            unreachable: sums.unreachable,
            unreachable_hosts: sums.unreachable_hosts,
            active_hosts: sums.active_hosts,
            hosts: sums.visited_hosts,
            is_store_away: false,
        }
    }

    /// Returns true if the next checkpoint should be a flush, because memory is at its limit.
    pub(super) fn wants_flush(&self) -> bool {
        self.pending_bytes >= PENDING_BYTES
            || self.gone.len() + self.seen.unsaved() >= PENDING_CHANGES
    }

    /// Returns the start of the part of the journal that may have records of visits that the
    /// archive lost.
    pub(super) fn unsure_from(&self) -> Position {
        self.state.archived_at[0]
    }

    pub(super) fn archive_end(&self) -> Option<&ArchiveSpan> {
        self.state.archive.as_ref()
    }

    pub(super) fn adopted(&self) -> &[PageUrl] {
        &self.state.adopted
    }

    pub(super) fn is_begun(&self) -> bool {
        self.state.next_sequence > 0
    }

    /// Returns true if the previous session died: it may have sent a request to any host without a
    /// record.
    pub(super) fn died(&self) -> bool {
        self.state.asked
    }

    pub(super) fn totals(&self) -> Totals {
        self.state.totals
    }

    /// Returns the sequence numbers of all unsettled entries, from the blocks and from memory; for
    /// the audit.
    pub(super) fn queued(&self) -> Result<BTreeSet<u64>, StoreFault> {
        let mut queued = BTreeSet::new();
        let mut add = |place: &Place| {
            if !self.gone.contains(place) {
                queued.insert(place.rank.sequence);
            }
        };
        self.pending
            .keys()
            .chain(self.flushing.keys())
            .for_each(&mut add);
        self.blocks.each(|place| add(&place))?;
        Ok(queued)
    }

    /// Returns the keys of all URLs seen, ascending; for the audit.
    pub(super) fn seen(&self) -> impl Iterator<Item = UrlKey> + '_ {
        self.seen.iter().map(UrlKey::from_u64)
    }

    /// Appends a record to the journal and applies it.
    pub(super) fn record(&mut self, journal: &Journal, record: &Record) -> Result<(), StoreFault> {
        let span = journal.append_at(record)?;
        self.apply_own(span, record);
        Ok(())
    }

    /// Applies a record that this session has made.
    fn apply_own(&mut self, span: Range<Position>, record: &Record) {
        self.apply(span, record);
        if let Some(watch) = &self.watch {
            watch(record);
        }
    }

    /// Returns the URLs that have not been seen, each once; URLs whose pattern has brought little
    /// so far go last. URLs of a host beyond the limit of its domain are excluded.
    fn only_new(
        &self,
        discovered: Vec<DiscoveredUrl>,
        excluded: &mut Vec<ExcludedLinks>,
    ) -> Vec<DiscoveredUrl> {
        let mut twice = HashSet::with_capacity(discovered.len());
        let mut new = discovered;
        new.retain(|found| {
            let key = found.url.key();
            let is_known = self.is_seen(found) || twice.contains(&key);
            !is_known && twice.insert(seen_as(found))
        });
        excluded.extend(self.hosts.exclude(&mut new));
        if self.hosts.rules().closes_patterns {
            self.state.patterns.put_behind(&mut new);
        }
        new
    }
}

fn broken(what: String) -> StoreFault {
    StoreFault::Tables {
        path: "sled".into(),
        what,
    }
}
