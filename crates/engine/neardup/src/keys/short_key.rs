//! Keys cut to 32 bits.

use crate::mix::mix;

/// A key cut to 32 bits, evenly distributed for any key.
///
/// Among ten million pages, one look-up in 430 finds an unrelated page with the same 32 bits. Every
/// look-up verifies its hits, so a collision only costs time.
///
/// Invariant: the 32 bits of a key are stable for ever, because stores have them on disk
/// (`golden/short-keys.txt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortKey(u32);

impl ShortKey {
    /// Returns the 32 bits of `key`, which depend on all its bits.
    #[must_use]
    pub const fn of(key: u64) -> Self {
        Self(mix(key) as u32)
    }

    /// Returns the key that was stored as these bits.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits to store. They define the order of keys.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}
