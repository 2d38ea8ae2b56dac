//! Packed runs of ascending values.
//!
//! All values of a run share their [`LEADING`] bits, so these are not stored. The next few bits are
//! the number of a bucket of eight to sixteen values; the start of a bucket is stored once for all
//! its values. The lower half is stored with as many bits as its greatest value needs. At ten
//! million pages a value takes 12 bits of the key, 24 of the id and 2 of the starts.
//!
//! Invariant: values ascend within a bucket, and buckets ascend, so that a run reads back sorted.

use std::ops::Range;

use crate::tables::prefetch;

/// Number of bits that all values of a run share: a set has 2¹⁰ runs.
pub(super) const LEADING: u32 = 10;

/// Number of bits of the upper half that distinguish values of one run.
const UPPER: u32 = 32 - LEADING;

/// Minimum average number of values per bucket, while the upper half has enough bits.
const IN_A_BUCKET: usize = 8;

/// Maximum number of values that a search reads one by one; longer ranges are halved first.
const MAX_LINEAR_SEARCH: usize = 32;

/// Number of bytes that are read and written at once for an entry, which may begin at any bit; as
/// many must follow the last entry.
const WORD: usize = size_of::<u64>();

/// Distinct ascending values with the same leading bits.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    len: u32,
    layout: Layout,
    /// Start of each bucket, and end of the last; empty if there are no values.
    starts: Starts,
    entries: Box<[u8]>,
}

/// Layout of a value's bits.
#[derive(Clone, Copy, Debug, Default)]
struct Layout {
    bucket_bits: u32,
    low_bits: u32,
}

#[derive(Clone, Debug)]
enum Starts {
    Narrow(Box<[u16]>),
    Wide(Box<[u32]>),
}

impl Default for Starts {
    fn default() -> Self {
        Self::Narrow(Box::default())
    }
}

impl Layout {
    fn of(values: &[u64]) -> Self {
        let lows = values.iter().fold(0, |lows, &value| lows | value as u32);
        Self {
            bucket_bits: (values.len() / IN_A_BUCKET).max(1).ilog2().min(UPPER),
            low_bits: u32::BITS - lows.leading_zeros(),
        }
    }

    /// Returns the number of bits of an entry: at most 54, so that it fits a word together with the
    /// bits before it.
    fn width(self) -> u32 {
        UPPER - self.bucket_bits + self.low_bits
    }

    /// Returns the bucket of an upper half, and the least entry that it can have in that bucket.
    #[inline]
    fn place(self, upper: u32) -> (usize, u64) {
        let left = UPPER - self.bucket_bits;
        let within = upper & ones(UPPER) as u32;
        let entry = u64::from(within & ones(left) as u32) << self.low_bits;
        ((within >> left) as usize, entry)
    }

    /// Returns the value of an entry in a bucket of the run with this number.
    #[inline]
    fn value(self, number: usize, bucket: usize, entry: u64) -> u64 {
        let upper = (number << UPPER | bucket << (UPPER - self.bucket_bits)) as u64
            | entry >> self.low_bits;
        upper << 32 | entry & ones(self.low_bits)
    }
}

/// Returns a number whose lowest `bits` bits are set; `bits` is below 64.
#[inline]
const fn ones(bits: u32) -> u64 {
    (1 << bits) - 1
}

impl Packed {
    /// Creates a run of values that are distinct, ascending, equal in their leading bits, and at
    /// most 2³² − 1 in number.
    pub(super) fn of(values: &[u64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        let layout = Layout::of(values);
        let width = layout.width();
        let buckets = 1 << layout.bucket_bits;
        let mut starts = Vec::with_capacity(buckets + 1);
        let mut entries = vec![0; (values.len() * width as usize).div_ceil(8) + WORD];
        // Bits that are not written yet: `used` of them, fewer than eight between two values.
        let (mut word, mut used, mut at) = (0, 0, 0);
        for (value, place) in values.iter().zip(0_u32..) {
            let (bucket, least) = layout.place((value >> 32) as u32);
            while starts.len() <= bucket {
                starts.push(place);
            }
            word |= (least | value & ones(layout.low_bits)) << used;
            used += width;
            if let Some(bytes) = entries[at..].first_chunk_mut() {
                *bytes = u64::to_le_bytes(word);
            }
            at += (used / 8) as usize;
            word >>= used & !7;
            used &= 7;
        }
        starts.resize(buckets + 1, values.len() as u32);
        Self {
            len: values.len() as u32,
            layout,
            starts: Starts::of(&starts),
            entries: entries.into(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns the lower halves of the values with this upper half, ascending.
    #[inline]
    pub(super) fn under(&self, upper: u32) -> impl Iterator<Item = u32> {
        let (bucket, least) = self.layout.place(upper);
        let lows = ones(self.layout.low_bits);
        let bucket = self.starts.get(bucket);
        (self.seek(bucket.clone(), least)..bucket.end)
            .map(|at| self.entry(at))
            .take_while(move |entry| entry & !lows == least)
            .map(move |entry| (entry & lows) as u32)
    }

    /// Returns true if the run contains `value`.
    #[inline]
    pub(super) fn contains(&self, value: u64) -> bool {
        let (upper, low) = ((value >> 32) as u32, u64::from(value as u32));
        if low > ones(self.layout.low_bits) {
            return false;
        }
        let (bucket, least) = self.layout.place(upper);
        let bucket = self.starts.get(bucket);
        let at = self.seek(bucket.clone(), least | low);
        at < bucket.end && self.entry(at) == least | low
    }

    /// Appends all values of the run with this number, in ascending order.
    pub(super) fn unpack(&self, number: usize, values: &mut Vec<u64>) {
        if self.len == 0 {
            return;
        }
        values.reserve(self.len());
        for bucket in 0..1 << self.layout.bucket_bits {
            let entries = self.starts.get(bucket).map(|at| self.entry(at));
            values.extend(entries.map(|entry| self.layout.value(number, bucket, entry)));
        }
    }

    /// Prefetches the start of the bucket of this upper half.
    #[inline]
    pub(super) fn prefetch_start(&self, upper: u32) {
        let (bucket, _) = self.layout.place(upper);
        match &self.starts {
            Starts::Narrow(starts) => prefetch(starts, bucket),
            Starts::Wide(starts) => prefetch(starts, bucket),
        }
    }

    /// Prefetches the bucket of this upper half.
    #[inline]
    pub(super) fn prefetch_bucket(&self, upper: u32) {
        let (bucket, _) = self.layout.place(upper);
        let Range { start, end } = self.starts.get(bucket);
        let width = self.layout.width() as usize;
        prefetch(&self.entries, start * width / 8);
        prefetch(&self.entries, end * width / 8);
    }

    /// Returns the number of bytes held.
    pub(super) fn memory(&self) -> usize {
        let starts = match &self.starts {
            Starts::Narrow(starts) => size_of_val::<[_]>(starts),
            Starts::Wide(starts) => size_of_val::<[_]>(starts),
        };
        starts + self.entries.len()
    }

    /// Returns the first position in this part of a bucket whose entry is at least `wanted`, or the
    /// end of the part.
    #[inline]
    fn seek(&self, bucket: Range<usize>, wanted: u64) -> usize {
        let Range { mut start, end } = bucket;
        let mut len = end - start;
        while len > MAX_LINEAR_SEARCH {
            let half = len / 2;
            if self.entry(start + half) < wanted {
                start += half + 1;
                len -= half + 1;
            } else {
                len = half;
            }
        }
        let end = start + len;
        (start..end)
            .find(|&at| self.entry(at) >= wanted)
            .unwrap_or(end)
    }

    #[inline]
    fn entry(&self, at: usize) -> u64 {
        let width = self.layout.width();
        let bit = at * width as usize;
        let word = self.entries.get(bit / 8..).and_then(<[u8]>::first_chunk);
        let word = u64::from_le_bytes(*word.unwrap_or(&[0; WORD]));
        word >> (bit % 8) & ones(width)
    }
}

impl Starts {
    fn of(starts: &[u32]) -> Self {
        let is_wide = starts.last().is_some_and(|end| *end > u32::from(u16::MAX));
        if is_wide {
            return Self::Wide(starts.into());
        }
        Self::Narrow(starts.iter().map(|&start| start as u16).collect())
    }

    /// Returns the positions of a bucket; empty if the bucket does not exist.
    #[inline]
    fn get(&self, bucket: usize) -> Range<usize> {
        let bounds = match self {
            Self::Narrow(starts) => starts
                .get(bucket..bucket + 2)
                .map(|two| (two[0].into(), two[1].into())),
            Self::Wide(starts) => starts.get(bucket..bucket + 2).map(|two| (two[0], two[1])),
        };
        let (start, end) = bounds.unwrap_or((0, 0));
        start as usize..end as usize
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::mix::mix;

    fn check(number: usize, values: &BTreeSet<u64>, others: &[u64]) {
        let ascending: Vec<u64> = values.iter().copied().collect();
        let packed = Packed::of(&ascending);
        assert_eq!(packed.len(), ascending.len());
        let mut back = Vec::new();
        packed.unpack(number, &mut back);
        assert_eq!(back, ascending);
        for value in ascending
            .iter()
            .step_by(ascending.len() / 500 + 1)
            .chain(others)
        {
            assert_eq!(packed.contains(*value), values.contains(value), "{value:x}");
            let upper = value >> 32;
            let lows: Vec<u32> = values
                .range(upper << 32..=upper << 32 | 0xffff_ffff)
                .map(|value| *value as u32)
                .collect();
            assert_eq!(
                packed.under(upper as u32).collect::<Vec<_>>(),
                lows,
                "{upper:x}"
            );
        }
    }

    #[test]
    fn a_run_of_each_size_reads_back_whether_its_starts_are_narrow_or_wide() {
        for len in [0, 1, 15, 16, 1_000, 65_535, 65_536, 200_000] {
            for low_bits in [0, 1, 24, 32] {
                let value = |n: u64| {
                    5 << 54 | (mix(n) >> LEADING & !0xffff_ffff) | mix(!n) & ones(low_bits)
                };
                let values: BTreeSet<u64> = (0..len).map(value).collect();
                let others: Vec<u64> = (len..len + 100).map(value).collect();
                check(5, &values, &others);
            }
        }
    }

    #[test]
    fn ten_million_pages_take_38_bits_a_key() {
        let in_a_run = 10_000_000 >> LEADING;
        let mut values: Vec<u64> = (0..in_a_run)
            .map(|n| mix(n) >> LEADING & !0xffff_ffff | (mix(!n) % 10_000_000))
            .collect();
        values.sort_unstable();
        let bits = Packed::of(&values).memory() as f64 * 8.0 / in_a_run as f64;
        assert!((36.0..38.0).contains(&bits), "{bits}");
    }

    proptest! {
        #[test]
        fn a_run_holds_what_it_was_made_from(
            values in prop::collection::btree_set(
                (any::<u64>(), 0..64_u32).prop_map(|(value, shift)| value >> shift),
                0..300,
            ),
            number in 0..1_usize << LEADING, others: [u64; 8], crowd in 0..64_u32,
        ) {
            let lead = |value: &u64| {
                let low = value & ones(64 - LEADING) & !(ones(crowd) << 32);
                (number as u64) << (64 - LEADING) | low
            };
            let values: BTreeSet<u64> = values.iter().map(lead).collect();
            let others: Vec<u64> = others.iter().map(lead).collect();
            check(number, &values, &others);
        }
    }
}
