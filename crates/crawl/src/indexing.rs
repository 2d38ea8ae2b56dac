//! Which pages a search index gets, and what it finds them by.
//!
//! Invariant: what the index gets while the crawl runs is what it gets when it is made from the
//! archive: a function of the answer, of the verdict that the archive tells, and of the rules of
//! the crawl.

use std::fmt;
use std::str::FromStr;

use sinks::IndexText;
use store::{Fate, VisitRecord};
use web::{Document, Exchange, Media};

use crate::{Policy, reading};

/// Which of the pages that are archived with their payload can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexedPages {
    /// Those that repeat none, new versions of pages that an earlier crawl archived among them.
    #[default]
    Unique,
    /// Those that repeat an earlier one, too.
    Kept,
}

impl IndexedPages {
    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unique => "unique",
            Self::Kept => "kept",
        }
    }

    /// Whether a page of this fate is to be found, that is archived with its payload.
    #[must_use]
    pub fn has(self, fate: Fate) -> bool {
        match self {
            Self::Unique => fate.is_original(),
            Self::Kept => fate.is_page(),
        }
    }
}

impl fmt::Display for IndexedPages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Neither of the two words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not unique or kept")]
pub struct UnknownIndexedPages(String);

impl FromStr for IndexedPages {
    type Err = UnknownIndexedPages;

    fn from_str(word: &str) -> Result<Self, UnknownIndexedPages> {
        [Self::Unique, Self::Kept]
            .into_iter()
            .find(|pages| pages.as_str() == word)
            .ok_or_else(|| UnknownIndexedPages(word.to_owned()))
    }
}

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
/// Whether the page is to be found is not asked: see [`IndexedPages::has`].
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
