//! The audit: a comparison of the tables with the journal.
//!
//! A copy of the store is opened, which brings its tables up to the journal's end like every
//! opening; the store itself is not touched. Then the journal is read once more from its beginning
//! into plain collections, which are compared with the tables.

mod snapshot;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use journal::{DiscoveredUrl, FinishedVisit, History, Record, StoreFault, Totals};
use neardup::HashKey;
use web::{Host, PageUrl, Timestamp, UrlKey};

use self::snapshot::Snapshot;
use super::options::StoreOptions;
use super::recovery::TableSettings;
use super::store::EmbeddedStore;
use crate::frontier::{Frontier, FrontierRules};
use crate::rules::ComparisonOptions;
use crate::seen::{seen_as, settled_probe};

/// The findings of an audit.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Number of records in the journal.
    pub records: u64,
    /// Totals over the journal's visits.
    pub totals: Totals,
    /// Number of waiting pages.
    pub queued: u64,
    /// Number of waiting pages that sessions died with.
    pub quarantined: u64,
    /// Number of hosts with at least one fetched page.
    pub hosts: u64,
    /// Number of URLs that were queued or reached.
    pub urls_seen: u64,
    /// The differences that were found.
    pub findings: Vec<String>,
}

/// The state according to the journal, in plain collections.
#[derive(Default)]
struct ExpectedState {
    records: u64,
    features: String,
    totals: Totals,
    queued: BTreeSet<u64>,
    admitted: BTreeSet<UrlKey>,
    retained: BTreeSet<(UrlKey, u32)>,
    seen: BTreeSet<UrlKey>,
    pages_of: HashMap<Host, u64>,
}

/// Compares the tables of the store in `directory` with its journal. Writes nothing there.
///
/// # Errors
/// [`StoreFault::InUse`] if a crawl has the store open; [`StoreFault::Damaged`] if the journal
/// cannot be read.
pub fn audit(directory: &Path) -> Result<Audit, StoreFault> {
    let snapshot = Snapshot::of(directory)?;
    let mut expected = ExpectedState::default();
    for record in History::open(directory)? {
        expected.apply(&record?);
    }
    let options = StoreOptions {
        // With probes, opening would queue the URLs that a crawl without probes excluded.
        rules: FrontierRules {
            probes: false,
            ..FrontierRules::default()
        },
        comparison: ComparisonOptions::default(),
        features: expected.features.clone(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        keys_in_memory: false,
        tables: None,
        now: Timestamp::default(),
        disk: Arc::new(SystemDisk),
    };
    let store = EmbeddedStore::open_with(snapshot.path(), &options, TableSettings::Stored)?;
    let mut findings = expected.differences(&store)?;
    if snapshot.path().join("sled.unusable").exists() {
        findings.push(
            "state/sled cannot be read: it is rebuilt from the journal when the crawl is continued"
                .to_owned(),
        );
    }
    let stats = store.stats();
    let hosts = expected
        .pages_of
        .values()
        .filter(|pages| **pages > 0)
        .count() as u64;
    if stats.hosts != hosts {
        let in_tables = stats.hosts;
        findings.push(format!(
            "hosts: {hosts} in the journal, {in_tables} in the tables"
        ));
    }
    Ok(Audit {
        records: expected.records,
        totals: expected.totals,
        queued: expected.queued.len() as u64,
        quarantined: stats.quarantined,
        hosts: stats.hosts,
        urls_seen: expected.seen.len() as u64,
        findings,
    })
}

impl ExpectedState {
    fn apply(&mut self, record: &Record) {
        self.records += 1;
        match record {
            Record::Begun { features, .. } => self.features.clone_from(features),
            Record::Discovered {
                first,
                finds: discovered,
            } => self.queue(*first, discovered),
            Record::Admitted { page, .. } => drop(self.admitted.insert(page.key())),
            Record::Retained(retained) => {
                self.retained.insert((retained.page.key(), retained.rank));
            }
            Record::Forgotten { page } => {
                self.admitted.remove(page);
                self.retained.retain(|(key, _)| key != page);
            }
            Record::Superseded { entry } => drop(self.queued.remove(&entry.sequence)),
            Record::Settled(settled) => {
                let FinishedVisit {
                    record: visit,
                    finds: discovered,
                    reached,
                    ..
                } = &settled.visit;
                self.seen.extend(settled_probe(visit, settled.priority));
                self.totals.count(visit);
                if visit.is_page() {
                    *self.pages_of.entry(visit.url.host()).or_insert(0) += 1;
                }
                self.queued.remove(&settled.sequence);
                self.seen.extend(reached.iter().map(PageUrl::key));
                self.queue(settled.first, discovered);
            }
            Record::Revoked { entry, visit, .. } => {
                self.totals.uncount(visit);
                if visit.is_page() {
                    let pages = self.pages_of.entry(visit.url.host()).or_insert(0);
                    *pages = pages.saturating_sub(1);
                }
                self.queued.insert(entry.sequence);
                self.seen.insert(seen_as(&entry.discovered));
            }
            _ => {}
        }
    }

    fn queue(&mut self, first: u64, discovered: &[DiscoveredUrl]) {
        for (sequence, found) in (first..).zip(discovered) {
            self.queued.insert(sequence);
            self.seen.insert(seen_as(found));
        }
    }

    fn differences(&self, store: &EmbeddedStore) -> Result<Vec<String>, StoreFault> {
        let admitted: BTreeSet<UrlKey> = store.signatures().originals()?.into_iter().collect();
        let retained: BTreeSet<(UrlKey, u32)> = store.signatures().retained().collect();
        let queue = store.queue();
        let seen: BTreeSet<UrlKey> = queue.seen().collect();
        let sets = [
            difference("queued pages", &self.queued, &queue.queued()?),
            difference("admitted pages", &self.admitted, &admitted),
            difference("retained pages", &self.retained, &retained),
            difference("URLs seen", &self.seen, &seen),
        ];
        let mut findings: Vec<String> = sets.into_iter().flatten().collect();
        if queue.totals() != self.totals {
            findings.push(format!(
                "counts: {:?} in the journal, {:?} in the tables",
                self.totals,
                queue.totals()
            ));
        }
        Ok(findings)
    }
}

/// Returns the finding about two sets that should be equal.
fn difference<T: Ord>(what: &str, journal: &BTreeSet<T>, tables: &BTreeSet<T>) -> Option<String> {
    let (lost, extra) = (
        journal.difference(tables).count(),
        tables.difference(journal).count(),
    );
    (lost + extra > 0)
        .then(|| format!("{what}: {lost} only in the journal, {extra} only in the tables"))
}
