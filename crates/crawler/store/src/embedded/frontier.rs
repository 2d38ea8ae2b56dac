//! The frontier on a disk: the composition of its parts, each with fields and an invariant of its
//! own.
//!
//! ```text
//! waiting.rs        unsettled entries, by place       hosts.rs        hosts and their turns
//! retries.rs        entries that were tried before    seen.rs         keys of all URLs seen
//! out.rs            leases out, what they exclude     in_flight.rs    leases and crashes on disk
//! archive_order.rs  visits that wait for the archive  state.rs        other state on disk
//! host_groups.rs    hosts that a flush writes
//! ```
//! [`Queue`] turns calls into records, and records into moves between these parts:
//!
//! ```text
//! lease.rs    leasing                      apply.rs         the effect of a record
//! settle.rs   settlements, revocations     working_copy.rs  hosts that come and go
//! claims.rs   claims of redirects          flush.rs         writing and loading
//! probes.rs   probes, excluded URLs
//! ```
//! Below them are `place.rs` (places in the queue), `block.rs`, `parts.rs` and `queue_blocks.rs`
//! (entries in the database), `host_state.rs` (one host), `agenda.rs` (what it has to do, and
//! sums), `turns.rs` and `probe_turns.rs` (the order of ready hosts) and `anticipated.rs` (hosts
//! worth an empty slot).
//!
//! Memory holds the hosts, the first URLs of hosts that were leased from recently, and the URLs
//! discovered since the last flush. A URL keeps its place, in memory or in its block, from its
//! discovery to its settlement. Its state in between (leased, postponed, quarantined) is kept
//! separately, in `out.rs` and `retries.rs`.
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
mod archive_order;
mod block;
mod claims;
mod flush;
mod host_groups;
mod host_state;
mod hosts;
mod in_flight;
mod lease;
mod out;
mod parts;
mod place;
mod probe_turns;
mod probes;
mod queue_blocks;
mod retries;
mod seen;
mod settle;
mod state;
mod turns;
mod wait_counts;
mod waiting;
mod working_copy;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use journal::{
    ArchiveSpan, DiscoveredUrl, ExcludedLinks, Journal, PatternName, Position, Record, StoreFault,
    Totals, UrlHarvest,
};
use web::{Host, Pace, PageUrl, Timestamp, UrlKey};

use self::archive_order::ArchiveOrder;
pub(super) use self::flush::{Flush, robots_position};
use self::host_groups::HostGroups;
use self::hosts::Hosts;
pub(super) use self::lease::Taken;
use self::out::Out;
use self::queue_blocks::QueueBlocks;
use self::retries::Retries;
use self::seen::Seen;
use self::state::FrontierState;
pub(super) use self::state::Void;
use self::waiting::Waiting;
use super::database::Database;
use crate::frontier::{FrontierRules, FrontierStats, Lease};
use crate::seen::seen_as;

/// Size of the URLs discovered since the last flush at which a flush is requested.
const PENDING_BYTES: usize = 12 << 20;
/// Number of settled URLs that are still in blocks, or of URLs seen since the last flush, at which
/// a flush is requested.
const PENDING_CHANGES: usize = 4 << 20;

/// The frontier of a crawl, or of a node's part of it.
pub(super) struct Queue {
    hosts: Hosts,
    waiting: Waiting,
    retries: Retries,
    out: Out,
    seen: Seen,
    archive_order: ArchiveOrder,
    state: FrontierState,
    host_groups: HostGroups,
    /// The positions of the robots.txt files recorded since the last flush, by origin.
    robots: HashMap<String, Position>,
    /// The start of this session, if the previous session died.
    restarted: Option<Timestamp>,
    /// Receives the records that this session makes.
    watch: Option<RecordWatch>,
    used: Used,
}

/// Values that the queue no longer needs. The store drops them after it has unlocked the queue.
#[derive(Default)]
pub(super) struct Used {
    known: Vec<DiscoveredUrl>,
    settled: Vec<(Lease, Record)>,
}

/// A function that receives each record of the frontier that a session makes, in the order of the
/// journal. It is called while the queue is locked, so it must be short.
pub type RecordWatch = Arc<dyn Fn(&Record) + Send + Sync>;

impl Queue {
    fn new(database: &Database, rules: FrontierRules) -> Result<Self, StoreFault> {
        Ok(Self {
            hosts: Hosts::new(rules),
            waiting: Waiting::new(QueueBlocks::new(database.tree("queue")?)),
            retries: Retries::default(),
            out: Out::default(),
            seen: Seen::new(),
            archive_order: ArchiveOrder::default(),
            state: FrontierState::default(),
            host_groups: HostGroups::default(),
            robots: HashMap::new(),
            restarted: None,
            watch: None,
            used: Used::default(),
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
        self.waiting.doubt_before(self.state.next_sequence);
        let rule = self.hosts.rules().after_death();
        if !self.clock_behind(now).is_zero() {
            let set_back = Record::ClockSetBack {
                to: now,
                min_wait: rule.min_wait,
            };
            self.record(journal, &set_back)?;
        }
        let in_flight = self.state.in_flight.leased();
        if !in_flight.is_empty() {
            let sequences = in_flight.iter().copied().collect();
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
        self.retries.wait_at_most_until(latest);
    }

    pub(super) fn discover(
        &mut self,
        journal: &Journal,
        discovered: Vec<DiscoveredUrl>,
    ) -> Result<usize, StoreFault> {
        let (mut discovered, mut excluded) = (discovered, Vec::new());
        self.out.note_wanted(&discovered);
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
        let postponed = self.retries.postponed() as u64;
        let quarantined = self.state.in_flight.quarantined();
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
        self.waiting.new_bytes() >= PENDING_BYTES
            || self.waiting.gone() + self.seen.added() >= PENDING_CHANGES
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
        self.waiting.each(|place| {
            queued.insert(place.rank.sequence);
        })?;
        Ok(queued)
    }

    /// Returns the keys of all URLs seen, ascending; for the audit.
    pub(super) fn seen(&self) -> impl Iterator<Item = UrlKey> + '_ {
        self.seen.iter()
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

    /// Takes the values that no call needs any more.
    pub(super) fn take_used(&mut self) -> Used {
        std::mem::take(&mut self.used)
    }

    /// Returns the URLs that have not been seen, each once; URLs whose pattern has brought little
    /// so far go last. URLs of a host beyond the limit of its domain are excluded.
    fn only_new(
        &mut self,
        discovered: Vec<DiscoveredUrl>,
        excluded: &mut Vec<ExcludedLinks>,
    ) -> Vec<DiscoveredUrl> {
        let mut twice = HashSet::new();
        let mut new = discovered;
        let known = new.extract_if(.., |found| {
            self.is_seen(found) || twice.contains(&found.url.key()) || !twice.insert(seen_as(found))
        });
        let known: Vec<DiscoveredUrl> = known.collect();
        self.used.known.extend(known);
        excluded.extend(self.hosts.exclude(&mut new));
        let rules = self.hosts.rules();
        self.state.patterns.put_behind(&mut new, rules);
        new
    }
}

fn broken(what: String) -> StoreFault {
    StoreFault::Tables {
        path: "sled".into(),
        what,
    }
}
