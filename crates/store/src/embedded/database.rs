//! sled, and nothing else: the one module that knows it.
//!
//! sled 0.34.7 as measured: a small key costs 130–160 bytes, so callers pack many entries into one
//! value; values above about 7 KiB are split off into files of their own, which are not always
//! removed; no transactions, no background flush, a small cache; what it reports as an error, or
//! panics with, while opening or reading is damage, and the caller makes the tables again from the
//! journal.
//!
//! After the last handle is gone a thread of the engine may hold its file a moment longer, and
//! opening it then fails as if it were damaged: so opening waits for the file first. What a rewrite
//! left unfinished is settled first too (rewrite.rs). Damage in the part of its log that it hears
//! when it is opened the engine passes over: so that is looked for first as well (replayed.rs).
//!
//! Invariant: a batch is in a tree wholly or not at all; what was written is durable after
//! [`Database::flush`], and some of it may be before.

pub(super) mod seal;
mod sled_log_check;
pub(super) mod swap;

use std::fs::{File, TryLockError};
use std::io;
use std::ops::{Deref, RangeBounds};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::StoreFault;

const CACHE_BYTES: u64 = 64 << 20;
/// Larger values are refused here: see the module's documentation.
pub(super) const MAX_VALUE_BYTES: usize = 7 << 10;

/// The engine makes a tree for itself.
const ENGINE_TREE: &[u8] = b"__sled__default";

/// How often it is looked whether the engine has let go of its file, and how long in between.
const LOOKS: u32 = 2_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// A directory of trees. Cheap to clone.
#[derive(Clone)]
pub struct Database {
    path: PathBuf,
    engine: sled::Db,
}

/// Keys in order, with their values. Cheap to clone.
#[derive(Clone)]
pub(super) struct Tree {
    path: PathBuf,
    engine: sled::Tree,
}

/// Bytes that lie in the engine's cache.
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

/// Changes to one tree that happen together.
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

    /// How many changes there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Database {
    /// Opens or creates the database in `path`. What is wrong with it is [`StoreFault::Tables`],
    /// also where the engine panicked.
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

    /// The names of all trees.
    pub(super) fn tree_names(&self) -> Result<Vec<String>, StoreFault> {
        let names = guarded(&self.path, || Ok(self.engine.tree_names()))?;
        let own = |name: &sled::IVec| name.as_ref() != ENGINE_TREE;
        names
            .into_iter()
            .filter(own)
            .map(|name| match std::str::from_utf8(&name) {
                Ok(name) => Ok(name.to_owned()),
                Err(_) => Err(broken(
                    &self.path,
                    "the name of a tree is malformed".to_owned(),
                )),
            })
            .collect()
    }

    /// The tree of this name, which is made if it is not there.
    pub(super) fn tree(&self, name: &str) -> Result<Tree, StoreFault> {
        let engine = guarded(&self.path, || self.engine.open_tree(name))?;
        Ok(Tree {
            path: self.path.clone(),
            engine,
        })
    }

    /// Takes a tree away. Nobody may use it any more.
    pub(super) fn drop_tree(&self, name: &str) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.drop_tree(name)).map(drop)
    }

    /// Makes everything that was written durable.
    pub fn flush(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.flush()).map(drop)
    }

    /// Bytes on the disk, garbage included.
    pub fn size_on_disk(&self) -> Result<u64, StoreFault> {
        guarded(&self.path, || self.engine.size_on_disk())
    }

    /// Where it lies.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Tree {
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Value>, StoreFault> {
        let found = guarded(&self.path, || self.engine.get(key))?;
        Ok(found.map(Value))
    }

    /// The last entry whose key is not above `key`.
    pub(super) fn at_or_before(&self, key: &[u8]) -> Result<Option<(Value, Value)>, StoreFault> {
        let found = guarded(&self.path, || {
            self.engine.range(..=key).next_back().transpose()
        })?;
        Ok(found.map(|(key, value)| (Value(key), Value(value))))
    }

    /// The entries of these keys, ascending.
    pub(super) fn range<K: AsRef<[u8]>>(&self, keys: impl RangeBounds<K>) -> Entries {
        self.entries(|| self.engine.range(keys))
    }

    /// The entries whose keys begin so, ascending.
    pub(super) fn under(&self, prefix: &[u8]) -> Entries {
        self.entries(|| self.engine.scan_prefix(prefix))
    }

    fn entries(&self, begin: impl FnOnce() -> sled::Iter) -> Entries {
        let path = self.path.clone();
        match guarded(&path, || Ok(begin())) {
            Ok(engine) => Entries {
                path,
                engine: Some(engine),
                broken: None,
            },
            Err(broken) => Entries {
                path,
                engine: None,
                broken: Some(broken),
            },
        }
    }

    /// Makes these changes in one step.
    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.apply_batch(batch.changes))
    }

    /// Adds entries whose keys ascend above all others, many at once. They are not added in one
    /// step.
    ///
    /// The engine splits a leaf of 17 entries and writes both halves, and writes a leaf anew at
    /// about every tenth change of it, so that entries that are added one after the other are
    /// written several times over. So the keys come first, without their values, and one by one:
    /// what is split then is next to empty, and leaves eight entries behind, which is fewer than
    /// ten.
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

    /// Makes everything that was written, to this tree and the others, durable.
    pub(super) fn flush(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.flush()).map(drop)
    }

    /// The fault that what the engine gave out is wrong.
    pub(super) fn broken(&self, what: String) -> StoreFault {
        broken(&self.path, what)
    }

    /// Takes everything out.
    pub(super) fn clear(&self) -> Result<(), StoreFault> {
        guarded(&self.path, || self.engine.clear())
    }
}

/// Entries in order of their keys. After an error there are no more.
pub(super) struct Entries {
    path: PathBuf,
    engine: Option<sled::Iter>,
    /// Why there are none.
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

/// A process that dies while the engine writes a snapshot leaves a part of it, which the engine
/// would take for a whole one.
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

/// Waits until no earlier handle of the database has its file locked.
fn wait_for(path: &Path) -> Result<(), StoreFault> {
    let path = path.join("db");
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        file => file.map_err(StoreFault::file("open", &path))?,
    };
    for _look in 0..LOOKS {
        match file.try_lock() {
            // Closing it lets go of it again.
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(StoreFault::file("lock", &path)(error)),
            Err(TryLockError::WouldBlock) => std::thread::park_timeout(BETWEEN_LOOKS),
        }
    }
    Err(StoreFault::InUse { path, holder: None })
}

/// On some damaged files the engine panics instead of returning an error.
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
