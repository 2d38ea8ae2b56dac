//! The canonical URL of a page.
//!
//! Two spellings of one address must not count as two pages: both would be fetched, and each would
//! be the other's duplicate. [`PageUrl::parse`] is the only constructor. It parses by the WHATWG
//! URL standard (default port, dot segments, IDNA, lower-case host), then removes the fragment, the
//! credentials, trailing dots of the host and an empty query, normalises percent-encoding (RFC 3986
//! section 6.2.2), and drops the parameters that [`CanonicalForm`] names.
//!
//! Invariant: parsing the text of a `PageUrl` again returns the same text, under the same form and
//! under [`CanonicalForm::keep_all`].

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use url::{Position, Url};

use crate::url::canonical::{CanonicalForm, normalise_percent};
use crate::url::host::{self, Host};
use crate::url::surt;
use crate::url::url_key::UrlKey;

/// The maximum length of a URL in bytes, before and after canonicalisation.
///
/// RFC 9110 section 4.1 recommends at least 8,000; longer URLs are usually traps.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// The maximum length of a scheme in an error message.
const QUOTED_SCHEME_BYTES: usize = 32;

/// An absolute http or https URL in canonical form. Clones share the parsed URL: a page's links all
/// refer to the page, and the listing and the queue hold the URLs of a sitemap at the same time.
///
/// ```
/// use web::{CanonicalForm, PageUrl};
///
/// let form = CanonicalForm::default();
/// let url = PageUrl::parse("HTTP://Example.ORG:80/a/../b?z=1&utm_source=x&a=2#top", &form)?;
/// assert_eq!(url.as_str(), "http://example.org/b?a=2&z=1");
/// assert_eq!(url.join("c", &form)?.surt(), "org,example)/c");
/// # Ok::<(), web::UrlError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PageUrl(Arc<Url>);

/// The reason why a text is not the URL of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// The URL standard does not accept the text.
    #[error("not a URL")]
    Malformed(#[from] url::ParseError),
    /// The scheme is neither http nor https.
    #[error("the scheme {0:?} is not http or https")]
    Scheme(String),
    /// The URL is longer than [`MAX_URL_BYTES`]; the field is its length in bytes.
    #[error("a URL must have at most {MAX_URL_BYTES} bytes, got {0}")]
    TooLong(usize),
}

impl PageUrl {
    /// Parses an absolute URL and canonicalises it.
    ///
    /// # Errors
    ///
    /// [`UrlError`] if the text is not a URL, its scheme is not http or https, or it is too long.
    pub fn parse(text: &str, form: &CanonicalForm) -> Result<Self, UrlError> {
        within_cap(text)?;
        Self::canonical(Url::parse(text)?, form)
    }

    /// Resolves a reference against this URL (RFC 3986 section 5) and canonicalises the result.
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
        // Parse again only if something changed: a host without its trailing dot may be an address,
        // and a segment without its session may be `..`.
        let url = if text == url.as_str() {
            url
        } else {
            Url::parse(&text)?
        };
        within_cap(url.as_str())?;
        Ok(Self(Arc::new(url)))
    }

    /// Returns the canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the URL as a value of the `url` crate.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0
    }

    /// Returns the key under which this URL is stored.
    #[must_use]
    pub fn key(&self) -> UrlKey {
        UrlKey::of(self.as_str())
    }

    /// Returns the host without its port.
    #[must_use]
    pub fn host(&self) -> Host {
        Host::new(self.host_str())
    }

    /// Returns the host and, unless it is the scheme's default, the port.
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.0[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns scheme, host and port, `https://example.org:8443`: the scope of one robots.txt (RFC
    /// 9309 section 2.3).
    #[must_use]
    pub fn origin(&self) -> String {
        self.0[..Position::AfterPort].to_owned()
    }

    /// Returns the registrable domain of the host: `example.co.uk` for `www.example.co.uk`.
    ///
    /// Uses the public suffix list with its private section. An address, or a host that is itself a
    /// public suffix, is returned unchanged.
    #[must_use]
    pub fn registrable_domain(&self) -> &str {
        match self.0.host() {
            Some(url::Host::Domain(name)) => host::registrable(name),
            _ => self.host_str(),
        }
    }

    /// Returns the sort key of archive indexes, `org,example)/path?query`.
    ///
    /// The key is lossy on purpose: several URLs may share one. `surt.rs` lists the losses.
    #[must_use]
    pub fn surt(&self) -> String {
        surt::key(&self.0)
    }

    fn host_str(&self) -> &str {
        // Never empty: `canonical_text` refuses such a host.
        self.0.host_str().unwrap_or_default()
    }
}

/// Returns the canonical text of scheme, host, port, path and query.
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

/// Parses a stored URL. No parameters are dropped, so that a URL written under one form is the same
/// under any other.
impl TryFrom<String> for PageUrl {
    type Error = UrlError;

    fn try_from(text: String) -> Result<Self, UrlError> {
        RECENTLY_READ.with_borrow_mut(|recent| recent.read(&text))
    }
}

thread_local! {
    /// The URLs that this thread has read last.
    static RECENTLY_READ: RefCell<RecentUrls> = RefCell::default();
}

/// The last few URLs that were read from stored data. Neighbouring records name the same pages, and
/// each link of a page names the page, so that many URLs need not be parsed again.
#[derive(Default)]
struct RecentUrls {
    urls: [Option<PageUrl>; 4],
    /// The place of the oldest one.
    oldest: usize,
}

impl RecentUrls {
    /// Reads a URL in canonical form.
    fn read(&mut self, text: &str) -> Result<PageUrl, UrlError> {
        let mut known = self.urls.iter().flatten();
        if let Some(url) = known.find(|url| url.as_str() == text) {
            return Ok(url.clone());
        }
        let url = PageUrl::parse(text, &CanonicalForm::keep_all())?;
        self.urls[self.oldest] = Some(url.clone());
        self.oldest = (self.oldest + 1) % self.urls.len();
        Ok(url)
    }
}

impl From<PageUrl> for String {
    fn from(url: PageUrl) -> String {
        url.0.as_str().to_owned()
    }
}
