//! Groups of pages in one set of tables: only pages of one group shall meet.
//!
//! A group costs no table of its own: its number is mixed into all keys of its pages and added
//! (xor) to their fingerprints, which keeps every distance within the group and makes those between
//! groups random. Group 0 adds nothing.
//!
//! Invariant: stable for ever; stores have shaded keys on disk. Pages of two groups can meet by
//! accident, so whoever looks up compares the groups.

use crate::fingerprint::Fingerprint;
use crate::keys::short_key::ShortKey;
use crate::mix::mix;

/// What a group adds to the keys of its pages: a bijection of the group's number that leaves 0 as
/// it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition(u64);

impl Partition {
    /// That of the group with this number.
    #[must_use]
    pub const fn of(group: u64) -> Self {
        Self(mix(group))
    }

    /// Stands for a digest within the group.
    #[must_use]
    pub const fn digest(self, digest: u128) -> u64 {
        (digest >> 64) as u64 ^ mix(digest as u64 ^ self.0)
    }

    /// Stands for a band of [`Sketch::bands`](crate::Sketch::bands) within the group.
    #[must_use]
    pub const fn band(self, band: u64) -> ShortKey {
        ShortKey::of(band ^ self.0)
    }

    /// The fingerprint as it lies in tables among those of other groups.
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
        fn a_group_keeps_its_distances_and_group_0_changes_nothing(one: u64, two: u64, group: u64, digest: u128) {
            let (one, two) = (Fingerprint::new(one), Fingerprint::new(two));
            let partition = Partition::of(group);
            prop_assert_eq!(partition.fingerprint(one).distance(partition.fingerprint(two)), one.distance(two));
            prop_assert_eq!(Partition::of(0).fingerprint(one), one);
            prop_assert_eq!(Partition::of(0).band(7), ShortKey::of(7));
            prop_assert!(group == 0 || partition.digest(digest) != Partition::of(0).digest(digest));
        }
    }
}
