//! Orders of a user about URLs that were left out, or failed: to visit them again.
//!
//! All read the journal, which takes seconds for a million visits, without a lock, and may be
//! given while the crawl runs. Invariant: an order that was cut short by a kill may be repeated,
//! and has its effect then; one that had its effect changes nothing.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use web::{PageUrl, UrlKey};

use super::frontier::Void;
use super::journal::history::{History, rows};
use super::journal::record::Record;
use super::store::EmbeddedStore;
use crate::fault::StoreFault;
use crate::near_dup::NearDupIndex;
use crate::patterns::name::PatternName;
use crate::visit_record::{Fate, VisitRecord};

/// The effect of [`EmbeddedStore::declare_distinct`] on one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistinctOrder {
    /// The page will be visited again, and not compared with this original.
    Queued {
        /// The page that it was found to repeat.
        original: PageUrl,
    },
    /// It was declared distinct before, and waits for its visit or is in the archive.
    Done,
    /// It was visited, and was not left out as a duplicate.
    NotLeftOut(Fate),
    /// It was not visited.
    NotVisited,
}

/// The last state of a URL in the journal.
#[derive(Default)]
struct LastState {
    /// The record of its visit, if that was not revoked.
    visit: Option<Void>,
    /// The pages from which it was declared distinct.
    distinct_from: Vec<PageUrl>,
}

impl EmbeddedStore {
    /// Reopens a pattern of URLs and queues the URLs that it left out. Returns their number; none
    /// if there is no such pattern. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn reopen(&self, name: &PatternName) -> Result<Option<u64>, StoreFault> {
        let Some(in_queue) = self.queue().reopen(&self.journal, name)? else {
            return Ok(None);
        };
        let is_of_pattern =
            |row: &VisitRecord| PatternName::that_left_out(row).as_ref() == Some(name);
        let left_out = self.queue_excluded(is_of_pattern).await?;
        Ok(Some(in_queue + left_out))
    }

    /// Queues the URLs again of which `is_void` says that the rule which excluded them holds no
    /// longer, and returns their number. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn queue_excluded(
        &self,
        mut is_void: impl FnMut(&VisitRecord) -> bool + Send,
    ) -> Result<u64, StoreFault> {
        let mut count = 0;
        for row in rows(&self.directory)? {
            let row = row?;
            if row.fate == Fate::Excluded && is_void(&row) {
                let void = Void {
                    row: Box::new(row),
                    reached: Vec::new(),
                    // A user wants it: it goes before all that have a promise.
                    priority: 0,
                };
                self.queue().revoke(&self.journal, void)?;
                count += 1;
            }
        }
        self.sync().await?;
        Ok(count)
    }

    /// Declares that these pages do not repeat the originals for which they were left out, and
    /// queues them again: they are visited even where their pattern is closed. Returns the effect
    /// on each, in order. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn declare_distinct(
        &self,
        urls: &[PageUrl],
    ) -> Result<Vec<DistinctOrder>, StoreFault> {
        self.declare_distinct_in(self, urls).await
    }

    /// As [`EmbeddedStore::declare_distinct`], for a working copy: pages are separated in `index`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn declare_distinct_in(
        &self,
        index: &dyn NearDupIndex,
        urls: &[PageUrl],
    ) -> Result<Vec<DistinctOrder>, StoreFault> {
        let mut states = last_states(&self.directory, urls)?;
        let mut effects = Vec::with_capacity(urls.len());
        for url in urls {
            let state = states.remove(&url.key()).unwrap_or_default();
            effects.push(self.visit_as_distinct(index, state).await?);
        }
        self.sync().await?;
        Ok(effects)
    }

    /// Queues failed pages again, those whose visit records `is_meant` selects. Returns their
    /// number. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn retry_failed(
        &self,
        is_meant: impl Fn(&VisitRecord) -> bool,
    ) -> Result<u64, StoreFault> {
        let failed = failed_visits(&self.directory, is_meant)?;
        let count = failed.len() as u64;
        for void in failed {
            self.queue().revoke_by_order(&self.journal, void)?;
        }
        self.sync().await?;
        Ok(count)
    }

    async fn visit_as_distinct(
        &self,
        index: &dyn NearDupIndex,
        state: LastState,
    ) -> Result<DistinctOrder, StoreFault> {
        let Some(void) = state.visit else {
            return Ok(match state.distinct_from.is_empty() {
                true => DistinctOrder::NotVisited,
                false => DistinctOrder::Done,
            });
        };
        let row = &void.row;
        let original = row.duplicate_of.clone().filter(|_| row.fate.is_duplicate());
        // A page that repeats its own capture of an earlier crawl has no other original.
        let original = original.filter(|original| *original != row.url);
        let Some(original) = original.filter(|_| !row.kept) else {
            return Ok(match state.distinct_from.is_empty() {
                true => DistinctOrder::NotLeftOut(row.fate),
                false => DistinctOrder::Done,
            });
        };
        // The pair first: a kill between the two records leaves a page that is still left out, so
        // that the order is given again.
        if !state.distinct_from.contains(&original) {
            index.separate(&row.url, &original).await?;
        }
        self.queue().revoke_by_order(&self.journal, void)?;
        Ok(DistinctOrder::Queued { original })
    }
}

/// Reads the failed visits of this selection from the journal in `directory`, in the order in which
/// they ended, without the revoked ones.
fn failed_visits(
    directory: &Path,
    is_meant: impl Fn(&VisitRecord) -> bool,
) -> Result<Vec<Void>, StoreFault> {
    let mut failed: BTreeMap<u64, Void> = BTreeMap::new();
    let mut places: HashMap<UrlKey, u64> = HashMap::new();
    for (place, record) in (0..).zip(History::open(directory)?) {
        match record? {
            Record::Settled(settled) => {
                let visit = settled.visit;
                if visit.row.fate == Fate::Failed && is_meant(&visit.row) {
                    places.insert(visit.row.url.key(), place);
                    let void = Void {
                        row: visit.row,
                        reached: visit.reached,
                        priority: settled.priority,
                    };
                    failed.insert(place, void);
                }
            }
            Record::Revoked { row, .. } => {
                if let Some(place) = places.remove(&row.url.key()) {
                    failed.remove(&place);
                }
            }
            _ => {}
        }
    }
    Ok(failed.into_values().collect())
}

/// Reads the last state of each of these URLs from the journal in `directory`.
fn last_states(
    directory: &Path,
    urls: &[PageUrl],
) -> Result<HashMap<UrlKey, LastState>, StoreFault> {
    let mut states: HashMap<UrlKey, LastState> = urls
        .iter()
        .map(|url| (url.key(), LastState::default()))
        .collect();
    for record in History::open(directory)? {
        match record? {
            Record::Settled(settled) => {
                let (visit, priority) = (settled.visit, settled.priority);
                if let Some(state) = states.get_mut(&visit.row.url.key()) {
                    state.visit = Some(Void {
                        row: visit.row,
                        reached: visit.reached,
                        priority,
                    });
                }
            }
            Record::Revoked { row, .. } => {
                if let Some(state) = states.get_mut(&row.url.key()) {
                    state.visit = None;
                }
            }
            Record::Distinct(pair) => {
                if let Some(state) = states.get_mut(&pair.page.key()) {
                    state.distinct_from.push(pair.original);
                }
            }
            _ => {}
        }
    }
    Ok(states)
}
