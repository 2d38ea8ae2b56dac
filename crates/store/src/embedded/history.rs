//! The crawl told from the journal alone, beside a crawl that runs or after one that ended.

use std::path::Path;

use neardup::HashKey;

use super::record::Record;
use super::segment::Replay;
use crate::{Row, StoreFault};

/// The records of a store, in the order in which they happened. Takes no lock: what is written while it reads may
/// or may not be seen.
pub struct History(Replay);

impl History {
    /// Opens the history of the store in `directory`.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        Replay::open(&directory.join("journal"), 0).map(Self)
    }

    /// The key under which the crawl hashes; none where it never began.
    #[must_use]
    pub fn key(&self) -> Option<HashKey> {
        self.0.key()
    }
}

impl Iterator for History {
    type Item = Result<Record, StoreFault>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.0.next_record().transpose()?;
        Some(next.map(|(_position, record)| record))
    }
}

/// What became of each visited URL, in the order in which the visits ended.
pub fn rows(directory: &Path) -> Result<impl Iterator<Item = Result<Row, StoreFault>>, StoreFault> {
    let history = History::open(directory)?;
    Ok(history.filter_map(|record| match record {
        Ok(Record::Settled { row, .. }) => Some(Ok(*row)),
        Ok(_) => None,
        Err(fault) => Some(Err(fault)),
    }))
}
