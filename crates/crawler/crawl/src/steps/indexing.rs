//! The text of a page for the search index.
//!
//! Invariant: the index gets the same while crawling as when it is rebuilt from the archive. Its
//! input is a function of the response, of the verdict in the archive, and of the rules of the
//! crawl.

use journal::VisitRecord;
use policy::Policy;
use sinks::IndexText;
use web::Document;

/// Returns the text of a page that was visited just now; `None` if the page is not indexed. Takes
/// the document apart instead of copying it.
pub(crate) fn text(
    policy: &Policy,
    visit: &VisitRecord,
    document: Option<Document>,
) -> Option<Box<IndexText>> {
    if !(visit.kept && policy.index?.has(visit.fate)) {
        return None;
    }
    IndexText::of(document?, policy.reading.main_content)
}
