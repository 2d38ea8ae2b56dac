//! Filling quarter tables with everything at once: a restart should wait for the disk, not for us.
//!
//! Sorted by fingerprint, equal ones are neighbours and the first table is in order. Each of the tables is then cut into
//! its 256 segments in one pass and each segment, which fits into the cache, into its buckets in another.

use super::MAX_EQUAL;
use super::quarters::{Key, QuarterTables, SEGMENTS, SEVERAL};
use super::segment::{Place, Segment};
use crate::Fingerprint;

impl QuarterTables {
    /// Tables of all these, as if each had been inserted in turn: of equal fingerprints the first [`MAX_EQUAL`] ids
    /// are kept.
    #[must_use]
    pub fn build(mut items: Vec<(Fingerprint, u32)>) -> Self {
        // Stable, so that of equal ones the first are kept.
        items.sort_by_key(|&(fingerprint, _)| fingerprint);
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
            part(&held, table, &mut apart);
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

fn list(bits: &[u64], table: usize, places: &mut Vec<Place>) {
    places.clear();
    places.extend(bits.iter().map(|&bits| Key::of(bits, table).place));
}

/// Copies `from` into `to`, in the order of the segments of `table`.
fn part(from: &[u64], table: usize, to: &mut [u64]) {
    let segment = |bits: u64| Key::of(bits, table).segment % SEGMENTS;
    let mut ends = [0_usize; SEGMENTS];
    from.iter().for_each(|&bits| ends[segment(bits)] += 1);
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum - *end;
    }
    for &bits in from {
        let end = &mut ends[segment(bits)];
        to[*end] = bits;
        *end += 1;
    }
}

/// What of `parted`, which is in their order, lies in each of the segments of `table`.
fn in_segments(parted: &[u64], table: usize) -> impl Iterator<Item = &[u64]> {
    let mut rest = parted;
    (0..SEGMENTS).map(move |number| {
        let count = rest.partition_point(|&bits| Key::of(bits, table).segment % SEGMENTS <= number);
        let (here, behind) = rest.split_at(count);
        rest = behind;
        here
    })
}
