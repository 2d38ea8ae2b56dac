//! The key under which a crawl hashes.
//!
//! With a public hash anyone could craft a page whose fingerprint and sketch equal those of
//! somebody else's, and so have that page left out. A secret key a crawl takes the tool away.
//! Crawls that share an index share the key.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Keys every hash of a crawl.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct HashKey(u64);

impl HashKey {
    /// The key of golden files and of commands that compare files without a crawl.
    pub const ZERO: HashKey = HashKey(0);

    /// The key with this number; choose it at random, once a crawl, and keep it with the crawl.
    #[must_use]
    pub const fn new(key: u64) -> Self {
        Self(key)
    }

    /// The number, to be stored with the crawl.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// 128 bits that stand for `bytes`: equal digests mean equal bytes (keyed xxh3-128; not a
    /// cryptographic promise).
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> u128 {
        xxh3_128_with_seed(bytes, self.0)
    }
}

/// Does not tell the key: debug output ends in logs.
impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::ZERO {
            "HashKey::ZERO"
        } else {
            "HashKey(secret)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_does_not_show_itself_in_debug_output() {
        assert_eq!(format!("{:?}", HashKey::new(77_777)), "HashKey(secret)");
    }

    #[test]
    fn the_same_bytes_have_different_digests_under_different_keys() {
        assert_ne!(
            HashKey::ZERO.digest(b"page"),
            HashKey::new(1).digest(b"page")
        );
        assert_eq!(
            HashKey::new(1).digest(b"page"),
            HashKey::new(1).digest(b"page")
        );
    }
}
