//! A part of a quarter table: 256 neighbouring quarters and all that lies in them.
//!
//! Fingerprints lie in buckets by the lower eight bits of their quarter and by as many leading bits of its sibling as
//! keep buckets small. Within a bucket there is no order, so that adding one writes behind the last, and removing one
//! moves the last into its place. There are free places behind buckets; one that is full takes a place from the next
//! that has some, and once there is none near the segment is laid out anew: a few thousand fingerprints at a million
//! held. That takes the place of a delta which would have to be probed beside the tables, and no insertion waits
//! until a whole table has been merged.
//!
//! Siblings lie in a column of their own: a scan reads two bytes a fingerprint, and goes to the other half, in a second
//! column, for the few that survive.

use std::ops::ControlFlow;

use super::lanes::{LANES, Lanes, prefetch};

/// Bits of a quarter that tell buckets of a segment apart; the upper eight tell segments apart.
pub(super) const QUARTER_BITS: u32 = 8;

/// At most as many leading bits of a sibling tell buckets apart.
const MAX_SIBLING_BITS: u32 = 10;

/// How many buckets may have to move for one place. Beyond that the free places near are used up.
const REACH: usize = 64;

/// Up to so many fingerprints of a quarter are scanned as they lie: below it, more buckets would touch more lines.
const CROWDED: usize = 320;

/// Where a fingerprint lies within a table: the lower bits of its quarter, the sibling, the other half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) quarter: u8,
    pub(super) sibling: u16,
    pub(super) half: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    start: u32,
    len: u32,
}

/// Buckets, the columns they lie in, and the ids where the table has them.
#[derive(Clone, Debug, Default)]
pub(super) struct Segment {
    /// One more than there are buckets: the last starts where the columns end. None while nothing is held.
    buckets: Vec<Bucket>,
    sibling_bits: u32,
    siblings: Vec<u16>,
    halves: Vec<u32>,
    /// As long as the other columns, or empty in tables without ids.
    ids: Vec<u32>,
    len: usize,
}

impl Segment {
    /// The segment of these places and ids; of places alone where `ids` is empty.
    pub(super) fn of(places: &[Place], ids: &[u32]) -> Self {
        let mut segment = Self::default();
        segment.lay_out(places, ids, None);
        segment
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.buckets.capacity() * size_of::<Bucket>()
            + self.siblings.capacity() * size_of::<u16>()
            + (self.halves.capacity() + self.ids.capacity()) * size_of::<u32>()
    }

    /// Adds what is not there yet; `id` only in a table of ids, and then always.
    pub(super) fn insert(&mut self, place: Place, id: Option<u32>) {
        if !self.make_room(bucket_of(place.quarter, place.sibling, self.sibling_bits)) {
            let (places, ids) = self.contents();
            self.lay_out(&places, &ids, Some(place));
        }
        let bucket = &mut self.buckets[bucket_of(place.quarter, place.sibling, self.sibling_bits)];
        let at = (bucket.start + bucket.len) as usize;
        bucket.len += 1;
        self.len += 1;
        self.siblings[at] = place.sibling;
        self.halves[at] = place.half;
        if let Some(id) = id {
            if self.ids.is_empty() {
                self.ids = vec![0; self.halves.len()];
            }
            self.ids[at] = id;
        }
    }

    /// Takes `place` out; false where it was not there.
    pub(super) fn remove(&mut self, lanes: Lanes, place: Place) -> bool {
        let Some(at) = self.find(lanes, place) else {
            return false;
        };
        let bucket = &mut self.buckets[bucket_of(place.quarter, place.sibling, self.sibling_bits)];
        bucket.len -= 1;
        let last = (bucket.start + bucket.len) as usize;
        self.len -= 1;
        self.siblings.swap(at, last);
        self.halves.swap(at, last);
        if !self.ids.is_empty() {
            self.ids.swap(at, last);
        }
        true
    }

    /// Where exactly this place is.
    pub(super) fn find(&self, lanes: Lanes, place: Place) -> Option<usize> {
        let mut found = None;
        let _ = self.each_near(lanes, place.quarter, place.sibling, 0, |at| {
            if self.halves[at] != place.half {
                return ControlFlow::Continue(());
            }
            found = Some(at);
            ControlFlow::Break(())
        });
        found
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

    /// Asks for the bounds of the buckets that a scan will need.
    #[inline]
    pub(super) fn prefetch_bounds(&self, quarter: u8, sibling: u16, budget: u32) {
        let exact = bucket_of(quarter, sibling, self.sibling_bits);
        prefetch(&self.buckets, exact);
        // The neighbours by the three lowest bits lie in the same cache line, more or less.
        for bit in 3..self.sibling_bits {
            if budget > 0 {
                prefetch(&self.buckets, exact ^ (1 << bit));
            }
        }
    }

    /// Asks for the siblings that a scan will read.
    #[inline]
    pub(super) fn prefetch_siblings(&self, quarter: u8, sibling: u16, budget: u32) {
        let _ = self.each_bucket(quarter, sibling, budget, |start, len| {
            // Four lines; what follows them is fetched by the processor, which sees that it is read in order.
            for line in 0..len.div_ceil(32).min(4) + 1 {
                prefetch(&self.siblings, (start + line * 32).min(start + len - 1));
            }
            ControlFlow::Continue(())
        });
    }

    #[inline]
    pub(super) fn prefetch_half(&self, at: usize) {
        prefetch(&self.halves, at);
    }

    /// Where everything lies that has this quarter and a sibling within `budget` bits of this one.
    #[inline]
    pub(super) fn each_near(
        &self,
        lanes: Lanes,
        quarter: u8,
        sibling: u16,
        budget: u32,
        mut visit: impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.each_bucket(quarter, sibling, budget, |start, len| {
            let mut at = start;
            for siblings in self.siblings[start..start + len].chunks(LANES) {
                let mut near = lanes.near(siblings, sibling, budget);
                while near != 0 {
                    visit(at + near.trailing_zeros() as usize)?;
                    near &= near - 1;
                }
                at += LANES;
            }
            ControlFlow::Continue(())
        })
    }

    /// All places, each with where it lies.
    pub(super) fn each_place(&self, mut visit: impl FnMut(Place, usize)) {
        let per_quarter = 1 << self.sibling_bits;
        for (number, bucket) in self.buckets.iter().enumerate() {
            for at in bucket.start as usize..(bucket.start + bucket.len) as usize {
                let place = Place {
                    quarter: (number / per_quarter) as u8,
                    sibling: self.siblings[at],
                    half: self.halves[at],
                };
                visit(place, at);
            }
        }
    }

    /// The buckets that can hold siblings within `budget` bits, none of them empty: where each starts and how many
    /// it holds.
    #[inline]
    fn each_bucket(
        &self,
        quarter: u8,
        sibling: u16,
        budget: u32,
        mut visit: impl FnMut(usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.buckets.is_empty() {
            return ControlFlow::Continue(());
        }
        let exact = bucket_of(quarter, sibling, self.sibling_bits);
        let mut visit = |number: usize| {
            let bucket = self.buckets[number];
            if bucket.len == 0 {
                return ControlFlow::Continue(());
            }
            visit(bucket.start as usize, bucket.len as usize)
        };
        visit(exact)?;
        match budget.min(self.sibling_bits) {
            0 => ControlFlow::Continue(()),
            1 => (0..self.sibling_bits).try_for_each(|bit| visit(exact ^ (1 << bit))),
            _ => (1_usize..1 << self.sibling_bits)
                .filter(|errors| errors.count_ones() <= budget)
                .try_for_each(|errors| visit(exact ^ errors)),
        }
    }

    /// Frees a place behind the last of a bucket, if not there then by moving the next few buckets up by one; false
    /// where there is none near.
    fn make_room(&mut self, number: usize) -> bool {
        let has_room = |pair: &[Bucket]| pair[0].start + pair[0].len < pair[1].start;
        let Some(reached) = self.buckets.get(number..) else {
            return false;
        };
        let Some(steps) = reached.windows(2).take(REACH).position(has_room) else {
            return false;
        };
        for next in (number + 1..=number + steps).rev() {
            // In no order within a bucket: its first may as well be its last.
            let bucket = &mut self.buckets[next];
            let (first, behind) = (bucket.start as usize, (bucket.start + bucket.len) as usize);
            bucket.start += 1;
            self.siblings[behind] = self.siblings[first];
            self.halves[behind] = self.halves[first];
            if !self.ids.is_empty() {
                self.ids[behind] = self.ids[first];
            }
        }
        true
    }

    fn contents(&self) -> (Vec<Place>, Vec<u32>) {
        let mut places = Vec::with_capacity(self.len);
        let mut ids = Vec::with_capacity(if self.ids.is_empty() { 0 } else { self.len });
        self.each_place(|place, at| {
            places.push(place);
            ids.extend(self.ids.get(at));
        });
        (places, ids)
    }

    /// Writes the columns anew, with room for one more in the bucket of `coming`.
    fn lay_out(&mut self, places: &[Place], ids: &[u32], coming: Option<Place>) {
        let sibling_bits = sibling_bits_for(places.len());
        let bucket_of = |place: &Place| bucket_of(place.quarter, place.sibling, sibling_bits);
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
            let at = (bucket.start + bucket.len) as usize;
            bucket.len += 1;
            siblings[at] = place.sibling;
            halves[at] = place.half;
            if let Some(&id) = ids.get(number) {
                placed_ids[at] = id;
            }
        }
        *self = Self {
            buckets,
            sibling_bits,
            siblings,
            halves,
            ids: placed_ids,
            len: places.len(),
        };
    }
}

/// So many leading bits of siblings that a bucket holds about 24 where quarters are crowded, none where they are not.
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
