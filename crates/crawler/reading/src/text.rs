//! The text of a document that is compared.

use comparison::{ComparedPage, PageParts};
use neardup::PageText;
use web::{Document, MainContent, Media};

/// Returns the text that a document is judged by: everything outside the site's boilerplate, or all
/// of it.
#[must_use]
pub fn page_text(document: &Document, main_content: bool) -> PageText<'_> {
    let own = match document.compared_own() {
        MainContent::Main => None,
        MainContent::PageFallback { main_text } => Some(main_text.as_str()),
    };
    let (text, own) = match main_content {
        true => (document.compared_text(), own),
        false => (document.full_text(), None),
    };
    PageText {
        text,
        main_content: own,
        title: document.title.as_deref(),
        heading: document.heading.as_deref(),
    }
}

/// Returns a document as it is compared with another, block by block.
#[must_use]
pub fn compared_page(url: &str, document: &Document, main_content: bool) -> ComparedPage {
    let (main, judged) = match main_content {
        true => (document.main_text(), document.compared_text()),
        false => (document.full_text(), document.full_text()),
    };
    ComparedPage::of(&PageParts {
        url,
        title: document.title.as_deref(),
        heading: document.heading.as_deref(),
        main,
        judged,
        is_plain: document.media == Media::Text,
        is_partial: document.warnings.iter().any(|warning| {
            use web::ParseWarning::{Parsing, TooMuchText, Unread};
            matches!(warning, Parsing(_) | TooMuchText | Unread)
        }),
    })
}
