//! The addresses that this crawl may ask: public ones, and what the user allows.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use crate::failure::FetchFailure;
use crate::ssrf_guard::address::{literal, refusal};

/// The rules for addresses, with the user's exceptions.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    allow_private: bool,
    allowed: Arc<[IpAddr]>,
}

impl Guard {
    pub(crate) fn new(allow_private: bool, allowed: &[IpAddr]) -> Self {
        Self {
            allow_private,
            allowed: allowed.into(),
        }
    }

    /// Checks that `address` may be asked.
    pub(crate) fn check(&self, address: IpAddr) -> Result<(), FetchFailure> {
        match refusal(address) {
            Some(refusal) if !self.allow_private && !self.allowed.contains(&address) => {
                Err(FetchFailure::PrivateAddress { address, refusal })
            }
            _ => Ok(()),
        }
    }

    /// Checks a host that is written as an address.
    pub(crate) fn check_literal(&self, host: &str) -> Result<(), FetchFailure> {
        literal(host).map_or(Ok(()), |address| self.check(address))
    }

    /// Checks a name that a proxy will look up: it must not be one that always means this machine
    /// (RFC 6761 section 6.3).
    pub(crate) fn check_unresolved(&self, host: &str) -> Result<(), FetchFailure> {
        if host == "localhost" || host.ends_with(".localhost") {
            return self.check(IpAddr::V4(Ipv4Addr::LOCALHOST));
        }
        Ok(())
    }

    /// Returns the addresses that may be asked; an error only if all are refused.
    pub(crate) fn filter(&self, mut addresses: Vec<IpAddr>) -> Result<Vec<IpAddr>, FetchFailure> {
        let mut refused = Err(FetchFailure::Dns);
        addresses.retain(|address| match self.check(*address) {
            Ok(()) => true,
            Err(failure) => {
                refused = Err(failure);
                false
            }
        });
        if addresses.is_empty() {
            refused
        } else {
            Ok(addresses)
        }
    }
}
