//! Bulk loading of quarter tables, so that a restart only waits for the disk.
//!
//! After sorting by fingerprint, equal fingerprints are neighbours and the first table is sorted.
//! One pass splits each table into its 256 segments, and another splits each segment, which fits
//! into the cache, into its buckets. Sorting begins with such a pass as well.

use super::MAX_EQUAL;
use super::quarters::{Key, QuarterTables, SEGMENTS, SEVERAL};
use super::segment::{Address, Segment};
use crate::fingerprint::Fingerprint;

impl QuarterTables {
    /// Builds tables of all items, as if they had been inserted one after the other: for equal
    /// fingerprints, the first [`MAX_EQUAL`] ids are kept.
    #[must_use]
    pub fn build(items: Vec<(Fingerprint, u32)>) -> Self {
        let items = in_order(items);
        let mut tables = Self::new();
        let mut held: Vec<u64> = Vec::with_capacity(items.len());
        let mut ids: Vec<u32> = Vec::with_capacity(items.len());
        for equal in items.chunk_by(|(one, _), (two, _)| one == two) {
            let bits = equal[0].0.as_u64();
            held.push(bits);
            let kept = &equal[..equal.len().min(MAX_EQUAL)];
            tables.len += kept.len();
            match kept {
                [(_, id)] if *id != SEVERAL => ids.push(*id),
                _ => {
                    tables
                        .several
                        .insert(bits, kept.iter().map(|&(_, id)| id).collect());
                    ids.push(SEVERAL);
                }
            }
        }
        drop(items);
        let mut ids = &ids[..];
        let mut places = Vec::new();
        for (number, ordered) in in_segments(&held, 0).enumerate() {
            let (here, behind) = ids.split_at(ordered.len());
            ids = behind;
            list(ordered, 0, &mut places);
            tables.segments[number] = Segment::of(&places, here);
        }
        let mut apart = vec![0; held.len()];
        for table in 1..4 {
            part(&held, |&bits| segment(bits, table), &mut apart);
            for (number, together) in in_segments(&apart, table).enumerate() {
                list(together, table, &mut places);
                tables.segments[table * SEGMENTS + number] = Segment::of(&places, &[]);
            }
        }
        tables
    }
}

impl FromIterator<(Fingerprint, u32)> for QuarterTables {
    fn from_iter<I: IntoIterator<Item = (Fingerprint, u32)>>(items: I) -> Self {
        Self::build(items.into_iter().collect())
    }
}

fn list(bits: &[u64], table: usize, places: &mut Vec<Address>) {
    places.clear();
    places.extend(bits.iter().map(|&bits| Key::of(bits, table).place));
}

/// Returns the items sorted by fingerprint; equal fingerprints keep their order, so that the first
/// ids are kept.
fn in_order(mut items: Vec<(Fingerprint, u32)>) -> Vec<(Fingerprint, u32)> {
    if items.is_sorted_by_key(|(fingerprint, _)| *fingerprint) {
        return items;
    }
    let mut parted = vec![(Fingerprint::new(0), 0); items.len()];
    part(&items, |item| byte(item, 7), &mut parted);
    let mut spare = &mut items[..];
    for together in parted.chunk_by_mut(|one, two| byte(one, 7) == byte(two, 7)) {
        let (spare_here, behind) = spare.split_at_mut(together.len());
        spare = behind;
        if together.len() < SEGMENTS {
            together.sort_by_key(|(fingerprint, _)| *fingerprint);
            continue;
        }
        // Sorts by two more bytes, the lower byte first. The rest decides only between items with
        // equal bytes here.
        part(together, |item| byte(item, 5), spare_here);
        part(spare_here, |item| byte(item, 6), together);
        for alike in
            together.chunk_by_mut(|one, two| (5..7).all(|at| byte(one, at) == byte(two, at)))
        {
            alike.sort_by_key(|(fingerprint, _)| *fingerprint);
        }
    }
    parted
}

/// Returns the byte of a fingerprint at this position; 7 is the uppermost.
fn byte(item: &(Fingerprint, u32), at: u32) -> usize {
    usize::from((item.0.as_u64() >> (8 * at)) as u8)
}

/// Returns the number of the segment of `table` that holds this fingerprint.
fn segment(bits: u64, table: usize) -> usize {
    Key::of(bits, table).segment % SEGMENTS
}

/// Copies `from` into `to`, sorted by `segment`; items of the same segment keep their order.
fn part<T: Copy>(from: &[T], segment: impl Fn(&T) -> usize, to: &mut [T]) {
    let mut ends = [0_usize; SEGMENTS];
    from.iter().for_each(|one| ends[segment(one)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum - *end;
    }
    for one in from {
        let end = &mut ends[segment(one)];
        to[*end] = *one;
        *end += 1;
    }
}

/// Splits `parted`, which is sorted by the segments of `table`, into these segments.
fn in_segments(parted: &[u64], table: usize) -> impl Iterator<Item = &[u64]> {
    let mut rest = parted;
    (0..SEGMENTS).map(move |number| {
        let count = rest.partition_point(|&bits| segment(bits, table) <= number);
        let (here, behind) = rest.split_at(count);
        rest = behind;
        here
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;

    #[test]
    fn any_items_come_into_order_and_equal_ones_stay_in_theirs() {
        let few = (0..100_u64).map(|n| mix(n % 40));
        let many = (0..200_000).map(|n| mix(n % 80_000));
        let crowd = (0..5_000).map(|n| mix(n) & (0x030f_00f0_0000_0003 >> (n % 5)));
        for bits in [
            few.collect::<Vec<_>>(),
            many.collect(),
            crowd.collect(),
            (0..9_000).collect(),
        ] {
            let items: Vec<_> = bits.into_iter().map(Fingerprint::new).zip(0..).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|(fingerprint, _)| *fingerprint);
            assert!(in_order(items) == expected);
        }
    }
}
