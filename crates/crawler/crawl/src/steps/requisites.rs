//! The requisites of a page: pictures, styles, scripts and films that are fetched with it.

use std::fmt;
use std::str::FromStr;

use http::HeaderValue;
use journal::DiscoveredUrl;
use web::{OutOfScope, PageUrl, Scope};

use web::{UnknownChoice, parse_choice};

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
    pub(crate) const MAX_STEPS: u8 = 8;

    /// Maximum number of requisites per page or style sheet ([`journal::Limit::Requisites`]). The
    /// largest pages of the web have some hundred.
    pub(crate) const MAX_PER_PAGE: usize = 1_000;

    /// Returns true if a requisite with this URL may be fetched.
    pub(crate) fn let_in(self, scope: &Scope, url: &PageUrl) -> bool {
        match self {
            Self::Off => false,
            Self::Scope => scope.judge(url).is_ok(),
            Self::Any => !matches!(scope.judge(url), Err(OutOfScope::Excluded { .. })),
        }
    }
}

/// Returns the `Referer` of a request for a requisite, as browsers send it within a site (Referrer
/// Policy section 3.7, "strict-origin-when-cross-origin"): the page that needs it, or the page's
/// origin to another origin. It is not sent to other sites, and never for pages: a page must not
/// depend on the way that was taken to reach it.
pub(crate) fn referer(found: &DiscoveredUrl, url: &PageUrl) -> Option<HeaderValue> {
    let page = found.via.as_ref().filter(|_| found.requisite > 0)?;
    let is_https = |url: &PageUrl| url.as_url().scheme() == "https";
    let is_same_site = page.registrable_domain() == url.registrable_domain();
    if !is_same_site || is_https(page) && !is_https(url) {
        return None;
    }
    let (own, origin) = (url.origin(), page.origin());
    let text = match own == origin {
        true => page.to_string(),
        false => format!("{origin}/"),
    };
    HeaderValue::from_str(&text).ok()
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
