//! The rules of `--resolve`: "for this host and port, connect there".

use std::net::IpAddr;
use std::str::FromStr;

use web::{CanonicalForm, PageUrl};

use crate::ssrf_guard::address::literal;

/// A rule of `--resolve`, as in curl: "for this host and port, connect there",
/// `HOST:PORT:ADDR[,ADDR]…`.
///
/// An IPv6 address may be in brackets. The URL, the `Host` field and the certificate still belong
/// to the host; only the look-up is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveRule {
    /// The name as in a canonical URL.
    pub host: String,
    /// The port of the URL; other ports of the host are looked up as usual.
    pub port: u16,
    /// The addresses to connect to, the preferred first.
    pub addresses: Vec<IpAddr>,
}

/// The reason why a text is not a [`ResolveRule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveRuleError {
    /// Fewer than three parts.
    #[error("{0:?} is not HOST:PORT:ADDR, such as example.org:443:127.0.0.1")]
    Form(String),
    /// Not the name of a host.
    #[error("{0:?} is not a host name (addresses are never looked up, and need no rule)")]
    Host(String),
    /// Not a port.
    #[error("{0:?} is not a port between 1 and 65535")]
    Port(String),
    /// Not an address.
    #[error("{0:?} is not an IP address, such as 127.0.0.1 or [::1]")]
    Address(String),
}

impl FromStr for ResolveRule {
    type Err = ResolveRuleError;

    fn from_str(text: &str) -> Result<Self, ResolveRuleError> {
        let mut parts = text.splitn(3, ':');
        let (Some(host), Some(port), Some(addresses)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(ResolveRuleError::Form(text.to_owned()));
        };
        Ok(Self {
            host: canonical_host(host)
                .filter(|host| literal(host).is_none())
                .ok_or_else(|| ResolveRuleError::Host(host.to_owned()))?,
            port: read_port(port).ok_or_else(|| ResolveRuleError::Port(port.to_owned()))?,
            addresses: addresses
                .split(',')
                .map(read_address)
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Returns the host as a canonical URL spells it (lower case, IDNA, IPv6 in brackets).
pub(crate) fn canonical_host(host: &str) -> Option<String> {
    // These could end a host in a URL; the colons of an IPv6 address are in brackets.
    let address = host.starts_with('[') && host.ends_with(']');
    if host.contains(['/', '?', '#', '@', '\\']) || (host.contains(':') && !address) {
        return None;
    }
    let url = PageUrl::parse(&format!("http://{host}/"), &CanonicalForm::default()).ok()?;
    url.as_url().host_str().map(str::to_owned)
}

fn read_port(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port != 0)
}

fn read_address(text: &str) -> Result<IpAddr, ResolveRuleError> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .unwrap_or(text);
    bare.parse()
        .map_err(|_not_an_address| ResolveRuleError::Address(text.to_owned()))
}
