//! The pages that a sitemap or a feed lists.

use crate::sitemap::lastmod::Lastmod;
use crate::url::page_url::PageUrl;

/// Bytes of a body to sniff: a prolog, comments and a document type may precede the root.
pub const SNIFFED_LISTING_BYTES: usize = 16 << 10;

/// The kind of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingKind {
    /// `<urlset>`.
    Sitemap,
    /// `<sitemapindex>`.
    SitemapIndex,
    /// Plain text, one absolute URL per line.
    TextSitemap,
    /// RSS or Atom.
    Feed,
    /// JSON Feed.
    JsonFeed,
}

impl ListingKind {
    /// Returns true if the format is XML.
    #[must_use]
    pub const fn is_markup(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::Feed)
    }

    /// Returns true for a sitemap of any format, false for a feed.
    #[must_use]
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::TextSitemap)
    }
}

/// Limits of reading a listing. The reader of the body limits its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingLimits {
    /// Maximum number of pages and further listings together.
    pub entries: usize,
    /// Maximum number of pictures and films of listed pages; 0 to ignore them.
    pub requisites: usize,
}

/// Allows 100,000 entries, twice the 50,000 of the sitemap protocol, and no pictures.
impl Default for ListingLimits {
    fn default() -> Self {
        Self {
            entries: 100_000,
            requisites: 0,
        }
    }
}

/// The content of a sitemap or a feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its kind.
    pub kind: ListingKind,
    /// Listed pages in document order, with repetitions.
    pub pages: Vec<ListedUrl>,
    /// Sitemaps of an index, or continuations of a feed (RFC 5005 `next` and `prev-archive`).
    pub further: Vec<ListedUrl>,
    /// Pictures and films of the listed pages, with their previews (Google's extensions of
    /// sitemaps).
    pub requisites: Vec<PageUrl>,
    /// Warnings, each at most once.
    pub warnings: Vec<ListingWarning>,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUrl {
    /// URL of the entry.
    pub url: PageUrl,
    /// Time of its last change, given by sitemaps only.
    pub lastmod: Option<Lastmod>,
}

/// A defect of a listing that was capped, repaired or skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingWarning {
    /// Some bytes are invalid in its encoding.
    Undecodable,
    /// The document is truncated, or its markup becomes unreadable; entries before that point
    /// count.
    Broken,
    /// There are more entries than [`ListingLimits::entries`]; the first ones are kept.
    TooMany,
    /// The address of an entry is not a page's, or contains an entity that XML does not define.
    NoUrl,
    /// A `lastmod` is not a date and was ignored.
    InvalidLastmod,
}

impl Listing {
    pub(super) fn empty(kind: ListingKind) -> Self {
        Self {
            kind,
            pages: Vec::new(),
            further: Vec::new(),
            requisites: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
