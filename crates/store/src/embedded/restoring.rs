//! A journal that is written anew: what an old one still tells, and then what the archive tells.
//!
//! Invariant: what is written is what a crawl would have written that settled these visits in this
//! order, so that whatever opens, exports or verifies a store cannot tell the difference.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use disk::Disk;
use neardup::{HashKey, PageSignature};
use web::{Pace, PageUrl, Timestamp, UrlKey};

use super::journal::{Journal, SEGMENT_BYTES};
use super::record::{Record, RetainedPage, SettledVisit};
use super::segment::Position;
use crate::{
    ArchivePlace, ArchiveSpan, DiscoveredUrl, FinishedVisit, QueueEntry, StoreFault, VisitRecord,
};

/// Writes a journal.
pub struct Restoring {
    journal: Journal,
    /// All URLs that were queued or reached; the numbers of those that wait, and how they were
    /// found.
    known: HashMap<UrlKey, Option<Waiting>>,
    next_sequence: u64,
    tickets: u64,
    end: Option<ArchivePlace>,
    /// Visits before that end were taken back.
    is_cut: bool,
    records: u64,
}

struct Waiting {
    sequence: u64,
    depth: u32,
    via: Option<PageUrl>,
    priority: u8,
    requisite: u8,
}

impl Waiting {
    /// Returns whether the page was found on left-out pages only.
    const fn is_probed(&self) -> bool {
        self.requisite == 0 && self.priority >= DiscoveredUrl::PROBED
    }
}

/// A visit that ended.
#[derive(Debug)]
pub struct RestoredVisit {
    /// What became of the page, with its place in the archive.
    pub row: VisitRecord,
    /// Where the visit ends in the archive; none where another crawler wrote it.
    pub end: Option<ArchivePlace>,
    /// Its links that are to be visited.
    pub finds: Vec<DiscoveredUrl>,
    /// The targets of the redirects that were followed.
    pub reached: Vec<PageUrl>,
    /// How it was admitted to the index.
    pub admission: Admission,
}

/// How a page was admitted to the index.
#[derive(Debug)]
pub enum Admission {
    /// It was not.
    None,
    /// It was new, and looked like this.
    New(Box<PageSignature>),
    /// It was let through beside its original.
    Retained(Box<RetainedPage>),
}

impl Restoring {
    /// Begins a journal below `directory`, which has none yet. A journal that is copied brings the
    /// record of its beginning; otherwise `begun` says when the crawl began, and what its
    /// fingerprints are made of.
    ///
    /// # Errors
    /// What the system said.
    pub fn begin(
        disk: Arc<dyn Disk>,
        directory: &Path,
        key: HashKey,
        begun: Option<(Timestamp, String)>,
    ) -> Result<Self, StoreFault> {
        let path = directory.join("journal");
        disk.create_directories(&path)
            .map_err(StoreFault::file("create", &path))?;
        let mut restoring = Self {
            journal: Journal::open(disk, &path, key, SEGMENT_BYTES)?,
            known: HashMap::new(),
            next_sequence: 0,
            tickets: 0,
            end: None,
            is_cut: false,
            records: 0,
        };
        if let Some((at, features)) = begun {
            restoring.append(&Record::Begun { at, features })?;
        }
        Ok(restoring)
    }

    /// Takes over a record of an old journal; they come in their order.
    ///
    /// # Errors
    /// What the system said.
    pub fn copy(&mut self, record: &Record) -> Result<(), StoreFault> {
        match record {
            Record::Discovered { first, finds } => self.hear_finds(*first, finds),
            Record::Settled(SettledVisit { first, visit, .. }) => {
                self.known.insert(visit.row.url.key(), None);
                self.hear_reached(&visit.reached);
                self.hear_finds(*first, &visit.finds);
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
            Record::Revoked { entry, row, .. } => {
                // See archive_tail.rs: the next `Archived` says where the archive ends.
                self.is_cut |= row.warc_file.is_none() && self.end.is_some();
                self.next_sequence = entry.sequence + 1;
                let waiting = Waiting {
                    sequence: entry.sequence,
                    depth: entry.discovered.depth,
                    via: entry.discovered.via.clone(),
                    priority: entry.discovered.priority,
                    requisite: entry.discovered.requisite,
                };
                self.known.insert(entry.discovered.url.key(), Some(waiting));
            }
            _ => {}
        }
        self.append(record)
    }

    /// Where the last visit ends that was taken over or settled.
    #[must_use]
    pub fn end(&self) -> Option<&ArchivePlace> {
        self.end.as_ref()
    }

    /// The archive of the crawl begins here, behind files that others wrote.
    pub fn begin_archive(&mut self, place: ArchivePlace) {
        self.end = Some(place);
    }

    /// How many records were written.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Queues what is new among these.
    ///
    /// # Errors
    /// What the system said.
    pub fn discover(&mut self, finds: Vec<DiscoveredUrl>) -> Result<(), StoreFault> {
        let finds = self.only_new(finds);
        if finds.is_empty() {
            return Ok(());
        }
        self.supersede(&finds)?;
        let first = self.next_sequence;
        self.hear_finds(first, &finds);
        self.append(&Record::Discovered { first, finds })
    }

    /// How a page that waits was found; none where it does not.
    #[must_use]
    pub fn waiting(&self, url: &PageUrl) -> Option<DiscoveredUrl> {
        let waiting = self.known.get(&url.key())?.as_ref()?;
        Some(DiscoveredUrl {
            priority: waiting.priority,
            requisite: waiting.requisite,
            ..DiscoveredUrl::new(url.clone(), waiting.depth, waiting.via.clone())
        })
    }

    /// A redirect of a seed widened the scope.
    ///
    /// # Errors
    /// What the system said.
    pub fn adopt(&mut self, url: PageUrl) -> Result<(), StoreFault> {
        self.append(&Record::SeedAdopted { url })
    }

    /// Ends a visit. Its page is queued first where nothing led to it: a link that is no longer
    /// read, a seed of another day.
    ///
    /// # Errors
    /// What the system said.
    pub fn settle(&mut self, visit: RestoredVisit) -> Result<(), StoreFault> {
        let RestoredVisit {
            row,
            end,
            finds,
            reached,
            admission,
        } = visit;
        let find =
            DiscoveredUrl::new(row.url.clone(), row.depth, row.via.clone()).needed(row.requisite);
        let (sequence, priority) = match self.known.get_mut(&row.url.key()).and_then(Option::take) {
            Some(waiting) => (waiting.sequence, waiting.priority),
            None => {
                let first = self.next_sequence;
                self.next_sequence += 1;
                self.known.insert(row.url.key(), None);
                let finds = vec![find];
                self.append(&Record::Discovered { first, finds })?;
                (first, 0)
            }
        };
        match admission {
            Admission::None => {}
            Admission::New(signature) => self.append(&Record::Admitted {
                page: row.page(),
                signature,
            })?,
            Admission::Retained(seated) => self.append(&Record::Retained(seated))?,
        }
        self.hear_reached(&reached);
        let finds = self.only_new(finds);
        self.supersede(&finds)?;
        let first = self.next_sequence;
        self.hear_finds(first, &finds);
        let archived = end.map(|place| {
            let ticket = self.tickets;
            self.tickets += 1;
            self.end = Some(place.clone());
            let ArchivePlace { file, end } = place;
            ArchiveSpan { ticket, file, end }
        });
        self.append(&Record::Settled(SettledVisit {
            sequence,
            priority,
            first,
            pace: Pace::default(),
            visit: FinishedVisit {
                archived,
                finds,
                reached,
                ..FinishedVisit::new(row)
            },
        }))
    }

    /// Ends the journal: it says that the archive is on the disk up to the last visit, which the
    /// caller has seen to, and is on the disk itself.
    ///
    /// # Errors
    /// What the system said.
    pub async fn finish(mut self) -> Result<u64, StoreFault> {
        if let Some(ArchivePlace { file, end }) = self.end.clone() {
            // Behind one alone, every visit of the crawl would count as one that the archive may
            // have lost: see archive_tail.rs.
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
        self.journal.append(record).map(drop)
    }

    fn only_new(&self, mut finds: Vec<DiscoveredUrl>) -> Vec<DiscoveredUrl> {
        let mut among = std::collections::HashSet::new();
        finds.retain(|find| {
            let key = find.url.key();
            let is_new = match self.known.get(&key) {
                None => true,
                Some(Some(waiting)) => waiting.is_probed() && !find.is_probed(),
                Some(None) => false,
            };
            is_new && among.insert(key)
        });
        finds
    }

    /// Gives up the places of pages that were found on left-out pages only, where these are found
    /// elsewhere now.
    fn supersede(&mut self, finds: &[DiscoveredUrl]) -> Result<(), StoreFault> {
        for find in finds {
            let Some(sequence) = self.known.get(&find.url.key()).and_then(|known| {
                let waiting = known.as_ref()?;
                waiting.is_probed().then_some(waiting.sequence)
            }) else {
                continue;
            };
            let find = self.waiting(&find.url).unwrap_or_else(|| find.clone());
            let entry = QueueEntry::new(sequence, find);
            self.append(&Record::Superseded { entry })?;
        }
        Ok(())
    }

    fn hear_finds(&mut self, first: u64, finds: &[DiscoveredUrl]) {
        for (sequence, find) in (first..).zip(finds) {
            let waiting = Waiting {
                sequence,
                depth: find.depth,
                via: find.via.clone(),
                priority: find.priority,
                requisite: find.requisite,
            };
            self.known.insert(find.url.key(), Some(waiting));
        }
        self.next_sequence = first + finds.len() as u64;
    }

    /// What waits for a visit of its own goes on waiting.
    fn hear_reached(&mut self, reached: &[PageUrl]) {
        for url in reached {
            self.known.entry(url.key()).or_insert(None);
        }
    }
}
