//! The rules of a crawl, as the user chose them.

use std::fmt;
use std::str::FromStr;

use journal::{Fate, Limit};
use reading::ReadingRules;
use sinks::DigestAlgorithm;
use web::{
    LanguageFilter, MAX_URL_BYTES, PageUrl, Relations, Trap, TrapRules, TypeFilter, UnknownChoice,
    Usages, parse_choice,
};

use crate::depth_limits::DepthLimits;
use crate::duplicate_links::DuplicateLinks;
use crate::rendering::RenderRules;
use crate::requisites::Requisites;

/// The rules of a crawl.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The treatment of a page that repeats an earlier one.
    pub on_duplicate: OnDuplicate,
    /// True if the archive gets the text of a page that is not archived because it repeats another.
    pub duplicate_text: bool,
    /// The treatment of the links of such a page.
    pub duplicate_links: DuplicateLinks,
    /// Maximum numbers of links from a seed.
    pub depth: DepthLimits,
    /// Maximum number of links off the scope.
    pub extra_hops: u8,
    /// The requisites (pictures, styles, scripts, films) that are fetched with a page.
    pub page_requisites: Requisites,
    /// The pages whose scripts are run.
    pub render: RenderRules,
    /// Maximum number of visits to a page that fails temporarily.
    pub tries: u32,
    /// Maximum number of redirects in a row.
    pub redirects: usize,
    /// True if robots.txt, meta robots and X-Robots-Tag are ignored.
    pub ignore_robots: bool,
    /// The link relations that are not followed.
    pub skip_relations: Relations,
    /// True if interstitial pages are archived, with a mark.
    pub archives_interstitials: bool,
    /// Uses of pages that their owners may refuse, so that the pages are not archived.
    pub respected: Usages,
    /// True if pages are checked by HEAD, and received only for their links.
    pub spider: bool,
    /// The media types of pages that are archived.
    pub types: TypeFilter,
    /// The languages of pages that are archived.
    pub languages: LanguageFilter,
    /// The rules for reading pages.
    pub reading: ReadingRules,
    /// The pages that go into the search index; `None` without an index.
    pub index: Option<IndexedPages>,
    /// The digest of payloads in the archive.
    pub digest: DigestAlgorithm,
    /// True if the archive records the outlinks of each page.
    pub outlinks: bool,
    /// The rules for crawler traps; `None` if traps are followed.
    pub traps: Option<TrapRules>,
}

impl Policy {
    /// Returns a policy with these rules for reading. Its other rules have no effect on what a page
    /// contains: one attempt, no redirects, no requisites, no scripts, no traps, no search index.
    #[must_use]
    pub fn new(reading: ReadingRules) -> Self {
        Self {
            on_duplicate: OnDuplicate::Drop,
            duplicate_text: false,
            duplicate_links: DuplicateLinks::default(),
            depth: DepthLimits::default(),
            extra_hops: 0,
            page_requisites: Requisites::Off,
            render: RenderRules::default(),
            tries: 1,
            redirects: 0,
            ignore_robots: false,
            skip_relations: Relations::NOFOLLOW,
            archives_interstitials: false,
            respected: Usages::default(),
            spider: false,
            types: TypeFilter::default(),
            languages: LanguageFilter::default(),
            reading,
            index: None,
            digest: DigestAlgorithm::Sha1,
            outlinks: false,
            traps: None,
        }
    }

    /// Returns the trap rule that a link of a page matches, if there is one.
    #[must_use]
    pub fn trap(&self, page: &PageUrl, link: &PageUrl) -> Option<Trap> {
        self.traps.as_ref()?.judge(link, Some(page))
    }

    /// Returns the value of a limit; `None` for limits with several values and for limits of the
    /// transfer.
    #[must_use]
    pub fn limit(&self, limit: Limit) -> Option<u64> {
        let (read, listings) = (&self.reading.limits, &self.reading.listings);
        Some(match limit {
            Limit::Body | Limit::Time | Limit::Growth | Limit::Tree => return None,
            Limit::PageBytes => self.reading.max_decoded,
            Limit::Steps => read.stream_effort as u64,
            Limit::Text => read.text as u64,
            Limit::Links => read.links as u64,
            Limit::UrlBytes => MAX_URL_BYTES as u64,
            Limit::Requisites => Requisites::MAX_PER_PAGE as u64,
            Limit::RequisiteSteps => Requisites::MAX_STEPS.into(),
            Limit::SitemapBytes => listings.bytes,
            Limit::SitemapEntries => listings.limits.entries as u64,
            Limit::SitemapNesting => listings.nesting.into(),
            Limit::SitemapsPerHost => listings.sitemaps_per_host.into(),
            Limit::ListedPages => listings.pages_per_host,
        })
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
        parse_choice(word, [Self::Drop, Self::Keep, Self::Follow])
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
        parse_choice(word, [Self::Unique, Self::Kept])
    }
}
