//! Kinds of reasons why a URL that a crawl has seen was not visited.
//!
//! | kind | the URL | whose choice |
//! |---|---|---|
//! | `duplicate-links` | is known only from unarchived pages, whose links are not followed | ours |
//! | `pattern` | is of a URL pattern that was closed | ours |
//! | `trap` | has the shape of a trap as a link | ours |
//! | `scope` | is out of the scope, or excluded by an expression | the user's |
//! | `limit` | waits in the queue, or exceeds a limit | the user's |
//! | `robots` | is forbidden by robots.txt | the site's |
//! | `page` | asks not to be archived, or its page asks not to follow it | the site's |
//! | `cut` | is a link beyond a limit of its page or sitemap ([`Limit`](crate::Limit)) | ours |
//! | `other` | was excluded for any other reason | ours |
//!
//! A crawl is complete if the crawler left nothing unvisited by its own choice.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of reason why a URL was seen and not visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ReasonKind {
    /// It is known only from pages that were not archived as duplicates.
    DuplicateLinks,
    /// Its URL pattern is closed.
    Pattern,
    /// The scope, or an expression.
    Scope,
    /// A limit: it waits in the queue, or is too deep, or its pattern has reached its limit of
    /// pages.
    Limit,
    /// robots.txt.
    Robots,
    /// The shape of a trap.
    Trap,
    /// The directive of a page: noarchive, nofollow.
    Page,
    /// Any other reason.
    Other,
    /// A limit of the crawler cut it off the page that links to it. No visit record has this kind.
    Cut,
}

impl ReasonKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::DuplicateLinks,
        Self::Pattern,
        Self::Scope,
        Self::Limit,
        Self::Robots,
        Self::Trap,
        Self::Page,
        Self::Other,
        Self::Cut,
    ];

    /// Returns the word for it in options and outputs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DuplicateLinks => "duplicate-links",
            Self::Pattern => "pattern",
            Self::Scope => "scope",
            Self::Limit => "limit",
            Self::Robots => "robots",
            Self::Trap => "trap",
            Self::Page => "page",
            Self::Other => "other",
            Self::Cut => "cut",
        }
    }

    /// Returns true if the choice was neither the user's nor the site's.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        matches!(
            self,
            Self::DuplicateLinks | Self::Pattern | Self::Trap | Self::Other | Self::Cut
        )
    }
}

impl fmt::Display for ReasonKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not duplicate-links, pattern, scope, limit, robots, trap, page, other or cut")]
pub struct UnknownKind(String);

impl FromStr for ReasonKind {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Self, UnknownKind> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == word);
        found.ok_or_else(|| UnknownKind(word.to_owned()))
    }
}
