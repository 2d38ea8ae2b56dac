//! Checks the internal consistency of the journal: each record must be possible after the preceding
//! records.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use journal::{
    ArchiveSpan, DiscoveredUrl, FinishedVisit, QueueEntry, Record, StoreFault, VisitRecord,
};
use neardup::keys::SeenKeys;
use settings::crawl_directory;
use store::{ArchivePlace, HOSTS_RULE};
use web::{PageUrl, UrlKey};

use super::Findings;
use crate::journal::records;

/// The result of one reading of the journal.
#[derive(Default)]
pub(super) struct Journal {
    pub(super) records: u64,
    /// Revoked visits.
    pub(super) revoked: u64,
    /// Number of `Archived` records, and the place in the last one.
    pub(super) archived: u64,
    durable: Option<ArchivePlace>,
    /// Originals of duplicates that were not kept. The second reading of the journal reports their
    /// duplicates.
    pub(super) dangling: HashSet<UrlKey>,
    /// Pages whose visits began, without a later record.
    pub(super) in_flight: HashSet<UrlKey>,
    /// The page of each queue entry, by its sequence number.
    pages: Vec<UrlKey>,
    /// True for each queue entry that waits, by sequence number.
    waiting: Vec<bool>,
    kept: HashSet<UrlKey>,
    /// Number of visits that name each page as their original.
    originals: HashMap<UrlKey, u64>,
    /// Pages whose visit was revoked and not replaced yet.
    void: HashSet<UrlKey>,
    /// Pages admitted by a visit that is still running. Either the visit ends and keeps the page as
    /// an original, or the duplicates of the page are requeued.
    admitted: HashSet<UrlKey>,
    /// URLs that were queued, reached by a redirect, or held for the end of a claim.
    known: SeenKeys,
    /// URLs that only a revoked visit has reached so far.
    unreached: HashSet<UrlKey>,
    /// Domains whose further hosts were excluded because of the limit on hosts per domain.
    full_domains: HashSet<UrlKey>,
}

impl Journal {
    /// Returns an empty journal that treats all visits as durably archived.
    pub(super) fn of_durable_visits() -> Self {
        Self {
            archived: u64::MAX,
            ..Self::default()
        }
    }

    /// Reads the journal of the store in `state` from end to end.
    pub(super) fn read(state: &Path, findings: &mut Findings) -> Result<Self, StoreFault> {
        let mut journal = Self::default();
        for record in records(state, "journal records read")? {
            journal.apply(&record?, findings);
        }
        let known = [&journal.kept, &journal.void, &journal.admitted];
        let is_dangling = |original: &UrlKey| !known.iter().any(|set| set.contains(original));
        let named = journal.originals.iter().filter(|(_, visits)| **visits > 0);
        journal.dangling = named
            .map(|(original, _)| *original)
            .filter(is_dangling)
            .collect();
        Ok(journal)
    }

    /// Returns true if a span of the archive was durable at the last `Archived` record.
    pub(super) fn is_durable(&self, span: &ArchiveSpan) -> bool {
        let number = crawl_directory::file_number;
        self.durable.as_ref().is_some_and(|place| {
            place.file == span.file && span.end <= place.end
                || number(&span.file) < number(&place.file)
        })
    }

    /// Returns true if a URL was queued, reached or held.
    pub(super) fn knows(&self, url: &PageUrl) -> bool {
        let key = url.key();
        self.known.contains(key.as_u64()) && !self.unreached.contains(&key)
    }

    /// Returns true if hosts of the URL's domain were excluded.
    pub(super) fn has_hosts_enough(&self, url: &PageUrl) -> bool {
        let domain = UrlKey::of_name(url.registrable_domain());
        self.full_domains.contains(&domain)
    }

    fn know(&mut self, url: UrlKey) {
        self.known.insert(url.as_u64());
        self.unreached.remove(&url);
    }

    /// Notes the URLs that a visit reached, and the domains whose further hosts it excluded.
    fn note_reached(&mut self, visit: &FinishedVisit) {
        let urls = visit.reached.iter().chain(&visit.record.final_url);
        urls.for_each(|url| self.know(url.key()));
        let full = visit
            .excluded
            .iter()
            .filter(|links| links.rule == HOSTS_RULE);
        let domains = full.map(|links| UrlKey::of_name(links.example.registrable_domain()));
        self.full_domains.extend(domains);
    }

    fn apply(&mut self, record: &Record, findings: &mut Findings) {
        self.records += 1;
        if (self.records == 1) != matches!(record, Record::Begun { .. }) {
            findings.add(format!(
                "journal: record {} cannot begin a crawl",
                self.records
            ));
        }
        match record {
            Record::Discovered { first, finds } => self.queue(*first, finds, findings),
            Record::Settled(settled) => {
                self.settle(settled.sequence, &settled.visit.record, findings);
                self.note_reached(&settled.visit);
                self.queue(settled.first, &settled.visit.finds, findings);
            }
            Record::Postponed { entry, .. } => {
                let page = entry.discovered.url.key();
                self.in_flight.remove(&page);
                self.check_waiting(entry.sequence, page, "was postponed", findings);
            }
            Record::Superseded { entry } => {
                let page = entry.discovered.url.key();
                self.end_wait(entry.sequence, page, "was given up", findings);
            }
            Record::Leased { sequences } | Record::Died { sequences } => {
                let is_lease = matches!(record, Record::Leased { .. });
                if !is_lease {
                    self.in_flight.clear();
                }
                for sequence in sequences {
                    match self.place(*sequence) {
                        None => findings.add(format!(
                            "journal: place {sequence} was leased, but never queued"
                        )),
                        Some(place) if is_lease => drop(self.in_flight.insert(self.pages[place])),
                        Some(_) => {}
                    }
                }
            }
            Record::Returned { sequence, .. } => {
                if let Some(place) = self.place(*sequence) {
                    self.in_flight.remove(&self.pages[place]);
                }
            }
            Record::Held { finds } => finds.iter().for_each(|found| self.know(found.url.key())),
            Record::Revoked {
                entry,
                visit,
                reached,
            } => {
                self.unreached.extend(reached.iter().map(PageUrl::key));
                self.revoke(entry, visit, findings);
            }
            Record::Admitted { page, .. } => drop(self.admitted.insert(page.key())),
            Record::Retained(retained) => drop(self.admitted.insert(retained.page.key())),
            Record::Forgotten { page } => drop(self.admitted.remove(page)),
            Record::Archived { file, end } => {
                self.archived += 1;
                let (file, end) = (file.clone(), *end);
                self.durable = Some(ArchivePlace { file, end });
            }
            _ => {}
        }
    }

    fn place(&self, sequence: u64) -> Option<usize> {
        usize::try_from(sequence)
            .ok()
            .filter(|place| *place < self.pages.len())
    }

    fn queue(&mut self, first: u64, finds: &[DiscoveredUrl], findings: &mut Findings) {
        if !finds.is_empty() && first != self.pages.len() as u64 {
            findings.add(format!(
                "journal: places starting at {first} were queued, but {} was next",
                self.pages.len()
            ));
        }
        for find in finds {
            self.know(find.url.key());
            self.pages.push(find.url.key());
            self.waiting.push(true);
        }
    }

    fn check_waiting(&self, sequence: u64, page: UrlKey, what: &str, findings: &mut Findings) {
        let wrong = match self.place(sequence) {
            None => ", but was never queued",
            Some(place) if self.pages[place] != page => {
                " with a different page than was queued \
                there"
            }
            Some(place) if !self.waiting[place] => " when its visit had ended",
            Some(_) => return,
        };
        findings.add(format!("journal: place {sequence} {what}{wrong}"));
    }

    fn end_wait(&mut self, sequence: u64, page: UrlKey, what: &str, findings: &mut Findings) {
        self.check_waiting(sequence, page, what, findings);
        if let Some(place) = self.place(sequence) {
            self.waiting[place] = false;
        }
    }

    fn settle(&mut self, sequence: u64, visit: &VisitRecord, findings: &mut Findings) {
        let page = visit.url.key();
        self.end_wait(sequence, page, "was settled", findings);
        self.void.remove(&page);
        self.admitted.remove(&page);
        self.in_flight.remove(&page);
        if visit.fate.is_original() && !self.kept.insert(page) {
            findings.add(format!("{} was archived twice", visit.url));
        }
        if let Some(original) = visit.duplicate_of.as_ref().filter(|_| !visit.of_earlier) {
            *self.originals.entry(original.key()).or_insert(0) += 1;
        }
    }

    fn revoke(&mut self, entry: &QueueEntry, visit: &VisitRecord, findings: &mut Findings) {
        self.revoked += 1;
        self.void.insert(visit.url.key());
        if visit.fate.is_original() {
            self.kept.remove(&visit.url.key());
        }
        if let Some(original) = visit.duplicate_of.as_ref().filter(|_| !visit.of_earlier)
            && let Some(visits) = self.originals.get_mut(&original.key())
        {
            *visits = visits.saturating_sub(1);
        }
        let discovered = &entry.discovered;
        match self.place(entry.sequence) {
            // It waits again in its old place.
            Some(place) if self.pages[place] == discovered.url.key() => self.waiting[place] = true,
            _ => self.queue(entry.sequence, std::slice::from_ref(discovered), findings),
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
        let entry = QueueEntry {
            sequence,
            discovered: find(path),
            attempts: 1,
            crashes: 0,
        };
        Record::Postponed {
            entry,
            at: Timestamp::default(),
            pace: web::Pace::default(),
            reason: None,
        }
    }

    #[test]
    fn records_in_an_impossible_order_are_complained_of() {
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
            // No beginning, and two beginnings.
            (vec![queued(0, &["a"])], 1),
            (vec![begun(), begun()], 1),
            // A sequence number is missing, or given twice.
            (vec![begun(), queued(1, &["a"])], 1),
            (vec![begun(), queued(0, &["a"]), queued(0, &["b"])], 1),
            // A page was never queued, or another one was.
            (vec![begun(), postponed(0, "a")], 1),
            (vec![begun(), queued(0, &["a"]), postponed(0, "b")], 1),
            (vec![begun(), Record::Leased { sequences: vec![0] }], 1),
        ] {
            let (mut journal, mut findings) = (Journal::default(), Findings::default());
            for record in &records {
                journal.apply(record, &mut findings);
            }
            assert_eq!(
                findings.count, expected,
                "{records:?}: {:?}",
                findings.texts
            );
        }
    }
}
