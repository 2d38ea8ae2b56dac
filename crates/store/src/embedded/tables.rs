//! The tables that are derived from the journal. The only module that knows sled.
//!
//! | tree | key | value |
//! |---|---|---|
//! | `queue` | host · 0 · depth u32 · sequence u64 (big-endian) | [`Entry`] |
//! | `later` | sequence u64 | due time, [`Entry`] |
//! | `pages` | page key u64 | [`Admission`] |
//! | `seated` | page key u64 | [`LetThrough`] |
//! | `seen` | number of the run u64 | sorted URL keys, 8 bytes each |
//! | `meta` | `checkpoint`, `host/`… | [`Checkpoint`], pages of a host u64 |
//!
//! Invariant: every change is idempotent, so that replaying the journal from the checkpoint onto tables that are ahead
//! of it gives the same tables. What is not idempotent (counters) is only ever written with the checkpoint, in one batch.
//!
//! sled 0.34.7 as measured: no transactions, no background flush, small cache, values of a few KiB at most. What sled
//! reports as an error, or panics with, while opening is [`Opening::Unusable`]: the caller sets the directory aside and replays everything.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use neardup::Portrait;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use web::{Host, Timestamp, UrlKey};

use super::record::{Entry, LetThrough};
use super::segment::Position;
use crate::{ArchiveSpan, Page, StoreFault, Totals};

const CACHE_BYTES: u64 = 16 << 20;
/// sled splits larger values off into files of their own, which it does not always remove.
const SEEN_RUN_KEYS: usize = 800;
const CHECKPOINT: &[u8] = b"checkpoint";
const HOST: &[u8] = b"host/";

/// The tables of one crawl.
pub(super) struct Tables {
    path: PathBuf,
    database: sled::Db,
    queue: sled::Tree,
    later: sled::Tree,
    pages: sled::Tree,
    seated: sled::Tree,
    seen: sled::Tree,
    meta: sled::Tree,
}

/// What came of opening the tables.
pub(super) enum Opening {
    Ready(Tables),
    Unusable(String),
}

/// What the tables hold, and what must change in one step with that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// The journal up to here is in the tables.
    pub(super) position: Position,
    pub(super) totals: Totals,
    /// The next entry's number.
    pub(super) next_sequence: u64,
    /// The valid end of the archive.
    pub(super) archive: Option<ArchiveSpan>,
    /// Runs of seen URLs that were written.
    pub(super) seen_runs: u64,
    /// What fingerprints are made of.
    pub(super) features: String,
    /// Redirects of seeds that widened the scope.
    pub(super) adopted: Vec<web::PageUrl>,
}

/// A page that was admitted, and what it looks like.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Admission {
    pub(super) page: Page,
    pub(super) portrait: Portrait,
}

impl Tables {
    /// Opens or creates the tables in `path`.
    pub(super) fn open(path: &Path) -> Opening {
        // sled panics on some damaged files instead of returning an error.
        let opened = std::panic::catch_unwind(|| {
            let database = sled::Config::new()
                .path(path)
                .cache_capacity(CACHE_BYTES)
                .flush_every_ms(None)
                .use_compression(false)
                .open()?;
            let tree = |name: &str| database.open_tree(name);
            let (queue, later, pages) = (tree("queue")?, tree("later")?, tree("pages")?);
            let (seated, seen, meta) = (tree("seated")?, tree("seen")?, tree("meta")?);
            Ok::<_, sled::Error>(Tables {
                path: path.to_owned(),
                database,
                queue,
                later,
                pages,
                seated,
                seen,
                meta,
            })
        });
        match opened {
            Ok(Ok(tables)) => Opening::Ready(tables),
            Ok(Err(error)) => Opening::Unusable(error.to_string()),
            Err(_panic) => Opening::Unusable("it panicked while opening".to_owned()),
        }
    }

    /// The last checkpoint; the default one where there is none yet.
    pub(super) fn checkpoint(&self) -> Result<Checkpoint, StoreFault> {
        match self.meta.get(CHECKPOINT).map_err(|error| self.fault(&error))? {
            Some(bytes) => self.decode(&bytes),
            None => Ok(Checkpoint::default()),
        }
    }

    /// Makes all changes so far durable, then the checkpoint that says so, with the page counts of these hosts.
    pub(super) fn save(&self, checkpoint: &Checkpoint, hosts: &[(Host, u64)]) -> Result<(), StoreFault> {
        self.flush()?;
        let mut batch = sled::Batch::default();
        batch.insert(CHECKPOINT, encode(checkpoint));
        for (host, pages) in hosts {
            batch.insert([HOST, host.as_str().as_bytes()].concat(), &pages.to_le_bytes());
        }
        self.meta.apply_batch(batch).map_err(|error| self.fault(&error))?;
        self.flush()
    }

    fn flush(&self) -> Result<(), StoreFault> {
        self.database
            .flush()
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// Pages of each host at the last checkpoint.
    pub(super) fn host_pages(&self) -> Result<HashMap<Host, u64>, StoreFault> {
        let mut found = HashMap::new();
        for item in self.meta.scan_prefix(HOST) {
            let (key, value) = item.map_err(|error| self.fault(&error))?;
            let name = String::from_utf8_lossy(&key[HOST.len()..]);
            let count = <[u8; 8]>::try_from(&*value).map_err(|_length| self.malformed("a host's count"))?;
            found.insert(Host::new(&name), u64::from_le_bytes(count));
        }
        Ok(found)
    }

    /// Queues these.
    pub(super) fn queue(&self, entries: impl Iterator<Item = Entry>) -> Result<(), StoreFault> {
        // One by one: a batch makes sled write its buffer out and wait, two system calls and a dozen wake-ups a page, and
        // replaying the journal mends what a crash cuts short.
        for entry in entries {
            self.queue
                .insert(queue_key(&entry), encode(&entry))
                .map_err(|error| self.fault(&error))?;
        }
        Ok(())
    }

    /// Moves an entry out of its host's queue until `due`.
    pub(super) fn postpone(&self, entry: &Entry, due: Timestamp) -> Result<(), StoreFault> {
        self.later
            .insert(entry.sequence.to_be_bytes(), encode(&(due, entry)))
            .and_then(|_old| self.queue.remove(queue_key(entry)))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// Moves a postponed entry back into its host's queue.
    pub(super) fn recall(&self, entry: &Entry) -> Result<(), StoreFault> {
        self.queue
            .insert(queue_key(entry), encode(entry))
            .and_then(|_old| self.later.remove(entry.sequence.to_be_bytes()))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// Takes an entry out for good.
    pub(super) fn settle(&self, host: &Host, depth: u32, sequence: u64) -> Result<(), StoreFault> {
        self.queue
            .remove(key_of(host, depth, sequence))
            .and_then(|_old| self.later.remove(sequence.to_be_bytes()))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// The first entries of a host's queue, nearest to a seed first, without those that are out on lease.
    pub(super) fn heads(
        &self,
        host: &Host,
        leased: &HashSet<u64>,
        want: usize,
    ) -> Result<Vec<Entry>, StoreFault> {
        let mut found = Vec::with_capacity(want);
        for item in self.queue.scan_prefix(prefix_of(host)) {
            let (_key, value) = item.map_err(|error| self.fault(&error))?;
            let entry: Entry = self.decode(&value)?;
            if !leased.contains(&entry.sequence) {
                found.push(entry);
            }
            if found.len() == want {
                break;
            }
        }
        Ok(found)
    }

    /// How many pages wait in each host's queue.
    pub(super) fn queue_lengths(&self) -> Result<HashMap<Host, u64>, StoreFault> {
        let mut lengths = HashMap::new();
        for item in self.queue.iter().keys() {
            let key = item.map_err(|error| self.fault(&error))?;
            let name = key.split(|byte| *byte == 0).next().unwrap_or_default();
            *lengths
                .entry(Host::new(&String::from_utf8_lossy(name)))
                .or_insert(0) += 1;
        }
        Ok(lengths)
    }

    /// The sequence numbers of all that waits, postponed or not.
    pub(super) fn queued(&self) -> Result<Vec<u64>, StoreFault> {
        let keys = self.queue.iter().keys().chain(self.later.iter().keys());
        let number = |key: sled::IVec| key.last_chunk::<8>().map(|number| u64::from_be_bytes(*number));
        keys.map(|key| {
            let key = key.map_err(|error| self.fault(&error))?;
            number(key).ok_or_else(|| self.malformed("a key of the queue"))
        })
        .collect()
    }

    /// All postponed entries with their due times.
    pub(super) fn postponed(&self) -> Result<Vec<(Timestamp, Entry)>, StoreFault> {
        self.values(&self.later)
    }

    /// Remembers an admission.
    pub(super) fn admit(&self, admission: &Admission) -> Result<(), StoreFault> {
        self.pages
            .insert(admission.page.key().as_u64().to_be_bytes(), encode(admission))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// Remembers a page that was let through.
    pub(super) fn seat(&self, seated: &LetThrough) -> Result<(), StoreFault> {
        self.seated
            .insert(seated.page.key().as_u64().to_be_bytes(), encode(seated))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// A page that was let through.
    pub(super) fn seated(&self, page: UrlKey) -> Result<Option<LetThrough>, StoreFault> {
        let found = self.seated.get(page.as_u64().to_be_bytes());
        let found = found.map_err(|error| self.fault(&error))?;
        found.map(|bytes| self.decode(&bytes)).transpose()
    }

    /// All pages that were let through, in the order of their keys.
    pub(super) fn all_seated(&self) -> impl Iterator<Item = Result<LetThrough, StoreFault>> + '_ {
        self.seated
            .iter()
            .values()
            .map(|value| self.decode(&value.map_err(|error| self.fault(&error))?))
    }

    /// Forgets an admission, or a seat.
    pub(super) fn forget(&self, page: UrlKey) -> Result<(), StoreFault> {
        let key = page.as_u64().to_be_bytes();
        self.pages
            .remove(key)
            .and_then(|_old| self.seated.remove(key))
            .map(drop)
            .map_err(|error| self.fault(&error))
    }

    /// The admission of a page.
    pub(super) fn admission(&self, page: UrlKey) -> Result<Option<Admission>, StoreFault> {
        match self
            .pages
            .get(page.as_u64().to_be_bytes())
            .map_err(|error| self.fault(&error))?
        {
            Some(bytes) => self.decode(&bytes).map(Some),
            None => Ok(None),
        }
    }

    /// All admissions, in the order of their keys.
    pub(super) fn admissions(&self) -> impl Iterator<Item = Result<Admission, StoreFault>> + '_ {
        self.pages
            .iter()
            .values()
            .map(|value| self.decode(&value.map_err(|error| self.fault(&error))?))
    }

    /// Adds runs of seen URLs, the first of them with this number; returns the next number.
    pub(super) fn add_seen(&self, first_run: u64, keys: &mut [UrlKey]) -> Result<u64, StoreFault> {
        keys.sort_unstable();
        let mut batch = sled::Batch::default();
        let mut run = first_run;
        for chunk in keys.chunks(SEEN_RUN_KEYS) {
            let bytes: Vec<u8> = chunk.iter().flat_map(|key| key.as_u64().to_le_bytes()).collect();
            batch.insert(&run.to_be_bytes(), bytes);
            run += 1;
        }
        self.seen.apply_batch(batch).map_err(|error| self.fault(&error))?;
        Ok(run)
    }

    /// All URLs in the runs before `runs`.
    pub(super) fn seen(&self, runs: u64) -> Result<HashSet<UrlKey>, StoreFault> {
        let mut found = HashSet::new();
        for item in self.seen.range(..runs.to_be_bytes()).values() {
            let bytes = item.map_err(|error| self.fault(&error))?;
            let (keys, rest) = bytes.as_chunks::<8>();
            if !rest.is_empty() {
                return Err(self.malformed("a run of seen URLs"));
            }
            found.extend(keys.iter().map(|key| UrlKey::from_u64(u64::from_le_bytes(*key))));
        }
        Ok(found)
    }

    fn values<T: DeserializeOwned>(&self, tree: &sled::Tree) -> Result<Vec<T>, StoreFault> {
        tree.iter()
            .values()
            .map(|value| self.decode(&value.map_err(|error| self.fault(&error))?))
            .collect()
    }

    fn decode<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, StoreFault> {
        postcard::from_bytes(bytes).map_err(|error| self.malformed(&error.to_string()))
    }

    /// A fault of the tables, in these words.
    pub(super) fn broken(&self, what: String) -> StoreFault {
        StoreFault::Tables {
            path: self.path.clone(),
            what,
        }
    }

    fn malformed(&self, what: &str) -> StoreFault {
        self.broken(format!("{what} cannot be read"))
    }

    fn fault(&self, error: &sled::Error) -> StoreFault {
        self.broken(error.to_string())
    }
}

fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("encoding to memory cannot fail")
}

fn queue_key(entry: &Entry) -> Vec<u8> {
    key_of(&entry.find.url.host(), entry.find.depth, entry.sequence)
}

fn key_of(host: &Host, depth: u32, sequence: u64) -> Vec<u8> {
    let mut key = prefix_of(host);
    key.extend_from_slice(&depth.to_be_bytes());
    key.extend_from_slice(&sequence.to_be_bytes());
    key
}

/// No host name has a zero byte, so no host's prefix begins another's.
fn prefix_of(host: &Host) -> Vec<u8> {
    [host.as_str().as_bytes(), &[0]].concat()
}
