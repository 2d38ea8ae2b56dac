//! The requisites of a page: pictures, styles, scripts and films that are fetched with it.

use std::fmt;
use std::str::FromStr;

use web::{OutOfScope, PageUrl, Scope};

use crate::choice::{self, UnknownChoice};

/// A choice of which requisites are fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requisites {
    /// No requisite is fetched.
    #[default]
    Off,
    /// Those in scope are fetched, even for a page at the greatest depth.
    Scope,
    /// Those on any host are fetched; exclusions hold.
    Any,
}

impl Requisites {
    /// The most steps from a page: what the page names (1), what a style sheet of it names (2), and
    /// so on. Browsers have no bound, and a server may answer each sheet with the import of
    /// another.
    pub(crate) const MOST_STEPS: u8 = 8;

    /// The most requisites of one page or style sheet ([`store::Limit::Requisites`]). The largest
    /// pages of the web have some hundred.
    pub(crate) const MOST_PER_PAGE: usize = 1_000;

    /// Returns true if a requisite with this URL may be fetched.
    pub(crate) fn let_in(self, scope: &Scope, url: &PageUrl) -> bool {
        match self {
            Self::Off => false,
            Self::Scope => scope.judge(url).is_ok(),
            Self::Any => !matches!(scope.judge(url), Err(OutOfScope::Excluded { .. })),
        }
    }
}

impl fmt::Display for Requisites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::Scope => "scope",
            Self::Any => "any",
        })
    }
}

impl FromStr for Requisites {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        choice::parse(word, [Self::Off, Self::Scope, Self::Any])
    }
}
