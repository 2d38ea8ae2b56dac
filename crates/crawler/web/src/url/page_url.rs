//! The canonical URL of a page, and the URL that is requested for it.
//!
//! Two spellings of one address must not count as two pages: both would be fetched, and each would
//! be a duplicate of the other. [`PageUrl::parse`] is the only constructor. It parses by the WHATWG
//! URL standard (default port, dot segments, IDNA, lower-case host), then removes the
//! credentials, trailing dots of the host and an empty query, normalises percent-encoding (RFC 3986
//! section 6.2.2), and drops the parameters that [`CanonicalForm`] names. It removes the fragment,
//! unless the form keeps routes of applications (`#/route`) and it is one.
//!
//! The canonical text is a key for comparing, counting and storing URLs. A server may distinguish
//! URLs that it merges (RFC 3986 section 6.1): a signature covers the parameters as written, and a
//! site may redirect to its own spelling. So [`PageUrl::request`] keeps the path and the query that
//! the page wrote, and only that URL is sent. Scheme, host and port are the same.
//!
//! Invariants: parsing the text of a `PageUrl` again returns the same text, under the same form and
//! under [`CanonicalForm::keep_all`]. Parsing its request again, under the same form, returns the
//! same text and the same request, unless the text has a route. A request is ASCII without spaces,
//! fragment and credentials.

use std::borrow::Cow;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use encoding_rs::Encoding;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::{Position, Url};

use crate::url::canonical::{CanonicalForm, normalise_percent};
use crate::url::host::{self, Host};
use crate::url::query_encoding;
use crate::url::url_key::UrlKey;

/// Maximum length of a URL in bytes, before and after canonicalisation.
///
/// RFC 9110 section 4.1 recommends at least 8,000; longer URLs are usually traps.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// Maximum length of a scheme in an error message.
const QUOTED_SCHEME_BYTES: usize = 32;

/// An absolute http or https URL in canonical form, with its request. The canonical text determines
/// equality, order and hash. Clones share the parsed URL: a page's links all refer to the page, and
/// the listing and the queue hold the URLs of a sitemap at the same time.
///
/// ```
/// use web::{CanonicalForm, PageUrl};
///
/// let form = CanonicalForm::default();
/// let url = PageUrl::parse("HTTP://Example.ORG:80/a/../b?z=1&utm_source=x&a=2#top", &form)?;
/// assert_eq!(url.as_str(), "http://example.org/b?a=2&z=1");
/// assert_eq!(url.request().as_str(), "http://example.org/b?z=1&utm_source=x&a=2");
/// assert_eq!(url.join("c", &form)?.to_string(), "http://example.org/c");
/// # Ok::<(), web::UrlError>(())
/// ```
///
/// Text formats (JSON, TOML) contain the canonical text. In binary formats (postcard), a line feed
/// and the path and query of the request follow, if they differ.
#[derive(Clone)]
pub struct PageUrl(Arc<Parts>);

/// The canonical URL, and the request if it differs.
struct Parts {
    canonical: Url,
    request: Option<Box<Url>>,
}

/// Reason why a text is not the URL of a page.
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

    /// Resolves a reference against the request for this URL (RFC 3986 section 5) and canonicalises
    /// the result.
    ///
    /// # Errors
    ///
    /// As [`PageUrl::parse`].
    pub fn join(&self, reference: &str, form: &CanonicalForm) -> Result<Self, UrlError> {
        self.join_in(encoding_rs::UTF_8, reference, form)
    }

    /// Resolves a reference in a document of this encoding, which also encodes the query (URL
    /// standard, "query state"; HTML standard, "encoding-parsing a URL").
    pub(crate) fn join_in(
        &self,
        encoding: &'static Encoding,
        reference: &str,
        form: &CanonicalForm,
    ) -> Result<Self, UrlError> {
        within_cap(reference)?;
        let base = self.request();
        let encode: &dyn Fn(&str) -> Cow<'_, [u8]> = &|text| query_encoding::encode(encoding, text);
        let is_utf_8 = reference.is_ascii() || encoding.output_encoding() == encoding_rs::UTF_8;
        let options = Url::options().encoding_override((!is_utf_8).then_some(encode));
        let resolved = match options.base_url(Some(base)).parse(reference) {
            // `///host/` names a host on the web, but the `url` crate ignores the third slash only
            // in absolute URLs (URL standard, "special authority ignore slashes state").
            Err(url::ParseError::EmptyHost) if reference.trim_start().starts_with(['/', '\\']) => {
                options.parse(&format!("{}:{}", base.scheme(), reference.trim()))
            }
            resolved => resolved,
        };
        Self::canonical(resolved?, form)
    }

    fn canonical(url: Url, form: &CanonicalForm) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            let quoted = url.scheme().chars().take(QUOTED_SCHEME_BYTES).collect();
            return Err(UrlError::Scheme(quoted));
        }
        let written = with_encoded_path(url)?;
        let text = canonical_text(&written, form)?;
        if text == written.as_str() {
            return Self::of(written, None);
        }
        // This parses again: a host without its trailing dot may be an address, and a segment
        // without its session may be `..`.
        let canonical = Url::parse(&text)?;
        let request = (target(&written) != target(&canonical))
            .then(|| request_as(written, &canonical).map(Box::new))
            .transpose()?;
        Self::of(canonical, request)
    }

    fn of(canonical: Url, request: Option<Box<Url>>) -> Result<Self, UrlError> {
        let request = request.or_else(|| request_of_route(&canonical));
        within_cap(canonical.as_str())?;
        if let Some(request) = &request {
            within_cap(request.as_str())?;
        }
        Ok(Self(Arc::new(Parts { canonical, request })))
    }

    /// Returns the canonical text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.canonical.as_str()
    }

    /// Returns the canonical URL as a value of the `url` crate.
    #[must_use]
    pub fn as_url(&self) -> &Url {
        &self.0.canonical
    }

    /// Returns the URL of the request. It differs from the canonical one only in its path and
    /// query, which are kept as written, and has no fragment.
    #[must_use]
    pub fn request(&self) -> &Url {
        self.0.request.as_deref().unwrap_or(&self.0.canonical)
    }

    /// Returns the URL as its page wrote it: the request, and the route of an application, if any.
    #[must_use]
    pub fn written(&self) -> Cow<'_, str> {
        match self.as_url().fragment() {
            None => Cow::Borrowed(self.request().as_str()),
            Some(route) => Cow::Owned(format!("{}#{route}", self.request())),
        }
    }

    /// Returns the path and the query of the request: its target in HTTP/1.1 (RFC 9112 section
    /// 3.2.1).
    #[must_use]
    pub fn request_target(&self) -> &str {
        target(self.request())
    }

    /// Returns true if the request differs from the canonical URL.
    #[must_use]
    pub fn is_spelled_otherwise(&self) -> bool {
        self.0.request.is_some()
    }

    /// Returns the key of this URL in stores.
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
        &self.as_url()[Position::BeforeHost..Position::AfterPort]
    }

    /// Returns scheme, host and port, `https://example.org:8443`: the scope of one robots.txt (RFC
    /// 9309 section 2.3).
    #[must_use]
    pub fn origin(&self) -> String {
        self.as_url()[..Position::AfterPort].to_owned()
    }

    /// Returns the registrable domain of the host: `example.co.uk` for `www.example.co.uk`.
    ///
    /// Uses the public suffix list with its private section. An address, or a host that is itself a
    /// public suffix, is returned unchanged.
    #[must_use]
    pub fn registrable_domain(&self) -> &str {
        match self.as_url().host() {
            Some(url::Host::Domain(name)) => host::registrable(name),
            _ => self.host_str(),
        }
    }

    fn host_str(&self) -> &str {
        // Never empty: `canonical_text` rejects such a host.
        self.as_url().host_str().unwrap_or_default()
    }

    /// Returns the same URL with the canonical URL as its request.
    #[must_use]
    pub fn without_spelling(&self) -> Self {
        match &self.0.request {
            None => self.clone(),
            Some(_) => Self(Arc::new(Parts {
                canonical: self.as_url().clone(),
                request: request_of_route(self.as_url()),
            })),
        }
    }

    /// Returns an http URL of the standard port as an https URL; `None` for other URLs.
    #[must_use]
    pub fn over_https(&self) -> Option<Self> {
        let url = self.as_url();
        if url.scheme() != "http" || url.port().is_some() {
            return None;
        }
        let secure = |url: &Url| Url::parse(&url.as_str().replacen("http:", "https:", 1)).ok();
        let request = match self.0.request.as_deref() {
            Some(request) => Some(Box::new(secure(request)?)),
            None => None,
        };
        Self::of(secure(url)?, request).ok()
    }

    /// Returns the URL with a request that lacks the parts that the canonical form drops, such as a
    /// session; `None` if the form drops nothing here, or also changes the order of the rest.
    #[must_use]
    pub fn without_dropped_parts(&self) -> Option<Self> {
        let (request, canonical) = (self.request(), self.as_url());
        let mut written = request.query().unwrap_or_default().split('&');
        let mut kept = canonical
            .query()
            .into_iter()
            .flat_map(|query| query.split('&'));
        let is_shorter = target(canonical).len() < target(request).len();
        let is_in_order = kept.all(|part| written.any(|one| normalise_percent(one) == part));
        (is_shorter && is_in_order).then(|| self.without_spelling())
    }

    /// Returns the text for storing the URL: the canonical text and, if the request differs, a line
    /// feed and its path and query. No URL contains a line feed.
    #[must_use]
    pub fn to_stored(&self) -> Cow<'_, str> {
        match &self.0.request {
            None => Cow::Borrowed(self.as_str()),
            Some(request) => Cow::Owned(format!("{self}\n{}", target(request))),
        }
    }

    /// Reads a stored text. No parameters are dropped, so that a URL written under one form remains
    /// the same under any other.
    ///
    /// # Errors
    ///
    /// As [`PageUrl::parse`].
    pub fn of_stored(text: &str) -> Result<Self, UrlError> {
        RECENTLY_READ.with_borrow_mut(|recent| recent.read(text))
    }

    fn is_stored_as(&self, text: &str) -> bool {
        match (text.split_once('\n'), &self.0.request) {
            (None, None) => text == self.as_str(),
            (Some((canonical, written)), Some(request)) => {
                canonical == self.as_str() && written == target(request)
            }
            _ => false,
        }
    }
}

/// Returns the request for the route of an application, which lacks the fragment; `None` for other
/// URLs.
fn request_of_route(canonical: &Url) -> Option<Box<Url>> {
    canonical.fragment()?;
    let mut request = canonical.clone();
    request.set_fragment(None);
    Some(Box::new(request))
}

/// Returns path and query.
fn target(url: &Url) -> &str {
    &url[Position::BeforePath..Position::AfterQuery]
}

/// Returns the URL with `^` and `|` encoded in its path: the URL standard encodes the former, and
/// browsers encode both. Some servers reject them.
fn with_encoded_path(url: Url) -> Result<Url, UrlError> {
    if !url.path().contains(['^', '|']) {
        return Ok(url);
    }
    let path = url.path().replace('^', "%5E").replace('|', "%7C");
    let (before, after) = (&url[..Position::BeforePath], &url[Position::AfterPath..]);
    Ok(Url::parse(&format!("{before}{path}{after}"))?)
}

/// Returns the request for a canonical URL that was written as `written`.
fn request_as(mut written: Url, canonical: &Url) -> Result<Url, UrlError> {
    let origin = &canonical[..Position::BeforePath];
    written.set_fragment(None);
    if written[..Position::BeforePath] == *origin {
        return Ok(written);
    }
    Ok(Url::parse(&format!("{origin}{}", target(&written)))?)
}

/// Returns the canonical text of scheme, host, port, path, query and route.
fn canonical_text(url: &Url, form: &CanonicalForm) -> Result<String, UrlError> {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.');
    if host.is_empty() {
        // If left empty, `http://./x/` would be read again as the host `x`.
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
    if let Some(route) = form.route(url.fragment()) {
        text.push('#');
        text.push_str(route);
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

impl fmt::Debug for PageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageUrl({:?})", self.to_stored())
    }
}

impl PartialEq for PageUrl {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for PageUrl {}

impl Hash for PageUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for PageUrl {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for PageUrl {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Serialize for PageUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.serialize_str(self.as_str()),
            false => serializer.serialize_str(&self.to_stored()),
        }
    }
}

impl<'de> Deserialize<'de> for PageUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of_stored(&text).map_err(serde::de::Error::custom)
    }
}

thread_local! {
    /// Most recent URLs that this thread has read.
    static RECENTLY_READ: RefCell<RecentUrls> = RefCell::default();
}

/// The last few URLs that were read from stored data. Neighbouring records name the same pages, and
/// each link of a page names the page, so many URLs need not be parsed again.
#[derive(Default)]
struct RecentUrls {
    urls: [Option<PageUrl>; 4],
    /// Index of the oldest one.
    oldest: usize,
}

impl RecentUrls {
    /// Reads a stored text.
    fn read(&mut self, text: &str) -> Result<PageUrl, UrlError> {
        let mut known = self.urls.iter().flatten();
        if let Some(url) = known.find(|url| url.is_stored_as(text)) {
            return Ok(url.clone());
        }
        let url = parse_stored(text)?;
        self.urls[self.oldest] = Some(url.clone());
        self.oldest = (self.oldest + 1) % self.urls.len();
        Ok(url)
    }
}

fn parse_stored(text: &str) -> Result<PageUrl, UrlError> {
    let keep_all = &CanonicalForm::keep_all();
    let Some((canonical, written)) = text.split_once('\n') else {
        return PageUrl::parse(text, keep_all);
    };
    let canonical = PageUrl::parse(canonical, keep_all)?.as_url().clone();
    if !written.starts_with('/') {
        return Err(url::ParseError::InvalidDomainCharacter.into());
    }
    let mut request = Url::parse(&format!("{}{written}", &canonical[..Position::BeforePath]))?;
    request.set_fragment(None);
    PageUrl::of(canonical, Some(Box::new(request)))
}
