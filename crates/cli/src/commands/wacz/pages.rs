//! The extent of a packed crawl by its journal: the end of the settled archive, the time of the
//! crawl, and its pages.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crawl::Policy;
use rayon::prelude::*;
use sinks::ArchiveEnd;
use sinks::wacz::{Page, WaczFault};
use store::embedded::record::Record;
use store::embedded::{History, Revocation, revocations, rows};
use store::{FinishedVisit, StoreFault, VisitRecord};
use web::Timestamp;

use super::{PackError, Packing};
use crate::cli_error::{CliError, fault};
use crate::commands::export::read_again;
use crate::progress::SlowProgress;
use crate::settings::Settings;
use crate::terminal::{printable, say};
use crate::{assembly, crawl_directory};

/// Pages whose texts are read at a time.
const BATCH: usize = 64;
/// Pages that could not be read and are named; more are counted.
const NAMED: u64 = 10;

/// A crawl, as far as all of it is told.
#[derive(Default)]
pub(super) struct CrawlExtent {
    /// The end of the last settled visit in the archive.
    pub(super) end: Option<ArchiveEnd>,
    /// The time of the last request.
    pub(super) latest: Timestamp,
    /// The first page among the seeds.
    pub(super) main_page: Option<(String, Timestamp)>,
}

impl CrawlExtent {
    /// Reads the journal of the store in `state`.
    pub(super) fn of(state: &Path) -> Result<Self, StoreFault> {
        let mut extent = Self::default();
        let mut revoked = revocations(state)?;
        for record in History::open(state)? {
            let Record::Settled(settled) = record? else {
                continue;
            };
            let FinishedVisit { row, archived, .. } = settled.visit;
            let why = revoked.take(&row);
            if why == Some(Revocation::Lost) {
                continue;
            }
            if let Some(span) = archived {
                extent.end = Some(ArchiveEnd {
                    file: span.file,
                    end: span.end,
                });
                extent.latest = extent.latest.max(row.fetched_at);
            }
            if why.is_none() && extent.main_page.is_none() && row.depth == 0 && is_page(&row) {
                extent.main_page = Some((url(&row).to_owned(), row.fetched_at));
            }
        }
        Ok(extent)
    }
}

/// Returns true if the archive has this page and a browser shows it.
fn is_page(row: &VisitRecord) -> bool {
    let is_html = matches!(
        row.content_type.as_deref(),
        Some("text/html" | "application/xhtml+xml")
    );
    row.kept && row.is_page() && row.status == Some(200) && is_html && row.warc_file.is_some()
}

/// Returns the archived URL.
fn url(row: &VisitRecord) -> &str {
    row.final_url.as_ref().unwrap_or(&row.url).as_str()
}

/// Lists the pages of what is packed.
pub(super) fn list(
    packing: &Packing<'_>,
    progress: &mut SlowProgress,
    add: &mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>,
) -> Result<(), PackError> {
    let mut batch = Vec::new();
    for row in rows(&packing.state)? {
        let row = row?;
        progress.step();
        let place = row.warc_file.as_deref().zip(row.warc_offset);
        if is_page(&row) && place.is_some_and(|(file, offset)| packing.has(file, offset)) {
            batch.push(row);
        }
        if batch.len() >= BATCH {
            write(packing.texts.as_ref(), &mut batch, add)?;
        }
    }
    Ok(write(packing.texts.as_ref(), &mut batch, add)?)
}

fn write(
    texts: Option<&PageTexts>,
    batch: &mut Vec<VisitRecord>,
    add: &mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>,
) -> Result<(), WaczFault> {
    let read = texts.map(|texts| texts.read(batch)).unwrap_or_default();
    let mut read = read.iter();
    for row in batch.drain(..) {
        let text = read.next().and_then(Option::as_deref);
        add(&Page {
            url: url(&row),
            at: row.fetched_at,
            title: row.title.as_deref(),
            text,
        })?;
    }
    Ok(())
}

/// The texts of pages, read again from the archive.
pub(super) struct PageTexts {
    policy: Policy,
    archive: PathBuf,
    unread: Cell<u64>,
}

impl PageTexts {
    pub(super) fn of_crawl(directory: &Path) -> Result<Self, CliError> {
        let settings = Settings::of_crawl(directory)?;
        Ok(Self {
            policy: assembly::policy(&settings, settings.canonical_form()),
            archive: crawl_directory::archive(directory),
            unread: Cell::new(0),
        })
    }

    /// Returns the text of each of these, read on all cores; none if it cannot be read.
    fn read(&self, rows: &[VisitRecord]) -> Vec<Option<String>> {
        let (policy, archive) = (&self.policy, &self.archive);
        let read: Vec<Result<String, String>> = rows
            .par_iter()
            .map(|row| Ok(read_again(policy, archive, row)?.full_text().to_owned()))
            .collect();
        let texts = read.into_iter().zip(rows);
        texts
            .map(|(text, row)| {
                text.map_err(|trouble| self.count_unread(row, &trouble))
                    .ok()
            })
            .collect()
    }

    fn count_unread(&self, row: &VisitRecord, trouble: &str) {
        self.unread.set(self.unread.get() + 1);
        if self.unread.get() <= NAMED {
            say(&format!("warning: {}: {}", row.url, printable(trouble)));
        }
    }

    /// Returns an error if texts are missing.
    pub(super) fn complain(&self) -> Result<(), CliError> {
        match self.unread.get() {
            0 => Ok(()),
            unread => Err(fault(&Missing(unread))
                .with_remedy("`crawler verify` says what is wrong with the archive")),
        }
    }
}

/// Pages of the archive could not be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} pages cannot be read from the archive again: they are packed without their text, \
     everything else is there"
)]
struct Missing(u64);
