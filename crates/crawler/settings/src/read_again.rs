//! Reads archived pages again, for their links or their text.
//!
//! An unreadable page is counted, and does not end a command early.

use std::sync::atomic::{AtomicU64, Ordering};

use corpus::{ArchivedPage, PageArchive, PagePlace, next_record};
use journal::VisitRecord;
use messages::{CommandError, counted, fault, printable, say};
use policy::Policy;
use rayon::prelude::*;
use sinks::warc::WarcStream;
use web::{Document, Exchange};

use crate::settings::Settings;
use crate::{crawl_directory, rules};

/// Number of pages that are read at a time, with their documents in memory.
pub const BATCH: usize = 64;
/// Maximum number of records of a page, from its response to its metadata: the page, its DOM, and
/// two for each of 200 sub-requests of its scripts.
const RECORDS_OF_A_PAGE: usize = 2 * 200 + 8;
/// Maximum number of unreadable pages that are named; the rest are counted.
const NAMED: u64 = 10;

/// The pages of a crawl's archive.
pub struct ArchivedPages {
    /// The archive that is read.
    pub archive: PageArchive,
    /// The rules of the crawl.
    pub policy: Policy,
    unread: AtomicU64,
}

/// The text of a page that was not archived.
pub struct DuplicateText {
    /// The text that was judged.
    pub text: String,
    /// Its first heading.
    pub heading: Option<String>,
}

/// Pages of the archive could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be read: {}", counted(*.0, "archived page"), .1)]
struct UnreadPages(u64, &'static str);

impl ArchivedPages {
    /// Returns the pages of a crawl.
    pub fn of(settings: &Settings) -> Self {
        let policy = rules::policy(settings, settings.canonical_form());
        Self {
            archive: PageArchive {
                directory: crawl_directory::archive(&settings.out),
                rules: policy.reading.clone(),
            },
            policy,
            unread: AtomicU64::new(0),
        }
    }

    /// Reads the pages of `items` on all cores, and passes on each item with its document, in the
    /// order of `items`. The document is `None` if the page's text is not archived or cannot be
    /// read.
    pub fn read_all<T: Send, E>(
        &self,
        items: &mut Vec<T>,
        visit: impl Fn(&T) -> &VisitRecord + Sync,
        give: impl FnMut(T, Option<Document>) -> Result<(), E>,
    ) -> Result<(), E> {
        let document = |_: &T, page: ArchivedPage| page.document;
        self.make_all(items, |item| Some(visit(item)), document, give)
    }

    /// Does the same with the result of `make` for each page, computed on all cores. Items without
    /// a visit are not read.
    pub fn make_all<T: Send, M: Send, E>(
        &self,
        items: &mut Vec<T>,
        visit: impl Fn(&T) -> Option<&VisitRecord> + Sync,
        make: impl Fn(&T, ArchivedPage) -> M + Sync,
        give: impl FnMut(T, Option<M>) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = |item: &T, visit: &VisitRecord| Ok(make(item, self.read(visit)?));
        self.read_each(items, visit, read, give)
    }

    /// Passes on the result of `make` for the response of each visit, in the order of the visits,
    /// like [`ArchivedPages::make_all`].
    pub fn make_of_answers<M: Send, E>(
        &self,
        visits: &mut Vec<VisitRecord>,
        make: impl Fn(&VisitRecord, Exchange) -> M + Sync,
        mut give: impl FnMut(M) -> Result<(), E>,
    ) -> Result<(), E> {
        let read = |_: &VisitRecord, visit: &VisitRecord| Ok(make(visit, self.response(visit)?));
        self.read_each(
            visits,
            |visit| Some(visit),
            read,
            |_, made| match made {
                Some(made) => give(made),
                None => Ok(()),
            },
        )
    }

    fn read_each<T: Send, M: Send, E>(
        &self,
        items: &mut Vec<T>,
        visit: impl Fn(&T) -> Option<&VisitRecord> + Sync,
        read: impl Fn(&T, &VisitRecord) -> Result<M, String> + Sync,
        mut give: impl FnMut(T, Option<M>) -> Result<(), E>,
    ) -> Result<(), E> {
        let read: Vec<_> = items
            .par_drain(..)
            .map(|item| {
                let archived = visit(&item).filter(|visit| visit.has_page());
                let made = archived.map(|visit| read(&item, visit));
                (item, made)
            })
            .collect();
        for (item, made) in read {
            let made = made.transpose().unwrap_or_else(|trouble| {
                if let Some(visit) = visit(&item) {
                    self.count_unread(visit, &trouble);
                }
                None
            });
            give(item, made)?;
        }
        Ok(())
    }

    /// Reads the page of a visit: its DOM, if it was rendered.
    pub fn read(&self, visit: &VisitRecord) -> Result<ArchivedPage, String> {
        self.archive.page(place_of(visit)?)
    }

    /// Reads the response of a visit, with its DOM as the body if it was rendered.
    fn response(&self, visit: &VisitRecord) -> Result<Exchange, String> {
        self.archive.response(place_of(visit)?)
    }

    /// Returns the text and the heading of a page that a crawl with `--duplicate-text on` did not
    /// archive; `None` if they were not kept.
    pub fn duplicate_text(&self, visit: &VisitRecord) -> Result<Option<DuplicateText>, String> {
        let unarchived = Some(visit).filter(|visit| !visit.kept && visit.fate.is_duplicate());
        let place = unarchived.and_then(|visit| visit.warc_file.as_ref().zip(visit.warc_offset));
        let Some((file, offset)) = place else {
            return Ok(None);
        };
        let mut reader = self.archive.open_at(file, offset)?;
        let Some(text) = next_record(&mut reader)?.filter(|text| text.kind() == "conversion")
        else {
            return Ok(None);
        };
        Ok(Some(DuplicateText {
            text: String::from_utf8_lossy(&text.block).into_owned(),
            heading: next_note(&mut reader, "heading: ")?,
        }))
    }

    /// Returns the topic's words on a page of a focused crawl, from the notes in the archive;
    /// `None` if the notes are missing or cannot be read.
    pub fn topic_words(&self, visit: &VisitRecord) -> Option<String> {
        let (file, offset) = visit.content_place()?;
        let mut reader = self.archive.open_at(file, offset).ok()?;
        next_note(&mut reader, "topic-words: ").ok()?
    }

    /// Counts an unreadable page, and names it.
    pub fn count_unread(&self, visit: &VisitRecord, trouble: &str) {
        if self.unread.fetch_add(1, Ordering::Relaxed) < NAMED {
            say(&format!("warning: {}: {}", visit.url, printable(trouble)));
        }
    }

    /// Returns an error that names `consequence` if pages could not be read.
    pub fn check_unread(&self, consequence: &'static str) -> Result<(), CommandError> {
        match self.unread.load(Ordering::Relaxed) {
            0 => Ok(()),
            unread => Err(fault(&UnreadPages(unread, consequence))
                .with_remedy("check the archive with `crawler verify`")),
        }
    }
}

/// Returns the value of a field in the next `metadata` record; `None` without such a record or
/// field. `field` is its name with the colon. The page, its sub-requests and its DOM come first.
fn next_note(reader: &mut WarcStream, field: &str) -> Result<Option<String>, String> {
    for _ in 0..RECORDS_OF_A_PAGE {
        let Some(record) = next_record(reader)? else {
            break;
        };
        if record.kind() == "metadata" {
            let fields = String::from_utf8_lossy(&record.block);
            let mut lines = fields.lines();
            return Ok(lines.find_map(|line| line.strip_prefix(field).map(str::to_owned)));
        }
    }
    Ok(None)
}

fn place_of(visit: &VisitRecord) -> Result<PagePlace<'_>, String> {
    let place = visit.warc_file.as_deref().zip(visit.warc_offset);
    let (file, page) = place.ok_or("the journal does not contain its place")?;
    Ok(PagePlace {
        file,
        page,
        dom: visit.dom_offset(),
    })
}
