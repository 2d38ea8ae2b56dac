//! Rows of a crawl: its visits, and the texts and links of its pages, which are read again from the
//! archive on several threads.
//!
//! Invariant: memory does not grow with the crawl: a batch of pages is in memory at a time. A page
//! that cannot be read is counted, and the next one follows.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use corpus::{ArchivedPage, PageArchive, PagePlace};
use export::{LINKS, PageText, SKETCHES, TEXTS, Table, TextOptions, TextRules, Value, Visit, Visits};
use facts::frames;
use journal::{StoreFault, VisitRecord};

use crate::parallel;

/// Maximum number of visits in a batch.
const VISITS: usize = 4_096;

/// Maximum number of pages that are read at a time: their documents are in memory.
const PAGES: usize = 64;

/// Maximum number of unread pages that are named; all are counted.
const MAX_NAMED: usize = 10;

/// The kind of rows in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    Pages,
    Texts(TextOptions),
    Links,
}

/// A row.
pub(super) enum Row {
    Visit(Box<Visit>),
    Text(Arc<VisitRecord>, Box<PageText>),
    Link(Arc<VisitRecord>, web::Link),
}

/// A reader of rows in batches.
pub(super) struct Rows {
    visits: Visits,
    pages: Option<Pages>,
    unread: Unread,
}

/// The pages of an archive, and the contents to make from them.
struct Pages {
    archive: PageArchive,
    texts: Option<TextRules>,
    threads: NonZeroUsize,
}

/// Pages that could not be read from the archive.
#[derive(Debug, Default)]
pub(super) struct Unread {
    count: u64,
    named: Vec<String>,
}

impl Contents {
    /// Returns the table that has such rows.
    pub(super) fn table(self) -> Table {
        match self {
            Self::Pages => SKETCHES,
            Self::Texts(_) => TEXTS,
            Self::Links => LINKS,
        }
    }
}

impl Row {
    /// Returns its fields, one for each column of its table.
    pub(super) fn fields(&self) -> Vec<Option<Value<'_>>> {
        match self {
            Self::Visit(visit) => visit.fields().to_vec(),
            Self::Text(visit, text) => text.record(visit).fields().to_vec(),
            Self::Link(visit, link) => export::Link::of_page(visit, link).fields().to_vec(),
        }
    }
}

impl Rows {
    /// Opens the journal in `state`. Texts and links need the archive.
    ///
    /// # Errors
    /// The journal cannot be opened.
    pub(super) fn open(
        state: &Path,
        contents: Contents,
        archive: Option<PageArchive>,
        threads: NonZeroUsize,
    ) -> Result<Self, StoreFault> {
        let pages = archive.map(|mut archive| {
            let limits = &mut archive.rules.limits;
            let texts = match contents {
                Contents::Texts(options) => {
                    let rules = TextRules::from(options);
                    rules.widen(limits);
                    if !rules.keeps_boilerplate() {
                        archive.rules.shared_lines = Some(frames::shared_lines(state));
                    }
                    Some(rules)
                }
                Contents::Links | Contents::Pages => {
                    export::widen(limits);
                    None
                }
            };
            Pages {
                archive,
                texts,
                threads,
            }
        });
        Ok(Self {
            visits: Visits::open(state, contents == Contents::Pages)?,
            pages,
            unread: Unread::default(),
        })
    }

    /// Reads the next rows, which may be none; `None` at the end.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(super) fn next_rows(&mut self) -> Result<Option<Vec<Row>>, StoreFault> {
        let (mut seen, mut rows, mut wanted) = (0, Vec::new(), Vec::new());
        for visit in self.visits.by_ref().take(VISITS) {
            let visit = visit?;
            seen += 1;
            match &self.pages {
                None => rows.push(Row::Visit(Box::new(visit))),
                Some(pages) if pages.is_wanted(&visit.record) => {
                    wanted.push(Arc::new(visit.record));
                }
                Some(_) => {}
            }
            if wanted.len() == PAGES {
                break;
            }
        }
        if let Some(pages) = &self.pages {
            let read = |at: usize| pages.read(&wanted[at]);
            let read = parallel::map_each(wanted.len(), pages.threads, read);
            for (visit, page) in wanted.iter().zip(read) {
                match page {
                    Ok(of_page) => rows.extend(of_page),
                    Err(trouble) => self.unread.add(visit, &trouble),
                }
            }
        }
        Ok((seen > 0).then_some(rows))
    }

    /// Returns the pages that could not be read so far, and forgets them.
    pub(super) fn take_unread(&mut self) -> Unread {
        std::mem::take(&mut self.unread)
    }
}

impl Pages {
    fn is_wanted(&self, visit: &VisitRecord) -> bool {
        let is_wanted = |rules: &TextRules| rules.is_wanted(visit);
        visit.has_page() && self.texts.as_ref().is_none_or(is_wanted)
    }

    /// Reads the page of a visit.
    fn read(&self, visit: &Arc<VisitRecord>) -> Result<Vec<Row>, String> {
        let place = visit.warc_file.as_deref().zip(visit.warc_offset);
        let (file, page) = place.ok_or("the journal does not contain its place")?;
        let ArchivedPage {
            document, digest, ..
        } = self.archive.page(PagePlace {
            file,
            page,
            dom: visit.dom_offset(),
        })?;
        let row = |link| Row::Link(Arc::clone(visit), link);
        Ok(match &self.texts {
            None => document.links.into_iter().map(row).collect(),
            Some(rules) => {
                let text = rules.text_of(document, digest);
                let row = |text| Row::Text(Arc::clone(visit), Box::new(text));
                text.map(row).into_iter().collect()
            }
        })
    }
}

impl Unread {
    fn add(&mut self, visit: &VisitRecord, trouble: &str) {
        self.count += 1;
        if self.named.len() < MAX_NAMED {
            self.named.push(format!("{}: {trouble}", visit.url));
        }
    }

    /// Returns the warning about these pages; `None` if there are none.
    pub(super) fn warning(&self) -> Option<String> {
        let more = match self.count - self.named.len() as u64 {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let pages = match self.count {
            0 => return None,
            1 => "1 page".to_owned(),
            count => format!("{count} pages"),
        };
        Some(format!(
            "{pages} cannot be read from the archive and are missing; check it with crawler verify \
             ({}{more})",
            self.named.join("; ")
        ))
    }
}
