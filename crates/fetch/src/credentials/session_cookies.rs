//! Cookies that servers set while a crawl runs (RFC 6265), if the user wants them.
//!
//! They are narrower than RFC 6265 allows: each is bound to the origin (scheme, host and port) that
//! set it, whatever its `Domain` says, so that no site learns of visits to another. They are held
//! in memory, for as long as the process runs, and an archived request has [`REDACTED`] in their
//! place. (Responses are archived as they came.)
//!
//! [`REDACTED`]: super::REDACTED
//!
//! Every size has a cap: a cookie, the cookies of an origin, of which the oldest gives way, and all
//! of them together, beyond which no more are taken.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};
use web::{PageUrl, Timestamp};

use super::cookies::MAX_FIELD_BYTES;
use super::fields::secret;

/// The longest `Set-Cookie` field that is read, in bytes (RFC 6265, section 6.1).
pub(crate) const MAX_BYTES: usize = 4 << 10;
/// The most cookies of an origin (RFC 6265, section 6.1).
pub(crate) const MAX_OF_ORIGIN: usize = 50;
/// The most bytes of all cookies.
const MAX_ALL_BYTES: usize = 16 << 20;

/// The cookies of all origins.
#[derive(Debug, Default)]
pub(crate) struct SessionCookies(Mutex<Cookies>);

#[derive(Debug, Default)]
struct Cookies {
    by_origin: HashMap<String, Vec<SessionCookie>>,
    bytes: usize,
    /// The number of the next cookie.
    next: u64,
}

/// A cookie of an origin.
#[derive(Debug)]
struct SessionCookie {
    name: String,
    value: String,
    path: String,
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
    /// Stores the cookies that an answer sets.
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

    /// Returns the `Cookie` field of a request (RFC 6265, section 5.4) behind the cookies that it
    /// has already: longer paths first, then older cookies. None if there is no cookie at all.
    pub(crate) fn field(
        &self,
        url: &PageUrl,
        present: Option<&HeaderValue>,
        now: Timestamp,
    ) -> Option<HeaderValue> {
        let cookies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_origin = cookies.by_origin.get(&url.origin());
        let path = url.as_url().path();
        let is_wanted = |cookie: &&SessionCookie| {
            let is_over = cookie.expires.is_some_and(|expires| expires <= now);
            !is_over && is_below(path, &cookie.path)
        };
        let mut fitting: Vec<_> = of_origin.into_iter().flatten().filter(is_wanted).collect();
        fitting.sort_by_key(|cookie| (std::cmp::Reverse(cookie.path.len()), cookie.number));
        let mut field = present.map_or_else(Vec::new, |present| present.as_bytes().to_vec());
        for cookie in fitting {
            if field.len() + cookie.name.len() + cookie.value.len() + 3 > MAX_FIELD_BYTES {
                break;
            }
            if !field.is_empty() {
                field.extend_from_slice(b"; ");
            }
            for part in [&cookie.name, "=", &cookie.value] {
                field.extend_from_slice(part.as_bytes());
            }
        }
        secret(&field).filter(|_| !field.is_empty())
    }
}

impl Cookies {
    /// Stores a cookie in place of the one of this name and path. One that has expired only removes
    /// that.
    fn set(&mut self, url: &PageUrl, mut cookie: SessionCookie, now: Timestamp) {
        let of_origin = self.by_origin.entry(url.origin()).or_default();
        let is_same =
            |other: &SessionCookie| other.name == cookie.name && other.path == cookie.path;
        if let Some(place) = of_origin.iter().position(is_same) {
            let before = of_origin.remove(place);
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
            of_origin.push(cookie);
        }
        if of_origin.len() > MAX_OF_ORIGIN {
            let oldest = (0..of_origin.len()).min_by_key(|place| of_origin[*place].number);
            let gone = oldest.map(|place| of_origin.remove(place));
            self.bytes -= gone.map_or(0, |gone| gone.bytes());
        }
        if of_origin.is_empty() {
            self.by_origin.remove(&url.origin());
        }
    }
}

/// Reads a `Set-Cookie` field (RFC 6265, sections 5.2 and 5.3); none if it sets no cookie here.
fn read(url: &PageUrl, field: &HeaderValue, now: Timestamp) -> Option<SessionCookie> {
    if field.len() > MAX_BYTES {
        return None;
    }
    let cookie = cookie::Cookie::parse(field.to_str().ok()?).ok()?;
    let is_https = url.as_url().scheme() == "https";
    let is_secure = cookie.secure() == Some(true);
    let path = cookie.path().filter(|path| path.starts_with('/'));
    if is_secure && !is_https || !is_of(url, cookie.domain()) {
        return None;
    }
    let keeps_host = is_secure && cookie.domain().is_none() && path == Some("/");
    let name = cookie.name();
    if name.starts_with("__Secure-") && !is_secure || name.starts_with("__Host-") && !keeps_host {
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
    let is_sayable = |text: &str| {
        !text
            .bytes()
            .any(|byte| byte == b';' || byte.is_ascii_control())
    };
    (!name.is_empty() && is_sayable(name) && is_sayable(cookie.value())).then(|| SessionCookie {
        name: name.to_owned(),
        value: cookie.value().to_owned(),
        path: path.map_or_else(|| default_path(url), str::to_owned),
        expires,
        number: 0,
    })
}

/// The longest life of a cookie, in seconds: 400 days (draft-ietf-httpbis-rfc6265bis, section 5.5).
const MAX_AGE: u64 = 400 * 24 * 3600;

/// Returns true if the `Domain` of a cookie includes the host that sets it (RFC 6265, section
/// 5.1.3).
fn is_of(url: &PageUrl, domain: Option<&str>) -> bool {
    let (host, domain) = (
        url.host(),
        domain.unwrap_or_default().trim_start_matches('.'),
    );
    let domain = domain.to_ascii_lowercase();
    let before = host.as_str().strip_suffix(domain.as_str());
    domain.is_empty() || before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

/// Returns the path of a cookie that names none (RFC 6265, section 5.1.4).
fn default_path(url: &PageUrl) -> String {
    let path = url.as_url().path();
    match path.rfind('/') {
        None | Some(0) => "/".to_owned(),
        Some(end) => path[..end].to_owned(),
    }
}

/// Returns true if a path is that of a cookie or below it (RFC 6265, section 5.1.4).
fn is_below(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use web::CanonicalForm;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn url(text: &str) -> PageUrl {
        PageUrl::parse(text, &CanonicalForm::keep_all()).unwrap()
    }

    fn set(cookies: &SessionCookies, at: &str, fields: &[&str]) {
        let mut headers = HeaderMap::new();
        for field in fields {
            headers.append(SET_COOKIE, HeaderValue::from_str(field).unwrap());
        }
        cookies.learn(&url(at), &headers, NOW);
    }

    fn sent(cookies: &SessionCookies, to: &str) -> String {
        let field = cookies.field(&url(to), None, NOW);
        field.map_or_else(String::new, |field| field.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_is_sent_to_the_origin_that_set_it_alone() {
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
            ("https://a.test/", ""),
            ("https://b.a.test/", ""),
            ("http://www.a.test/", ""),
            ("https://www.a.test:8443/", ""),
        ] {
            assert_eq!(sent(&cookies, to), expected, "{to}");
        }
        let given = HeaderValue::from_static("given=0");
        let field = cookies
            .field(&url("https://www.a.test/"), Some(&given), NOW)
            .unwrap();
        assert_eq!(field, "given=0; one=1");
        assert!(field.is_sensitive());
    }

    #[test]
    fn what_a_server_may_not_set_is_left() {
        let cookies = SessionCookies::default();
        let long = format!("long={}", "x".repeat(MAX_BYTES));
        let refused = [
            "a=1; Domain=b.test",
            "a=1; Domain=st",
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
        for number in 0..MAX_OF_ORIGIN {
            set(&cookies, "http://a.test/", &[&format!("n{number}=1")]);
        }
        let all = sent(&cookies, "http://a.test/");
        assert_eq!(all.split("; ").count(), MAX_OF_ORIGIN);
        assert!(!all.contains("b=2"), "{all}");
        let bytes = cookies.0.lock().unwrap().bytes;
        assert!(bytes < 1_000, "{bytes}");
    }
}
