//! The pages of a packed crawl, from its journal.

use journal::{VisitRecord, visits};
use messages::SlowProgress;
use settings::read_again::{ArchivedPages, BATCH};
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
    for visit in visits(&crawl.state).map_err(damaged)? {
        let visit = visit.map_err(damaged)?;
        progress.step();
        let place = visit.warc_file.as_deref().zip(visit.warc_offset);
        if is_page(&visit) && place.is_some_and(|(file, offset)| crawl.has(file, offset)) {
            batch.push(visit);
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
    let mut add = |visit: VisitRecord, document: Option<Document>| {
        add(&Page {
            url: url(&visit),
            at: visit.fetched_at,
            title: visit.title.as_deref(),
            text: document.as_ref().map(Document::full_text),
        })
    };
    match pages {
        Some(pages) => pages.read_all(batch, |visit| visit, add),
        None => batch.drain(..).try_for_each(|visit| add(visit, None)),
    }
}
