//! Groups of pages in one set of tables: only pages of the same group are compared.
//!
//! A group costs no table of its own. Its number is mixed into all keys of its pages and added
//! (xor) to their fingerprints, which preserves every distance within the group and makes distances
//! between groups random. Group 0 adds nothing.
//!
//! Invariant: stable for ever, because stores have the keys of partitions on disk. Keys of two
//! groups may coincide by accident, so every look-up compares the groups.

use crate::fingerprint::Fingerprint;
use crate::keys::short_key::ShortKey;
use crate::mix::mix;

/// The number that a group adds to the keys of its pages: a bijection of the group's number that
/// maps 0 to 0.
///
/// ```
/// use neardup::{Fingerprint, Partition};
///
/// let (one, other) = (Fingerprint::new(0b01), Fingerprint::new(0b11));
/// let group = Partition::of(7);
/// assert_eq!(group.fingerprint(one).distance(group.fingerprint(other)), one.distance(other));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition(u64);

impl Partition {
    /// Returns the partition of the group with this number.
    #[must_use]
    pub const fn of(group: u64) -> Self {
        Self(mix(group))
    }

    /// Returns the key of a digest within the group.
    #[must_use]
    pub const fn digest(self, digest: u128) -> u64 {
        (digest >> 64) as u64 ^ mix(digest as u64 ^ self.0)
    }

    /// Returns the key of a band of [`Sketch::bands`](crate::Sketch::bands) within the group.
    #[must_use]
    pub const fn band(self, band: u64) -> ShortKey {
        ShortKey::of(band ^ self.0)
    }

    /// Returns the fingerprint of one of the group's pages in shared tables.
    #[must_use]
    pub const fn fingerprint(self, fingerprint: Fingerprint) -> Fingerprint {
        Fingerprint::new(fingerprint.as_u64() ^ self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_group_keeps_its_distances_and_group_0_changes_nothing(
            one: u64,
            two: u64,
            group: u64,
            digest: u128,
        ) {
            let (one, two) = (Fingerprint::new(one), Fingerprint::new(two));
            let partition = Partition::of(group);
            prop_assert_eq!(
                partition.fingerprint(one).distance(partition.fingerprint(two)),
                one.distance(two),
            );
            prop_assert_eq!(Partition::of(0).fingerprint(one), one);
            prop_assert_eq!(Partition::of(0).band(7), ShortKey::of(7));
            prop_assert!(group == 0 || partition.digest(digest) != Partition::of(0).digest(digest));
        }
    }
}
