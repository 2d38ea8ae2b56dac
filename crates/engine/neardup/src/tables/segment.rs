//! A segment of a quarter table: 256 neighbouring quarters and their fingerprints.
//!
//! Buckets are selected by the lower eight bits of a fingerprint's quarter and by enough leading
//! bits of its sibling to keep buckets small. A bucket is unordered, so that an insertion appends,
//! and a removal moves the last entry into the gap. There is free space behind buckets. A full
//! bucket takes a place from the next bucket with free space; if none is near, the segment is laid
//! out again: a few thousand fingerprints at a million held. This avoids a delta that every probe
//! would have to search in addition to the tables, and an insertion never waits for the merge of a
//! whole table.
//!
//! Siblings have their own column: a scan reads two bytes per fingerprint, and for the few that
//! survive it reads the other half from a second column.

use super::buckets::{Bucket, Buckets};
use super::lanes::prefetch;

/// Number of bits of a quarter that select a bucket of a segment; the upper eight select the
/// segment.
pub(super) const QUARTER_BITS: u32 = 8;

/// Maximum number of leading bits of a sibling that select a bucket.
const MAX_SIBLING_BITS: u32 = 10;

/// Maximum number of buckets that are moved to free one place. Beyond it, the free places nearby
/// are used up.
const REACH: usize = 64;

/// Minimum number of fingerprints per quarter for selecting buckets by siblings. A smaller quarter
/// is one bucket: more buckets would touch more cache lines.
const CROWDED: usize = 320;

/// The position of a fingerprint within a table: the lower bits of its quarter, the sibling, and
/// the other half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub(super) quarter: u8,
    pub(super) sibling: u16,
    pub(super) half: u32,
}

/// A segment: buckets, their columns, and the ids if the table has them.
///
/// Every probe begins at one of a thousand segments: the fields that it reads come first, in one
/// cache line.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Segment {
    /// One bucket more than exist: the last starts at the end of the columns and is empty. The list
    /// is empty while the segment is empty.
    buckets: Buckets,
    siblings: Box<[u16]>,
    halves: Box<[u32]>,
    sibling_bits: u32,
    /// As long as the other columns, or empty in tables without ids.
    ids: Box<[u32]>,
    len: usize,
}

impl Segment {
    /// Creates the segment of these addresses and ids; without ids if `ids` is empty.
    pub(super) fn of(places: &[Address], ids: &[u32]) -> Self {
        let mut segment = Self::default();
        segment.lay_out(places, ids, None);
        segment
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of bytes held.
    pub(super) fn memory(&self) -> usize {
        self.buckets.memory()
            + size_of_val::<[u16]>(&self.siblings)
            + size_of_val::<[u32]>(&self.halves)
            + size_of_val::<[u32]>(&self.ids)
    }

    /// Adds a fingerprint that is not present. `id` is `Some` exactly in a table with ids.
    pub(super) fn insert(&mut self, place: Address, id: Option<u32>) {
        if !self.make_room(bucket_of(place.quarter, place.sibling, self.sibling_bits)) {
            let (places, ids) = self.contents();
            self.lay_out(&places, &ids, Some(place));
        }
        let number = bucket_of(place.quarter, place.sibling, self.sibling_bits);
        let mut bucket = self.buckets.get(number).expect("there is room in it");
        let at = bucket.end() as usize;
        bucket.len += 1;
        self.buckets.put(number, bucket);
        self.len += 1;
        self.siblings[at] = place.sibling;
        self.halves[at] = place.half;
        if let Some(id) = id {
            if self.ids.is_empty() {
                self.ids = vec![0; self.halves.len()].into();
            }
            self.ids[at] = id;
        }
    }

    /// Removes `place`; returns false if it was not present.
    pub(super) fn remove(&mut self, place: Address) -> bool {
        let Some(at) = self.find(place) else {
            return false;
        };
        let number = bucket_of(place.quarter, place.sibling, self.sibling_bits);
        let mut bucket = self.buckets.get(number).expect("it was found in it");
        bucket.len -= 1;
        self.buckets.put(number, bucket);
        let last = bucket.end() as usize;
        self.len -= 1;
        self.siblings.swap(at, last);
        self.halves.swap(at, last);
        if !self.ids.is_empty() {
            self.ids.swap(at, last);
        }
        true
    }

    /// Returns the index of this address.
    #[inline]
    pub(super) fn find(&self, place: Address) -> Option<usize> {
        let number = bucket_of(place.quarter, place.sibling, self.sibling_bits);
        let bucket = self.buckets.get(number)?;
        let held = bucket.start as usize..bucket.end() as usize;
        // Few addresses have the same half, and comparing them in sequence is fast.
        let mut halves = self.halves[held.clone()].iter().zip(held);
        let found =
            halves.find(|(half, at)| **half == place.half && self.siblings[*at] == place.sibling);
        found.map(|(_, at)| at)
    }

    /// Returns the siblings in a run.
    #[inline]
    pub(super) fn siblings(&self, start: usize, len: usize) -> &[u16] {
        &self.siblings[start..start + len]
    }

    pub(super) fn sibling(&self, at: usize) -> u16 {
        self.siblings[at]
    }

    pub(super) fn half(&self, at: usize) -> u32 {
        self.halves[at]
    }

    pub(super) fn id(&self, at: usize) -> u32 {
        self.ids[at]
    }

    pub(super) fn set_id(&mut self, at: usize, id: u32) {
        self.ids[at] = id;
    }

    /// Returns true if leading bits of siblings select buckets.
    #[inline]
    pub(super) fn is_crowded(&self) -> bool {
        self.sibling_bits > 0
    }

    /// Returns the start of a quarter, and its siblings, in a segment that is not crowded.
    #[inline]
    pub(super) fn of_quarter(&self, quarter: u8) -> (u32, &[u16]) {
        let bucket = self.buckets.get(quarter.into()).unwrap_or_default();
        (
            bucket.start,
            self.siblings(bucket.start as usize, bucket.len as usize),
        )
    }

    /// Prefetches the bounds of the buckets that a scan needs.
    #[inline]
    pub(super) fn prefetch_bounds(&self, quarter: u8, sibling: u16, budget: u32) {
        let exact = bucket_of(quarter, sibling, self.sibling_bits);
        self.buckets.prefetch(exact);
        // Neighbours in the three lowest bits are mostly in the same cache line.
        for bit in 3..self.sibling_bits {
            if budget > 0 {
                self.buckets.prefetch(exact ^ (1 << bit));
            }
        }
    }

    /// Prefetches the other half at a position, and the id if `with_id`.
    #[inline]
    pub(super) fn prefetch_rest(&self, at: usize, with_id: bool) {
        prefetch(&self.halves, at);
        if with_id {
            prefetch(&self.ids, at);
        }
    }

    /// Calls `visit` with all addresses and their indices.
    pub(super) fn each_place(&self, mut visit: impl FnMut(Address, usize)) {
        let per_quarter = 1 << self.sibling_bits;
        for number in 0..self.buckets.len() {
            let bucket = self.buckets.get(number).unwrap_or_default();
            for at in bucket.start as usize..bucket.end() as usize {
                let place = Address {
                    quarter: (number / per_quarter) as u8,
                    sibling: self.siblings[at],
                    half: self.halves[at],
                };
                visit(place, at);
            }
        }
    }

    /// Calls `visit` with the start and the length of each nonempty bucket that can hold siblings
    /// within `budget` bits.
    #[inline]
    pub(super) fn each_bucket(
        &self,
        quarter: u8,
        sibling: u16,
        budget: u32,
        mut visit: impl FnMut(usize, usize),
    ) {
        let exact = bucket_of(quarter, sibling, self.sibling_bits);
        let mut visit = |number: usize| {
            if let Some(bucket) = self.buckets.get(number).filter(|bucket| bucket.len > 0) {
                visit(bucket.start as usize, bucket.len as usize);
            }
        };
        visit(exact);
        match budget.min(self.sibling_bits) {
            0 => {}
            1 => (0..self.sibling_bits).for_each(|bit| visit(exact ^ (1 << bit))),
            _ => (1_usize..1 << self.sibling_bits)
                .filter(|errors| errors.count_ones() <= budget)
                .for_each(|errors| visit(exact ^ errors)),
        }
    }

    /// Frees a place behind the last entry of a bucket, if necessary by moving the next few buckets
    /// up by one; returns false if there is no free place nearby.
    fn make_room(&mut self, number: usize) -> bool {
        let has_room = |number: &usize| {
            let (bucket, next) = (self.buckets.get(*number), self.buckets.get(*number + 1));
            bucket
                .zip(next)
                .is_some_and(|(bucket, next)| bucket.end() < next.start)
        };
        let Some(roomy) = (number..self.buckets.len().min(number + REACH)).find(has_room) else {
            return false;
        };
        for next in (number + 1..=roomy).rev() {
            // A bucket is unordered: its first entry may become its last.
            let mut bucket = self.buckets.get(next).unwrap_or_default();
            let (first, behind) = (bucket.start as usize, bucket.end() as usize);
            bucket.start += 1;
            self.buckets.put(next, bucket);
            self.siblings[behind] = self.siblings[first];
            self.halves[behind] = self.halves[first];
            if !self.ids.is_empty() {
                self.ids[behind] = self.ids[first];
            }
        }
        true
    }

    fn contents(&self) -> (Vec<Address>, Vec<u32>) {
        let mut places = Vec::with_capacity(self.len);
        let mut ids = Vec::with_capacity(if self.ids.is_empty() { 0 } else { self.len });
        self.each_place(|place, at| {
            places.push(place);
            ids.extend(self.ids.get(at));
        });
        (places, ids)
    }

    /// Writes the columns again, with space for one more entry in the bucket of `coming`.
    fn lay_out(&mut self, places: &[Address], ids: &[u32], coming: Option<Address>) {
        let sibling_bits = sibling_bits_for(places.len());
        let bucket_of = |place: &Address| bucket_of(place.quarter, place.sibling, sibling_bits);
        let mut buckets = vec![Bucket::default(); (1 << (QUARTER_BITS + sibling_bits)) + 1];
        for place in places.iter().chain(&coming) {
            buckets[bucket_of(place)].len += 1;
        }
        let mut start = 0;
        for bucket in &mut buckets {
            bucket.start = start;
            start += bucket.len + bucket.len / 32 + 1;
            bucket.len = 0;
        }
        let total = start as usize;
        let mut siblings = vec![0; total];
        let mut halves = vec![0; total];
        let mut placed_ids = vec![0; if ids.is_empty() { 0 } else { total }];
        for (number, place) in places.iter().enumerate() {
            let bucket = &mut buckets[bucket_of(place)];
            let at = bucket.end() as usize;
            bucket.len += 1;
            siblings[at] = place.sibling;
            halves[at] = place.half;
            if let Some(&id) = ids.get(number) {
                placed_ids[at] = id;
            }
        }
        *self = Self {
            buckets: Buckets::of(&buckets, start),
            sibling_bits,
            siblings: siblings.into(),
            halves: halves.into(),
            ids: placed_ids.into(),
            len: places.len(),
        };
    }
}

/// Returns the number of leading bits of siblings that makes a bucket hold about 24 fingerprints if
/// quarters are crowded; 0 if they are not.
fn sibling_bits_for(len: usize) -> u32 {
    let in_a_quarter = len >> QUARTER_BITS;
    if in_a_quarter < CROWDED {
        return 0;
    }
    (in_a_quarter / 16).ilog2().min(MAX_SIBLING_BITS)
}

#[inline]
fn bucket_of(quarter: u8, sibling: u16, sibling_bits: u32) -> usize {
    usize::from(quarter) << sibling_bits | usize::from(sibling) >> (16 - sibling_bits)
}
