//! Groups of hosts that share a pace: hosts of one domain or one address usually belong to one
//! machine or one owner.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::str::FromStr;

use crate::url::host::{Host, registrable};

/// The unit of politeness in addition to the single host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupBy {
    /// Each host separately.
    #[default]
    Host,
    /// All hosts of one address together.
    Address,
    /// All hosts of one registrable domain together, according to the public suffix list.
    Domain,
}

/// A group of hosts that share a pace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// The hosts of this address.
    Address(IpAddr),
    /// The hosts of this registrable domain.
    Domain(Host),
}

impl GroupBy {
    /// Returns the group of a host contacted at `address`; `None` if hosts are not grouped or the
    /// address is unknown. An IPv4 address mapped into IPv6 counts as the IPv4 address (RFC 4291
    /// section 2.5.5.2); a host that is an address is its own domain.
    #[must_use]
    pub fn group(self, host: &Host, address: Option<IpAddr>) -> Option<Group> {
        match self {
            Self::Host => None,
            Self::Address => Some(Group::Address(address?.to_canonical())),
            Self::Domain => Some(Group::Domain(domain_of(host))),
        }
    }

    /// Returns the name in options and files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Address => "address",
            Self::Domain => "domain",
        }
    }
}

fn domain_of(host: &Host) -> Host {
    let name = host.as_str();
    // A trailing dot names the root, and the same host.
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok() {
        return host.clone();
    }
    Host::new(registrable(name))
}

impl fmt::Display for GroupBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An unknown way to group hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be host, address or domain, got {0:?}")]
pub struct UnknownGrouping(String);

impl FromStr for GroupBy {
    type Err = UnknownGrouping;

    fn from_str(text: &str) -> Result<Self, UnknownGrouping> {
        match text {
            "host" => Ok(Self::Host),
            "address" => Ok(Self::Address),
            "domain" => Ok(Self::Domain),
            _ => Err(UnknownGrouping(text.to_owned())),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Domain(domain) => domain.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_registrable_domain_are_one_group_and_addresses_are_their_own() {
        for (name, domain) in [
            ("example.org", "example.org"),
            ("a.b.example.org", "example.org"),
            ("example.org.", "example.org"),
            ("a.example.co.uk", "example.co.uk"),
            ("co.uk", "co.uk"),
            ("localhost", "localhost"),
            ("10.1.2.3", "10.1.2.3"),
            ("[2001:db8::1]", "[2001:db8::1]"),
        ] {
            let group = GroupBy::Domain.group(&Host::new(name), None);
            assert_eq!(group, Some(Group::Domain(Host::new(domain))), "{name}");
        }
    }

    #[test]
    fn hosts_of_one_address_are_one_group_in_any_spelling_and_hosts_without_one_are_alone() {
        let group = |address: Option<&str>| {
            let address = address.map(|text| text.parse().unwrap());
            GroupBy::Address.group(&Host::new("a.test"), address)
        };
        assert_eq!(group(Some("192.0.2.1")), group(Some("::ffff:192.0.2.1")));
        assert_ne!(group(Some("192.0.2.1")), group(Some("192.0.2.2")));
        assert_eq!(group(None), None);
        let address = "192.0.2.1".parse().ok();
        assert_eq!(GroupBy::Host.group(&Host::new("a.test"), address), None);
    }

    #[test]
    fn every_grouping_is_parsed_from_its_name() {
        for group_by in [GroupBy::Host, GroupBy::Address, GroupBy::Domain] {
            assert_eq!(group_by.to_string().parse(), Ok(group_by));
        }
        let unknown = "net".parse::<GroupBy>().unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "must be host, address or domain, got \"net\""
        );
    }
}
