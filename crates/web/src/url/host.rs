//! Who is asked: the key of politeness.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A host's name in lower case, or its address (IPv6 in brackets); no port.
///
/// Politeness is owed to a machine, so two ports of one host share their pace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Host(Arc<str>);

impl Host {
    /// A host whose name is already known: from an option, or as stored. [`crate::PageUrl::host`]
    /// is the way from a URL. Only lowers the case.
    #[must_use]
    pub fn new(name: &str) -> Self {
        if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Self(name.to_ascii_lowercase().into());
        }
        Self(name.into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part that somebody registered, as [`crate::PageUrl::registrable_domain`] has it.
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

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The registrable part of a domain name; the whole name where it is itself a public suffix, or
/// where it begins with a dot and so is nobody's (as the public suffix list's own cases have it).
pub(crate) fn registrable(name: &str) -> &str {
    if name.starts_with('.') {
        return name;
    }
    psl::domain_str(name).unwrap_or(name)
}
