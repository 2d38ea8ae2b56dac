//! A wrapper around sled, and the only module that knows sled.
//!
//! Measurements of sled 0.34.7: a small key costs 130–160 bytes, so callers pack many entries into
//! one value. Values above about 7 KiB are split off into separate files, which are not always
//! removed. It lacks transactions and a background flush, and its cache is small. An error or a
//! panic of sled while opening or reading is damage, and the caller rebuilds the tables from the
//! journal.
//!
//! After the last handle is dropped, a thread of the engine may hold its file a moment longer;
//! opening it during that time fails as if it were damaged. So opening waits for the file first. It
//! also finishes an interrupted compaction (database/swap.rs), and looks for damage that the engine
//! ignores (database/sled_log_check.rs).
//!
//! Invariant: a batch is either completely in a tree or not at all; writes are durable after
//! [`Database::flush`], and some may be before.

pub(super) mod seal;
mod sled_log_check;
pub(super) mod swap;

use std::fs::{File, TryLockError};
use std::io;
use std::ops::{Deref, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use journal::StoreFault;
use serde::de::DeserializeOwned;

const CACHE_BYTES: u64 = 64 << 20;
/// Maximum length of a value: see the module's documentation.
pub(super) const MAX_VALUE_BYTES: usize = 7 << 10;

/// The engine's own tree.
const ENGINE_TREE: &[u8] = b"__sled__default";

/// Number of attempts to lock the engine's file, and the pause between them.
const LOCK_ATTEMPTS: u32 = 2_000;
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// A database of named trees. Cheap to clone.
#[derive(Clone)]
pub struct Database {
    path: PathBuf,
    engine: sled::Db,
}

/// Ordered keys and their values. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tree {
    path: PathBuf,
    engine: sled::Tree,
}

/// A key or value in the engine's cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value(sled::IVec);

impl Deref for Value {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Value {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// An atomic set of changes to one tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    changes: sled::Batch,
    len: usize,
}

impl Batch {
    pub(super) fn insert(&mut self, key: &[u8], value: &[u8]) {
        debug_assert!(
            value.len() <= MAX_VALUE_BYTES,
            "a value of {} bytes",
            value.len()
        );
        self.changes.insert(key, value);
        self.len += 1;
    }

    pub(super) fn remove(&mut self, key: &[u8]) {
        self.changes.remove(key);
        self.len += 1;
    }

    /// Returns the number of changes.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Database {
    /// Opens or creates the database in `path`.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if it is damaged, even if the engine panics.
    pub fn open(path: &Path) -> Result<Self, StoreFault> {
        swap::settle(path)?;
        remove_half_snapshots(path)?;
        wait_for(path)?;
        sled_log_check::check(path)?;
        let open = || {
            sled::Config::new()
                .path(path)
                .cache_capacity(CACHE_BYTES)
                .flush_every_ms(None)
                .use_compression(false)
                .open()
        };
        let engine = guarded(path, open)?;
        Ok(Self {
            path: path.to_owned(),
            engine,
        })
    }

    /// Returns the names of all trees.
    pub(super) fn tree_names(&self) -> Result<Vec<String>, StoreFault> {
        let names = guarded(&self.path, || Ok(self.engine.tree_names()))?;
        let own = |name: &sled::IVec| name.as_ref() != ENGINE_TREE;
        let names = names.into_iter().filter(own).map(|name| {
            let name = std::str::from_utf8(&name).map(str::to_owned);
            let what = "the name of a tree is malformed";
            name.map_err(|_invalid| broken(&self.path, what.to_owned()))
        });
        names.collect()
    }

    /// Opens or creates the tree of this name.
    pub(super) fn tree(&self, name: &str) -> Result<Tree, StoreFault> {
        let engine = guarded(&self.path, || self.engine.open_tree(name))?;
        Ok(Tree {
            path: self.path.clone(),
            engine,
        })
    }

    /// Removes a tree. It must not be used afterwards.
    pub(super) fn drop_tree(&self, name: &str) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.drop_tree(name)).map(drop)
    }

    /// Makes everything written so far durable.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the engine fails.
    pub fn flush(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.flush()).map(drop)
    }

    /// Returns the size on the disk in bytes, garbage included.
    ///
    /// # Errors
    /// [`StoreFault::Tables`] if the engine fails.
    pub fn size_on_disk(&self) -> Result<u64, StoreFault> {
        guarded(&self.path, || self.engine.size_on_disk())
    }

    /// Returns the database's directory.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Tree {
    /// Returns the value that was sealed under `key`.
    pub(super) fn get_sealed<T: DeserializeOwned>(
        &self,
        key: &[u8],
    ) -> Result<Option<T>, StoreFault> {
        let value = self.get(key)?;
        value.map(|value| self.open_seal(key, &value)).transpose()
    }

    /// Reads a value that was sealed under `key`.
    pub(super) fn open_seal<T: DeserializeOwned>(
        &self,
        key: &[u8],
        value: &[u8],
    ) -> Result<T, StoreFault> {
        seal::read(key, value).map_err(|broken| self.broken(broken.to_string()))
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Value>, StoreFault> {
        let found = guarded(&self.path, || self.engine.get(key))?;
        Ok(found.map(Value))
    }

    /// Returns the last entry whose key is at most `key`.
    pub(super) fn at_or_before(&self, key: &[u8]) -> Result<Option<(Value, Value)>, StoreFault> {
        let found = guarded(&self.path, || {
            self.engine.range(..=key).next_back().transpose()
        })?;
        Ok(found.map(|(key, value)| (Value(key), Value(value))))
    }

    /// Returns the entries in this range of keys, ascending.
    pub(super) fn range<K: AsRef<[u8]>>(&self, keys: impl RangeBounds<K>) -> Entries {
        self.entries(|| self.engine.range(keys))
    }

    /// Returns the entries whose keys begin with `prefix`, ascending.
    pub(super) fn under(&self, prefix: &[u8]) -> Entries {
        self.entries(|| self.engine.scan_prefix(prefix))
    }

    fn entries(&self, begin: impl FnOnce() -> sled::Iter) -> Entries {
        let (engine, broken) = match guarded(&self.path, || Ok(begin())) {
            Ok(engine) => (Some(engine), None),
            Err(broken) => (None, Some(broken)),
        };
        Entries {
            path: self.path.clone(),
            engine,
            broken,
        }
    }

    /// Applies these changes atomically.
    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.apply_batch(batch.changes))
    }

    /// Appends many entries, whose keys are ascending and above all existing keys. Not atomic.
    ///
    /// The engine splits a leaf of 17 entries and writes both halves, and rewrites a leaf at about
    /// every tenth change. So entries added one by one are written several times. Therefore, all
    /// keys are inserted first, with empty values: a leaf is nearly empty when it splits and keeps
    /// eight entries, fewer than the ten changes that rewrite it.
    pub(super) fn append(
        &self,
        entries: &[(impl AsRef<[u8]>, impl AsRef<[u8]>)],
    ) -> Result<(), StoreFault> {
        guarded(&self.path, || {
            for (key, _) in entries {
                self.engine.insert(key, &[])?;
            }
            for (key, value) in entries {
                self.engine.insert(key, value.as_ref())?;
            }
            Ok(())
        })
    }

    /// Makes everything written to any tree durable.
    pub(super) fn flush(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.flush()).map(drop)
    }

    /// Returns the fault of an invalid value from the engine.
    pub(super) fn broken(&self, what: String) -> StoreFault {
        broken(&self.path, what)
    }

    /// Removes all entries.
    pub(super) fn clear(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.clear())
    }
}

/// Entries in ascending order of their keys. The first error ends them.
pub(super) struct Entries {
    path: PathBuf,
    engine: Option<sled::Iter>,
    /// The error to return next.
    broken: Option<StoreFault>,
}

impl Entries {
    fn step(
        &mut self,
        step: impl FnOnce(&mut sled::Iter) -> Option<sled::Result<(sled::IVec, sled::IVec)>>,
    ) -> Option<Result<(Value, Value), StoreFault>> {
        let Some(engine) = &mut self.engine else {
            return self.broken.take().map(Err);
        };
        let entry = guarded(&self.path, || step(engine).transpose()).transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.engine = None;
        }
        entry.map(|entry| entry.map(|(key, value)| (Value(key), Value(value))))
    }
}

impl Iterator for Entries {
    type Item = Result<(Value, Value), StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        self.step(Iterator::next)
    }
}

impl DoubleEndedIterator for Entries {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.step(DoubleEndedIterator::next_back)
    }
}

/// Splits off the first bytes; returns `None` if there are fewer.
pub(super) fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*taken)
}

/// Removes partial snapshots. A process that dies while the engine writes a snapshot leaves a part
/// of it, which the engine would treat as complete.
fn remove_half_snapshots(path: &Path) -> Result<(), StoreFault> {
    let entries = match std::fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(StoreFault::file("read", path))?,
    };
    for entry in entries {
        let entry = entry.map_err(StoreFault::file("read", path))?.path();
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            std::fs::remove_file(&entry).map_err(StoreFault::file("remove", &entry))?;
        }
    }
    Ok(())
}

/// Waits until earlier handles of the database have released the lock of its file.
fn wait_for(path: &Path) -> Result<(), StoreFault> {
    let path = path.join("db");
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(StoreFault::file("open", &path))?,
    };
    for _attempt in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            // Closing the file releases the lock.
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(StoreFault::file("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(LOCK_PAUSE),
        }
    }
    Err(StoreFault::InUse { path, holder: None })
}

/// Runs engine code, because the engine panics on some damaged files instead of returning an error.
fn guarded<T>(path: &Path, work: impl FnOnce() -> sled::Result<T>) -> Result<T, StoreFault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(broken(path, error.to_string())),
        Err(_panic) => Err(broken(path, "the engine panicked".to_owned())),
    }
}

fn broken(path: &Path, what: String) -> StoreFault {
    StoreFault::Tables {
        path: path.to_owned(),
        what,
    }
}
