//! Hosts: the key of politeness.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A host's name in lower case, or its address (IPv6 in brackets), without a port.
///
/// Politeness applies to a machine, so two ports of one host share their pace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(Arc<str>);

impl Host {
    /// Creates a host from a known name: an option, or a stored value. Only lowers the case.
    /// [`crate::PageUrl::host`] extracts the host of a URL.
    #[must_use]
    pub fn new(name: &str) -> Self {
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Self(name.to_ascii_lowercase().into());
        }
        Self(name.into())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the registrable domain, as [`crate::PageUrl::registrable_domain`] does.
    #[must_use]
    pub fn registrable_domain(&self) -> &str {
        // A name whose last label is a number is an address (URL standard, "ends in a number
        // checker").
        let last = self.0.rsplit('.').next().unwrap_or_default();
        let is_address = self.0.starts_with('[') || last.bytes().all(|byte| byte.is_ascii_digit());
        if is_address {
            return &self.0;
        }
        registrable(&self.0)
    }
}

/// Allows looking up hosts in maps by name.
impl Borrow<str> for Host {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the registrable part of a domain name; the whole name if it is itself a public suffix,
/// or if it begins with a dot (as in the test cases of the public suffix list).
pub(crate) fn registrable(name: &str) -> &str {
    if name.starts_with('.') {
        return name;
    }
    psl::domain_str(name).unwrap_or(name)
}
