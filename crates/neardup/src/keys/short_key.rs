//! The 32 bits of a key that are remembered.

use crate::mix::mix;

/// A key cut to 32 bits, evenly spread whatever the key was.
///
/// Among ten million pages one look-up in 430 meets a stranger with the same 32 bits; whoever looks
/// up verifies what is found, so that strangers cost time and nothing else.
///
/// Invariant: which 32 bits a key has is stable for ever; stores have them on disk
/// (`golden/short-keys.txt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortKey(u32);

impl ShortKey {
    /// Returns the 32 bits of `key`, all of whose bits count.
    #[must_use]
    pub const fn of(key: u64) -> Self {
        Self(mix(key) as u32)
    }

    /// Returns the key that was stored as these bits.
    #[must_use]
    pub const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the bits, to be stored. Keys are ordered by them.
    #[must_use]
    pub const fn as_u32(self) -> u32 {
        self.0
    }
}
