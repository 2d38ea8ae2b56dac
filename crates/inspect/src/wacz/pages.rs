//! The pages of a packed crawl, from its journal.

use journal::{VisitRecord, rows};
use messages::SlowProgress;
use setup::read_again::{ArchivedPages, BATCH};
use sinks::wacz::{Page, WaczFault};
use web::Document;

use super::PackError;
use crate::archives::extent::{is_page, url};
use crate::archives::inputs::InputCrawl;

/// Lists the pages of the packed part of a crawl.
pub(super) fn list(
    crawl: &InputCrawl,
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
