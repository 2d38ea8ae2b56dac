//! An exact equality test: it compares fingerprints first, then the texts themselves.
//!
//! Two different texts share the same 64 bits with probability 2⁻⁶⁴, so most comparisons end at the
//! fingerprint. Equal fingerprints are confirmed by comparing the texts, so the result is exact
//! with any hash (Broder, Glassman, Manasse and Zweig, WWW 1997: exact duplicates are removed
//! first). The texts, perhaps in an archive, are fetched only for a comparison.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::key::HashKey;
use crate::text::NormalText;

/// A 64-bit hash of a text or of any bytes, for instance of a shingle from elsewhere. Unlike the
/// simhash [`Fingerprint`](crate::Fingerprint), it changes completely with any bit of its input.
///
/// ```
/// use neardup::{ExactFingerprint, HashKey};
///
/// let of = |bytes: &[u8]| ExactFingerprint::of_bytes(bytes, HashKey::ZERO);
/// assert!(of(b"page").confirmed(of(b"page"), || true));
/// assert!(!of(b"page").confirmed(of(b"Page"), || unreachable!("the fingerprints differ")));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExactFingerprint(u64);

impl ExactFingerprint {
    /// Creates the fingerprint of the sequence of a text's words: white space, punctuation and
    /// capitals do not count.
    #[must_use]
    pub fn of_text(text: &NormalText, key: HashKey) -> Self {
        Self::of_bytes(text.as_str().as_bytes(), key)
    }

    /// Creates the fingerprint of raw bytes (keyed xxh3).
    #[must_use]
    pub fn of_bytes(bytes: &[u8], key: HashKey) -> Self {
        Self(xxh3_64_with_seed(bytes, key.as_u64()))
    }

    /// Returns the fingerprint with this stored number.
    #[must_use]
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Returns the number to store. It is meaningful only together with its key and
    /// [`ALGORITHM`](crate::ALGORITHM).
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// Returns true if the two texts are equal. `compare` is called, and decides, only if the
    /// fingerprints are equal.
    pub fn confirmed(self, other: Self, compare: impl FnOnce() -> bool) -> bool {
        self == other && compare()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_only_where_their_fingerprints_are_equal() {
        let of = |text: &str| ExactFingerprint::of_text(&NormalText::of(text), HashKey::ZERO);
        let (one, same, other) = (
            of("To be, or not"),
            of("to be or not!"),
            of("to be or nought"),
        );
        assert!(one.confirmed(same, || true));
        assert!(
            !one.confirmed(same, || false),
            "a collision is not a duplicate"
        );
        assert!(!one.confirmed(other, || panic!("they need not be compared")));
        assert_eq!(ExactFingerprint::new(one.as_u64()), one);
    }

    #[test]
    fn bytes_have_another_fingerprint_under_another_key() {
        let of = |key| ExactFingerprint::of_bytes(b"page", HashKey::new(key));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        assert_ne!(of(1), ExactFingerprint::of_bytes(b"", HashKey::new(1)));
    }
}
