//! The rule for links of pages that are not archived as duplicates.
//!
//! The links of a page with the same text may point to other pages, because they resolve against
//! its own URL: the index of a manual's second edition equals the index of the first edition. So
//! its links are probed unless the user chooses otherwise:
//!
//! | `--duplicate-links` | of a page that was not archived | of a seed |
//! |---|---|---|
//! | `probe` | unseen URLs wait behind all others (below); folders without new ones are closed |
//! the same |
//! | `follow` | followed | followed |
//! | `none` | excluded, and listed (Manku, Jain, Das Sarma 2007, section 1) | followed |
//!
//! They wait behind the other URLs of their domain; if another domain has the original, behind the
//! URLs of the whole crawl. The frontier does the probing: `store/src/patterns/probes.rs`.

use std::fmt;
use std::str::FromStr;

use journal::DiscoveredUrl;
use web::{UnknownChoice, parse_choice};

/// A choice of what happens to the links of pages that are not archived as duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateLinks {
    /// Unseen URLs are queued last, and bounded by what they bring.
    #[default]
    Probe,
    /// All links are followed.
    Follow,
    /// No link is followed.
    None,
}

impl DuplicateLinks {
    /// Returns how the links of a duplicate are queued. The links of seeds are always queued. If
    /// the page is a mirror, which means that its original is a page of another domain in this
    /// crawl, its links wait behind all other pages of the crawl.
    #[must_use]
    pub const fn of_duplicate(self, is_seed: bool, is_mirror: bool) -> Following {
        match (self, is_seed) {
            (Self::Follow, _) | (Self::None, true) => Following::All,
            (Self::Probe, _) | (Self::None, false) if is_mirror => Following::Mirrored,
            (Self::Probe, _) | (Self::None, false) => Following::Probed,
        }
    }
}

impl fmt::Display for DuplicateLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Probe => "probe",
            Self::Follow => "follow",
            Self::None => "none",
        })
    }
}

impl FromStr for DuplicateLinks {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        parse_choice(word, [Self::Probe, Self::Follow, Self::None])
    }
}

/// A way to queue the links of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Following {
    /// No link is queued.
    Nowhere,
    /// Links are queued like the links of a page that was not archived.
    Probed,
    /// Links are queued like the links of a page that was not archived as a copy of another
    /// domain's page.
    Mirrored,
    /// Links are queued like the links of a page that is kept.
    All,
}

impl Following {
    /// Returns [`Self::All`] if the page may be followed, and [`Self::Nowhere`] otherwise.
    #[must_use]
    pub const fn all_if(may_follow: bool) -> Self {
        if may_follow { Self::All } else { Self::Nowhere }
    }

    /// Returns true if any link is queued.
    #[must_use]
    pub const fn leads_on(self) -> bool {
        !matches!(self, Self::Nowhere)
    }

    /// Marks the pages among the URLs for probing, if this way probes; page requisites are not
    /// pages.
    #[must_use]
    pub fn queued(self, finds: Vec<DiscoveredUrl>) -> Vec<DiscoveredUrl> {
        let queued = finds.into_iter().map(|find| match (self, find.requisite) {
            (Self::Probed, 0) => find.probed(),
            (Self::Mirrored, 0) => find.mirrored(),
            _ => find,
        });
        queued.collect()
    }
}
