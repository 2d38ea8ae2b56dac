//! Access to the dashboard: who may read, and who may change.
//!
//! | request | needs |
//! |---|---|
//! | any, on loopback | a `Host` that is our address |
//! | any, beyond loopback | the token |
//! | a change (`POST`) | the token, and that one of our own pages sent it |
//! | a capture (`/replay/KEY/…`) | the key in its address, in place of the token |
//!
//! A page under another name that resolves to 127.0.0.1 (DNS rebinding) has another `Host`.
//!
//! The token belongs to one start of the server. It comes with the URL that is printed, and goes
//! into a cookie that no other site can use and no script can read; programs send it as `Bearer`
//! (RFC 6750, section 2.1). A page of ours is recognised by its `Origin` (RFC 6454, section 7), or,
//! where the browser withholds that, by `Sec-Fetch-Site` (W3C, Fetch Metadata, section 2.3).
//!
//! Invariant: each response, also a refusal, has the headers of [`HEADERS`], or those of
//! [`headers::HEADERS`] if a capture was requested.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use data_encoding::HEXLOWER;
use serde_json::json;
use thiserror::Error;

use crate::replay::{address, headers};

/// Minimum number of characters of a token that a user chooses.
pub const MIN_TOKEN: usize = 16;
/// Maximum number of characters of such a token.
pub const MAX_TOKEN: usize = 256;

/// The name of the token in the URL that is printed.
const PARAMETER: &str = "token";

/// The beginning of the addresses of the API.
pub(crate) const API: &str = "/api";

/// The headers of all other responses. Only our own style sheet, script and icon are loaded, and
/// other sites may not show a page of ours in a frame.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
         object-src 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    // With `no-referrer`, browsers withhold the origin of a form, and some send nothing instead.
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// The secret that allows changes.
#[derive(Clone, PartialEq, Eq)]
pub struct Token {
    text: String,
    is_chosen: bool,
}

/// A token that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenError {
    /// Its length is wrong.
    #[error(
        "the token must have {MIN_TOKEN} to {MAX_TOKEN} characters, got {0}; create one with \
         `openssl rand -hex 16`"
    )]
    Length(usize),
    /// It has a character that URLs and cookies do not carry.
    #[error("the token must contain only letters, digits, - and _")]
    Character,
}

impl Token {
    /// Makes the token of one start from random bytes.
    #[must_use]
    pub fn of_random(bytes: [u8; 16]) -> Self {
        Self {
            text: HEXLOWER.encode(&bytes),
            is_chosen: false,
        }
    }

    /// Reads a token that the user has chosen; white space around it is ignored.
    ///
    /// # Errors
    /// [`TokenError`]; the message does not repeat the token.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !text.bytes().all(is_allowed) {
            return Err(TokenError::Character);
        }
        if !(MIN_TOKEN..=MAX_TOKEN).contains(&text.len()) {
            return Err(TokenError::Length(text.len()));
        }
        Ok(Self {
            text: text.to_owned(),
            is_chosen: true,
        })
    }

    /// Returns true if the user has chosen it.
    pub(crate) const fn is_chosen(&self) -> bool {
        self.is_chosen
    }

    /// Returns the token as text, for the URL that is printed.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    fn is(&self, given: &str) -> bool {
        is_same(&self.text, given)
    }
}

/// Compares in a time that does not depend on the place of the first difference.
fn is_same(own: &str, given: &str) -> bool {
    let (own, given) = (own.as_bytes(), given.as_bytes());
    let differences = own.iter().zip(given).map(|(one, other)| one ^ other);
    own.len() == given.len() && differences.fold(0, |all, bits| all | bits) == 0
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The rules of access for one listening address.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    token: Token,
    /// The allowed values of `Host`; empty beyond loopback, where the names of the machine are
    /// unknown and each request needs the token.
    hosts: Vec<String>,
    cookie: String,
    replay_key: String,
}

/// A refusal, with the sentence that the sender reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Denied {
    #[error("the Host of this request is not the address of this dashboard")]
    Host,
    #[error("this dashboard needs its token: open the URL that was printed when it started")]
    NoToken,
    #[error(
        "the token is wrong: it changes with each start; open the URL printed by the last \
        start"
    )]
    WrongToken,
    #[error("a change must come from a page of this dashboard")]
    Origin,
    #[error(
        "this address of an archived page is no longer valid: open the page from the dashboard"
    )]
    ReplayKey,
}

impl Denied {
    const fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::NoToken | Self::WrongToken | Self::Origin | Self::ReplayKey => {
                StatusCode::FORBIDDEN
            }
        }
    }
}

impl Denied {
    /// Returns the refusal for a program: a missing token is 401 with the scheme to use (RFC 6750,
    /// section 3).
    fn for_programs(self) -> Response {
        let error = json!({"error": self.to_string()}).to_string();
        let media = (header::CONTENT_TYPE, "application/json");
        match self {
            Self::NoToken | Self::WrongToken => {
                let scheme = (header::WWW_AUTHENTICATE, "Bearer");
                (StatusCode::UNAUTHORIZED, [media, scheme], error).into_response()
            }
            _ => (self.status(), [media], error).into_response(),
        }
    }
}

/// Returns true for an address of the API, which answers in JSON.
pub(crate) fn is_of_programs(uri: &Uri) -> bool {
    let below = uri.path().strip_prefix(API);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl IntoResponse for Denied {
    fn into_response(self) -> Response {
        (self.status(), format!("{self}\n")).into_response()
    }
}

/// The right of a request that was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Granted {
    Read,
    Change,
    /// It brings the token in its URL: the sender gets the cookie, and the URL without it.
    Enter,
}

impl Access {
    /// Returns the rules for a server that listens on `address`.
    pub(crate) fn new(address: SocketAddr, token: Token) -> Self {
        let port = address.port();
        let mut hosts = Vec::new();
        if address.ip().is_loopback() {
            let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{port}"));
            hosts.extend(names);
            hosts.push(address.to_string());
            if port == 80 {
                // Browsers leave out the port of the scheme (RFC 9110, section 4.2.1).
                hosts.extend(["127.0.0.1", "localhost", "[::1]"].map(str::to_owned));
            }
        }
        Self {
            replay_key: address::key_of(token.as_str()),
            token,
            hosts,
            // Cookies do not know ports (RFC 6265, section 8.5).
            cookie: format!("crawler-{port}"),
        }
    }

    /// Returns the key in the addresses of captures.
    pub(crate) fn replay_key(&self) -> &str {
        &self.replay_key
    }

    /// Judges a request.
    pub(crate) fn judge(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
    ) -> Result<Granted, Denied> {
        let host = only(headers, header::HOST).ok_or(Denied::Host)?;
        let is_ours = self.hosts.is_empty() || self.hosts.iter().any(|own| own == host);
        if !is_ours || uri.authority().is_some_and(|named| named.as_str() != host) {
            return Err(Denied::Host);
        }
        let reads = matches!(*method, Method::GET | Method::HEAD);
        if let Some(given) = address::key_in(uri.path()).filter(|_| reads) {
            // The archived URL may have a parameter of the same name as our token.
            return match is_same(&self.replay_key, given) {
                true => Ok(Granted::Read),
                false => Err(Denied::ReplayKey),
            };
        }
        if let Some(given) = token_in(uri).filter(|_| reads) {
            return match self.token.is(given) {
                true => Ok(Granted::Enter),
                false => Err(Denied::WrongToken),
            };
        }
        let given = self.given(headers);
        let has_token = given.is_some_and(|given| self.token.is(given));
        if !has_token && (!reads || self.hosts.is_empty()) {
            return Err(match given {
                Some(_) => Denied::WrongToken,
                None => Denied::NoToken,
            });
        }
        if !reads && !is_from_us(headers, host) {
            return Err(Denied::Origin);
        }
        Ok(match has_token {
            true => Granted::Change,
            false => Granted::Read,
        })
    }

    /// Returns the token in the cookie, or the `Bearer` token of a program.
    fn given<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let bearer = only(headers, header::AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.strip_prefix("Bearer "));
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut cookies = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='));
        let cookie = cookies.find(|(name, _)| *name == self.cookie);
        bearer.or(cookie.map(|(_, value)| value))
    }

    /// Answers a URL with the token: sets the cookie, and redirects to the URL without the token.
    fn enter(&self, uri: &Uri) -> Response {
        let cookie = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Strict",
            self.cookie,
            self.token.as_str()
        );
        let parameters = uri.query().unwrap_or_default().split('&');
        let rest: Vec<&str> = parameters
            .filter(|parameter| !parameter.starts_with("token="))
            .collect();
        // A path with two slashes would redirect to another host (RFC 3986, section 4.2).
        let path = format!("/{}", uri.path().trim_start_matches('/'));
        let target = match rest.is_empty() {
            true => path,
            false => format!("{path}?{}", rest.join("&")),
        };
        let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, target)];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Returns the value of a header that occurs exactly once, as text.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.to_str().ok())?
}

fn token_in(uri: &Uri) -> Option<&str> {
    let mut parameters = uri.query()?.split('&');
    parameters.find_map(|parameter| parameter.strip_prefix(PARAMETER)?.strip_prefix('='))
}

/// Returns true if one of our own pages sent the request, by the browser's word.
fn is_from_us(headers: &HeaderMap, host: &str) -> bool {
    match only(headers, header::ORIGIN) {
        // A page whose policy is to send no referrer withholds its origin, too (Fetch, section
        // 3.2).
        None | Some("null") => {
            let site = only(headers, HeaderName::from_static("sec-fetch-site"));
            site == Some("same-origin")
        }
        // Behind a proxy, the scheme may be https.
        Some(origin) => origin
            .split_once("://")
            .is_some_and(|(scheme, from)| matches!(scheme, "http" | "https") && from == host),
    }
}

/// Lets a request through to its view, with its right as an extension, or answers it.
pub(crate) async fn guard(
    State(access): State<Arc<Access>>,
    mut request: Request,
    next: Next,
) -> Response {
    let judged = access.judge(request.method(), request.uri(), request.headers());
    let headers = match address::key_in(request.uri().path()) {
        Some(_key) => headers::HEADERS,
        None => HEADERS,
    };
    let mut response = match judged {
        Err(denied) if is_of_programs(request.uri()) => denied.for_programs(),
        Err(denied) => denied.into_response(),
        Ok(Granted::Enter) => access.enter(request.uri()),
        Ok(granted) => {
            request.extensions_mut().insert(granted);
            next.run(request).await
        }
    };
    for (name, value) in headers {
        // A view may have a stricter or looser one of its own.
        let headers = response.headers_mut();
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn access(address: &str) -> Access {
        Access::new(address.parse().unwrap(), Token::parse(TOKEN).unwrap())
    }

    fn judge(
        access: &Access,
        method: &Method,
        target: &str,
        fields: &[(&str, &str)],
    ) -> Result<Granted, Denied> {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        access.judge(method, &target.parse().unwrap(), &headers)
    }

    const OWN: (&str, &str) = ("host", "127.0.0.1:4000");
    const COOKIE: (&str, &str) = (
        "cookie",
        "a=b; crawler-4000=0123456789abcdef0123456789abcdef",
    );

    #[test]
    fn a_host_of_another_name_is_refused() {
        let access = access("127.0.0.1:4000");
        for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000"] {
            assert_eq!(
                judge(&access, &Method::GET, "/", &[("host", host)]),
                Ok(Granted::Read),
                "{host}"
            );
        }
        for host in [
            "evil.test:4000",
            "127.0.0.1",
            "localhost:4001",
            "127.0.0.1:4000.evil.test",
            "LOCALHOST:4000",
            "",
        ] {
            assert_eq!(
                judge(&access, &Method::GET, "/", &[("host", host), COOKIE]),
                Err(Denied::Host),
                "{host}"
            );
        }
        assert_eq!(
            judge(&access, &Method::GET, "/", &[OWN, ("host", "evil.test")]),
            Err(Denied::Host)
        );
        assert_eq!(
            judge(&access, &Method::GET, "http://evil.test/", &[OWN]),
            Err(Denied::Host)
        );
        assert_eq!(judge(&access, &Method::GET, "/", &[]), Err(Denied::Host));
    }

    /// A page without an origin sends no cookie, and its URL may have a parameter `token`.
    #[test]
    fn a_capture_needs_its_key_in_place_of_the_token() {
        let access = access("0.0.0.0:4000");
        let key = access.replay_key().to_owned();
        let target = format!("/replay/{key}/20261130050606/http://site.test/?token=x");
        let host = ("host", "nas.local:4000");
        let get = |target: &str, fields: &[_]| judge(&access, &Method::GET, target, fields);
        assert_eq!(get(&target, &[host]), Ok(Granted::Read));
        assert_eq!(get(&target, &[]), Err(Denied::Host));
        let wrong = target.replace(&key, TOKEN);
        assert_eq!(get(&wrong, &[host, COOKIE]), Err(Denied::ReplayKey));
        let change = judge(&access, &Method::POST, &target, &[host]);
        assert_eq!(change, Err(Denied::NoToken));
    }

    #[test]
    fn a_change_needs_the_token_and_a_page_of_ours() {
        let access = access("127.0.0.1:4000");
        let ours = ("origin", "http://127.0.0.1:4000");
        let site = ("sec-fetch-site", "same-origin");
        let change = |fields: &[(&str, &str)]| judge(&access, &Method::POST, "/controls", fields);
        for allowed in [
            &[OWN, COOKIE, ours][..],
            &[OWN, COOKIE, site],
            &[OWN, COOKIE, ("origin", "null"), site],
        ] {
            assert_eq!(change(allowed), Ok(Granted::Change), "{allowed:?}");
        }
        let wrong = ("cookie", "crawler-4000=0123456789abcdef0123456789abcdee");
        for (fields, denied) in [
            (&[OWN, ours, site][..], Denied::NoToken),
            (&[OWN, ours, wrong], Denied::WrongToken),
            (
                &[OWN, ours, ("cookie", "crawler-4000=")],
                Denied::WrongToken,
            ),
            (&[OWN, COOKIE], Denied::Origin),
            (
                &[OWN, COOKIE, ("origin", "http://evil.test")],
                Denied::Origin,
            ),
            (
                &[OWN, COOKIE, ("origin", "http://localhost:4000")],
                Denied::Origin,
            ),
            (&[OWN, COOKIE, ("origin", "null")], Denied::Origin),
            (
                &[OWN, COOKIE, ("sec-fetch-site", "same-site")],
                Denied::Origin,
            ),
            (
                &[OWN, COOKIE, ("origin", "http://evil.test"), site],
                Denied::Origin,
            ),
        ] {
            assert_eq!(change(fields), Err(denied), "{fields:?}");
        }
        // The token in a URL is no right to change anything.
        assert_eq!(
            judge(
                &access,
                &Method::POST,
                &format!("/controls?token={TOKEN}"),
                &[OWN, ours]
            ),
            Err(Denied::NoToken)
        );
    }

    #[test]
    fn beyond_loopback_everything_needs_the_token() {
        let access = access("192.0.2.1:4000");
        let host = ("host", "crawl.example.org");
        assert_eq!(
            judge(&access, &Method::GET, "/metrics", &[host]),
            Err(Denied::NoToken)
        );
        let bearer = format!("Bearer {TOKEN}");
        for given in [COOKIE, ("authorization", &bearer)] {
            assert_eq!(
                judge(&access, &Method::GET, "/metrics", &[host, given]),
                Ok(Granted::Change)
            );
        }
        let target = format!("/?token={TOKEN}");
        assert_eq!(
            judge(&access, &Method::GET, &target, &[host]),
            Ok(Granted::Enter)
        );
        assert_eq!(
            judge(&access, &Method::GET, "/?token=0", &[host]),
            Err(Denied::WrongToken)
        );
    }

    #[test]
    fn the_way_from_the_printed_url_stays_on_this_host_and_has_no_token() {
        let access = access("127.0.0.1:4000");
        for (from, to) in [
            ("/", "/"),
            ("/hosts?from=100", "/hosts?from=100"),
            ("//evil.test/", "/evil.test/"),
        ] {
            let separator = if from.contains('?') { '&' } else { '?' };
            let uri: Uri = format!("{from}{separator}token={TOKEN}").parse().unwrap();
            let response = access.enter(&uri);
            assert_eq!(response.status(), StatusCode::SEE_OTHER);
            assert_eq!(response.headers()[header::LOCATION], to);
        }
    }

    #[test]
    fn a_chosen_token_is_long_and_fits_into_a_url() {
        assert!(Token::parse(&format!(" {TOKEN}\n")).is_ok());
        assert_eq!(Token::parse("short"), Err(TokenError::Length(5)));
        assert_eq!(Token::parse("a token of words"), Err(TokenError::Character));
        assert!(!format!("{:?}", Token::parse(TOKEN)).contains(TOKEN));
    }
}
