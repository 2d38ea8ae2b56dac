//! The rules of a crawl, as the user chose them.

use std::fmt;
use std::str::FromStr;

use sinks::DigestAlgorithm;
use store::Fate;
use web::{
    CanonicalForm, LanguageFilter, MainSelectors, PageUrl, ReadLimits, Relations, Trap, TrapRules,
    TypeFilter,
};

use crate::choice::{self, UnknownChoice};
use crate::steps::duplicate_links::DuplicateLinks;
use crate::steps::listings::rules::ListingRules;
use crate::steps::requisites::Requisites;

/// The rules of a crawl.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The treatment of a page that repeats an earlier one.
    pub on_duplicate: OnDuplicate,
    /// True if the archive gets the text of a page that is left out because it repeats another.
    pub duplicate_text: bool,
    /// The treatment of the links of such a page.
    pub duplicate_links: DuplicateLinks,
    /// Maximum number of links from a seed.
    pub max_depth: Option<u32>,
    /// The requisites (pictures, styles, scripts, films) that are fetched with a page.
    pub page_requisites: Requisites,
    /// Maximum number of visits to a page that fails temporarily.
    pub tries: u32,
    /// Maximum number of redirects in a row.
    pub redirects: usize,
    /// True if robots.txt, meta robots and X-Robots-Tag are ignored.
    pub ignore_robots: bool,
    /// The link relations that are not followed.
    pub skip_relations: Relations,
    /// The media types of pages that are archived.
    pub types: TypeFilter,
    /// The languages of pages that are archived.
    pub languages: LanguageFilter,
    /// True if a page is judged by its main content; by all its text otherwise.
    pub main_content: bool,
    /// Selectors of the main content of pages, `CSS` or `HOST=CSS`; the first that matches counts.
    pub main_selectors: MainSelectors,
    /// The product token of this crawler in robots rules.
    pub agent: String,
    /// Maximum number of bytes that are read of a decoded body.
    pub max_decoded: u64,
    /// The pages that go into the search index; `None` without an index.
    pub index: Option<IndexedPages>,
    /// The digest of payloads in the archive.
    pub digest: DigestAlgorithm,
    /// True if the archive records the outlinks of each page.
    pub outlinks: bool,
    /// The limits on reading a document.
    pub read: ReadLimits,
    /// The rules for sitemaps and feeds.
    pub listings: ListingRules,
    /// The canonical form of URLs, with the query parameters that are dropped.
    pub canonical: CanonicalForm,
    /// The rules for crawler traps; `None` if traps are followed.
    pub traps: Option<TrapRules>,
}

impl Policy {
    /// Returns true if the links of a page at this depth are too far from a seed.
    pub(crate) fn is_deepest(&self, depth: u32) -> bool {
        self.max_depth.is_some_and(|max| depth >= max)
    }

    /// Returns the trap rule that a link of a page matches, if there is one.
    pub(crate) fn trap(&self, page: &PageUrl, link: &PageUrl) -> Option<Trap> {
        self.traps.as_ref()?.judge(link, Some(page))
    }
}

/// A choice of what happens to a page that repeats an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Not archived, and its links are not followed.
    #[default]
    Drop,
    /// Archived, and marked as a duplicate; its links are not followed.
    Keep,
    /// Archived and marked, and its links are followed.
    Follow,
}

impl fmt::Display for OnDuplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
            Self::Follow => "follow",
        })
    }
}

impl FromStr for OnDuplicate {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        choice::parse(word, [Self::Drop, Self::Keep, Self::Follow])
    }
}

/// The archived pages that can be searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexedPages {
    /// Pages that do not repeat another, and new versions of pages that an earlier crawl archived.
    #[default]
    Unique,
    /// Pages that repeat an earlier one, too.
    Kept,
}

impl IndexedPages {
    /// Returns true if a page of this fate, archived with its payload, can be searched.
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
        f.write_str(match self {
            Self::Unique => "unique",
            Self::Kept => "kept",
        })
    }
}

impl FromStr for IndexedPages {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        choice::parse(word, [Self::Unique, Self::Kept])
    }
}
