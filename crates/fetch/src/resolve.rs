//! From a host's name to the addresses that may be asked.
//!
//! The one look-up of a connection happens here, and the engine connects to exactly what this returns: a name
//! that answers differently the second time (DNS rebinding) gains nothing. An address that is written in the
//! URL never comes here; [`HttpFetch`](crate::HttpFetch) checks it itself.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use web::{CanonicalForm, PageUrl};

use crate::failure::{AddressRefused, NameUnknown};
use crate::guard::refusal;

/// "For this host and port, connect there", as curl's `--resolve` has it: `HOST:PORT:ADDR[,ADDR]…`.
///
/// An IPv6 address may stand in brackets. The URL, the `Host` field and the certificate stay those of the
/// host; only the look-up is skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolveRule {
    /// The name as it stands in a canonical URL.
    pub host: String,
    /// The port of the URL; other ports of the host are looked up as ever.
    pub port: u16,
    /// Where to connect, the first one that answers.
    pub addresses: Vec<IpAddr>,
}

/// What is wrong with a text that should be a [`ResolveRule`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveRuleError {
    /// Fewer than three parts.
    #[error("{0:?} is not HOST:PORT:ADDR, as in example.org:443:127.0.0.1")]
    Form(String),
    /// Not the name of a host.
    #[error("{0:?} is not a host name (an address needs no rule: it is never looked up)")]
    Host(String),
    /// Not a port.
    #[error("{0:?} is not a port between 1 and 65535")]
    Port(String),
    /// Not an address.
    #[error("{0:?} is not an IP address, as in 127.0.0.1 or [::1]")]
    Address(String),
}

impl FromStr for ResolveRule {
    type Err = ResolveRuleError;

    fn from_str(text: &str) -> Result<Self, ResolveRuleError> {
        let mut parts = text.splitn(3, ':');
        let (Some(host), Some(port), Some(addresses)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(ResolveRuleError::Form(text.to_owned()));
        };
        Ok(Self {
            host: canonical_host(host).ok_or_else(|| ResolveRuleError::Host(host.to_owned()))?,
            port: read_port(port).ok_or_else(|| ResolveRuleError::Port(port.to_owned()))?,
            addresses: addresses.split(',').map(read_address).collect::<Result<_, _>>()?,
        })
    }
}

/// The host as a canonical URL would spell it (lower case, IDNA), where it is a name.
fn canonical_host(host: &str) -> Option<String> {
    if host.contains(['/', '?', '#', '@', '\\', '[', ']']) {
        return None;
    }
    let url = PageUrl::parse(&format!("http://{host}/"), &CanonicalForm::default()).ok()?;
    match url.as_url().host()? {
        url::Host::Domain(name) => Some(name.to_owned()),
        url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
    }
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

/// The resolver of one HTTP client: the rules of one port, then the system's resolver, then the guard.
#[derive(Debug)]
pub(crate) struct GuardedResolver {
    rules: HashMap<String, Vec<IpAddr>>,
    allow_private: bool,
}

impl GuardedResolver {
    /// A resolver for the URLs of `port`; `None` is every port that no rule names.
    pub(crate) fn new(rules: &[ResolveRule], port: Option<u16>, allow_private: bool) -> Self {
        let mut of_port: HashMap<String, Vec<IpAddr>> = HashMap::new();
        for rule in rules.iter().filter(|rule| Some(rule.port) == port) {
            of_port
                .entry(rule.host.clone())
                .or_default()
                .extend(&rule.addresses);
        }
        Self {
            rules: of_port,
            allow_private,
        }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let ruled = self.rules.get(name.as_str()).cloned();
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found = match ruled {
                Some(addresses) => addresses,
                None => look_up(name.as_str()).await?,
            };
            let allowed = if allow_private {
                found
            } else {
                without_refused(found)?
            };
            // Port 0 is "the URL's port" to reqwest.
            let addresses = allowed.into_iter().map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

async fn look_up(name: &str) -> Result<Vec<IpAddr>, NameUnknown> {
    let found = tokio::net::lookup_host((name, 0))
        .await
        .map_err(|error| NameUnknown(Some(error)))?;
    let addresses: Vec<IpAddr> = found.map(|address| address.ip()).collect();
    if addresses.is_empty() {
        Err(NameUnknown(None))
    } else {
        Ok(addresses)
    }
}

/// What is left of the addresses; an error only where nothing is.
fn without_refused(addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, Box<dyn StdError + Send + Sync>> {
    let mut refused = None;
    let mut allowed = Vec::with_capacity(addresses.len());
    for address in addresses {
        match refusal(address) {
            Some(refusal) => refused = Some(AddressRefused { address, refusal }),
            None => allowed.push(address),
        }
    }
    match (allowed.is_empty(), refused) {
        (false, _) => Ok(allowed),
        (true, Some(refused)) => Err(refused.into()),
        (true, None) => Err(NameUnknown(None).into()),
    }
}
