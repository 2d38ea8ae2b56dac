//! The address of a page, canonical by construction.
//!
//! Two spellings of one address must not be two pages: they would be fetched twice and would be
//! each other's duplicates. So there is one door, [`PageUrl::parse`], and behind it every URL has
//! one spelling: parsed as the WHATWG URL standard says (default port, dot segments, IDNA,
//! lower-case host), then without fragment, credentials, the host's trailing dots and an empty
//! query, its percent-encoding normalised (RFC 3986 section 6.2.2), and the parameters left out
//! that [`CanonicalForm`] names.
//!
//! Invariant: parsing the text of a `PageUrl` again gives the same text, under the same form and
//! under [`CanonicalForm::keep_all`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::{Position, Url};

use crate::url::canonical::{CanonicalForm, normalise_percent};
use crate::url::host::{self, Host};
use crate::url::surt;
use crate::url::url_key::UrlKey;

/// The longest URL that is accepted, in bytes, before and after it is made canonical.
///
/// RFC 9110 section 4.1 asks for at least 8,000; longer ones are traps more often than pages.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// The longest scheme that is quoted in a complaint.
const QUOTED_SCHEME_BYTES: usize = 32;

/// An absolute http or https URL in its one canonical form. Copies share it: a page's links all
/// name the page, and what a sitemap lists is held by the listing and by the queue at the same
/// time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageUrl(Arc<Url>);

/// Why a text is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The URL standard does not accept it.
    #[error("not a URL")]
    Malformed(#[from] url::ParseError),
    /// Neither http nor https.
    #[error("the scheme {0:?} is not http or https")]
    Scheme(String),
    /// Longer than [`MAX_URL_BYTES`]; how many bytes it has.
    #[error("{0} bytes are more than a URL may have ({MAX_URL_BYTES})")]
    TooLong(usize),
}

impl PageUrl {
    /// Reads an absolute URL and brings it into its canonical form.
    ///
    /// # Errors
    ///
    /// [`UrlError`] if it is no URL, not http or https, or too long.
    pub fn parse(text: &str, form: &CanonicalForm) -> Result<Self, UrlError> {
        within_cap(text)?;
        Self::canonical(Url::parse(text)?, form)
    }

    /// Resolves a reference against this URL (RFC 3986 section 5) and brings it into its canonical
    /// form.
    ///
    /// # Errors
    ///
    /// As [`PageUrl::parse`].
    pub fn join(&self, reference: &str, form: &CanonicalForm) -> Result<Self, UrlError> {
        within_cap(reference)?;
        let url = match self.0.join(reference) {
            // `///host/` names a host on the web, but the `url` crate ignores the third slash only
            // in absolute URLs (URL standard, "special authority ignore slashes state").
            Err(url::ParseError::EmptyHost) if reference.trim_start().starts_with(['/', '\\']) => {
                Url::parse(&format!("{}:{}", self.0.scheme(), reference.trim()))?
            }
            resolved => resolved?,
        };
        Self::canonical(url, form)
    }

    fn canonical(url: Url, form: &CanonicalForm) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            let quoted = url.scheme().chars().take(QUOTED_SCHEME_BYTES).collect();
            return Err(UrlError::Scheme(quoted));
        }
        let text = canonical_text(&url, form)?;
        // Parsed again only where something changed: a host that lost its dot may be an address, a
        // segment that lost its session may be `..`.
        let url = if text == url.as_str() {
            url
        } else {
            Url::parse(&text)?
        };
        within_cap(url.as_str())?;
        Ok(Self(Arc::new(url)))
    }

    /// The canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The same as the `url` crate has it.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// The name under which this URL is stored.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        UrlKey::of(self.as_str())
    }

    /// Who is asked: the host without its port.
    #[must_use]
    pub fn host(&self) -> Host {
        Host::new(self.host_str())
    }

    /// Host and port, the port left out where it is the scheme's default.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// Scheme, host and port, `https://example.org:8443`: what one robots.txt speaks for (RFC 9309
    /// section 2.3).
    #[must_use]
    pub fn origin(&self) -> String {
        self.0[..Position::AfterPort].to_owned()
    }

    /// The part of the host that somebody registered: `example.co.uk` of `www.example.co.uk`.
    ///
    /// By the public suffix list, its private section included. An address, and a host that is
    /// itself a public suffix, stand for themselves.
    #[must_use]
    pub fn registrable_domain(&self) -> &str {
        match self.0.host() {
            Some(url::Host::Domain(name)) => host::registrable(name),
            _ => self.host_str(),
        }
    }

    /// The key under which archive indexes sort this URL, `org,example)/path?query`.
    ///
    /// Lossy on purpose: several URLs may share a key. See `surt.rs` for what it leaves out.
    #[must_use]
    pub fn surt(&self) -> String {
        surt::key(&self.0)
    }

    fn host_str(&self) -> &str {
        // Never empty: `canonical_text` refuses such a host.
        self.0.host_str().unwrap_or_default()
    }
}

/// Scheme, host, port, path and query; nothing else of a URL is part of its canonical text.
fn canonical_text(url: &Url, form: &CanonicalForm) -> Result<String, UrlError> {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    if host.is_empty() {
        // Left empty, `http://./x/` would be read again as the host `x`.
        return Err(UrlError::Malformed(url::ParseError::EmptyHost));
    }
    let mut text = String::with_capacity(url.as_str().len());
    text.push_str(url.scheme());
    text.push_str("://");
    text.push_str(host);
    text.push_str(&url[Position::AfterHost..Position::BeforePath]);
    form.push_path(&mut text, &normalise_percent(url.path()));
    if let Some(query) = url.query() {
        form.push_query(&mut text, &normalise_percent(query));
    }
    Ok(text)
}

fn within_cap(text: &str) -> Result<(), UrlError> {
    if text.len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong(text.len()));
    }
    Ok(())
}

impl fmt::Display for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// As stored: no parameters are left out, so that what was written under one form is read as itself
/// under any other.
impl TryFrom<String> for PageUrl {
    type Error = UrlError;

    fn try_from(text: String) -> Result<Self, UrlError> {
        Self::parse(&text, &CanonicalForm::keep_all())
    }
}

impl From<PageUrl> for String {
    fn from(url: PageUrl) -> String {
        url.0.as_str().to_owned()
    }
}
