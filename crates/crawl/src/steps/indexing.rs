//! The text of a page for the search index.
//!
//! Invariant: the index gets the same while crawling as when it is rebuilt from the archive. Its
//! input is a function of the answer, of the verdict in the archive, and of the rules of the crawl.

use sinks::IndexText;
use store::VisitRecord;
use web::{Document, Exchange, Media};

use crate::policy::Policy;
use crate::steps::reading;

/// Returns the text of a page that was visited just now; `None` if the page is not indexed. Takes
/// the document apart instead of copying it.
pub(crate) fn text(
    policy: &Policy,
    row: &VisitRecord,
    document: Option<Document>,
) -> Option<Box<IndexText>> {
    if !(row.kept && policy.index?.has(row.fate)) {
        return None;
    }
    of_document(policy, document?)
}

/// Returns the text of an archived page; `None` if the response is not text. The caller checks
/// whether the page is indexed: see [`IndexedPages::has`](crate::IndexedPages::has).
#[must_use]
pub fn archived_text(policy: &Policy, exchange: &Exchange) -> Option<Box<IndexText>> {
    of_document(policy, reading::document_here(policy, exchange)?)
}

/// Returns the text that the page is judged by, so that a hit is a page about the query and not one
/// with a link to such a page.
fn of_document(policy: &Policy, mut document: Document) -> Option<Box<IndexText>> {
    if document.media == Media::Other {
        return None;
    }
    let (title, language) = (document.title.take(), document.language.take());
    let text = if policy.main_content {
        document.text
    } else {
        document.into_full_text()
    };
    Some(Box::new(IndexText {
        title,
        language,
        text,
    }))
}
