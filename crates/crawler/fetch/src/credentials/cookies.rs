//! Cookies from a file: read as curl and wget read them, sent by RFC 6265 section 5.4, with more
//! restrictions.
//!
//! A line of the Netscape format has seven fields, separated by tabs: domain, subdomains included
//! or not, path, https only or not, expiry in seconds since 1970 (0: with the session), name,
//! value. Lines that begin with `#` are comments, except `#HttpOnly_` before a domain.
//!
//! RFC 6265 has neither ports nor, without `Secure`, schemes (section 8.5 calls that a weakness). A
//! file often has all cookies of a browser, so here a cookie is sent only where a seed has its
//! scheme, its port and, in its domain, its host: a cookie of `.example.org` and the seed
//! `https://www.example.org/` allow `https://files.example.org/`, but neither
//! `http://www.example.org/` nor `https://www.example.org:8443/`, and no cookie of another site is
//! ever sent.
//!
//! Cookies that servers set are not kept: a page must not depend on the way to it.

use std::collections::{BTreeSet, HashMap};

use http::HeaderValue;
use requests::secret;
use web::{CanonicalForm, PageUrl, Timestamp};

/// Maximum size of a name and its value in bytes: user agents should accept this much (RFC 6265
/// section 6.1).
const MAX_COOKIE_BYTES: usize = 4096;
/// Maximum size of the `Cookie` field in bytes; cookies that do not fit are left out, the shortest
/// paths first.
pub(super) const MAX_FIELD_BYTES: usize = 8 << 10;
/// Maximum number of cookies per file. A browser keeps some thousands.
const MAX_COOKIES: usize = 100_000;

/// A cookie of a file. `Debug` hides its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Lower case, without a leading dot.
    domain: String,
    subdomains: bool,
    path: String,
    secure: bool,
    /// The expiry; `None` for one that ends with the session.
    expires: Option<Timestamp>,
    name: HeaderValue,
    value: HeaderValue,
    /// The endpoints that get it: true for https, and the port.
    open: BTreeSet<(bool, u16)>,
}

/// The content of a file of cookies.
#[derive(Debug, Default)]
pub struct CookieFile {
    /// The cookies in the order of their lines; a later cookie replaces an earlier one with the
    /// same name, domain and path.
    pub cookies: Vec<Cookie>,
    /// The invalid lines.
    pub bad: Vec<BadCookie>,
}

/// An invalid line. It is not quoted: it may still be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadCookie {
    /// The number of the line, from 1.
    pub line: usize,
    /// The error.
    pub why: CookieError,
}

/// The error in a line of a file of cookies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CookieError {
    /// Not seven fields.
    #[error("expected 7 fields separated by tabs, got {0}")]
    Fields(usize),
    /// Neither TRUE nor FALSE.
    #[error("its 2nd and 4th field must be TRUE or FALSE")]
    Flag,
    /// Not the name of a host.
    #[error("its 1st field must be a domain")]
    Domain,
    /// A domain that anybody can register a name in.
    #[error("its domain is a public suffix: it would be sent to unrelated sites")]
    PublicSuffix,
    /// Not a moment.
    #[error("its 5th field must be a number of seconds")]
    Expiry,
    /// A character that a `Cookie` field cannot carry.
    #[error("its name or value contains a character that cannot be sent")]
    Unsayable,
    /// Longer than user agents must accept.
    #[error("it exceeds {MAX_COOKIE_BYTES} bytes")]
    TooLong,
    /// `__Secure-` or `__Host-` without the properties that these prefixes promise
    /// (draft-ietf-httpbis-rfc6265bis section 4.1.3).
    #[error("it violates the rules of its name prefix")]
    Prefix,
    /// More cookies than a file may have.
    #[error("there are more than {MAX_COOKIES} cookies; the rest are skipped")]
    TooMany,
}

/// Reads a file of cookies in the Netscape format.
#[must_use]
pub fn read_cookies(file: &[u8]) -> CookieFile {
    let mut read = CookieFile::default();
    let mut places: HashMap<(Vec<u8>, String, String), usize> = HashMap::new();
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cookie = match line.strip_prefix(b"#HttpOnly_") {
            Some(cookie) => cookie,
            None if line.starts_with(b"#") || line.trim_ascii().is_empty() => continue,
            None => line,
        };
        let number = index + 1;
        match Cookie::read(cookie) {
            Ok(cookie) => {
                let name = cookie.name.as_bytes().to_vec();
                let identity = (name, cookie.domain.clone(), cookie.path.clone());
                if let Some(place) = places.get(&identity) {
                    // RFC 6265 section 5.3, step 11: the later one, in the earlier one's place.
                    read.cookies[*place] = cookie;
                } else if read.cookies.len() == MAX_COOKIES {
                    let why = CookieError::TooMany;
                    read.bad.push(BadCookie { line: number, why });
                    break;
                } else {
                    places.insert(identity, read.cookies.len());
                    read.cookies.push(cookie);
                }
            }
            Err(why) => read.bad.push(BadCookie { line: number, why }),
        }
    }
    read
}

impl Cookie {
    fn read(line: &[u8]) -> Result<Self, CookieError> {
        let mut fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
        if fields.len() == 6 {
            // The value is empty, and an editor has removed the tab before it.
            fields.push(b"");
        }
        let [domain, subdomains, path, secure, expires, name, value] = fields[..] else {
            return Err(CookieError::Fields(fields.len()));
        };
        let (subdomains, secure) = (flag(subdomains)?, flag(secure)?);
        let (domain, subdomains) = read_domain(domain, subdomains)?;
        let path = std::str::from_utf8(path).map_err(|_not_text| CookieError::Unsayable)?;
        let path = if path.starts_with('/') { path } else { "/" };
        if name.len() + value.len() > MAX_COOKIE_BYTES {
            return Err(CookieError::TooLong);
        }
        let is_sayable = |part: &[u8]| {
            !part
                .iter()
                .any(|byte| *byte == b';' || byte.is_ascii_control())
        };
        if name.is_empty() || name.contains(&b'=') || !is_sayable(name) || !is_sayable(value) {
            return Err(CookieError::Unsayable);
        }
        let is_of_host = secure && !subdomains && path == "/";
        if name.starts_with(b"__Secure-") && !secure || name.starts_with(b"__Host-") && !is_of_host
        {
            return Err(CookieError::Prefix);
        }
        Ok(Self {
            domain,
            subdomains,
            path: path.to_owned(),
            secure,
            expires: read_expiry(expires)?,
            name: secret(name).ok_or(CookieError::Unsayable)?,
            value: secret(value).ok_or(CookieError::Unsayable)?,
            open: BTreeSet::new(),
        })
    }

    /// Returns true if it has expired (RFC 6265 section 5.3).
    #[must_use]
    pub fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Returns true if the domain matches (RFC 6265 section 5.1.3); addresses do not match as
    /// subdomains.
    fn is_of(&self, host: &str) -> bool {
        if host == self.domain {
            return true;
        }
        self.subdomains
            && host
                .strip_suffix(&self.domain)
                .is_some_and(|rest| rest.ends_with('.'))
    }

    /// Returns true if the path matches (RFC 6265 section 5.1.4).
    fn is_below(&self, path: &str) -> bool {
        path.strip_prefix(&self.path).is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        })
    }
}

/// The cookies by their domain.
#[derive(Debug, Default)]
pub(super) struct Jar {
    by_domain: HashMap<String, Vec<(usize, Cookie)>>,
}

impl Jar {
    pub(super) fn new(cookies: Vec<Cookie>) -> Self {
        let mut by_domain: HashMap<String, Vec<(usize, Cookie)>> = HashMap::new();
        for (age, cookie) in cookies.into_iter().enumerate() {
            let same = by_domain.entry(cookie.domain.clone()).or_default();
            same.push((age, cookie));
        }
        Self { by_domain }
    }

    /// Allows cookies of the seed's host at the seed's endpoint.
    pub(super) fn open_for(&mut self, seed: &PageUrl) {
        let (Some(place), host) = (place(seed), seed.host()) else {
            return;
        };
        for domain in domains(host.as_str()) {
            for (_, cookie) in self.by_domain.get_mut(domain).into_iter().flatten() {
                if cookie.is_of(host.as_str()) && (place.0 || !cookie.secure) {
                    cookie.open.insert(place);
                }
            }
        }
    }

    /// Returns the `Cookie` field (RFC 6265 section 5.4): longer paths first, then earlier lines of
    /// the file.
    pub(super) fn headers_for(&self, url: &PageUrl, now: Timestamp) -> Option<HeaderValue> {
        if self.by_domain.is_empty() {
            return None;
        }
        let (place, host, path) = (place(url)?, url.host(), url.request().path());
        let known = domains(host.as_str()).filter_map(|domain| self.by_domain.get(domain));
        let mut fitting: Vec<&(usize, Cookie)> = known
            .flatten()
            .filter(|(_, cookie)| cookie.open.contains(&place) && !cookie.is_over(now))
            .filter(|(_, cookie)| cookie.is_of(host.as_str()) && cookie.is_below(path))
            .collect();
        fitting.sort_by_key(|(age, cookie)| (std::cmp::Reverse(cookie.path.len()), *age));
        let mut field = Vec::new();
        for (_, cookie) in fitting {
            let (name, value) = (cookie.name.as_bytes(), cookie.value.as_bytes());
            if field.len() + name.len() + value.len() + 3 > MAX_FIELD_BYTES {
                break;
            }
            if !field.is_empty() {
                field.extend_from_slice(b"; ");
            }
            for part in [name, b"=", value] {
                field.extend_from_slice(part);
            }
        }
        secret(&field).filter(|_| !field.is_empty())
    }

    /// Returns the number of cookies that can be sent, and the number that can be sent over http.
    pub(super) fn count(&self) -> (usize, usize) {
        let cookies = || self.by_domain.values().flatten().map(|(_, cookie)| cookie);
        let sendable = cookies().filter(|cookie| !cookie.open.is_empty()).count();
        let readable = cookies().filter(|cookie| cookie.open.iter().any(|(is_https, _)| !is_https));
        (sendable, readable.count())
    }
}

/// Iterates over the host and the domains that it is in.
pub(super) fn domains(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |name| {
        name.split_once('.').map(|(_, parent)| parent)
    })
}

/// Returns the endpoint of a URL: whether https, and the port.
fn place(url: &PageUrl) -> Option<(bool, u16)> {
    let port = url.as_url().port_or_known_default()?;
    Some((url.as_url().scheme() == "https", port))
}

fn flag(field: &[u8]) -> Result<bool, CookieError> {
    match field {
        _ if field.eq_ignore_ascii_case(b"TRUE") => Ok(true),
        _ if field.eq_ignore_ascii_case(b"FALSE") => Ok(false),
        _ => Err(CookieError::Flag),
    }
}

/// Returns the domain as a canonical URL spells it, and whether its subdomains are included.
fn read_domain(field: &[u8], subdomains: bool) -> Result<(String, bool), CookieError> {
    let name = std::str::from_utf8(field).map_err(|_not_text| CookieError::Domain)?;
    let name = name.strip_prefix('.').unwrap_or(name);
    if name.is_empty() || name.contains(['/', '@', '?', '#', '\\', ':']) && !name.starts_with('[') {
        return Err(CookieError::Domain);
    }
    let parse = |name: &str| {
        let url = PageUrl::parse(&format!("http://{name}/"), &CanonicalForm::keep_all());
        url.ok().filter(|url| url.as_url().path() == "/")
    };
    let url = parse(name).ok_or(CookieError::Domain)?;
    let host = url.host().as_str().to_owned();
    let is_name = matches!(url.as_url().host(), Some(url::Host::Domain(_)));
    if subdomains && is_name {
        // If anything below `host` is a registrable domain of its own, `host` is a public suffix.
        let below = format!("x.{host}");
        let is_suffix = parse(&below).is_some_and(|url| url.registrable_domain() == below);
        if is_suffix {
            return Err(CookieError::PublicSuffix);
        }
    }
    Ok((host, subdomains && is_name))
}

/// Parses seconds since 1970, also with a fraction as some exporters write them; 0 and less are of
/// the session.
fn read_expiry(field: &[u8]) -> Result<Option<Timestamp>, CookieError> {
    let text = std::str::from_utf8(field).map_err(|_not_text| CookieError::Expiry)?;
    let whole = text.split_once('.').map_or(text, |(whole, _)| whole);
    let seconds: i64 = whole.parse().map_err(|_no_number| CookieError::Expiry)?;
    let millis = u64::try_from(seconds).unwrap_or(0).saturating_mul(1000);
    Ok((millis > 0).then(|| Timestamp::from_millis(millis)))
}
