//! The bounds of the buckets of a segment.
//!
//! Every probe begins here, so keeping them small pays: four bytes per bucket while the positions
//! of a segment fit into 16 bits, up to about ten million fingerprints; eight beyond.

use super::lanes::prefetch;

/// The start and the length of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Bucket {
    /// Returns the position after the bucket's last entry.
    #[inline]
    pub(super) fn end(self) -> u32 {
        self.start + self.len
    }
}

#[derive(Clone, Debug)]
pub(super) enum Buckets {
    Narrow(Box<[[u16; 2]]>),
    Wide(Box<[[u32; 2]]>),
}

impl Default for Buckets {
    fn default() -> Self {
        Self::Narrow(Box::default())
    }
}

impl Buckets {
    /// Stores these buckets, which all end at or before `places`.
    pub(super) fn of(buckets: &[Bucket], places: u32) -> Self {
        if places > u32::from(u16::MAX) {
            return Self::Wide(
                buckets
                    .iter()
                    .map(|bucket| [bucket.start, bucket.len])
                    .collect(),
            );
        }
        let narrow = |bucket: &Bucket| [bucket.start as u16, bucket.len as u16];
        Self::Narrow(buckets.iter().map(narrow).collect())
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(buckets) => buckets.len(),
            Self::Wide(buckets) => buckets.len(),
        }
    }

    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<Bucket> {
        let (start, len) = match self {
            Self::Narrow(buckets) => {
                let &[start, len] = buckets.get(number)?;
                (u32::from(start), u32::from(len))
            }
            Self::Wide(buckets) => {
                let &[start, len] = buckets.get(number)?;
                (start, len)
            }
        };
        Some(Bucket { start, len })
    }

    /// Replaces a bucket with `bucket`, which ends at or before `places`.
    pub(super) fn put(&mut self, number: usize, bucket: Bucket) {
        match self {
            Self::Narrow(buckets) => buckets[number] = [bucket.start as u16, bucket.len as u16],
            Self::Wide(buckets) => buckets[number] = [bucket.start, bucket.len],
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, number: usize) {
        match self {
            Self::Narrow(buckets) => prefetch(buckets, number),
            Self::Wide(buckets) => prefetch(buckets, number),
        }
    }

    /// Returns the number of bytes held.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Narrow(buckets) => size_of_val::<[_]>(buckets),
            Self::Wide(buckets) => size_of_val::<[_]>(buckets),
        }
    }
}
