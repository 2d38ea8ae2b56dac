//! The 64-bit key of a URL.
//!
//! A key has eight bytes instead of a hundred: the set of URLs seen, the frontier and the journal
//! store keys. Invariant: a key is xxh3-64 with seed 0 of the canonical text. It is on disk, so it
//! never changes; `tests/page_url.rs` pins it. At 100 million URLs, a collision is expected with a
//! probability of 0.03 %.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Key of a [`crate::PageUrl`] in stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UrlKey(u64);

impl UrlKey {
    pub(crate) fn of(canonical: &str) -> Self {
        Self(xxh3_64(canonical.as_bytes()))
    }

    /// Returns the key of a name that is not a URL, such as a domain, hashed like a URL.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self::of(name)
    }

    /// Creates a key from its stored value.
    #[must_use]
    pub const fn from_u64(key: u64) -> Self {
        Self(key)
    }

    /// Returns the stored value.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Writes sixteen hexadecimal digits.
impl fmt::Display for UrlKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
