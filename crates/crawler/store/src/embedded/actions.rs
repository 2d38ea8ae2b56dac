//! Actions of a user to visit URLs again that were excluded or failed.
//!
//! All actions read the journal, without a lock, which takes seconds for a million visits; they can
//! be given while the crawl is running. Invariant: an action that was interrupted by a kill can be
//! repeated and then takes effect; repeating an action that took effect changes nothing.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use journal::{Fate, History, PatternName, Record, StoreFault, VisitRecord};
use web::{PageUrl, UrlKey};

use super::frontier::Void;
use super::store::EmbeddedStore;
use crate::near_dup::NearDupIndex;

/// The effect of [`EmbeddedStore::declare_distinct`] on one URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistinctEffect {
    /// The page will be visited again, and not compared with this original.
    Queued {
        /// The page that it was found to repeat.
        original: PageUrl,
    },
    /// It was declared distinct before, and is waiting for its visit or is in the archive.
    Done,
    /// It was visited, and not not archived as a duplicate.
    Archived(Fate),
    /// It was not visited.
    NotVisited,
}

/// The last state of a URL in the journal.
#[derive(Default)]
struct LastState {
    /// The record of its visit, unless it was revoked.
    visit: Option<Void>,
    /// The pages that it was declared distinct from.
    distinct_from: Vec<PageUrl>,
}

impl EmbeddedStore {
    /// Reopens a pattern of URLs and queues the URLs that it excluded. Returns their number; `None`
    /// if there is no such pattern. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn reopen(&self, name: &PatternName) -> Result<Option<u64>, StoreFault> {
        let Some(in_queue) = self.queue().reopen(&self.journal, name)? else {
            return Ok(None);
        };
        let is_of_pattern = |visit: &VisitRecord| visit.excluding_pattern() == Some(name);
        let excluded = self.queue_excluded(is_of_pattern).await?;
        Ok(Some(in_queue + excluded))
    }

    /// Queues excluded URLs again if `is_void` says that the rule that excluded them does not apply
    /// any more, and returns their number. Durable when it returns. Reads the journal on this
    /// thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn queue_excluded(
        &self,
        is_void: impl FnMut(&VisitRecord) -> bool + Send,
    ) -> Result<u64, StoreFault> {
        let count = each_visit(&self.directory, Fate::Excluded, is_void, |void| {
            // A user wants it, so it goes before all URLs with a score.
            let void = Void {
                priority: 0,
                ..void
            };
            self.queue().revoke(&self.journal, void)
        })?;
        self.sync().await?;
        Ok(count)
    }

    /// Declares that these pages do not repeat the originals that they were not archived for, and
    /// queues them again: they are visited even if their pattern is closed. Returns the effect on
    /// each page, in the same order. Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn declare_distinct(
        &self,
        urls: &[PageUrl],
    ) -> Result<Vec<DistinctEffect>, StoreFault> {
        self.declare_distinct_in(self, urls).await
    }

    /// Like [`EmbeddedStore::declare_distinct`], for a working copy: pages are separated in
    /// `index`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn declare_distinct_in(
        &self,
        index: &dyn NearDupIndex,
        urls: &[PageUrl],
    ) -> Result<Vec<DistinctEffect>, StoreFault> {
        let mut states = last_states(&self.directory, urls)?;
        let mut effects = Vec::with_capacity(urls.len());
        for url in urls {
            let state = states.remove(&url.key()).unwrap_or_default();
            effects.push(self.visit_as_distinct(index, state).await?);
        }
        self.sync().await?;
        Ok(effects)
    }

    /// Queues failed pages again if `is_meant` selects their visit records. Returns their number.
    /// Durable when it returns. Reads the journal on this thread.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal or the tables cannot be read or written.
    pub async fn retry_failed(
        &self,
        is_meant: impl Fn(&VisitRecord) -> bool,
    ) -> Result<u64, StoreFault> {
        let count = each_visit(&self.directory, Fate::Failed, is_meant, |void| {
            self.queue().revoke_by_action(&self.journal, void)
        })?;
        self.sync().await?;
        Ok(count)
    }

    async fn visit_as_distinct(
        &self,
        index: &dyn NearDupIndex,
        state: LastState,
    ) -> Result<DistinctEffect, StoreFault> {
        let Some(void) = state.visit else {
            return Ok(match state.distinct_from.is_empty() {
                true => DistinctEffect::NotVisited,
                false => DistinctEffect::Done,
            });
        };
        let visit = &void.visit;
        let original = visit
            .duplicate_of
            .clone()
            .filter(|_| visit.fate.is_duplicate());
        // A page that repeats its own capture in an earlier crawl has no other original.
        let original = original.filter(|original| *original != visit.url);
        let Some(original) = original.filter(|_| !visit.kept) else {
            return Ok(match state.distinct_from.is_empty() {
                true => DistinctEffect::Archived(visit.fate),
                false => DistinctEffect::Done,
            });
        };
        // The pair goes first: a kill between the two records leaves a page that is still not
        // archived, so the order can be given again.
        if !state.distinct_from.contains(&original) {
            index.separate(&visit.url, &original).await?;
        }
        self.queue().revoke_by_action(&self.journal, void)?;
        Ok(DistinctEffect::Queued { original })
    }
}

/// Calls `give` with the selected visits of this fate in the journal in `directory`, in the order
/// in which they ended, except revoked visits. Returns their number. Each visit comes with the URLs
/// that it reached, which its next visit may claim again. Reads the journal twice, so that only one
/// visit at a time is in memory.
fn each_visit(
    directory: &Path,
    fate: Fate,
    is_meant: impl FnMut(&VisitRecord) -> bool,
    mut give: impl FnMut(Void) -> Result<(), StoreFault>,
) -> Result<u64, StoreFault> {
    let places = places(directory, fate, is_meant)?;
    if places.is_empty() {
        return Ok(0);
    }
    for (place, record) in (0_u64..).zip(History::open(directory)?) {
        if let Record::Settled(settled) = record?
            && places.contains(&place)
        {
            let visit = settled.visit;
            give(Void {
                visit: visit.record,
                reached: visit.reached,
                priority: settled.priority,
            })?;
        }
    }
    Ok(places.len() as u64)
}

/// Returns the positions of these visits among the journal's records.
fn places(
    directory: &Path,
    fate: Fate,
    mut is_meant: impl FnMut(&VisitRecord) -> bool,
) -> Result<HashSet<u64>, StoreFault> {
    let mut places: HashMap<UrlKey, u64> = HashMap::new();
    for (place, record) in (0_u64..).zip(History::open(directory)?) {
        match record? {
            Record::Settled(settled) => {
                let visit = &settled.visit.record;
                if visit.fate == fate && is_meant(visit) {
                    places.insert(visit.url.key(), place);
                }
            }
            Record::Revoked { visit, .. } => {
                places.remove(&visit.url.key());
            }
            _ => {}
        }
    }
    Ok(places.into_values().collect())
}

/// Reads the last state of these URLs from the journal in `directory`.
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
                if let Some(state) = states.get_mut(&visit.record.url.key()) {
                    state.visit = Some(Void {
                        visit: visit.record,
                        reached: visit.reached,
                        priority,
                    });
                }
            }
            Record::Revoked { visit, .. } => {
                if let Some(state) = states.get_mut(&visit.url.key()) {
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
