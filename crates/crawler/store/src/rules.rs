//! The scope and the limits of near-duplicate detection.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use journal::Page;
use neardup::{HashKey, MatchKind, Thresholds};

/// The rules of a near-duplicate index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparisonOptions {
    /// The thresholds.
    pub thresholds: Thresholds,
    /// The set of pages that a page is compared with.
    pub scope: DuplicateScope,
    /// Number of pages of a cluster that are kept: the original and `per_cluster - 1` retained
    /// duplicates.
    pub per_cluster: NonZeroU32,
}

impl Default for ComparisonOptions {
    fn default() -> Self {
        Self {
            thresholds: Thresholds::default(),
            scope: DuplicateScope::Crawl,
            per_cluster: NonZeroU32::MIN,
        }
    }
}

impl ComparisonOptions {
    /// Returns the partition of the signature index that `page` belongs to. It depends on the final
    /// URL, not on the URL that redirected there. Partitions are not stored: if a crawl is
    /// continued under another scope, that scope applies from then on.
    pub(crate) fn group(&self, page: &Page, key: HashKey) -> u64 {
        let name = match self.scope {
            DuplicateScope::Crawl => return 0,
            DuplicateScope::Domain => page.final_url.registrable_domain().to_owned(),
            DuplicateScope::Host => page.final_url.host().to_string(),
        };
        // The hash is keyed, so that nobody can choose a host name that shares another host's
        // partition.
        let digest = key.digest(name.as_bytes());
        (digest >> 64) as u64
    }
}

/// The pages that a page is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DuplicateScope {
    /// Pages of the whole crawl.
    #[default]
    Crawl,
    /// Pages of its registrable domain, by the public suffix list.
    Domain,
    /// Pages of its host; ports do not count.
    Host,
}

impl DuplicateScope {
    const ALL: [Self; 3] = [Self::Crawl, Self::Domain, Self::Host];

    /// Returns the word of the command-line option.
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

/// A word that names no scope.
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

/// Returns the certainty of a match: the same bytes rank above the same words, which rank above the
/// nearest text.
pub(crate) fn certainty(match_kind: MatchKind) -> f64 {
    match match_kind {
        MatchKind::SamePayload => 3.0,
        MatchKind::SameText => 2.0,
        MatchKind::Near { resemblance, .. } => resemblance,
    }
}
