//! The tables' own state: their layout, the watermark, and the marker of a flush in progress.
//!
//! | key in tree `meta` | value |
//! |---|---|
//! | name · 0 · number of the piece u16 (big-endian) | a piece of a sealed value (seal.rs) |
//!
//! Invariants: a value is either complete or absent. The watermark is written after everything
//! below it is durable, in one batch with the removal of the flush marker. A marker found on
//! opening means that the last flush was interrupted, so the tables are partly ahead of the
//! watermark.

use journal::StoreFault;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::embedded::database::{Batch, Database, Tree, seal};

const TREE: &str = "meta";

/// The layout of all trees, raised with every change: tables of another layout are rebuilt from the
/// journal.
const LAYOUT: u16 = 10;

const LAYOUT_NAME: &str = "layout";
const FLUSH_NAME: &str = "fold";

const PIECE_BYTES: usize = 6 << 10;
/// Maximum number of pieces of a value: six megabytes.
const MAX_PIECES: usize = 1 << 10;

/// The named values of the tables.
#[derive(Clone)]
pub(in crate::embedded) struct Meta {
    tree: Tree,
}

impl Meta {
    /// Opens the values of this database, if it has our layout; an empty database gets it.
    pub(in crate::embedded) fn open(database: &Database) -> Result<Self, StoreFault> {
        let meta = Self {
            tree: database.tree(TREE)?,
        };
        match meta.get::<u16>(LAYOUT_NAME)? {
            Some(LAYOUT) => Ok(meta),
            Some(other) => Err(meta.broken(&format!("their layout must be {LAYOUT}, got {other}"))),
            None => {
                for name in database.tree_names()? {
                    if let Some(entry) = database.tree(&name)?.under(&[]).next() {
                        entry?;
                        return Err(meta.broken("they name no layout"));
                    }
                }
                meta.put(LAYOUT_NAME, &LAYOUT)?;
                Ok(meta)
            }
        }
    }

    /// Returns the value of this name, if there is one.
    pub(in crate::embedded) fn get<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, StoreFault> {
        let mut value = Vec::new();
        for piece in self.tree.under(&prefix_of(name)) {
            value.extend_from_slice(&piece?.1);
        }
        if value.is_empty() {
            return Ok(None);
        }
        self.tree.open_seal(name.as_bytes(), &value).map(Some)
    }

    /// Writes the value of this name. It is durable after the next flush.
    pub(in crate::embedded) fn put<T: Serialize>(
        &self,
        name: &str,
        content: &T,
    ) -> Result<(), StoreFault> {
        let mut batch = Batch::default();
        self.write(&mut batch, name, content)?;
        self.tree.apply(batch)
    }

    /// Writes the marker that the tables are about to change.
    pub(in crate::embedded) fn begin_flush(&self) -> Result<(), StoreFault> {
        self.put(FLUSH_NAME, &true)?;
        self.tree.flush()
    }

    /// Makes the changes to the tables durable, then writes their watermark under `name` and
    /// removes the marker.
    pub(in crate::embedded) fn end_flush<T: Serialize>(
        &self,
        name: &str,
        watermark: &T,
    ) -> Result<(), StoreFault> {
        self.tree.flush()?;
        let mut batch = Batch::default();
        self.write(&mut batch, name, watermark)?;
        self.write(&mut batch, FLUSH_NAME, &false)?;
        self.tree.apply(batch)?;
        self.tree.flush()
    }

    /// Returns true if a flush has begun but not ended.
    pub(in crate::embedded) fn is_flush_in_progress(&self) -> Result<bool, StoreFault> {
        Ok(self.get(FLUSH_NAME)?.unwrap_or(false))
    }

    fn write<T: Serialize>(
        &self,
        batch: &mut Batch,
        name: &str,
        content: &T,
    ) -> Result<(), StoreFault> {
        let value = seal::written(name.as_bytes(), content);
        let pieces = value.chunks(PIECE_BYTES);
        if pieces.len() > MAX_PIECES {
            let bytes = value.len();
            return Err(self.broken(&format!("{name} of {bytes} bytes is too large for them")));
        }
        for old in self.tree.under(&prefix_of(name)) {
            batch.remove(&old?.0);
        }
        for (number, piece) in (0_u16..).zip(pieces) {
            let mut key = prefix_of(name);
            key.extend_from_slice(&number.to_be_bytes());
            batch.insert(&key, piece);
        }
        Ok(())
    }

    fn broken(&self, what: &str) -> StoreFault {
        self.tree.broken(what.to_owned())
    }
}

/// Returns the prefix of a name's keys. Names must not contain a zero byte, so that no prefix
/// begins another.
fn prefix_of(name: &str) -> Vec<u8> {
    debug_assert!(!name.contains('\0'), "{name:?} as a name");
    [name.as_bytes(), &[0]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATERMARK: &str = "checkpoint";

    #[test]
    fn values_are_found_again_by_their_names_whatever_their_size() {
        let directory = tempfile::tempdir().unwrap();
        let large: Vec<u64> = (0..5_000).map(|n| n << 40).collect();
        let meta = Meta::open(&Database::open(directory.path()).unwrap()).unwrap();
        meta.put("name", &large).unwrap();
        meta.put("nam", &7_u8).unwrap();
        drop(meta);
        let meta = Meta::open(&Database::open(directory.path()).unwrap()).unwrap();
        assert_eq!(meta.get::<Vec<u64>>("name").unwrap(), Some(large));
        assert_eq!(meta.get::<u8>("nam").unwrap(), Some(7));
        assert_eq!(meta.get::<u8>("na").unwrap(), None);
        meta.put("name", &vec![1_u64]).unwrap();
        assert_eq!(meta.get::<Vec<u64>>("name").unwrap(), Some(vec![1]));
    }

    #[test]
    fn a_value_above_the_cap_is_refused_and_the_old_one_stays() {
        let directory = tempfile::tempdir().unwrap();
        let meta = Meta::open(&Database::open(directory.path()).unwrap()).unwrap();
        meta.put("name", &"old").unwrap();
        let most = PIECE_BYTES * MAX_PIECES;
        assert!(meta.put("name", &"x".repeat(most)).is_err());
        assert_eq!(meta.get::<String>("name").unwrap().as_deref(), Some("old"));
        meta.put("name", &"x".repeat(most - 16)).unwrap();
        assert_eq!(
            meta.get::<String>("name").unwrap().unwrap().len(),
            most - 16
        );
    }

    #[test]
    fn a_value_that_lost_a_piece_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let meta = Meta::open(&Database::open(directory.path()).unwrap()).unwrap();
        meta.put("name", &vec![u64::MAX; 3_000]).unwrap();
        for lost in 0..3_u16 {
            let key = [b"name\0", &lost.to_be_bytes()[..]].concat();
            let piece = meta.tree.get(&key).unwrap().unwrap();
            let (mut without, mut with) = (Batch::default(), Batch::default());
            without.remove(&key);
            with.insert(&key, &piece);
            meta.tree.apply(without).unwrap();
            assert!(meta.get::<Vec<u64>>("name").is_err(), "{lost}");
            meta.tree.apply(with).unwrap();
        }
        assert!(meta.get::<Vec<u64>>("name").unwrap().is_some());
    }

    #[test]
    fn a_flush_that_was_cut_short_is_known_by_its_marker() {
        let directory = tempfile::tempdir().unwrap();
        let open = || Meta::open(&Database::open(directory.path()).unwrap()).unwrap();
        assert!(!open().is_flush_in_progress().unwrap());
        open().begin_flush().unwrap();
        assert!(open().is_flush_in_progress().unwrap());
        open().end_flush(WATERMARK, &12_u64).unwrap();
        assert!(!open().is_flush_in_progress().unwrap());
        assert_eq!(open().get::<u64>(WATERMARK).unwrap(), Some(12));
    }

    #[test]
    fn tables_of_another_layout_or_of_none_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::open(directory.path()).unwrap();
        let mut batch = Batch::default();
        batch.insert(b"some", b"thing");
        database.tree("queue").unwrap().apply(batch).unwrap();
        let fault = Meta::open(&database).map(drop).unwrap_err().to_string();
        assert!(fault.ends_with("they name no layout"), "{fault}");
        database.tree("queue").unwrap().clear().unwrap();
        let meta = Meta::open(&database).unwrap();
        for other in [LAYOUT - 1, LAYOUT + 1] {
            meta.put(LAYOUT_NAME, &other).unwrap();
            let fault = Meta::open(&database).map(drop).unwrap_err().to_string();
            let expected = format!("their layout must be {LAYOUT}, got {other}");
            assert!(fault.ends_with(&expected), "{fault}");
        }
    }
}
