//! The rebuild of a journal: the records that remain of the old one, then the visits in the
//! archive.
//!
//! Invariant: the records are the same as if a crawl had settled these visits in this order, so
//! that opening, exporting and verifying the store cannot tell the difference. Visits are therefore
//! counted for their URL patterns here, too: links of poor patterns go behind, and the scores of
//! links depend on the harvests.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use journal::{
    ArchiveSpan, DiscoveredUrl, FinishedVisit, Journal, Position, QueueEntry, Record, RetainedPage,
    SEGMENT_BYTES, SettledVisit, StoreFault, VisitRecord,
};
use neardup::{HashKey, PageSignature};
use web::{Pace, PageUrl, Timestamp, UrlKey};

use crate::frontier::{ArchivePlace, FrontierRules};
use crate::patterns::Patterns;

/// A writer of a new journal.
pub struct JournalRebuild {
    journal: Journal,
    /// All URLs that were queued or reached, with the queue entries of URLs that are waiting.
    known: HashMap<UrlKey, Option<Waiting>>,
    /// The yield and the harvest of each URL pattern so far.
    patterns: Patterns,
    /// The rules that say whether links of poor patterns are put behind.
    rules: FrontierRules,
    next_sequence: u64,
    archived_visits: u64,
    end: Option<ArchivePlace>,
    /// True if visits before that end were revoked.
    is_cut: bool,
    records: u64,
}

struct Waiting {
    sequence: u64,
    depth: u32,
    via: Option<PageUrl>,
    priority: u8,
    requisite: u8,
    off_scope: u8,
}

impl Waiting {
    fn new(sequence: u64, discovered: &DiscoveredUrl) -> Self {
        Self {
            sequence,
            depth: discovered.depth,
            via: discovered.via.clone(),
            priority: discovered.priority,
            requisite: discovered.requisite,
            off_scope: discovered.off_scope,
        }
    }

    fn discovered(&self, url: &PageUrl) -> DiscoveredUrl {
        DiscoveredUrl {
            priority: self.priority,
            requisite: self.requisite,
            off_scope: self.off_scope,
            ..DiscoveredUrl::new(url.clone(), self.depth, self.via.clone())
        }
    }

    /// Returns true if the page was found only on unarchived pages.
    const fn is_probed(&self) -> bool {
        self.requisite == 0 && self.priority >= DiscoveredUrl::PROBED
    }
}

/// A finished visit.
#[derive(Debug)]
pub struct RestoredVisit {
    /// The record of the visit, with its place in the archive.
    pub record: VisitRecord,
    /// The end of the visit in the archive; `None` if another crawler wrote it.
    pub end: Option<ArchivePlace>,
    /// Its links to visit.
    pub finds: Vec<DiscoveredUrl>,
    /// The targets of the followed redirects.
    pub reached: Vec<PageUrl>,
    /// Its admission to the index.
    pub admission: Admission,
}

/// The admission of a page to the index.
#[derive(Debug)]
pub enum Admission {
    /// The page was not admitted.
    None,
    /// The page was new and had this signature.
    New(Box<PageSignature>),
    /// The page was kept along with its original.
    Retained(Box<RetainedPage>),
}

impl JournalRebuild {
    /// Creates a journal below `directory`, which must not have one yet. A copied journal brings
    /// its own [`Record::Begun`]; otherwise `begun` has the start time of the crawl and its
    /// features.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn begin(
        disk: Arc<dyn Disk>,
        directory: &Path,
        key: HashKey,
        begun: Option<(Timestamp, String)>,
    ) -> Result<Self, StoreFault> {
        let path = directory.join("journal");
        disk.create_directories(&path)
            .map_err(StoreFault::file("create", &path))?;
        let mut rebuild = Self {
            journal: Journal::open(disk, &path, key, SEGMENT_BYTES)?,
            known: HashMap::new(),
            patterns: Patterns::default(),
            rules: FrontierRules {
                closes_patterns: false,
                ..FrontierRules::default()
            },
            next_sequence: 0,
            archived_visits: 0,
            end: None,
            is_cut: false,
            records: 0,
        };
        if let Some((at, features)) = begun {
            rebuild.append(&Record::Begun { at, features })?;
        }
        Ok(rebuild)
    }

    /// Sets whether links of poor patterns are put behind in this crawl:
    /// [`FrontierRules::closes_patterns`].
    #[must_use]
    pub fn closing_patterns(mut self, closes_patterns: bool) -> Self {
        self.rules.closes_patterns = closes_patterns;
        self
    }

    /// Copies a record of the old journal. Call it with the records in their order.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn copy(&mut self, record: &Record) -> Result<(), StoreFault> {
        match record {
            Record::Discovered {
                first,
                finds: discovered,
            } => self.apply_discovered(*first, discovered),
            Record::Settled(SettledVisit { first, visit, .. }) => {
                self.known.insert(visit.record.url.key(), None);
                self.apply_reached(&visit.reached);
                self.apply_discovered(*first, &visit.finds);
                if let Some(span) = &visit.archived {
                    self.end = Some(ArchivePlace {
                        file: span.file.clone(),
                        end: span.end,
                    });
                }
            }
            Record::Archived { file, end } if self.is_cut => {
                let (file, end) = (file.clone(), *end);
                self.end = Some(ArchivePlace { file, end });
                self.is_cut = false;
            }
            Record::Revoked { entry, visit, .. } => {
                // See recovery/archive_tail.rs: the next `Archived` has the archive's end.
                self.is_cut |= visit.warc_file.is_none() && self.end.is_some();
                self.next_sequence = entry.sequence + 1;
                let waiting = Waiting::new(entry.sequence, &entry.discovered);
                self.known.insert(entry.discovered.url.key(), Some(waiting));
            }
            _ => {}
        }
        self.append(record)
    }

    /// Returns the end of the last copied or settled visit.
    #[must_use]
    pub fn end(&self) -> Option<&ArchivePlace> {
        self.end.as_ref()
    }

    /// Sets the beginning of the crawl's archive, after the files of other crawlers.
    pub fn begin_archive(&mut self, place: ArchivePlace) {
        self.end = Some(place);
    }

    /// Returns the yield and the harvest of each URL pattern so far.
    #[must_use]
    pub fn patterns(&self) -> &Patterns {
        &self.patterns
    }

    /// Queues the new URLs among `discovered`.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn discover(&mut self, discovered: Vec<DiscoveredUrl>) -> Result<(), StoreFault> {
        let discovered = self.only_new(discovered);
        if discovered.is_empty() {
            return Ok(());
        }
        self.supersede(&discovered)?;
        let first = self.next_sequence;
        self.apply_discovered(first, &discovered);
        self.append(&Record::Discovered {
            first,
            finds: discovered,
        })
    }

    /// Returns the queued form of a URL; `None` if it is not waiting.
    #[must_use]
    pub fn waiting(&self, url: &PageUrl) -> Option<DiscoveredUrl> {
        let waiting = self.known.get(&url.key())?.as_ref()?;
        Some(waiting.discovered(url))
    }

    /// Records that a redirect of a seed widened the scope.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn adopt(&mut self, url: PageUrl) -> Result<(), StoreFault> {
        self.append(&Record::SeedAdopted { url })
    }

    /// Settles a visit. If its page was never discovered, queues it first: for example, a link that
    /// is not read any more, or a seed of an earlier day.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub fn settle(&mut self, visit: RestoredVisit) -> Result<(), StoreFault> {
        let RestoredVisit {
            record,
            end,
            finds: discovered,
            reached,
            admission,
        } = visit;
        let (sequence, priority) =
            match self.known.get_mut(&record.url.key()).and_then(Option::take) {
                Some(waiting) => (waiting.sequence, waiting.priority),
                None => {
                    let first = self.next_sequence;
                    self.next_sequence += 1;
                    self.known.insert(record.url.key(), None);
                    let discovered = vec![record.discovered()];
                    self.append(&Record::Discovered {
                        first,
                        finds: discovered,
                    })?;
                    (first, 0)
                }
            };
        match admission {
            Admission::None => {}
            Admission::New(signature) => self.append(&Record::Admitted {
                page: record.page(),
                signature,
            })?,
            Admission::Retained(kept) => self.append(&Record::Retained(kept))?,
        }
        self.apply_reached(&reached);
        let discovered = self.only_new(discovered);
        self.supersede(&discovered)?;
        let first = self.next_sequence;
        self.apply_discovered(first, &discovered);
        let archived = end.map(|place| {
            let archive_sequence = self.archived_visits;
            self.archived_visits += 1;
            self.end = Some(place.clone());
            let ArchivePlace { file, end } = place;
            ArchiveSpan {
                archive_sequence,
                file,
                end,
            }
        });
        self.append(&Record::Settled(SettledVisit {
            sequence,
            priority,
            first,
            pace: Pace::default(),
            visit: FinishedVisit {
                archived,
                finds: discovered,
                reached,
                ..FinishedVisit::new(record)
            },
        }))
    }

    /// Ends the journal durably and returns the number of its records. It records that the archive
    /// is durable up to the last visit, which the caller must have ensured.
    ///
    /// # Errors
    /// [`StoreFault`] if the journal cannot be written.
    pub async fn finish(mut self) -> Result<u64, StoreFault> {
        if let Some(ArchivePlace { file, end }) = self.end.clone() {
            // With only one record, every visit of the crawl would count as possibly lost: see
            // recovery/archive_tail.rs.
            let archived = Record::Archived { file, end };
            self.append(&archived)?;
            self.append(&archived)?;
        }
        self.append(&Record::Stopped)?;
        let end: Position = self.journal.end();
        self.journal.sync(end).await?;
        Ok(self.records)
    }

    fn append(&mut self, record: &Record) -> Result<(), StoreFault> {
        self.records += 1;
        self.patterns.apply(record);
        self.journal.append(record).map(drop)
    }

    fn only_new(&self, mut discovered: Vec<DiscoveredUrl>) -> Vec<DiscoveredUrl> {
        let mut among = std::collections::HashSet::new();
        discovered.retain(|found| {
            let key = found.url.key();
            let is_new = match self.known.get(&key) {
                None => true,
                Some(Some(waiting)) => waiting.is_probed() && !found.is_probed(),
                Some(None) => false,
            };
            is_new && among.insert(key)
        });
        self.patterns.put_behind(&mut discovered, &self.rules);
        discovered
    }

    /// Drops the queue entries of pages that were found only on unarchived pages and are now found
    /// elsewhere.
    fn supersede(&mut self, discovered: &[DiscoveredUrl]) -> Result<(), StoreFault> {
        for found in discovered {
            let waiting = self.known.get(&found.url.key()).and_then(Option::as_ref);
            let Some(waiting) = waiting.filter(|waiting| waiting.is_probed()) else {
                continue;
            };
            let entry = QueueEntry::new(waiting.sequence, waiting.discovered(&found.url));
            self.append(&Record::Superseded { entry })?;
        }
        Ok(())
    }

    fn apply_discovered(&mut self, first: u64, discovered: &[DiscoveredUrl]) {
        for (sequence, found) in (first..).zip(discovered) {
            let waiting = Waiting::new(sequence, found);
            self.known.insert(found.url.key(), Some(waiting));
        }
        self.next_sequence = first + discovered.len() as u64;
    }

    /// Marks URLs as reached. URLs that wait for their own visit keep waiting.
    fn apply_reached(&mut self, reached: &[PageUrl]) {
        for url in reached {
            self.known.entry(url.key()).or_insert(None);
        }
    }
}
