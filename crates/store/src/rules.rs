//! Which pages are compared with one another, and how many of a kind are kept.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use neardup::{HashKey, Likeness, Thresholds};

use crate::Page;

/// What the index goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikenessRules {
    /// When two pages are alike.
    pub thresholds: Thresholds,
    /// Which pages are compared at all.
    pub scope: DuplicateScope,
    /// How many pages of one kind are kept: the original, and so many less one that are let through
    /// beside it.
    pub per_cluster: NonZeroU32,
}

impl Default for LikenessRules {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            scope: DuplicateScope::Crawl,
            per_cluster: NonZeroU32::MIN,
        }
    }
}

impl LikenessRules {
    /// The group of the signature index that `page` belongs to: where its text was found decides,
    /// not what redirected there. Groups are not stored, so a crawl that goes on under another
    /// scope is compared under that one from then on.
    pub(crate) fn group(&self, page: &Page, key: HashKey) -> u64 {
        let name = match self.scope {
            DuplicateScope::Crawl => return 0,
            DuplicateScope::Domain => page.final_url.registrable_domain().to_owned(),
            DuplicateScope::Host => page.final_url.host().to_string(),
        };
        // Keyed, so that nobody can choose a host's name to share another's group.
        let digest = key.digest(name.as_bytes());
        (digest >> 64) as u64
    }
}

/// The pages that a page is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateScope {
    /// Those of the whole crawl.
    #[default]
    Crawl,
    /// Those of its registrable domain, by the public suffix list.
    Domain,
    /// Those of its host; ports do not count.
    Host,
}

impl DuplicateScope {
    const ALL: [Self; 3] = [Self::Crawl, Self::Domain, Self::Host];

    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Crawl => "crawl",
            Self::Domain => "domain",
            Self::Host => "host",
        }
    }
}

impl fmt::Display for DuplicateScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Not one of the three words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not crawl, domain or host")]
pub struct UnknownScope(String);

impl FromStr for DuplicateScope {
    type Err = UnknownScope;

    fn from_str(word: &str) -> Result<Self, UnknownScope> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == word)
            .ok_or_else(|| UnknownScope(word.to_owned()))
    }
}

/// The same bytes before the same words, and these before the nearest.
pub(crate) fn certainty(likeness: Likeness) -> f64 {
    match likeness {
        Likeness::SamePayload => 3.0,
        Likeness::SameText => 2.0,
        Likeness::Near { resemblance, .. } => resemblance,
    }
}
