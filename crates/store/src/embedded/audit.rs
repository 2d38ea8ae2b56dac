//! Whether the tables say what the journal says.
//!
//! A copy of the store is opened, which brings its tables up to the journal's end as every opening
//! does; the store itself is not touched. Then the journal is told once more from its beginning,
//! into plain collections, and these are compared with the tables.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use disk::SystemDisk;
use neardup::HashKey;
use web::{Host, Timestamp, UrlKey};

use super::frontier::{seen_as, settled_probe};
use super::record::Record;
use super::shadow::Shadow;
use super::{Baked, EmbeddedStore, History, StoreOptions};
use crate::{FinishedVisit, Frontier, FrontierRules, LikenessRules, StoreFault, Totals};

/// What an audit found.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Records in the journal.
    pub records: u64,
    /// Sums over its rows.
    pub totals: Totals,
    /// Pages that wait.
    pub queued: u64,
    /// Pages among them that sessions died with.
    pub set_aside: u64,
    /// Hosts that a page was had from.
    pub hosts: u64,
    /// URLs that were queued or reached.
    pub urls_seen: u64,
    /// What does not agree; empty when all is well.
    pub complaints: Vec<String>,
}

/// What the journal tells, in plain collections.
#[derive(Default)]
struct Told {
    records: u64,
    features: String,
    totals: Totals,
    queued: BTreeSet<u64>,
    admitted: BTreeSet<UrlKey>,
    seated: BTreeSet<(UrlKey, u32)>,
    seen: BTreeSet<UrlKey>,
    pages_of: HashMap<Host, u64>,
}

/// Compares the tables of the store in `directory` with its journal, and writes nothing there.
///
/// # Errors
/// [`StoreFault::InUse`] where a crawl has the store open; [`StoreFault::Damaged`] where the
/// journal cannot be read.
pub fn audit(directory: &Path) -> Result<Audit, StoreFault> {
    let shadow = Shadow::of(directory)?;
    let mut told = Told::default();
    for record in History::open(directory)? {
        told.hear(&record?);
    }
    let options = StoreOptions {
        // As it is: a crawl that probes takes up what one that did not has left out.
        rules: FrontierRules {
            probes: false,
            ..FrontierRules::default()
        },
        likeness: LikenessRules::default(),
        features: told.features.clone(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        mirror: false,
        tables: None,
        now: Timestamp::default(),
        disk: Arc::new(SystemDisk),
    };
    let store = EmbeddedStore::open_with(shadow.path(), &options, Baked::AsItIs)?;
    let mut complaints = told.differences(&store)?;
    if set_aside(shadow.path())? {
        complaints.push(
            "state/sled cannot be read: it is made again from the journal when the crawl goes on"
                .to_owned(),
        );
    }
    let standing = store.standing();
    if standing.hosts != told.hosts() {
        complaints.push(format!(
            "hosts: {} in the journal, {} in the tables",
            told.hosts(),
            standing.hosts
        ));
    }
    Ok(Audit {
        records: told.records,
        totals: told.totals,
        queued: told.queued.len() as u64,
        set_aside: standing.set_aside,
        hosts: standing.hosts,
        urls_seen: told.seen.len() as u64,
        complaints,
    })
}

/// Whether opening found tables that it could not use.
fn set_aside(directory: &Path) -> Result<bool, StoreFault> {
    for item in std::fs::read_dir(directory).map_err(StoreFault::file("list", directory))? {
        let name = item
            .map_err(StoreFault::file("list", directory))?
            .file_name();
        if name.to_string_lossy().starts_with("sled.unusable") {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Told {
    fn hear(&mut self, record: &Record) {
        self.records += 1;
        match record {
            Record::Begun { features, .. } => self.features.clone_from(features),
            Record::Discovered { first, finds } => self.queue(*first, finds),
            Record::Admitted { page, .. } => drop(self.admitted.insert(page.key())),
            Record::Retained(seated) => {
                self.seated.insert((seated.page.key(), seated.rank));
            }
            Record::Forgotten { page } => {
                self.admitted.remove(page);
                self.seated.retain(|(key, _)| key != page);
            }
            Record::Superseded { entry } => drop(self.queued.remove(&entry.sequence)),
            Record::Settled(settled) => {
                let FinishedVisit {
                    row,
                    finds,
                    reached,
                    ..
                } = &settled.visit;
                self.seen.extend(settled_probe(row, settled.priority));
                self.totals.count(row);
                if row.is_page() {
                    *self.pages_of.entry(row.url.host()).or_insert(0) += 1;
                }
                self.queued.remove(&settled.sequence);
                self.seen.extend(reached.iter().map(web::PageUrl::key));
                self.queue(settled.first, finds);
            }
            Record::Revoked { entry, row, .. } => {
                self.totals.uncount(row);
                if row.is_page() {
                    let pages = self.pages_of.entry(row.url.host()).or_insert(0);
                    *pages = pages.saturating_sub(1);
                }
                self.queued.insert(entry.sequence);
                self.seen.insert(seen_as(&entry.discovered));
            }
            _ => {}
        }
    }

    fn queue(&mut self, first: u64, finds: &[crate::DiscoveredUrl]) {
        for (sequence, find) in (first..).zip(finds) {
            self.queued.insert(sequence);
            self.seen.insert(seen_as(find));
        }
    }

    fn hosts(&self) -> u64 {
        self.pages_of.values().filter(|pages| **pages > 0).count() as u64
    }

    fn differences(&self, store: &EmbeddedStore) -> Result<Vec<String>, StoreFault> {
        let admitted: BTreeSet<UrlKey> = store.looks().originals()?.into_iter().collect();
        let seated: BTreeSet<(UrlKey, u32)> = store.looks().seats().collect();
        let queue = store.queue();
        let queued = queue.queued()?;
        let seen: BTreeSet<UrlKey> = queue.seen().collect();
        let mut complaints = Vec::new();
        let mut compare = |what: &str, journal: usize, both: usize, in_tables: usize| {
            if journal != both || in_tables != both {
                let (lost, extra) = (journal - both, in_tables - both);
                complaints.push(format!(
                    "{what}: {lost} in the journal only, {extra} in the tables only"
                ));
            }
        };
        compare(
            "queued pages",
            self.queued.len(),
            self.queued.intersection(&queued).count(),
            queued.len(),
        );
        compare(
            "admitted pages",
            self.admitted.len(),
            self.admitted.intersection(&admitted).count(),
            admitted.len(),
        );
        compare(
            "pages let through",
            self.seated.len(),
            self.seated.intersection(&seated).count(),
            seated.len(),
        );
        compare(
            "URLs seen",
            self.seen.len(),
            self.seen.intersection(&seen).count(),
            seen.len(),
        );
        if queue.totals() != self.totals {
            complaints.push(format!(
                "counts: the journal says {:?}, the tables {:?}",
                self.totals,
                queue.totals()
            ));
        }
        Ok(complaints)
    }
}
