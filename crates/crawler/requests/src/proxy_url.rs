//! A proxy: its address, its protocol, and the checks that remain with it.
//!
//! hyper-util speaks to it (RFC 9110 section 9.3.6, RFC 1928, RFC 1929). The guarantees depend on
//! the kind of proxy:
//!
//! | | the proxy is asked for | guarded |
//! |---|---|---|
//! | `socks5://` | an address | by us alone: it comes from our own look-up, as without one |
//! | `http://`, `https://` | the name (CONNECT) or the URL | by us, and **again by the proxy** |
//! | `socks5h://` | the name | addresses and `localhost` only |
//!
//! With `http://` and `https://`, an https page is asked for by CONNECT with its name, an http page
//! by its URL; we look the name up beforehand and refuse a private one. With `socks5h://`, names
//! that the proxy alone can resolve (`.onion`) cannot be judged here.
//!
//! So a name server that answers the proxy differently than us (DNS rebinding) is stopped under
//! `socks5://`, and otherwise only by a proxy that refuses private addresses itself. The proxy's
//! own address may be any: the user gave it. Certificates of pages are always checked here, with
//! any proxy. An https page whose host is an IPv6 address cannot be fetched through a proxy.
//!
//! User and password are sent to the proxy only; they are never shown, logged or stored.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use url::Url;

/// Bytes of a user's name or password (RFC 1929 section 2).
const MAX_CREDENTIAL: usize = 255;

/// The URL of a proxy, with user and password: `socks5://user:password@127.0.0.1:1080`.
///
/// `Display` and `Debug` omit user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    kind: Kind,
    host: String,
    port: u16,
    /// With user and password.
    url: Url,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Http,
    Https,
    Socks5,
    Socks5h,
}

/// The reason why a text is not a [`ProxyUrl`]. It does not repeat the text, which may hold a
/// password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyUrlError {
    /// Not a URL with a host.
    #[error("a proxy must be a URL, such as socks5://127.0.0.1:1080")]
    Form,
    /// Another scheme.
    #[error("a proxy's scheme must be http, https, socks5 or socks5h, got {0:?}")]
    Kind(String),
    /// A path, a query or a fragment.
    #[error("a proxy's URL must end after its port")]
    Path,
    /// More bytes than SOCKS can carry.
    #[error("user and password must have at most {MAX_CREDENTIAL} bytes each")]
    Credentials,
}

/// The proxy of a host; `none` if requests go straight to it. Its text has no user and password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostProxy {
    /// Requests go straight to the host.
    Direct,
    /// Requests go through this proxy.
    Through(ProxyUrl),
}

/// The reason why a text is not a [`HostProxy`]. It does not repeat the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; \"none\" is no proxy")]
pub struct HostProxyError(ProxyUrlError);

impl FromStr for HostProxy {
    type Err = HostProxyError;

    fn from_str(text: &str) -> Result<Self, HostProxyError> {
        match text {
            "none" => Ok(Self::Direct),
            url => url.parse().map(Self::Through).map_err(HostProxyError),
        }
    }
}

impl fmt::Display for HostProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct => f.write_str("none"),
            Self::Through(proxy) => proxy.fmt(f),
        }
    }
}

/// The check of a host before the proxy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyPrecheck {
    /// No check: the connection's own look-up is guarded.
    Nothing,
    /// The addresses of the host's name.
    Addresses,
    /// The host as written.
    Spelling,
}

impl FromStr for ProxyUrl {
    type Err = ProxyUrlError;

    fn from_str(text: &str) -> Result<Self, ProxyUrlError> {
        let url = Url::parse(text).map_err(|_not_a_url| ProxyUrlError::Form)?;
        let (kind, usual_port) = match url.scheme() {
            "http" => (Kind::Http, 80),
            "https" => (Kind::Https, 443),
            "socks5" => (Kind::Socks5, 1080),
            "socks5h" => (Kind::Socks5h, 1080),
            other => return Err(ProxyUrlError::Kind(other.chars().take(32).collect())),
        };
        let host = url
            .host_str()
            .filter(|host| !host.is_empty())
            .ok_or(ProxyUrlError::Form)?;
        if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
            return Err(ProxyUrlError::Path);
        }
        for part in [url.username(), url.password().unwrap_or_default()] {
            if percent_decode_str(part).count() > MAX_CREDENTIAL {
                return Err(ProxyUrlError::Credentials);
            }
        }
        let uri: Uri = url
            .as_str()
            .parse()
            .map_err(|_not_a_uri| ProxyUrlError::Form)?;
        if uri.host() != Some(host) {
            return Err(ProxyUrlError::Form);
        }
        Ok(Self {
            kind,
            host: host.to_owned(),
            port: url.port().unwrap_or(usual_port),
            url,
        })
    }
}

impl ProxyUrl {
    /// Returns the check to make before the proxy is asked for a page of `host`.
    #[must_use]
    pub fn precheck(&self, host: &str) -> ProxyPrecheck {
        match self.kind {
            Kind::Http | Kind::Https => ProxyPrecheck::Addresses,
            Kind::Socks5h => ProxyPrecheck::Spelling,
            // The proxy's own name is looked up without a guard, as the connection to the proxy
            // needs it.
            Kind::Socks5 if host == self.host => ProxyPrecheck::Addresses,
            Kind::Socks5 => ProxyPrecheck::Nothing,
        }
    }

    /// Returns true if the proxy reads requests for such pages itself, and may refuse them in HTTP.
    #[must_use]
    pub fn reads_requests(&self, https: bool) -> bool {
        !https && matches!(self.kind, Kind::Http | Kind::Https)
    }

    /// Returns true if the proxy resolves names.
    #[must_use]
    pub fn looks_up_itself(&self) -> bool {
        self.kind == Kind::Socks5h
    }

    /// Returns the host of the proxy.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns true for `socks5` and `socks5h`.
    #[must_use]
    pub fn is_socks(&self) -> bool {
        matches!(self.kind, Kind::Socks5 | Kind::Socks5h)
    }

    /// Returns scheme, host and port, without user and password.
    #[must_use]
    pub fn uri(&self) -> Uri {
        let uri = format!("{}://{}:{}", self.url.scheme(), self.host, self.port);
        Uri::try_from(uri).expect("the URL was parsed as a URI")
    }

    /// Returns user and password, if the URL has any.
    #[must_use]
    pub fn login(&self) -> Option<(String, String)> {
        let (user, password) = (self.url.username(), self.url.password());
        if user.is_empty() && password.is_none() {
            return None;
        }
        let decoded = |part| percent_decode_str(part).decode_utf8_lossy().into_owned();
        Some((decoded(user), decoded(password.unwrap_or_default())))
    }

    /// Returns the value of `Proxy-Authorization` (RFC 7617), if there are user and password.
    #[must_use]
    pub fn basic_login(&self) -> Option<HeaderValue> {
        let (user, password) = self.login()?;
        let login = BASE64.encode(format!("{user}:{password}").as_bytes());
        let value = HeaderValue::try_from(format!("Basic {login}"));
        let mut value = value.expect("base 64 is visible ASCII");
        value.set_sensitive(true);
        Some(value)
    }
}

impl fmt::Display for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}:{}", self.url.scheme(), self.host, self.port)
    }
}

impl fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProxyUrl({self})")
    }
}
