//! The extent of a packed crawl by its journal: the end of the settled archive, the time of the
//! crawl, and its pages.

use std::path::Path;

use sinks::ArchiveEnd;
use sinks::wacz::{Page, WaczFault};
use store::embedded::{Revocation, rows};
use store::{StoreFault, VisitRecord};
use web::{Document, Timestamp};

use super::PackError;
use super::inputs::PackedCrawl;
use crate::commands::journal::visits;
use crate::commands::read_again::{ArchivedPages, BATCH};
use crate::progress::SlowProgress;

/// The extent of a crawl.
#[derive(Default)]
pub(super) struct CrawlExtent {
    /// The end of the last settled visit in the crawl's own files.
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
        for visit in visits(state)? {
            let (visit, revocation) = visit?;
            if revocation == Some(Revocation::Lost) {
                continue;
            }
            let row = visit.row;
            // A page in a file of another crawler has a place and no span.
            if visit.archived.is_some() || row.warc_file.is_some() {
                extent.latest = extent.latest.max(row.fetched_at);
            }
            if let Some(span) = visit.archived {
                extent.end = Some(ArchiveEnd {
                    file: span.file,
                    end: span.end,
                });
            }
            let is_seed = revocation.is_none() && row.depth == 0;
            if extent.main_page.is_none() && is_seed && is_page(&row) {
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

/// Lists the pages of the packed part of a crawl.
pub(super) fn list(
    crawl: &PackedCrawl,
    progress: &mut SlowProgress,
    add: &mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>,
) -> Result<(), PackError> {
    let damaged = |error| PackError::Store(crawl.directory.clone(), error);
    let mut batch = Vec::new();
    for row in rows(&crawl.state).map_err(damaged)? {
        let row = row.map_err(damaged)?;
        progress.step();
        let place = row.warc_file.as_deref().zip(row.warc_offset);
        if is_page(&row) && place.is_some_and(|(file, offset)| crawl.has(file, offset)) {
            batch.push(row);
        }
        if batch.len() >= BATCH {
            write(crawl.pages.as_ref(), &mut batch, add)?;
        }
    }
    Ok(write(crawl.pages.as_ref(), &mut batch, add)?)
}

/// Writes some pages, with their texts if `pages` is given.
fn write(
    pages: Option<&ArchivedPages>,
    batch: &mut Vec<VisitRecord>,
    add: &mut dyn FnMut(&Page<'_>) -> Result<(), WaczFault>,
) -> Result<(), WaczFault> {
    let mut add = |row: VisitRecord, document: Option<Document>| {
        add(&Page {
            url: url(&row),
            at: row.fetched_at,
            title: row.title.as_deref(),
            text: document.as_ref().map(Document::full_text),
        })
    };
    match pages {
        Some(pages) => pages.read_all(batch, |row| row, add),
        None => batch.drain(..).try_for_each(|row| add(row, None)),
    }
}
