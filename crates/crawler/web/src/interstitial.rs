//! Interstitial pages: what a server sends in place of a page, with the status of one.
//!
//! Firewalls ask for a proof of humanity, sites for a login or for consent, and parked domains sell
//! themselves. As pages, they would be archived under the URLs of others, and all later ones would
//! count as their duplicates. `interstitial/markers.json` has their markers, each with its source;
//! a marker of several parts needs all of them.
//!
//! Invariant: apart from header fields, only a page with next to no text ([`MAX_TEXT`]) is one. An
//! article about CAPTCHAs is an article.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use http::HeaderMap;
use regex::bytes::{Regex, RegexSet, RegexSetBuilder};
use serde::{Deserialize, Serialize};

use crate::html::document::Document;
use crate::http::media_type::Media;
use crate::url::page_url::PageUrl;

/// Maximum length of the text of an interstitial page in bytes: some 200 words.
const MAX_TEXT: usize = 1_500;

/// Maximum number of bytes of a page that are searched for markers.
const MAX_MARKUP: usize = 256 << 10;

/// The kind of an interstitial page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterstitialKind {
    /// A block page or a challenge: the page may come another time.
    Blocked,
    /// A page that asks for consent.
    Consent,
    /// A page of a registrar: the domain has no site.
    Parked,
    /// A login page that the requested URL redirects to.
    Login,
    /// The page that the server sends for URLs that do not exist.
    #[serde(rename = "soft-404")]
    SoftNotFound,
}

/// An interstitial page.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Interstitial {
    /// Its kind.
    pub kind: InterstitialKind,
    /// The product or the owner that sent it, or what it looks like: `Cloudflare`, `a CAPTCHA`.
    pub by: String,
}

/// A marker of interstitial pages. Its texts are in lower case.
#[derive(Debug, Deserialize)]
struct Marker {
    kind: InterstitialKind,
    name: String,
    /// A header field, and a part of its value.
    #[serde(default)]
    header: BTreeMap<String, String>,
    /// A part of the title.
    title: Option<String>,
    /// Parts of the text.
    #[serde(default)]
    text: Vec<String>,
    /// Parts of the markup.
    #[serde(default)]
    markup: Vec<String>,
    /// Parts of the markup that no such page has: a form with a CAPTCHA is a page.
    #[serde(default)]
    without: Vec<String>,
}

/// All markers.
struct Markers {
    markers: Vec<Marker>,
    /// The parts of markup of all markers, one after the other: of each, those that it has, and
    /// then those that it has not.
    markups: RegexSet,
}

static MARKERS: LazyLock<Markers> = LazyLock::new(|| {
    let file = include_str!("interstitial/markers.json");
    let markers: Vec<Marker> = serde_json::from_str(file).expect("the file is ours");
    let of_marker = |marker: &'_ Marker| [marker.markup.clone(), marker.without.clone()].concat();
    let markups = markers.iter().flat_map(of_marker);
    let markups = markups.map(|markup| regex::escape(&markup));
    let markups = RegexSetBuilder::new(markups).case_insensitive(true).build();
    Markers {
        markups: markups.expect("they are literals"),
        markers,
    }
});

impl Interstitial {
    /// Returns the interstitial page in a response from `url`; `None` for a page. `body` is the
    /// response's body without its content codings.
    ///
    /// [`InterstitialKind::SoftNotFound`] and block pages without a marker take a further request
    /// and are never returned. A page [replaces](Self::replaces) another only if the request was
    /// for another.
    #[must_use]
    pub fn of(
        url: &PageUrl,
        headers: &HeaderMap,
        document: &Document,
        body: &[u8],
    ) -> Option<Self> {
        let by_header = MARKERS.markers.iter().find(|marker| {
            let mut fields = marker.header.iter();
            fields.any(|(name, part)| has_field(headers, name, part))
        });
        if let Some(marker) = by_header {
            return Some(marker.interstitial());
        }
        if !is_short(document) {
            return None;
        }
        let body = &body[..body.len().min(MAX_MARKUP)];
        let by_content = MARKERS.find(document, body);
        by_content.or_else(|| {
            let is_login = names_login(url) && PASSWORD.is_match(body);
            is_login.then(|| Self::unnamed(InterstitialKind::Login))
        })
    }

    /// Returns the page that a server sends for URLs that do not exist.
    #[must_use]
    pub fn soft_not_found() -> Self {
        Self::unnamed(InterstitialKind::SoftNotFound)
    }

    /// Returns a block page that no marker names.
    #[must_use]
    pub fn of_unknown_firewall() -> Self {
        Self {
            kind: InterstitialKind::Blocked,
            by: "an unknown firewall".to_owned(),
        }
    }

    const fn unnamed(kind: InterstitialKind) -> Self {
        Self {
            kind,
            by: String::new(),
        }
    }

    /// Returns true if the page, found at `reached`, replaces the page that was requested as
    /// `asked`. A login page that was requested as such is a page.
    #[must_use]
    pub fn replaces(&self, asked: &PageUrl, reached: &PageUrl) -> bool {
        self.kind != InterstitialKind::Login || asked != reached && !names_login(asked)
    }
}

impl Markers {
    fn find(&self, document: &Document, body: &[u8]) -> Option<Interstitial> {
        let lower = |text: &str| text.to_lowercase();
        let title = document.title.as_deref().map(lower).unwrap_or_default();
        let text = document.full_text().to_lowercase();
        let found = self.markups.matches(body);
        let mut number = 0;
        for marker in &self.markers {
            let markups = number..number + marker.markup.len();
            let others = markups.end..markups.end + marker.without.len();
            number = others.end;
            let is_it = marker.header.is_empty()
                && marker.title.iter().all(|part| title.contains(part))
                && marker.text.iter().all(|part| text.contains(part))
                && markups.into_iter().all(|markup| found.matched(markup))
                && !others.into_iter().any(|markup| found.matched(markup));
            if is_it {
                return Some(marker.interstitial());
            }
        }
        None
    }
}

impl Marker {
    fn interstitial(&self) -> Interstitial {
        Interstitial {
            kind: self.kind,
            by: self.name.clone(),
        }
    }
}

fn has_field(headers: &HeaderMap, name: &str, part: &str) -> bool {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| value.to_ascii_lowercase().contains(part))
}

fn is_short(document: &Document) -> bool {
    document.media == Media::Html && document.full_text().len() <= MAX_TEXT
}

/// A field for a password.
static PASSWORD: LazyLock<Regex> = LazyLock::new(|| {
    let field = r#"(?i)<input[^>]+type\s*=\s*["']?password"#;
    Regex::new(field).expect("it is an expression")
});

/// Returns true if the path of a URL is that of a login page.
fn names_login(url: &PageUrl) -> bool {
    const NAMES: [&str; 9] = [
        "login",
        "log-in",
        "logon",
        "signin",
        "sign-in",
        "sign_in",
        "sso",
        "wp-login.php",
        "login.php",
    ];
    let path = url.as_url().path().to_ascii_lowercase();
    path.split('/').any(|segment| NAMES.contains(&segment))
}

/// Returns true for a short page whose title or heading says that the page was not found.
#[must_use]
pub fn says_not_found(document: &Document) -> bool {
    /// In lower case.
    const WORDS: [&str; 17] = [
        "404",
        "not found",
        "cannot be found",
        "can't be found",
        "doesn't exist",
        "does not exist",
        "nicht gefunden",
        "existiert nicht",
        "introuvable",
        "no encontrad",
        "non trovat",
        "não encontrad",
        "niet gevonden",
        "nie znaleziono",
        "не найден",
        "見つかりません",
        "找不到",
    ];
    let says = |text: &String| {
        let text = text.to_lowercase();
        WORDS.iter().any(|word| text.contains(word))
    };
    let lines = [&document.title, &document.heading];
    is_short(document) && lines.into_iter().flatten().any(says)
}

impl InterstitialKind {
    /// Returns its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Consent => "consent",
            Self::Parked => "parked",
            Self::Login => "login",
            Self::SoftNotFound => "soft-404",
        }
    }
}

/// Writes a reason not to archive it as a page.
impl fmt::Display for Interstitial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let by = &self.by;
        match self.kind {
            InterstitialKind::Blocked => write!(f, "blocked: a block page or challenge of {by}"),
            InterstitialKind::Consent => write!(f, "consent: {by} asks for consent"),
            InterstitialKind::Parked => write!(f, "parked: the domain has no site ({by})"),
            InterstitialKind::Login => write!(f, "login: it redirects to a login page"),
            InterstitialKind::SoftNotFound => write!(
                f,
                "soft-404: the server sends this page for URLs that do not exist"
            ),
        }
    }
}
