//! Which pages a search index gets, and what it finds them by.
//!
//! Invariant: what the index gets while the crawl runs is what it gets when it is made from the
//! archive: a function of the answer, of the verdict that the archive tells, and of the rules of
//! the crawl.

use sinks::IndexText;
use store::VisitRecord;
use web::{Document, Exchange, Media};

use crate::policy::Policy;
use crate::steps::reading;

/// What a page is found by that was visited just now; none where it is not to be found. The
/// document is taken apart, not copied.
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

/// What a page is found by, from its answer as the archive has it; none where that is no text.
/// Whether the page is to be found is not asked: see [`IndexedPages::has`](crate::IndexedPages::has).
#[must_use]
pub fn archived_text(policy: &Policy, exchange: &Exchange) -> Option<Box<IndexText>> {
    of_document(policy, reading::document_here(policy, exchange)?)
}

/// The text that the page is judged by, so that a hit is a page about these words and not one with
/// a link to such a page.
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
