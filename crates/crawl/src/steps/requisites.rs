//! Which of the pictures, styles, scripts and films of a page are fetched with it.

use std::fmt;
use std::str::FromStr;

use web::{OutOfScope, PageUrl, Scope};

use crate::choice::UnknownChoice;

/// What becomes of what a page needs to be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Requisites {
    /// It is not looked for.
    #[default]
    Off,
    /// It is fetched as far as the scope lets it in, also where the page is as deep as pages may
    /// be.
    Scope,
    /// It is fetched from any host; what is excluded stays excluded.
    Any,
}

impl Requisites {
    /// The option's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Scope => "scope",
            Self::Any => "any",
        }
    }

    /// How many steps from its page something may be: what a page names (1), what a style sheet of
    /// it names (2), and so on. A browser knows no bound, and a server may answer each sheet with
    /// the import of another.
    pub(crate) const MOST_STEPS: u8 = 8;

    /// What one page, or one style sheet, may need: more is left out, and counted by
    /// [`Requisites::RULE`]. The largest pages of the web have some hundred.
    pub(crate) const MOST_PER_PAGE: usize = 1_000;

    /// The rule of [`Requisites::MOST_PER_PAGE`], as what is left out is told by.
    pub(crate) const RULE: &'static str = "max-requisites-per-page";

    /// Whether a requisite with this URL is let in.
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
        f.write_str(self.as_str())
    }
}

impl FromStr for Requisites {
    type Err = UnknownChoice;

    fn from_str(word: &str) -> Result<Self, UnknownChoice> {
        let all = [Self::Off, Self::Scope, Self::Any];
        all.into_iter()
            .find(|requisites| requisites.as_str() == word)
            .ok_or_else(|| UnknownChoice::new(word, "off, scope or any"))
    }
}
