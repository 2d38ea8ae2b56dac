//! Cookies that servers set while a crawl runs (RFC 6265), if the user wants them.
//!
//! A cookie goes back to the host and port that set it or, with a `Domain`, to all hosts of that
//! domain on that port, so that a login at `www.` counts at `blog.`; a public suffix is not allowed
//! as the domain, so no site learns of visits to another. This is narrower than RFC 6265, which
//! ignores ports and, without `Secure`, schemes: the default ports of http and https count as one,
//! because sites switch between them, but a cookie that was set over https is never sent over http.
//! Names and values are octets, returned as they came. They are held in memory until the process
//! ends, and an archived request has [`REDACTED`] in their place. (Responses are archived as they
//! came.)
//!
//! [`REDACTED`]: super::REDACTED
//!
//! Every size has a cap: the size of a cookie; the cookies per host or domain, where the oldest
//! cookie gives way; and the cookies of all hosts, where new cookies are ignored once the cap is
//! reached.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use requests::secret;
use web::{CanonicalForm, PageUrl, Timestamp};

use super::cookies::{MAX_FIELD_BYTES, domains};

/// The longest `Set-Cookie` field that is read, in bytes (RFC 6265, section 6.1).
pub(crate) const MAX_BYTES: usize = 4 << 10;
/// Maximum number of cookies per host or domain (RFC 6265, section 6.1).
pub(crate) const MAX_OF_PLACE: usize = 50;
/// Maximum size of all cookies in bytes.
const MAX_ALL_BYTES: usize = 16 << 20;

/// The cookies of all hosts.
#[derive(Debug, Default)]
pub(crate) struct SessionCookies(Mutex<Cookies>);

#[derive(Debug, Default)]
struct Cookies {
    /// By the authority of a host, or a domain behind a dot, with the port.
    by_place: HashMap<String, Vec<SessionCookie>>,
    bytes: usize,
    /// The number of the next cookie.
    next: u64,
}

/// A cookie of a host or domain.
#[derive(Debug)]
struct SessionCookie {
    name: Vec<u8>,
    value: Vec<u8>,
    /// The domain; `None` if only the host that set it gets the cookie.
    domain: Option<String>,
    path: String,
    /// True if it is not sent over http.
    is_https_only: bool,
    expires: Option<Timestamp>,
    /// Its number in the order of creation.
    number: u64,
}

impl SessionCookie {
    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.path.len()
    }
}

impl SessionCookies {
    /// Stores the cookies that a response sets.
    pub(crate) fn learn(&self, url: &PageUrl, headers: &HeaderMap, now: Timestamp) {
        for field in headers.get_all(SET_COOKIE) {
            if let Some(cookie) = read(url, field, now) {
                self.0
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .set(url, cookie, now);
            }
        }
    }

    /// Returns the `Cookie` field of a request (RFC 6265, section 5.4) after the cookies that it
    /// already contains: longer paths first, then older cookies. `None` without any cookie.
    pub(crate) fn field(
        &self,
        url: &PageUrl,
        present: Option<&HeaderValue>,
        now: Timestamp,
    ) -> Option<HeaderValue> {
        let cookies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let places = places(url).into_iter();
        let known = places.filter_map(|place| cookies.by_place.get(&place));
        let (path, is_https) = (url.request().path(), is_https(url));
        let is_wanted = |cookie: &&SessionCookie| {
            let is_over = cookie.expires.is_some_and(|expires| expires <= now);
            let may_go = is_https || !cookie.is_https_only;
            !is_over && may_go && is_below(path, &cookie.path)
        };
        let mut fitting: Vec<_> = known.flatten().filter(is_wanted).collect();
        fitting.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.number));
        let mut field = present.map_or_else(Vec::new, |present| present.as_bytes().to_vec());
        for cookie in fitting {
            if field.len() + cookie.name.len() + cookie.value.len() + 3 > MAX_FIELD_BYTES {
                break;
            }
            if !field.is_empty() {
                field.extend_from_slice(b"; ");
            }
            for part in [&cookie.name, &b"="[..], &cookie.value] {
                field.extend_from_slice(part);
            }
        }
        secret(&field).filter(|_| !field.is_empty())
    }
}

impl Cookies {
    /// Stores a cookie in place of the cookie with the same name and path. An expired cookie only
    /// removes that cookie.
    fn set(&mut self, url: &PageUrl, mut cookie: SessionCookie, now: Timestamp) {
        let place = match &cookie.domain {
            Some(domain) => of_domain(url, domain),
            None => url.authority().to_owned(),
        };
        let of_place = self.by_place.entry(place.clone()).or_default();
        let is_same =
            |other: &SessionCookie| other.name == cookie.name && other.path == cookie.path;
        if let Some(place) = of_place.iter().position(is_same) {
            let before = of_place.remove(place);
            self.bytes -= before.bytes();
            // A cookie that changes keeps its age (RFC 6265, section 5.3, step 11).
            cookie.number = before.number;
        } else {
            cookie.number = self.next;
            self.next += 1;
        }
        let is_over = cookie.expires.is_some_and(|expires| expires <= now);
        if !is_over && self.bytes + cookie.bytes() <= MAX_ALL_BYTES {
            self.bytes += cookie.bytes();
            of_place.push(cookie);
        }
        if of_place.len() > MAX_OF_PLACE {
            let oldest = (0..of_place.len()).min_by_key(|place| of_place[*place].number);
            let gone = oldest.map(|place| of_place.remove(place));
            self.bytes -= gone.map_or(0, |gone| gone.bytes());
        }
        if of_place.is_empty() {
            self.by_place.remove(&place);
        }
    }
}

/// Reads a `Set-Cookie` field (RFC 6265, sections 5.2 and 5.3); `None` if it sets no cookie here.
fn read(url: &PageUrl, field: &HeaderValue, now: Timestamp) -> Option<SessionCookie> {
    if field.len() > MAX_BYTES {
        return None;
    }
    let (name, value, attributes) = parts(field.as_bytes())?;
    let cookie = cookie::Cookie::parse(format!("n=v;{attributes}")).ok()?;
    let is_https = is_https(url);
    let is_secure = cookie.secure() == Some(true);
    let path = cookie.path().filter(|path| path.starts_with('/'));
    if is_secure && !is_https {
        return None;
    }
    let domain = domain(url, cookie.domain())?;
    let keeps_host = is_secure && cookie.domain().is_none() && path == Some("/");
    if name.starts_with(b"__Secure-") && !is_secure || name.starts_with(b"__Host-") && !keeps_host {
        return None;
    }
    let at = |seconds: i64| Timestamp::from_millis(u64::try_from(seconds).unwrap_or(0) * 1_000);
    let expires = match (cookie.max_age(), cookie.expires_datetime()) {
        (Some(age), _) => {
            let age = u64::try_from(age.whole_seconds()).unwrap_or(0);
            Some(now + std::time::Duration::from_secs(age.min(MAX_AGE)))
        }
        (None, Some(date)) => Some(at(date.unix_timestamp().min(i64::from(u32::MAX)))),
        (None, None) => None,
    };
    let is_sayable = |text: &[u8]| !text.iter().any(u8::is_ascii_control);
    (!name.is_empty() && is_sayable(name) && is_sayable(value)).then(|| SessionCookie {
        name: name.to_owned(),
        value: value.to_owned(),
        domain,
        is_https_only: is_https,
        path: path.map_or_else(|| default_path(url), str::to_owned),
        expires,
        number: 0,
    })
}

/// The longest life of a cookie, in seconds: 400 days (draft-ietf-httpbis-rfc6265bis, section 5.5).
const MAX_AGE: u64 = 400 * 24 * 3600;

/// Splits a `Set-Cookie` field into name, value and attributes (RFC 6265, section 5.2): names and
/// values are octets. `None` without an equals sign.
fn parts(field: &[u8]) -> Option<(&[u8], &[u8], String)> {
    let end = field.iter().position(|byte| *byte == b';');
    let (pair, attributes) = field.split_at(end.unwrap_or(field.len()));
    let equals = pair.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (&pair[..equals], &pair[equals + 1..]);
    let attributes = String::from_utf8_lossy(attributes.get(1..).unwrap_or_default());
    Some((
        name.trim_ascii(),
        value.trim_ascii(),
        attributes.into_owned(),
    ))
}

/// Returns the domain of a cookie with this `Domain` (RFC 6265, section 5.3): `Some(None)` if it is
/// for the host alone, `None` if the host may not set it.
#[expect(
    clippy::option_option,
    reason = "a cookie is refused, or has a domain or none"
)]
fn domain(url: &PageUrl, domain: Option<&str>) -> Option<Option<String>> {
    let domain = domain.unwrap_or_default().trim_start_matches('.');
    let (host, domain) = (url.host(), domain.to_ascii_lowercase());
    if domain.is_empty() {
        return Some(None);
    }
    let before = host.as_str().strip_suffix(domain.as_str())?;
    let is_name = url.as_url().domain().is_some();
    if !is_name || is_public_suffix(url, &domain) {
        return before.is_empty().then_some(None);
    }
    (before.is_empty() || before.ends_with('.')).then_some(Some(domain))
}

/// Returns true if each name below this domain belongs to its own registrant.
fn is_public_suffix(url: &PageUrl, domain: &str) -> bool {
    let below = format!("{}://x.{domain}/", url.as_url().scheme());
    let below = PageUrl::parse(&below, &CanonicalForm::keep_all());
    below.is_ok_and(|below| below.registrable_domain() == below.host().as_str())
}

/// Returns the places whose cookies a request may have: its host, and the domains that it is in.
fn places(url: &PageUrl) -> Vec<String> {
    let mut places = vec![url.authority().to_owned()];
    if let Some(host) = url.as_url().domain() {
        places.extend(domains(host).map(|domain| of_domain(url, domain)));
    }
    places
}

/// Returns the key of a domain, on the port of this URL.
fn of_domain(url: &PageUrl, domain: &str) -> String {
    match url.as_url().port() {
        Some(port) => format!(".{domain}:{port}"),
        None => format!(".{domain}"),
    }
}

fn is_https(url: &PageUrl) -> bool {
    url.as_url().scheme() == "https"
}

/// Returns the path of a cookie without a `Path` (RFC 6265, section 5.1.4).
fn default_path(url: &PageUrl) -> String {
    let path = url.request().path();
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

/// Returns true if a path equals a cookie's path or is below it (RFC 6265, section 5.1.4).
fn is_below(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
    }

    fn set(cookies: &SessionCookies, at: &str, fields: &[&str]) {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(
                SET_COOKIE,
                HeaderValue::from_bytes(field.as_bytes()).unwrap(),
            );
        }
        cookies.learn(&url(at), &headers, NOW);
    }

    fn sent(cookies: &SessionCookies, to: &str) -> String {
        let field = cookies.field(&url(to), None, NOW);
        let text = |field: HeaderValue| String::from_utf8(field.as_bytes().to_vec()).unwrap();
        field.map_or_else(String::new, text)
    }

    #[test]
    fn a_cookie_is_sent_to_the_host_or_the_domain_that_it_names() {
        let cookies = SessionCookies::default();
        set(
            &cookies,
            "https://www.a.test/in/x",
            &["one=1; Domain=a.test; Path=/", "two=2"],
        );
        for (to, expected) in [
            ("https://www.a.test/in/y", "two=2; one=1"),
            ("https://www.a.test/in", "two=2; one=1"),
            ("https://www.a.test/inside", "one=1"),
            ("https://a.test/in", "one=1"),
            ("https://b.a.test/in", "one=1"),
            ("https://ba.test/in", ""),
            ("https://test/in", ""),
            ("http://www.a.test/in", ""),
            ("https://www.a.test:8443/in", ""),
        ] {
            assert_eq!(sent(&cookies, to), expected, "{to}");
        }
        // A site that sets a cookie and then redirects to https lost it.
        set(&cookies, "http://b.test/", &["gate=1"]);
        assert_eq!(sent(&cookies, "https://b.test/"), "gate=1");
        assert_eq!(sent(&cookies, "http://b.test:8080/"), "");
        assert_eq!(sent(&cookies, "http://www.b.test/"), "");
        let given = HeaderValue::from_static("given=0");
        let field = cookies
            .field(&url("https://www.a.test/"), Some(&given), NOW)
            .unwrap();
        assert_eq!(field, "given=0; one=1");
        assert!(field.is_sensitive());
    }

    /// A login that the server wrote in UTF-8 was dropped, and every page behind it lost.
    #[test]
    fn bytes_beyond_ascii_come_back_as_they_came() {
        for pair in ["name=Ж", "naïve=1", "end=à"] {
            let cookies = SessionCookies::default();
            set(&cookies, "http://a.test/", &[&format!("{pair} ; Path=/")]);
            assert_eq!(sent(&cookies, "http://a.test/"), pair);
        }
    }

    #[test]
    fn what_a_server_may_not_set_is_left() {
        let cookies = SessionCookies::default();
        let long = format!("long={}", "x".repeat(MAX_BYTES));
        let refused = [
            "a=1; Domain=b.test",
            "a=1; Domain=st",
            "a=1; Domain=test",
            "nameless",
            "a=1; Secure",
            "__Secure-a=1",
            "__Host-a=1; Path=/",
            "=1",
            "a=1; Max-Age=0",
            "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
            &long,
        ];
        set(&cookies, "http://a.test/", &refused);
        assert_eq!(sent(&cookies, "http://a.test/"), "");
        set(&cookies, "https://a.test/", &["__Host-a=1; Path=/; Secure"]);
        assert_eq!(sent(&cookies, "https://a.test/"), "__Host-a=1");
    }

    #[test]
    fn a_cookie_is_replaced_and_removed_and_the_oldest_gives_way() {
        let cookies = SessionCookies::default();
        set(
            &cookies,
            "http://a.test/",
            &["a=1", "b=2", "a=3; Max-Age=60"],
        );
        assert_eq!(sent(&cookies, "http://a.test/"), "a=3; b=2");
        set(&cookies, "http://a.test/", &["a=; Max-Age=0"]);
        assert_eq!(sent(&cookies, "http://a.test/"), "b=2");
        for number in 0..MAX_OF_PLACE {
            set(&cookies, "http://a.test/", &[&format!("n{number}=1")]);
        }
        let all = sent(&cookies, "http://a.test/");
        assert_eq!(all.split("; ").count(), MAX_OF_PLACE);
        assert!(!all.contains("b=2"), "{all}");
        let bytes = cookies.0.lock().unwrap().bytes;
        assert!(bytes < 1_000, "{bytes}");
    }
}
