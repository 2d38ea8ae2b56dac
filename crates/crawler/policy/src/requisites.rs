//! The requisites of a page: pictures, styles, scripts and films that are fetched with it.

use std::fmt;
use std::str::FromStr;

use web::{OutOfScope, PageUrl, Scope, UnknownChoice, parse_choice};

/// A choice of page requisites to fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requisites {
    /// No requisite is fetched.
    #[default]
    Off,
    /// Page requisites in scope are fetched, even for a page at the maximum depth.
    Scope,
    /// Page requisites on any host are fetched; exclusions hold.
    Any,
}

impl Requisites {
    /// Maximum number of steps from a page: 1 to what the page names, 2 to what its style sheet
    /// names, and so on. Browsers do not limit the steps, and a server may answer each sheet with
    /// the import of another.
    pub const MAX_STEPS: u8 = 8;

    /// Maximum number of requisites per page or style sheet ([`journal::Limit::Requisites`]). The
    /// largest pages of the web have some hundred.
    pub const MAX_PER_PAGE: usize = 1_000;

    /// Returns true if a requisite with this URL may be fetched.
    #[must_use]
    pub fn let_in(self, scope: &Scope, url: &PageUrl) -> bool {
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
        parse_choice(word, [Self::Off, Self::Scope, Self::Any])
    }
}
