//! The share of the connections that one address can have.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

/// Connections of each address.
///
/// Loopback is unlimited: all users of this machine come from there, and so does a proxy with
/// everyone behind it.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    most: usize,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A connection of an address, until it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    shares: Shares,
    /// `None` for loopback.
    owner: Option<IpAddr>,
}

impl Shares {
    /// Returns shares of at most `most` connections.
    pub(super) fn of(most: usize) -> Self {
        Self {
            most,
            taken: Arc::default(),
        }
    }

    /// Takes a connection of an address; `None` if it already has the maximum.
    pub(super) fn take(&self, address: IpAddr) -> Option<Share> {
        let owner = owner(address);
        if let Some(owner) = owner {
            let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
            let count = taken.entry(owner).or_insert(0);
            if *count >= self.most {
                return None;
            }
            *count += 1;
        }
        let shares = self.clone();
        Some(Share { shares, owner })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Some(owner) = self.owner else {
            return;
        };
        let taken = self.shares.taken.lock();
        let mut taken = taken.unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&owner) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&owner);
            }
        }
    }
}

/// Returns the address whose share a client uses: for IPv6, the network of the link, since a host
/// chooses its addresses within that network (RFC 4291, section 2.5.4).
fn owner(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => {
            let network = u128::from(address) & !u128::from(u64::MAX);
            Ipv6Addr::from(network).into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_leaves_those_of_others() {
        let shares = Shares::of(2);
        let take = |address: &str| shares.take(address.parse().unwrap());
        let mut held = vec![
            take("192.0.2.1").unwrap(),
            take("::ffff:192.0.2.1").unwrap(),
        ];
        assert!(take("192.0.2.1").is_none());
        assert!(take("192.0.2.2").is_some());
        held.pop();
        held.push(take("192.0.2.1").unwrap());
        assert!(take("192.0.2.1").is_none());
        drop(held);
        assert!(shares.taken.lock().unwrap().is_empty());
    }

    #[test]
    fn the_addresses_of_one_network_of_ipv6_share_and_loopback_has_no_share() {
        let shares = Shares::of(1);
        let take = |address: &str| shares.take(address.parse().unwrap());
        let _held = take("2001:db8:0:1::7").unwrap();
        assert!(take("2001:db8:0:1:ffff::9").is_none());
        assert!(take("2001:db8:0:2::7").is_some());
        let local = ["127.0.0.1", "127.0.0.1", "::1", "::1"].map(take);
        assert!(local.iter().all(Option::is_some));
    }
}
