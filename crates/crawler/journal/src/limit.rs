//! The register of limits: everything that can cost a visit links, text or bytes.
//!
//! A limit never makes a page fail: the page is kept, and the loss is counted. Each visit names the
//! limits that cut it ([`Cut`], in the journal and in the archive), and [`Totals`](crate::Totals)
//! has one counter per limit. The summary, `status`, the report, `skipped`, `why` and the column
//! `truncated` of an export are views of this data. The values are set by the code that enforces
//! the limits (`Policy::limit` of the crate `crawl`). Limits that end or forbid a visit (redirects,
//! pages, depth, traps) are reasons of that visit and are not listed here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A limit that can cut a visit. The journal stores it by its index, so a new one goes to the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Limit {
    /// Bytes of a response body that are received.
    Body,
    /// Time of an exchange.
    Time,
    /// Bytes of a decoded page that are parsed.
    PageBytes,
    /// Growth of a body while its content coding is removed.
    Growth,
    /// Steps of parsing a page.
    Steps,
    /// Nodes, nesting and attributes of a page's tree; the rest is parsed without a tree.
    Tree,
    /// Bytes of text that are read from a page.
    Text,
    /// Distinct links of a page.
    Links,
    /// Bytes of a URL.
    UrlBytes,
    /// Requisites of a page.
    Requisites,
    /// Steps from a page to its indirect requisites.
    RequisiteSteps,
    /// Bytes of a decoded sitemap or feed that are read.
    SitemapBytes,
    /// Entries of a sitemap or feed.
    SitemapEntries,
    /// Nesting of sitemap indexes.
    SitemapNesting,
    /// Sitemaps that a host names in a session.
    SitemapsPerHost,
    /// Pages that a host lists in a session.
    ListedPages,
}

impl Limit {
    /// All limits, in the order of the journal.
    pub const ALL: [Self; 16] = [
        Self::Body,
        Self::Time,
        Self::PageBytes,
        Self::Growth,
        Self::Steps,
        Self::Tree,
        Self::Text,
        Self::Links,
        Self::UrlBytes,
        Self::Requisites,
        Self::RequisiteSteps,
        Self::SitemapBytes,
        Self::SitemapEntries,
        Self::SitemapNesting,
        Self::SitemapsPerHost,
        Self::ListedPages,
    ];

    /// Returns the name in outputs: the name of the option, if the limit has one.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Body => "max-body",
            Self::Time => "timeout",
            Self::PageBytes => "max-page-bytes",
            Self::Growth => "max-growth",
            Self::Steps => "max-reading-steps",
            Self::Tree => "max-tree",
            Self::Text => "max-text",
            Self::Links => "max-links-per-page",
            Self::UrlBytes => "max-url-bytes",
            Self::Requisites => "max-requisites-per-page",
            Self::RequisiteSteps => "max-requisite-steps",
            Self::SitemapBytes => "max-sitemap-bytes",
            Self::SitemapEntries => "max-sitemap-entries",
            Self::SitemapNesting => "max-sitemap-nesting",
            Self::SitemapsPerHost => "max-sitemaps-per-host",
            Self::ListedPages => "max-listed-pages-per-host",
        }
    }

    /// Returns the limit with this name ([`Limit::as_str`]).
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.as_str() == word)
    }

    /// Returns a description of what is lost beyond the limit.
    #[must_use]
    pub const fn loss(self) -> &'static str {
        match self {
            Self::Body => "the rest of the body was not received",
            Self::Time => "the body was cut when its time was over",
            Self::PageBytes => "the rest of the page was not read for text and links",
            Self::Growth => "the rest of the body was not decoded",
            Self::Steps => "the rest of the page was not read for text and links",
            Self::Tree => {
                "the rest of the page was read without a tree: its main content is a guess"
            }
            Self::Text => {
                "the rest of the text was not read: verdict and search know the beginning"
            }
            Self::Links => "further links were not followed",
            Self::UrlBytes => "longer URLs were not followed",
            Self::Requisites | Self::RequisiteSteps => "further requisites were not fetched",
            Self::SitemapBytes | Self::SitemapEntries => "the rest of the list was not read",
            Self::SitemapNesting | Self::SitemapsPerHost => "further sitemaps were not read",
            Self::ListedPages => "further pages of the list were not queued",
        }
    }

    /// Returns true if links to pages may be lost by the crawler's own choice: then the crawl is
    /// not complete.
    #[must_use]
    pub const fn costs_links(self) -> bool {
        match self {
            Self::PageBytes
            | Self::Growth
            | Self::Steps
            | Self::Links
            | Self::UrlBytes
            | Self::SitemapBytes
            | Self::SitemapEntries
            | Self::SitemapNesting
            | Self::SitemapsPerHost
            | Self::ListedPages => true,
            Self::Body
            | Self::Time
            | Self::Tree
            | Self::Text
            | Self::Requisites
            | Self::RequisiteSteps => false,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A limit that cut a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The limit.
    pub limit: Limit,
    /// Number of links, requisites or entries lost; 0 if the number is unknown or the limit does
    /// not cost any.
    pub lost: u64,
}

impl Cut {
    /// Returns a cut whose losses cannot be counted.
    #[must_use]
    pub const fn by(limit: Limit) -> Self {
        Self { limit, lost: 0 }
    }

    /// Adds this cut to the cuts of a visit, which hold one entry per limit.
    pub fn add_to(self, cuts: &mut Vec<Self>) {
        match cuts.iter_mut().find(|known| known.limit == self.limit) {
            Some(known) => known.lost += self.lost,
            None => cuts.push(self),
        }
    }
}

/// The sums of one limit over all visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutSum {
    /// Number of visits that it cut.
    pub visits: u64,
    /// Number of links, requisites and entries lost, if they could be counted.
    pub lost: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_has_its_place_and_a_name_of_its_own() {
        for (place, limit) in Limit::ALL.into_iter().enumerate() {
            assert_eq!(limit as usize, place);
            assert_eq!(Limit::of_word(limit.as_str()), Some(limit));
            assert!(!limit.loss().is_empty());
        }
        assert_eq!(Limit::of_word("max-pages"), None);
    }

    #[test]
    fn a_visit_has_one_cut_per_limit() {
        let mut cuts = Vec::new();
        for (limit, lost) in [(Limit::Links, 2), (Limit::Text, 0), (Limit::Links, 3)] {
            Cut { limit, lost }.add_to(&mut cuts);
        }
        let sums: Vec<(Limit, u64)> = cuts.iter().map(|cut| (cut.limit, cut.lost)).collect();
        assert_eq!(sums, [(Limit::Links, 5), (Limit::Text, 0)]);
    }
}
