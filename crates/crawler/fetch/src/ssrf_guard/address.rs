//! The addresses that a crawler must not be tricked into asking.
//!
//! A page may link to `http://169.254.169.254/` or to a name that resolves to 10.0.0.1: a crawler
//! that follows blindly reads out its owner's network (server-side request forgery). So every
//! address that is not public unicast is refused unless the user allows it, and an IPv6 address
//! that wraps an IPv4 one is judged by that. Sources: the IANA special-purpose address registries
//! for IPv4 and IPv6 (RFC 6890 and its updates), RFC 6052 and RFC 8215 (NAT64), RFC 3056 (6to4),
//! RFC 4380 (Teredo), RFC 5214 (ISATAP).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The kind of an address that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// This machine itself.
    #[error("a loopback address")]
    Loopback,
    /// A private network (RFC 1918, RFC 4193, site-local, carriers' RFC 6598).
    #[error("a private address")]
    Private,
    /// The local link, where cloud machines keep their secrets.
    #[error("a link-local address")]
    LinkLocal,
    /// No address at all.
    #[error("the unspecified address")]
    Unspecified,
    /// More than one machine.
    #[error("a multicast or broadcast address")]
    Multicast,
    /// Reserved for documentation, benchmarks, protocols or the future.
    #[error("a reserved address")]
    Reserved,
}

/// Returns the reason to refuse `address`, or `None` if it is public.
#[must_use]
pub fn refusal(address: IpAddr) -> Option<Refusal> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<Refusal> {
    match address.octets() {
        [0, 0, 0, 0] => Some(Refusal::Unspecified),
        [0, ..] => Some(Refusal::Reserved), // "this network", RFC 1122
        [127, ..] => Some(Refusal::Loopback),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Refusal::Private),
        [100, 64..=127, ..] => Some(Refusal::Private), // carrier-grade NAT, RFC 6598
        [169, 254, ..] => Some(Refusal::LinkLocal),
        [192, 0, 0, _] => Some(Refusal::Reserved), // protocol assignments, RFC 6890
        // Documentation.
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Some(Refusal::Reserved),
        [192, 88, 99, _] => Some(Refusal::Reserved), // 6to4 relays, RFC 7526
        [198, 18..=19, ..] => Some(Refusal::Reserved), // benchmarks, RFC 2544
        [224..=239, ..] | [255, 255, 255, 255] => Some(Refusal::Multicast),
        [240..=255, ..] => Some(Refusal::Reserved), // class E
        _ => None,
    }
}

fn refusal_v6(address: Ipv6Addr) -> Option<Refusal> {
    if let Some(wrapped) = wrapped_v4(address) {
        return refusal_v4(wrapped);
    }
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Refusal::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Refusal::Loopback),
        [0xfe80..=0xfebf, ..] => Some(Refusal::LinkLocal),
        [0xfc00..=0xfdff, ..] | [0xfec0..=0xfeff, ..] => Some(Refusal::Private), // ULA; site-local
        [0xff00..=0xffff, ..] => Some(Refusal::Multicast),
        [0x0064, 0xff9b, 1, ..] => Some(Refusal::Private), // local-use NAT64, RFC 8215
        [0x2001, 0x0000, ..] => teredo(address),
        [0x2001, 0x0001..=0x01ff, ..] => Some(Refusal::Reserved), // protocol assignments, RFC 2928
        // Documentation.
        [0x2001, 0x0db8, ..] | [0x3fff, 0x0000..=0x0fff, ..] => Some(Refusal::Reserved),
        // Only 2000::/3 is allocated; all the rest is special or unused (RFC 4291 section 2.4).
        [0x2000..=0x3fff, ..] => None,
        _ => Some(Refusal::Reserved),
    }
}

/// Returns the IPv4 address that a packet to this IPv6 address ends up at, if it wraps one.
fn wrapped_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let join = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        // ::1 and :: are themselves, not IPv4-compatible.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, high, low] => Some(join(high, low)), // compatible
        [0, 0, 0, 0, 0, 0xffff, high, low] => Some(join(high, low)), // mapped
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(join(high, low)), // translated, RFC 2765
        [0x0064, 0xff9b, 0, 0, 0, 0, high, low] => Some(join(high, low)), // NAT64
        [0x2002, high, low, ..] => Some(join(high, low)),       // 6to4
        // ISATAP.
        [0x2000..=0x3fff, _, _, _, 0 | 0x0200, 0x5efe, high, low] => Some(join(high, low)),
        _ => None,
    }
}

/// Checks both IPv4 addresses in a Teredo address, its server's and the client's (complemented).
fn teredo(address: Ipv6Addr) -> Option<Refusal> {
    let [_, _, server_high, server_low, _, _, client_high, client_low] = address.segments();
    let server = (u32::from(server_high) << 16) | u32::from(server_low);
    let client = !((u32::from(client_high) << 16) | u32::from(client_low));
    refusal_v4(server.into()).or_else(|| refusal_v4(client.into()))
}

/// Returns the address that a host is, if it is one.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    match host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        Some(inner) => inner.parse().ok().map(IpAddr::V6),
        None => host.parse().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_an_address_is_parsed_as_in_urls() {
        let cases = [
            ("127.0.0.1", true),
            ("[::1]", true),
            ("::1", false),
            ("[127.0.0.1]", false),
            ("a.test", false),
            ("[::1", false),
        ];
        for (host, expected) in cases {
            assert_eq!(literal(host).is_some(), expected, "{host}");
        }
    }
}
