//! The crawl told from the journal alone, beside a crawl that runs or after one that ended.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use neardup::HashKey;
use web::UrlKey;

use super::record::Record;
use super::segment::Replay;
use crate::{StoreFault, VisitRecord};

/// The records of a store, in the order in which they happened. Takes no lock: what is written
/// while it reads may or may not be seen.
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

/// What became of each visited URL, in the order in which the visits ended. What was revoked is not
/// told.
pub fn rows(
    directory: &Path,
) -> Result<impl Iterator<Item = Result<VisitRecord, StoreFault>>, StoreFault> {
    let mut revoked = revocations(directory)?;
    let history = History::open(directory)?;
    Ok(history.filter_map(move |record| match record {
        Ok(Record::Settled(settled)) => {
            let row = settled.visit.row;
            (!revoked.takes_back(&row)).then_some(Ok(*row))
        }
        Ok(_) => None,
        Err(fault) => Some(Err(fault)),
    }))
}

/// How often the rows of each page were revoked: so many of them, from the first on, do not count.
#[derive(Clone, Debug, Default)]
pub struct Revocations(HashMap<UrlKey, VecDeque<TakenBack>>);

/// Why a row does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    /// The archive lost the visit, and has nothing of it.
    Lost,
    /// What was decided is void; the archive has the visit.
    Void,
}

/// The revocations that the journal of a store tells of. They come after the rows, so they are
/// collected first. A journal that is damaged tells of those before the damage; who reads it for
/// its rows finds the damage then.
///
/// # Errors
/// [`StoreFault`] where the journal cannot be opened.
pub fn revocations(directory: &Path) -> Result<Revocations, StoreFault> {
    let mut revoked = Revocations::default();
    for record in History::open(directory)? {
        match record {
            Ok(Record::Revoked { row, .. }) => {
                let why = match row.warc_file {
                    None => TakenBack::Lost,
                    Some(_) => TakenBack::Void,
                };
                revoked.0.entry(row.url.key()).or_default().push_back(why);
            }
            Ok(_) => {}
            Err(_damage) => break,
        }
    }
    Ok(revoked)
}

impl Revocations {
    /// Whether this row was revoked later; the rows of a journal are shown in their order, each
    /// once.
    pub fn takes_back(&mut self, row: &VisitRecord) -> bool {
        self.why(row).is_some()
    }

    /// The same, and why.
    pub fn why(&mut self, row: &VisitRecord) -> Option<TakenBack> {
        self.0.get_mut(&row.url.key())?.pop_front()
    }
}
