//! The rules for sitemaps and feeds.

use std::fmt;
use std::str::FromStr;

use web::{Lastmod, ListingKind, ListingLimits, Timestamp, UnknownChoice, parse_choice};

/// The sitemaps that are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sitemaps {
    /// None, and their entries are not followed.
    Off,
    /// Those named by robots.txt, a page or the user.
    #[default]
    On,
    /// Also `/sitemap.xml` of seeds' hosts whose robots.txt does not name a sitemap. Most hosts do
    /// not have this file, and each guess costs a request.
    Guess,
}

impl fmt::Display for Sitemaps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
            Self::Guess => "guess",
        })
    }
}

impl FromStr for Sitemaps {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        parse_choice(word, [Self::Off, Self::On, Self::Guess])
    }
}

/// The rules for listings and their quotas.
#[derive(Clone, Copy, Debug)]
pub struct ListingRules {
    /// The sitemaps that are fetched.
    pub sitemaps: Sitemaps,
    /// True if the entries of feeds are followed.
    pub feeds: bool,
    /// Entries that were last changed before this are not queued.
    pub from: Option<Timestamp>,
    /// Entries that were changed after this are not queued.
    pub to: Option<Timestamp>,
    /// Maximum number of bytes that are read of a decoded listing.
    pub bytes: u64,
    /// The limits of one listing.
    pub limits: ListingLimits,
    /// Maximum nesting of indexes; the protocol sets no limit.
    pub nesting: u8,
    /// Maximum number of sitemaps that a host may name, in robots.txt and in indexes.
    pub sitemaps_per_host: u32,
    /// The sitemaps that are read before the host's pages. Each further sitemap waits until no
    /// other page of the host is queued, so that no more of a host is queued than can soon be
    /// visited.
    pub sitemaps_first: u32,
    /// Maximum number of sitemaps per robots.txt that are on other hosts, outside the scope.
    pub elsewhere_per_host: u32,
    /// Maximum number of pages that a host may list.
    pub pages_per_host: u64,
}

impl Default for ListingRules {
    fn default() -> Self {
        Self {
            sitemaps: Sitemaps::On,
            feeds: true,
            from: None,
            to: None,
            // The protocol has 50 MiB; a byte more shows that there is more.
            bytes: (50 << 20) + 1,
            limits: ListingLimits::default(),
            nesting: 3,
            sitemaps_per_host: 1_000,
            sitemaps_first: 2,
            elsewhere_per_host: 20,
            pages_per_host: 1_000_000,
        }
    }
}

impl ListingRules {
    /// Returns the kind of a body if it is a listing that is wanted. `is_named` is true for a file
    /// that robots.txt names as a sitemap.
    #[must_use]
    pub fn kind_of(
        &self,
        content_type: Option<&str>,
        body: &[u8],
        is_named: bool,
    ) -> Option<ListingKind> {
        let kind = match is_named {
            true => ListingKind::of_named(content_type, body),
            false => ListingKind::of(content_type, body),
        };
        kind.filter(|kind| self.wants(*kind))
    }

    fn wants(&self, kind: ListingKind) -> bool {
        if kind.is_sitemap() {
            self.sitemaps != Sitemaps::Off
        } else {
            self.feeds
        }
    }

    /// Returns true if an entry with this date was last changed before the range that is wanted.
    #[must_use]
    pub fn is_too_old(&self, lastmod: Option<Lastmod>) -> bool {
        let before = |from: Timestamp| lastmod.is_some_and(|lastmod| lastmod.last < from);
        self.from.is_some_and(before)
    }

    /// Returns true if an entry with this date was first changed after the range that is wanted.
    #[must_use]
    pub fn is_too_new(&self, lastmod: Option<Lastmod>) -> bool {
        let after = |to: Timestamp| lastmod.is_some_and(|lastmod| lastmod.first > to);
        self.to.is_some_and(after)
    }
}
