//! A flush: the changes since the last one, on their way to the database.
//!
//! | tree | key (big-endian) | value |
//! |---|---|---|
//! | `queue` | host · priority · first sequence · part | a block (`block.rs`) |
//! | `frontier` | number of a group of hosts · position · part | [`HostRecord`]s (postcard) |
//! | `frontier` | `ffffffff` · position · part | `FrontierState` (postcard) |
//! | `seen` | position u64 · run u32 | version u8 · ascending keys u64 · crc32 (little-endian) |
//! | `robots` | origin | position of the record u64, little-endian |
//!
//! `position` is the journal's position at the flush. A flush is valid once the watermark says so.
//! Values under a later position than the watermark were left by an interrupted flush; they are not
//! read, and the next flush removes them. So counts are never ahead of the watermark. Blocks may
//! be, which is harmless: adding pages twice has no effect, and settled pages are removed again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use journal::{Position, StoreFault};
use serde::{Deserialize, Serialize};
use web::{Host, Pace, Timestamp};

use super::super::database::{Batch, Database, Tree};
use super::Queue;
use super::host_groups::{self, Retired, STATE};
use super::host_state::HostState;
use super::parts;
use super::place::{Place, Rank};
use super::seen::Seen;
use super::turns::{Levels, StoredLevels};
use super::waiting::WaitingFlush;
use crate::frontier::FrontierRules;
use crate::off_topic_streak::OffTopicStreak;

const SEEN_VERSION: u8 = 1;
/// Number of keys in a run, which fits into one value.
const SEEN_RUN: usize = 880;
/// Number of changes of small values that are made in one step.
const STEP_CHANGES: usize = 32;
/// Maximum number of settled pages in the blocks of a host; a quarter of its pages, if that is
/// less.
const GONE_PAGES: u32 = 64;
/// Maximum length of the origin of a host. The next session requests the robots.txt of longer
/// origins again.
const MAX_ORIGIN_BYTES: usize = 1 << 10;

/// The changes that a flush writes.
pub(in super::super) struct Flush {
    position: Position,
    waiting: WaitingFlush,
    dirty: BTreeSet<u32>,
    records: Vec<(u32, Vec<u8>)>,
    seen: Vec<u64>,
    robots: HashMap<String, Position>,
    retired: Retired,
}

/// The stored form of a host.
#[derive(Serialize, Deserialize)]
struct HostRecord {
    name: Host,
    pace: Pace,
    pages: u64,
    live: u64,
    gone: Vec<Rank>,
    tries: Vec<(Rank, u32, Timestamp)>,
    /// Requisites among `live`.
    requisites: u64,
    /// Probes among `live`.
    probes: u64,
    /// Probes of mirrors among `probes`.
    mirrored: u64,
    /// `live` by level, if the best host goes first; otherwise empty.
    levels: StoredLevels,
    off_topic_streak: OffTopicStreak,
}

impl Flush {
    /// Writes everything. It is durable once the database is synced, and valid once the watermark
    /// has been set to the position.
    pub(in super::super) fn write(&self, database: &Database) -> Result<(), StoreFault> {
        let frontier = database.tree("frontier")?;
        let seen = database.tree("seen")?;
        step(&frontier, &self.retired.groups, |batch, (key, parts)| {
            parts::remove(batch, key, *parts);
        })?;
        step(&seen, &self.retired.seen, |batch, key| batch.remove(key))?;
        self.waiting.write()?;
        step(&frontier, &self.records, |batch, (group, bytes)| {
            parts::insert(batch, &host_groups::key(*group, self.position), bytes);
        })?;
        let runs: Vec<(usize, &[u64])> = self.seen.chunks(SEEN_RUN).enumerate().collect();
        step(&seen, &runs, |batch, (number, run)| {
            let key = [
                self.position.to_be_bytes().as_slice(),
                &(*number as u32).to_be_bytes(),
            ]
            .concat();
            batch.insert(&key, &encode_run(run));
        })?;
        let robots: Vec<(&String, &Position)> = self.robots.iter().collect();
        step(
            &database.tree("robots")?,
            &robots,
            |batch, (origin, position)| {
                if origin.len() <= MAX_ORIGIN_BYTES {
                    batch.insert(origin.as_bytes(), &position.to_le_bytes());
                }
            },
        )
    }
}

/// For crash_injection.rs.
impl Flush {
    /// Leaves out the parts whose bits are set.
    pub(in super::super) fn exclude(&mut self, parts: u8) {
        let leave = |part: u8| parts & (1 << part) != 0;
        if leave(0) {
            self.retired = Retired::default();
        }
        if leave(1) {
            self.waiting.exclude_gone();
        }
        if leave(2) {
            self.waiting.exclude_half();
        }
        if leave(3) {
            self.records.truncate(1);
        }
        if leave(4) {
            self.seen.clear();
        }
    }
}

/// Applies many small changes, a few at a time.
fn step<T>(
    tree: &Tree,
    items: &[T],
    mut change: impl FnMut(&mut Batch, &T),
) -> Result<(), StoreFault> {
    for items in items.chunks(STEP_CHANGES) {
        let mut batch = Batch::default();
        items.iter().for_each(|item| change(&mut batch, item));
        tree.apply(batch)?;
    }
    Ok(())
}

impl Queue {
    /// Takes the changes since the last flush. They stay readable until [`Queue::end_flush`].
    pub(in super::super) fn begin_flush(&mut self, position: Position) -> Flush {
        let (dirty, retired) = self.host_groups.begin_flush();
        let gone = self.gone_enough(&dirty);
        let record = |group: &u32| (*group, self.record_of(*group, &gone));
        let records: Vec<_> = dirty.iter().map(record).collect();
        Flush {
            position,
            waiting: self.waiting.begin_flush(gone),
            records,
            dirty,
            seen: self.seen.begin_flush(),
            robots: std::mem::take(&mut self.robots),
            retired,
        }
    }

    /// Drops the state kept for a flush that is durable and has its watermark.
    pub(in super::super) fn end_flush(&mut self, flush: &Flush) {
        let hosts = &mut self.hosts;
        self.waiting.end_flush(&flush.waiting, |place| {
            hosts.heads_of(place.host).gone -= 1;
        });
        for (group, bytes) in &flush.records {
            self.host_groups
                .written(*group, flush.position, parts::count(bytes.len()));
        }
    }

    /// Takes back a failed flush: the next flush includes all of it.
    pub(in super::super) fn abort_flush(&mut self, flush: Flush) {
        self.waiting.doubt_before(self.state.next_sequence);
        self.host_groups.abort_flush(flush.dirty, flush.retired);
        self.seen.abort_flush(flush.seen);
        for (origin, position) in flush.robots {
            self.robots.entry(origin).or_insert(position);
        }
    }

    /// Returns the settled entries to remove from blocks, for hosts with enough of them.
    fn gone_enough(&self, dirty: &BTreeSet<u32>) -> BTreeSet<Place> {
        let mut enough = BTreeSet::new();
        for number in dirty.iter().flat_map(|group| self.group(*group)) {
            let host = self.hosts.get(number);
            let most = u64::from(host.gone) * 4 >= host.all.live + u64::from(host.gone);
            if host.gone > 0 && (host.gone >= GONE_PAGES || most) {
                enough.extend(self.waiting.gone_of(number));
            }
        }
        enough
    }

    /// Returns the hosts of a group.
    fn group(&self, group: u32) -> std::ops::Range<u32> {
        host_groups::hosts_of(group, self.hosts.numbers().end)
    }

    fn record_of(&self, group: u32, leaving: &BTreeSet<Place>) -> Vec<u8> {
        if group == STATE {
            return encode(&self.state);
        }
        let record = |number| {
            let host = self.hosts.get(number);
            let gone = self.waiting.gone_of(number);
            let gone = gone.filter(|place| !leaving.contains(place));
            HostRecord {
                name: host.name.clone(),
                pace: host.pace,
                pages: host.pages,
                live: host.all.live,
                requisites: host.requisites.live,
                probes: host.probes.live,
                mirrored: host.mirrored.live,
                levels: host
                    .levels
                    .as_ref()
                    .map_or_else(Default::default, Levels::to_stored),
                off_topic_streak: host.off_topic_streak,
                gone: gone.map(|place| place.rank).collect(),
                tries: self.retries.of_host(number).collect(),
            }
        };
        encode(&self.group(group).map(record).collect::<Vec<_>>())
    }

    /// Loads the frontier as of the watermark.
    pub(in super::super) fn load(
        database: &Database,
        watermark: Position,
        rules: FrontierRules,
    ) -> Result<Self, StoreFault> {
        let best_first = rules.best_first;
        let mut queue = Self::new(database, rules)?;
        let tree = database.tree("frontier")?;
        let mut found: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        let mut entries = tree.under(&[]);
        while let Some(whole) = parts::next(&mut entries, &tree)? {
            let key = <[u8; 12]>::try_from(&*whole.key);
            let key = key.map_err(|_length| tree.broken("a key has another length".to_owned()))?;
            let group = u32::from_be_bytes(std::array::from_fn(|i| key[i]));
            let position = Position::from_be_bytes(std::array::from_fn(|i| key[4 + i]));
            if position > watermark {
                queue.host_groups.retire(whole.key, whole.parts);
            } else {
                queue.host_groups.written(group, position, whole.parts);
                found.insert(group, whole.bytes().to_vec());
            }
        }
        if let Some(bytes) = found.remove(&STATE) {
            queue.state = decode(&tree, &bytes)?;
            queue.hosts.set_floor(queue.state.floor);
        }
        for (group, bytes) in found {
            if queue.hosts.numbers().end != host_groups::first_of(group) {
                return Err(tree.broken("hosts are missing".to_owned()));
            }
            for record in decode::<Vec<HostRecord>>(&tree, &bytes)? {
                // The crawl began without best first: its tables do not count by level.
                if best_first && record.levels.live() != record.live {
                    return Err(tree.broken("pages are not counted by priority".to_owned()));
                }
                queue.restore(record);
            }
        }
        queue.load_seen(&database.tree("seen")?, watermark)?;
        Ok(queue)
    }

    fn restore(&mut self, record: HostRecord) {
        let mut state = HostState::new(record.name, record.pace);
        state.pages = record.pages;
        state.off_topic_streak = record.off_topic_streak;
        state.all.live = record.live;
        state.requisites.live = record.requisites;
        state.probes.live = record.probes;
        state.mirrored.live = record.mirrored;
        let best_first = self.hosts.rules().best_first;
        state.levels = best_first.then(|| record.levels.into_levels());
        for (rank, ..) in &record.tries {
            state.update_counts(*rank, |counts| counts.later += 1);
        }
        state.gone = record.gone.len() as u32;
        let host = self.hosts.add(state);
        self.waiting.restore_gone(host, record.gone);
        for (rank, attempts, due) in record.tries {
            self.retries.postpone(Place { host, rank }, attempts, due);
        }
    }

    fn load_seen(&mut self, tree: &Tree, watermark: Position) -> Result<(), StoreFault> {
        let mut keys: Vec<u64> = Vec::new();
        for entry in tree.under(&[]) {
            let (key, value) = entry?;
            let position = key.first_chunk();
            let position = position.map(|bytes| Position::from_be_bytes(*bytes));
            let malformed = || tree.broken("a key has another length".to_owned());
            let position = position.ok_or_else(malformed)?;
            if position > watermark {
                self.host_groups.retire_seen(key.to_vec());
                continue;
            }
            let run = decode_run(&value);
            keys.extend(run.ok_or_else(|| tree.broken("a run of URLs seen".to_owned()))?);
        }
        keys.sort_unstable();
        keys.dedup();
        self.seen = Seen::from_ascending(keys).map_err(|error| tree.broken(error.to_string()))?;
        Ok(())
    }
}

/// Returns the last flushed position of an origin's robots.txt.
pub(in super::super) fn robots_position(
    database: &Database,
    origin: &str,
) -> Result<Option<Position>, StoreFault> {
    let tree = database.tree("robots")?;
    let found = tree.get(origin.as_bytes())?;
    let position = found.map(|bytes| <[u8; 8]>::try_from(&*bytes).map(Position::from_le_bytes));
    position
        .transpose()
        .map_err(|_length| tree.broken("a position has another length".to_owned()))
}

fn encode_run(keys: &[u64]) -> Vec<u8> {
    let mut bytes = vec![SEEN_VERSION];
    bytes.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
    let checksum = crc32fast::hash(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

fn decode_run(bytes: &[u8]) -> Option<impl Iterator<Item = u64> + '_> {
    let (content, checksum) = bytes.split_last_chunk::<4>()?;
    let (version, keys) = content.split_first()?;
    let (keys, rest) = keys.as_chunks::<8>();
    let sound = crc32fast::hash(content).to_le_bytes() == *checksum;
    (sound && *version == SEEN_VERSION && rest.is_empty())
        .then(|| keys.iter().map(|key| u64::from_le_bytes(*key)))
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("encoding to memory cannot fail")
}

fn decode<T: serde::de::DeserializeOwned>(tree: &Tree, bytes: &[u8]) -> Result<T, StoreFault> {
    postcard::from_bytes(bytes).map_err(|error| tree.broken(error.to_string()))
}
