//! Entries that wait in a temporary file until everything that their records depend on is known.

use std::io;
use std::marker::PhantomData;
use std::path::Path;

use disk::Spool;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Entries, oldest first. Memory: eight bytes per entry.
pub(super) struct EntryLog<T> {
    spool: Spool,
    /// The end of each entry.
    ends: Vec<u64>,
    entries: PhantomData<T>,
}

impl<T: Serialize + DeserializeOwned> EntryLog<T> {
    /// Creates an empty log on the file system of `directory`.
    pub(super) fn in_directory(directory: &Path) -> io::Result<Self> {
        Ok(Self {
            spool: Spool::in_directory(directory)?,
            ends: Vec::new(),
            entries: PhantomData,
        })
    }

    /// Adds an entry. Returns its number.
    pub(super) fn add(&mut self, entry: &T) -> io::Result<usize> {
        self.spool.append(&serde_json::to_vec(entry)?)?;
        self.ends.push(self.spool.length());
        Ok(self.ends.len() - 1)
    }

    /// Reads the entry with this number.
    pub(super) fn read(&self, number: usize) -> io::Result<T> {
        let before = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = usize::try_from(self.ends[number] - before).map_err(io::Error::other)?;
        let mut bytes = vec![0; length];
        let mut filled = 0;
        while filled < length {
            filled += self
                .spool
                .read_at(&mut bytes[filled..], before + filled as u64)?;
        }
        Ok(serde_json::from_slice(&bytes)?)
    }

    /// Reads all entries in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = io::Result<T>> {
        (0..self.ends.len()).map(|number| self.read(number))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
