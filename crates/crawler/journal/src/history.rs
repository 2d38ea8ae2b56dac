//! The history of a crawl, read only from the journal, during the crawl or afterwards.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use neardup::HashKey;
use web::{PageUrl, UrlKey};

use crate::duplicate_rule::{CONTAINED_IN, DuplicateRule};
use crate::fault::StoreFault;
use crate::frame::Position;
use crate::reader::JournalReader;
use crate::reason::Reason;
use crate::record::Record;
use crate::segment::Replay;
use crate::visit_record::{Fate, VisitRecord};

/// The records of a store in the order in which they were written. Takes no lock: records written
/// in the meantime may or may not be seen.
pub struct History(Replay);

impl History {
    /// Opens the history of the store in `directory`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be opened.
    pub fn open(directory: &Path) -> Result<Self, StoreFault> {
        Replay::open(&directory.join("journal"), 0).map(Self)
    }

    /// Returns the key of every hash in the crawl; `None` if it never began.
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

/// Returns the visit records in the order in which the visits ended, without revoked records, and
/// as amended by later visits.
///
/// # Errors
/// [`StoreFault`] if the journal cannot be opened; later items if it is damaged.
pub fn visits(
    directory: &Path,
) -> Result<impl Iterator<Item = Result<VisitRecord, StoreFault>>, StoreFault> {
    let mut revoked = revocations(directory)?;
    let history = History::open(directory)?;
    Ok(history.filter_map(move |record| match record {
        Ok(Record::Settled(settled)) => {
            let mut visit = settled.visit.record;
            revoked.amend(&mut visit);
            (revoked.take(&visit).is_none()).then_some(Ok(*visit))
        }
        Ok(_) => None,
        Err(fault) => Some(Err(fault)),
    }))
}

/// Returns the record at `position` of the journal of the store in `directory`: a position that
/// [`JournalFollower`](crate::JournalFollower) returned. Takes no lock.
///
/// # Errors
/// [`StoreFault`] if the journal cannot be read, or if no record begins there.
pub fn record_at(directory: &Path, position: Position) -> Result<Record, StoreFault> {
    JournalReader::of(&directory.join("journal"))?.record_at(position)
}

/// Returns the records at these positions, like [`record_at`], in the order of the positions.
///
/// # Errors
/// [`StoreFault`] if the journal cannot be read, or if a position is not the start of a record.
pub fn records_at(directory: &Path, positions: &[Position]) -> Result<Vec<Record>, StoreFault> {
    let reader = JournalReader::of(&directory.join("journal"))?;
    let positions = positions.iter();
    positions
        .map(|position| reader.record_at(*position))
        .collect()
}

/// Changes to visits by later records of the journal: revocations, and pages whose content is part
/// of a later page.
#[derive(Clone, Debug, Default)]
pub struct Revocations {
    /// The revocations of each page's visits: its first visits do not count, one per revocation.
    revoked: HashMap<UrlKey, VecDeque<Revocation>>,
    /// For the final URL of a kept page, a later page that has all of its content.
    contained: HashMap<UrlKey, PageUrl>,
}

/// The reason why a visit does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// The archive lost the visit completely.
    Lost,
    /// The decision is void; the archive has the visit.
    Void,
}

/// Collects the revocations in a store's journal. They follow the visits that they revoke, so they
/// are read first. Reading ends silently at damage, because reading the journal for its visits
/// reports it.
///
/// # Errors
/// [`StoreFault`] if the journal cannot be opened.
pub fn revocations(directory: &Path) -> Result<Revocations, StoreFault> {
    let mut later = Revocations::default();
    for record in History::open(directory)? {
        match record {
            Ok(Record::Revoked { visit, .. }) => {
                let why = match visit.warc_file {
                    None => Revocation::Lost,
                    Some(_) => Revocation::Void,
                };
                later
                    .revoked
                    .entry(visit.url.key())
                    .or_default()
                    .push_back(why);
                later.contained.retain(|_, page| *page != visit.url);
            }
            Ok(Record::Settled(settled)) => {
                let visit = settled.visit.record;
                for part in visit.details.contains {
                    later.contained.insert(part.key(), visit.url.clone());
                }
            }
            Ok(_) => {}
            Err(_damage) => break,
        }
    }
    Ok(later)
}

impl Revocations {
    /// Takes the revocation of this visit, if it was revoked later. Call it once per visit, in the
    /// order of the journal.
    pub fn take(&mut self, visit: &VisitRecord) -> Option<Revocation> {
        self.revoked.get_mut(&visit.url.key())?.pop_front()
    }

    /// Changes the record of a kept page to a repeat of the later page that has all of its content.
    /// The archive keeps both.
    pub fn amend(&self, visit: &mut VisitRecord) {
        if !visit.fate.is_original() {
            return;
        }
        let url = visit.final_url.as_ref().unwrap_or(&visit.url);
        if let Some(whole) = self.contained.get(&url.key()) {
            visit.fate = Fate::NearDuplicate;
            visit.details.rule = Some(DuplicateRule::SameContent);
            let reason = format!("{CONTAINED_IN} {whole}, which was found later");
            visit.reason = Some(Reason::said(reason));
            visit.duplicate_of = Some(whole.clone());
            visit.of_earlier = false;
        }
    }
}
