//! Compaction: a database much larger than its live data is copied.
//!
//! The engine reuses space, but returns it late and never completely: after many small changes, the
//! database takes two to four times its live data. So the live data is copied into a second
//! directory, which then replaces the database (`database/swap.rs`):
//!
//! ```text
//! copy DIR/sled to DIR/sled.new, sync it  →  sled to sled.old  →  sled.new to sled
//!                                         →  remove sled.old
//! ```
//!
//! Invariant: at every moment the directory contains one complete database. Every opening begins
//! with `swap::settle`, which finds it: `sled` if it exists; else `sled.new`, if `sled.old` shows
//! that the copy was finished; else `sled.old`. Each rename is durable before the next begins.

use std::path::Path;

use journal::StoreFault;

use super::checkpoint::meta::Meta;
use super::database::Database;
use super::database::swap::{SWAP, beside, remove, sync_tree};

/// Maximum number of bytes on disk per live byte.
const BLOAT: u64 = 3;
/// Smaller databases are not compacted.
const SMALL: u64 = 64 << 20;
/// Number of values copied at once: a few megabytes.
const COPIED_AT_ONCE: usize = 1 << 10;
/// The key of the last count of live bytes in the database.
const LIVE: &str = "live bytes";

/// Compacts the database if it takes more than three times its live data and `free_space` bytes
/// suffice for a copy. No other handle may have it open, so this happens before the trees are
/// handed out.
///
/// # Errors
/// [`StoreFault::Tables`] if it cannot be read. If the copy cannot be written, the old database
/// stays in use.
pub(super) fn compact_if_bloated(
    database: Database,
    free_space: Option<u64>,
) -> Result<Database, StoreFault> {
    let Some(live) = live_if_bloated(&database, SMALL)? else {
        return Ok(database);
    };
    // The engine hangs on a full disk.
    if free_space.is_none_or(|free| free / 2 < live) {
        tracing::warn!(
            path = %database.path().display(),
            live,
            ?free_space,
            "no space to compact the bloated tables"
        );
        return Ok(database);
    }
    tracing::info!(path = %database.path().display(), live, "compacting the bloated tables");
    replace(database, copy)
}

/// Returns the live bytes of the database, if it takes too much space for them. They are counted
/// only if it takes too much for the last count.
fn live_if_bloated(database: &Database, small: u64) -> Result<Option<u64>, StoreFault> {
    let taken = database.size_on_disk()?;
    if taken <= small {
        return Ok(None);
    }
    let meta = Meta::open(database)?;
    let before: u64 = meta.get(LIVE)?.unwrap_or(0);
    if taken <= before.saturating_mul(BLOAT) {
        return Ok(None);
    }
    let mut live = 0;
    for name in database.tree_names()? {
        for entry in database.tree(&name)?.under(&[]) {
            let (key, value) = entry?;
            live += (key.len() + value.len()) as u64;
        }
    }
    meta.put(LIVE, &live)?;
    Ok((taken > live.saturating_mul(BLOAT)).then_some(live))
}

/// Replaces the database with the copy that `copy` makes.
fn replace(
    database: Database,
    copy: impl FnOnce(&Database, &Path) -> Result<(), StoreFault>,
) -> Result<Database, StoreFault> {
    let path = database.path().to_owned();
    if let Err(fault) = copy(&database, &beside(&path, "new")) {
        if matches!(&fault, StoreFault::Tables { path: broken, .. } if *broken == path) {
            return Err(fault);
        }
        tracing::warn!(path = %path.display(), %fault, "the tables stay as they are");
        drop(database);
        return Database::open(&path);
    }
    drop(database);
    for step in SWAP {
        step(&path)?;
    }
    Database::open(&path)
}

/// Durably copies the contents of `database` into a new one.
fn copy(database: &Database, to: &Path) -> Result<(), StoreFault> {
    remove(to)?;
    let new = Database::open(to)?;
    for name in database.tree_names()? {
        let (from, into) = (database.tree(&name)?, new.tree(&name)?);
        let mut entries = Vec::new();
        for entry in from.under(&[]) {
            entries.push(entry?);
            if entries.len() == COPIED_AT_ONCE {
                into.append(&entries)?;
                entries.clear();
            }
        }
        into.append(&entries)?;
    }
    new.flush()?;
    drop(new);
    sync_tree(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::database::Batch;

    type Contents = Vec<(String, Vec<u8>, Vec<u8>)>;

    fn contents(database: &Database) -> Contents {
        let mut contents = Contents::new();
        let mut names = database.tree_names().unwrap();
        names.sort();
        for name in names {
            for entry in database.tree(&name).unwrap().under(&[]) {
                let (key, value) = entry.unwrap();
                contents.push((name.clone(), key.to_vec(), value.to_vec()));
            }
        }
        contents
    }

    /// Returns a database whose values were overwritten many times, and its contents.
    fn bloated(path: &Path) -> (Database, Contents) {
        let database = Database::open(path).unwrap();
        Meta::open(&database)
            .unwrap()
            .put("name", &"value")
            .unwrap();
        for round in 0..40_u8 {
            for name in ["one", "two"] {
                let mut batch = Batch::default();
                for key in 0..20_u8 {
                    batch.insert(&[key], &vec![round; 2_000 + usize::from(key)]);
                }
                database.tree(name).unwrap().apply(batch).unwrap();
            }
        }
        database.flush().unwrap();
        let contents = contents(&database);
        (database, contents)
    }

    #[test]
    fn a_bloated_database_becomes_small_and_keeps_its_contents() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sled");
        let (database, before) = bloated(&path);
        let size = database.size_on_disk().unwrap();
        let live = live_if_bloated(&database, 0).unwrap().unwrap();
        let database = replace(database, copy).unwrap();
        let smaller = database.size_on_disk().unwrap();
        assert!(
            smaller * 2 < size,
            "{size} bytes became {smaller}, {live} live"
        );
        let after: Contents = contents(&database)
            .into_iter()
            .filter(|(_, key, _)| !key.starts_with(LIVE.as_bytes()))
            .collect();
        assert_eq!(after, before);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_small_or_dense_database_or_one_without_room_for_a_copy_is_not_compacted() {
        let directory = tempfile::tempdir().unwrap();
        let (database, before) = bloated(&directory.path().join("sled"));
        let size = database.size_on_disk().unwrap();
        // The engine may write a snapshot meanwhile.
        assert_eq!(live_if_bloated(&database, 2 * size).unwrap(), None);
        let meta = Meta::open(&database).unwrap();
        meta.put(LIVE, &size).unwrap();
        assert_eq!(live_if_bloated(&database, 0).unwrap(), None);
        meta.put(LIVE, &0_u64).unwrap();
        assert!(live_if_bloated(&database, 0).unwrap().is_some());
        for room in [None, Some(0), Some(u64::MAX)] {
            let still = compact_if_bloated(database.clone(), room).unwrap();
            assert!(still.size_on_disk().unwrap() > size / 2, "{room:?}");
        }
        let kept = |(_, key, _): &(String, Vec<u8>, Vec<u8>)| !key.starts_with(LIVE.as_bytes());
        assert!(contents(&database).into_iter().filter(kept).eq(before));
    }

    /// The process dies after the copy and some of the steps, or in the middle of the copy.
    #[test]
    fn wherever_a_compaction_is_cut_short_the_whole_database_is_found() {
        for steps in 0..=SWAP.len() {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("sled");
            let (database, before) = bloated(&path);
            copy(&database, &beside(&path, "new")).unwrap();
            drop(database);
            for step in &SWAP[..steps] {
                step(&path).unwrap();
            }
            assert_eq!(
                contents(&Database::open(&path).unwrap()),
                before,
                "after {steps} steps"
            );
            assert_eq!(
                std::fs::read_dir(directory.path()).unwrap().count(),
                1,
                "after {steps} steps"
            );
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sled");
        let (database, before) = bloated(&path);
        let half = Database::open(&beside(&path, "new")).unwrap();
        half.tree("one").unwrap();
        drop((database, half));
        assert_eq!(contents(&Database::open(&path).unwrap()), before);
        assert!(!beside(&path, "new").exists());
    }

    /// The old directory may be half removed when the process dies.
    #[test]
    fn the_remains_of_an_old_database_are_never_opened() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sled");
        let (database, before) = bloated(&path);
        drop(database);
        std::fs::create_dir(beside(&path, "old")).unwrap();
        assert_eq!(contents(&Database::open(&path).unwrap()), before);
        assert!(!beside(&path, "old").exists());
    }

    #[test]
    fn a_copy_that_cannot_be_written_leaves_the_database_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("sled");
        let (database, before) = bloated(&path);
        let fail = |_: &Database, to: &Path| {
            std::fs::create_dir(to).unwrap();
            std::fs::write(to.join("db"), b"half").unwrap();
            Err(StoreFault::Tables {
                path: to.to_owned(),
                what: "no space".to_owned(),
            })
        };
        let database = replace(database, fail).unwrap();
        assert!(!beside(&path, "new").exists());
        assert_eq!(contents(&database), before);
    }
}
