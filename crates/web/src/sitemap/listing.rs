//! The pages that a sitemap or a feed lists.

use crate::sitemap::lastmod::Lastmod;
use crate::url::page_url::PageUrl;

/// What lists pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingKind {
    /// `<urlset>`.
    Sitemap,
    /// `<sitemapindex>`.
    SitemapIndex,
    /// Plain text, an absolute URL a line.
    TextSitemap,
    /// RSS or Atom.
    Feed,
    /// JSON Feed.
    JsonFeed,
}

impl ListingKind {
    /// Whether it is XML.
    #[must_use]
    pub const fn is_markup(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::Feed)
    }

    /// Whether it is a sitemap of some kind; a feed otherwise.
    #[must_use]
    pub const fn is_sitemap(self) -> bool {
        matches!(self, Self::Sitemap | Self::SitemapIndex | Self::TextSitemap)
    }
}

/// How much of a listing is read. How large a body is, is its reader's limit, not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingLimits {
    /// Pages and further listings, all together.
    pub entries: usize,
}

/// The protocol allows 50,000 entries a sitemap; twice as many are tolerated.
impl Default for ListingLimits {
    fn default() -> Self {
        Self { entries: 100_000 }
    }
}

/// A listing, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// What it is.
    pub kind: ListingKind,
    /// The pages that it lists, in its order; a page that stands there twice is there twice.
    pub pages: Vec<ListedUrl>,
    /// The sitemaps of an index, or where a feed goes on (RFC 5005 `next` and `prev-archive`).
    pub further: Vec<ListedUrl>,
    /// What was capped, repaired or passed over; each at most once.
    pub warnings: Vec<ListingWarning>,
}

/// An entry of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedUrl {
    /// Where it leads.
    pub url: PageUrl,
    /// When that was last changed, as a sitemap tells; feeds are not asked.
    pub lastmod: Option<Lastmod>,
}

/// Something that was capped, repaired or passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListingWarning {
    /// Some bytes mean nothing in its encoding.
    Undecodable,
    /// It breaks off, or its markup cannot be read any further: what comes before counts.
    Broken,
    /// There are more entries than [`ListingLimits::entries`]: the first ones were kept.
    TooMany,
    /// An entry's address is none of a page, or has an entity in it that XML does not define.
    NoUrl,
    /// A `lastmod` is no date: its entry counts as one without.
    NoDate,
}

impl Listing {
    pub(super) fn empty(kind: ListingKind) -> Self {
        Self {
            kind,
            pages: Vec::new(),
            further: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
