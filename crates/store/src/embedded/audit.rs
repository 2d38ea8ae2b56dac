//! Whether the tables say what the journal says.
//!
//! The store is opened, which brings the tables up to the journal's end as every opening does. Then the journal is
//! told once more from its beginning, into plain collections, and these are compared with the tables.

use std::collections::BTreeSet;
use std::path::Path;

use neardup::HashKey;
use web::{Timestamp, UrlKey};

use super::record::{Record, entries};
use super::{EmbeddedStore, History, StoreOptions};
use crate::{FrontierRules, LikenessRules, StoreFault, Totals};

/// What an audit found.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// Records in the journal.
    pub records: u64,
    /// Sums over its rows.
    pub totals: Totals,
    /// Pages that wait.
    pub queued: u64,
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
}

/// Compares the tables of the store in `directory` with its journal. Nobody else may have the store open.
pub fn audit(directory: &Path) -> Result<Audit, StoreFault> {
    let mut told = Told::default();
    for record in History::open(directory)? {
        told.hear(&record?);
    }
    let options = StoreOptions {
        rules: FrontierRules::default(),
        likeness: LikenessRules::default(),
        features: told.features.clone(),
        key: None,
        new_key: HashKey::ZERO,
        earlier: None,
        now: Timestamp::default(),
    };
    let store = EmbeddedStore::open(directory, &options)?;
    let complaints = told.differences(&store)?;
    Ok(Audit {
        records: told.records,
        totals: told.totals,
        queued: told.queued.len() as u64,
        complaints,
    })
}

impl Told {
    fn hear(&mut self, record: &Record) {
        self.records += 1;
        match record {
            Record::Begun { features, .. } => self.features.clone_from(features),
            Record::Discovered { first, finds } => self.queue(*first, finds),
            Record::Admitted { page, .. } => drop(self.admitted.insert(page.key())),
            Record::LetThrough(seated) => drop(self.seated.insert((seated.page.key(), seated.number))),
            Record::Forgotten { page } => {
                self.admitted.remove(page);
                self.seated.retain(|(key, _)| key != page);
            }
            Record::Postponed { .. } | Record::SeedAdopted { .. } => {}
            Record::Settled {
                sequence,
                row,
                first,
                finds,
                reached,
                ..
            } => {
                self.totals.count(row);
                self.queued.remove(sequence);
                self.seen.extend(reached.iter().map(web::PageUrl::key));
                self.queue(*first, finds);
            }
        }
    }

    fn queue(&mut self, first: u64, finds: &[crate::Find]) {
        for entry in entries(first, finds) {
            self.queued.insert(entry.sequence);
            self.seen.insert(entry.find.url.key());
        }
    }

    fn differences(&self, store: &EmbeddedStore) -> Result<Vec<String>, StoreFault> {
        let tables = &store.tables;
        let checkpoint = tables.checkpoint()?;
        let queued: BTreeSet<u64> = tables.queued()?.into_iter().collect();
        let mut admitted = BTreeSet::new();
        for admission in tables.admissions() {
            admitted.insert(admission?.page.key());
        }
        let mut seated = BTreeSet::new();
        for page in tables.all_seated() {
            let page = page?;
            seated.insert((page.page.key(), page.number));
        }
        let seen: BTreeSet<UrlKey> = tables.seen(checkpoint.seen_runs)?.into_iter().collect();
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
        if checkpoint.totals != self.totals {
            complaints.push(format!(
                "counts: the journal says {:?}, the tables {:?}",
                self.totals, checkpoint.totals
            ));
        }
        Ok(complaints)
    }
}
