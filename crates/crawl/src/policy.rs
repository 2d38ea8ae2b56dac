//! The rules of a crawl, as the user chose them.

use std::fmt;
use std::str::FromStr;

use sinks::DigestAlgorithm;
use store::Fate;
use web::{CanonicalForm, MainSelectors, ReadLimits, Relations, TrapRules};

use crate::choice::UnknownChoice;
use crate::steps::duplicate_links::DuplicateLinks;
use crate::steps::listings::rules::ListingRules;
use crate::steps::requisites::Requisites;

/// The rules of a crawl.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What becomes of a page that repeats an earlier one.
    pub on_duplicate: OnDuplicate,
    /// The fate of its links.
    pub duplicate_links: DuplicateLinks,
    /// Links away from a seed, at most.
    pub max_depth: Option<u32>,
    /// Which pictures, styles, scripts and films of a page are fetched with it.
    pub page_requisites: Requisites,
    /// Visits of a page that fails in a way that may pass, at most.
    pub tries: u32,
    /// Redirects in a row that are followed.
    pub redirects: usize,
    /// Whether robots.txt, meta robots and X-Robots-Tag count for nothing.
    pub ignore_robots: bool,
    /// Links of these relations are not followed.
    pub skip_relations: Relations,
    /// Whether a page is judged by its main content; by all its text otherwise.
    pub main_content: bool,
    /// Selectors of the main content of pages, `CSS` or `HOST=CSS`; of several the first that finds
    /// something.
    pub main_selectors: MainSelectors,
    /// The name that robots rules may call us by.
    pub agent: String,
    /// Bytes of a body that are read, once its coding is off.
    pub max_decoded: u64,
    /// Which pages a search index gets; none where there is no index.
    pub index: Option<IndexedPages>,
    /// The digest of a payload that the archive writes.
    pub digest: DigestAlgorithm,
    /// Whether the archive tells where each page leads.
    pub outlinks: bool,
    /// How much of a document is read.
    pub read: ReadLimits,
    /// What is asked of sitemaps and feeds.
    pub listings: ListingRules,
    /// Which query parameters say nothing.
    pub canonical: CanonicalForm,
    /// Which links are taken for traps, and left out; none where traps are of no concern.
    pub traps: Option<TrapRules>,
}

/// What becomes of a page that repeats an earlier one.
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

impl OnDuplicate {
    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
            Self::Follow => "follow",
        }
    }
}

impl fmt::Display for OnDuplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for OnDuplicate {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        let all = [Self::Drop, Self::Keep, Self::Follow];
        all.into_iter()
            .find(|policy| policy.as_str() == word)
            .ok_or_else(|| UnknownChoice::new(word, "drop, keep or follow"))
    }
}

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

impl FromStr for IndexedPages {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        [Self::Unique, Self::Kept]
            .into_iter()
            .find(|pages| pages.as_str() == word)
            .ok_or_else(|| UnknownChoice::new(word, "unique or kept"))
    }
}
