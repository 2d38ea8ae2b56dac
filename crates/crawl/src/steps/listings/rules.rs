//! The rules for sitemaps and feeds.

use std::fmt;
use std::str::FromStr;

use web::{Lastmod, ListingKind, ListingLimits, Timestamp};

use crate::choice::UnknownChoice;

/// The path where a site says what crawlers may ask for.
pub(crate) const ROBOTS: &str = "/robots.txt";

/// Which sitemaps are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sitemaps {
    /// None, and what they list is not followed.
    Off,
    /// Those that robots.txt names, or a page or the user.
    #[default]
    On,
    /// Of seeds' hosts whose robots.txt names none, `/sitemap.xml`, too. Most have none, and it
    /// would cost each a request for something that nobody mentioned.
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
        let all = [Self::Off, Self::On, Self::Guess];
        let known = all
            .into_iter()
            .find(|sitemaps| sitemaps.to_string() == word);
        known.ok_or_else(|| UnknownChoice::new(word, "on, off or guess"))
    }
}

/// What is asked of listings, and how much they may list.
#[derive(Clone, Copy, Debug)]
pub struct ListingRules {
    /// Which sitemaps are asked for.
    pub sitemaps: Sitemaps,
    /// Whether what feeds list is followed.
    pub feeds: bool,
    /// What a sitemap says was last changed before this is not queued.
    pub from: Option<Timestamp>,
    /// Nor what was changed after this.
    pub to: Option<Timestamp>,
    /// Bytes of a listing that are read, once its coding is off.
    pub bytes: u64,
    /// Entries of one listing.
    pub limits: ListingLimits,
    /// Indexes within indexes; the protocol knows none.
    pub nesting: u8,
    /// Sitemaps that a host may name, in robots.txt and in indexes.
    pub sitemaps_per_host: u32,
    /// Those among them that are read before the host's pages; each further one waits until no
    /// other page of the host does, so that no more is queued of a host than can soon be visited.
    pub sitemaps_first: u32,
    /// Those among them in robots.txt that lie on other hosts, where the scope does not let them
    /// in.
    pub elsewhere_per_host: u32,
    /// Pages that a host may list.
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
    pub(crate) fn wants(&self, kind: ListingKind) -> bool {
        if kind.is_sitemap() {
            self.sitemaps != Sitemaps::Off
        } else {
            self.feeds
        }
    }

    pub(crate) fn is_too_old(&self, lastmod: Option<Lastmod>) -> bool {
        let before = |from: Timestamp| lastmod.is_some_and(|lastmod| lastmod.last < from);
        self.from.is_some_and(before)
    }

    pub(crate) fn is_too_new(&self, lastmod: Option<Lastmod>) -> bool {
        let after = |to: Timestamp| lastmod.is_some_and(|lastmod| lastmod.first > to);
        self.to.is_some_and(after)
    }
}
