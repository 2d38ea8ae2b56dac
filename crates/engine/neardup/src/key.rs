//! The key of all hashes of a crawl.
//!
//! With a public hash, anyone could craft a page with the same fingerprint and sketch as somebody
//! else's page, so that the latter is left out. A secret key per crawl prevents that. Crawls that
//! share an index share the key.

use std::fmt;

use xxhash_rust::xxh3::xxh3_128_with_seed;

/// A key for all hashes of a crawl.
///
/// ```
/// use neardup::HashKey;
///
/// assert_ne!(HashKey::new(1).digest(b"page"), HashKey::new(2).digest(b"page"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct HashKey(u64);

impl HashKey {
    /// The key of golden files and of commands that compare files without a crawl.
    pub const ZERO: HashKey = HashKey(0);

    /// Returns the key with this number. Choose the number at random once per crawl, and keep it
    /// with the crawl.
    #[must_use]
    pub const fn new(key: u64) -> Self {
        Self(key)
    }

    /// Returns the number, to store it with the crawl.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns a digest of 128 bits: equal digests mean equal bytes (keyed xxh3-128; no
    /// cryptographic guarantee).
    #[must_use]
    pub fn digest(self, bytes: &[u8]) -> u128 {
        xxh3_128_with_seed(bytes, self.0)
    }
}

/// Debug output hides the key, because debug output ends up in logs.
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
