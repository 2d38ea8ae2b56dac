//! The consistency of the journal by itself: each record is possible after those before it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use store::embedded::{History, record::Record};
use store::{ArchivePlace, DiscoveredUrl, StoreFault, VisitRecord};
use web::UrlKey;

use super::Complaints;
use crate::progress::SlowProgress;

/// The result of one reading of the journal.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) records: u64,
    /// Rows that were taken back.
    pub(super) revoked: u64,
    /// The number of `Archived` records, and the place in the last one.
    pub(super) archived: u64,
    pub(super) durable: Option<ArchivePlace>,
    /// Originals of duplicates that were not kept: their rows are told by whoever reads the journal
    /// next.
    pub(super) dangling: HashSet<UrlKey>,
    /// Pages whose visits began and have no later record.
    pub(super) under_way: HashSet<UrlKey>,
    /// The page of each place in the queue, by its number.
    pages: Vec<UrlKey>,
    /// The places that wait.
    waiting: Vec<bool>,
    kept: HashSet<UrlKey>,
    /// The number of rows that name each page as their original.
    originals: HashMap<UrlKey, u64>,
    /// Pages whose row was taken back, and that have no other yet.
    void: HashSet<UrlKey>,
    /// Pages that were admitted by a visit that has not ended: it will end as theirs, or what was
    /// left out for their sake is queued again.
    admitted: HashSet<UrlKey>,
}

impl Journal {
    /// Reads the journal of the store in `state` from end to end.
    pub(super) fn read(state: &Path, complaints: &mut Complaints) -> Result<Self, StoreFault> {
        let mut journal = Self::default();
        let mut progress = SlowProgress::new("journal records read");
        for record in History::open(state)? {
            journal.apply(&record?, complaints);
            progress.step();
        }
        let (kept, void, admitted) = (&journal.kept, &journal.void, &journal.admitted);
        let kept = |original: &UrlKey| {
            [kept, void, admitted]
                .iter()
                .any(|set| set.contains(original))
        };
        let named = journal.originals.iter().filter(|(_, rows)| **rows > 0);
        journal.dangling = named
            .map(|(original, _)| *original)
            .filter(|original| !kept(original))
            .collect();
        Ok(journal)
    }

    fn apply(&mut self, record: &Record, complaints: &mut Complaints) {
        self.records += 1;
        if (self.records == 1) != matches!(record, Record::Begun { .. }) {
            complaints.add(format!(
                "journal: record {} is where a crawl cannot begin",
                self.records
            ));
        }
        match record {
            Record::Discovered { first, finds } => self.queue(*first, finds, complaints),
            Record::Settled(settled) => {
                self.settle(settled.sequence, &settled.visit.row, complaints);
                self.queue(settled.first, &settled.visit.finds, complaints);
            }
            Record::Postponed { entry, .. } => {
                self.under_way.remove(&entry.discovered.url.key());
                self.is_waiting(
                    entry.sequence,
                    entry.discovered.url.key(),
                    "was postponed",
                    complaints,
                );
            }
            Record::Superseded { entry } => {
                self.is_waiting(
                    entry.sequence,
                    entry.discovered.url.key(),
                    "was given up",
                    complaints,
                );
                if let Some(place) = self.place(entry.sequence) {
                    self.waiting[place] = false;
                }
            }
            Record::Leased { sequences } | Record::Died { sequences } => {
                let died = matches!(record, Record::Died { .. });
                if died {
                    self.under_way.clear();
                }
                for sequence in sequences {
                    match self.place(*sequence) {
                        None => {
                            complaints.add(format!(
                                "journal: place {sequence} was leased, and never queued"
                            ));
                        }
                        Some(place) if !died => drop(self.under_way.insert(self.pages[place])),
                        Some(_) => {}
                    }
                }
            }
            Record::Returned { sequence, .. } => {
                if let Some(place) = self.place(*sequence) {
                    self.under_way.remove(&self.pages[place]);
                }
            }
            Record::Revoked { entry, row, .. } => {
                self.revoke(row);
                let page = entry.discovered.url.key();
                match self.place(entry.sequence) {
                    // Its old place again.
                    Some(place) if self.pages[place] == page => self.waiting[place] = true,
                    _ => self.queue(
                        entry.sequence,
                        std::slice::from_ref(&entry.discovered),
                        complaints,
                    ),
                }
            }
            Record::Admitted { page, .. } => drop(self.admitted.insert(page.key())),
            Record::Retained(seated) => drop(self.admitted.insert(seated.page.key())),
            Record::Forgotten { page } => drop(self.admitted.remove(page)),
            Record::Archived { file, end } => {
                self.archived += 1;
                self.durable = Some(ArchivePlace {
                    file: file.clone(),
                    end: *end,
                });
            }
            _ => {}
        }
    }

    fn place(&self, sequence: u64) -> Option<usize> {
        usize::try_from(sequence)
            .ok()
            .filter(|place| *place < self.pages.len())
    }

    fn queue(&mut self, first: u64, finds: &[DiscoveredUrl], complaints: &mut Complaints) {
        if !finds.is_empty() && first != self.pages.len() as u64 {
            complaints.add(format!(
                "journal: places from {first} on were queued, where {} was the next",
                self.pages.len()
            ));
        }
        for find in finds {
            self.pages.push(find.url.key());
            self.waiting.push(true);
        }
    }

    fn is_waiting(&self, sequence: u64, page: UrlKey, what: &str, complaints: &mut Complaints) {
        match self.place(sequence) {
            Some(place) if self.pages[place] != page => {
                complaints.add(format!(
                    "journal: place {sequence} {what} as another page than was queued there"
                ));
            }
            Some(place) if !self.waiting[place] => {
                complaints.add(format!(
                    "journal: place {sequence} {what} when its visit had ended"
                ));
            }
            Some(_) => {}
            None => complaints.add(format!(
                "journal: place {sequence} {what}, and was never queued"
            )),
        }
    }

    fn settle(&mut self, sequence: u64, row: &VisitRecord, complaints: &mut Complaints) {
        let page = row.url.key();
        self.is_waiting(sequence, page, "was settled", complaints);
        if let Some(place) = self.place(sequence) {
            self.waiting[place] = false;
        }
        self.void.remove(&page);
        self.admitted.remove(&page);
        self.under_way.remove(&page);
        if row.fate.is_original() && !self.kept.insert(page) {
            complaints.add(format!("{} was kept twice", row.url));
        }
        if let Some(original) = row.duplicate_of.as_ref().filter(|_| !row.of_earlier) {
            *self.originals.entry(original.key()).or_insert(0) += 1;
        }
    }

    fn revoke(&mut self, row: &VisitRecord) {
        self.revoked += 1;
        self.void.insert(row.url.key());
        if row.fate.is_original() {
            self.kept.remove(&row.url.key());
        }
        if let Some(original) = row.duplicate_of.as_ref().filter(|_| !row.of_earlier)
            && let Some(rows) = self.originals.get_mut(&original.key())
        {
            *rows = rows.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use web::{CanonicalForm, PageUrl, Timestamp};

    use super::*;

    fn find(path: &str) -> DiscoveredUrl {
        let url = format!("http://a.test/{path}");
        DiscoveredUrl::new(
            PageUrl::parse(&url, &CanonicalForm::default()).unwrap(),
            0,
            None,
        )
    }

    fn queued(first: u64, paths: &[&str]) -> Record {
        let finds = paths.iter().map(|path| find(path)).collect();
        Record::Discovered { first, finds }
    }

    fn postponed(sequence: u64, path: &str) -> Record {
        let entry = store::QueueEntry {
            sequence,
            discovered: find(path),
            attempts: 1,
            strikes: 0,
        };
        Record::Postponed {
            entry,
            at: Timestamp::default(),
            pace: web::Pace::default(),
        }
    }

    #[test]
    fn what_cannot_have_happened_in_this_order_is_found() {
        let begun = || Record::Begun {
            at: Timestamp::default(),
            features: String::new(),
        };
        for (records, expected) in [
            (
                vec![
                    begun(),
                    queued(0, &["a", "b"]),
                    queued(2, &["c"]),
                    postponed(1, "b"),
                ],
                0,
            ),
            // It did not begin; it began twice.
            (vec![queued(0, &["a"])], 1),
            (vec![begun(), begun()], 1),
            // A number is left out, or given twice.
            (vec![begun(), queued(1, &["a"])], 1),
            (vec![begun(), queued(0, &["a"]), queued(0, &["b"])], 1),
            // What was never queued, or is another page.
            (vec![begun(), postponed(0, "a")], 1),
            (vec![begun(), queued(0, &["a"]), postponed(0, "b")], 1),
            (vec![begun(), Record::Leased { sequences: vec![0] }], 1),
        ] {
            let (mut journal, mut complaints) = (Journal::default(), Complaints::default());
            for record in &records {
                journal.apply(record, &mut complaints);
            }
            assert_eq!(
                complaints.count, expected,
                "{records:?}: {:?}",
                complaints.told
            );
        }
    }
}
