//! Quarter tables, the default in memory: four tables, each led by a quarter of the fingerprint.
//!
//! A quarter of 16 bits is an address, so a search is unnecessary. A probe goes to the bucket of
//! each of its quarters and considers only fingerprints whose sibling, the other quarter of the
//! same half, has at most one error (see [`super::probes`] for the proof, and for distances above
//! 3). 17 of 65,536 values (0.026 %) survive, are compared in full, and are reported by the first
//! step that can find them.
//!
//! Real fingerprints are skewed. Equal fingerprints are in the tables once, with all their ids, up
//! to [`MAX_EQUAL`]. A probe reads two bytes of each fingerprint that shares a quarter with it, so
//! that a million fingerprints with the same quarter cost tens of microseconds, not a million
//! comparisons. The number of results is not limited.
//!
//! Invariant: a fingerprint is in all four tables or in none. Only the first table has a column of
//! ids; `several` holds the ids of fingerprints whose entry there is [`SEVERAL`].

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::lanes::{Lanes, SiblingMatch, SiblingRun, prefetch};
use super::probes::{Step, steps, upper_errors};
use super::segment::{Address, Segment};
use super::{MAX_EQUAL, Neighbour};
use crate::fingerprint::Fingerprint;

/// Number of segments of a table: the upper eight bits of a quarter select one.
pub(super) const SEGMENTS: usize = 256;

/// A marker in place of an id: the ids are in the map.
pub(super) const SEVERAL: u32 = u32::MAX;

/// Number of steps of one probe that are in flight at a time.
const AHEAD: usize = 8;

/// Number of runs that are scanned in one call, and maximum length of a run. Matches are visited in
/// between, so that a visitor that stops does not wait for the end of a crowd.
const BATCH: usize = 8;
const PIECE: usize = 512;

/// Fingerprints of 64 bits with their ids, found within any distance up to
/// [`crate::tables::MAX_DISTANCE`]. About 32 bytes per fingerprint.
///
/// ```
/// use neardup::tables::{Neighbour, QuarterTables};
/// use neardup::Fingerprint;
///
/// let mut tables = QuarterTables::new();
/// tables.insert(Fingerprint::new(0b1111), 7);
/// assert_eq!(tables.within(Fingerprint::new(0b1000), 3), [Neighbour { distance: 3, id: 7 }]);
/// ```
#[derive(Clone, Debug)]
pub struct QuarterTables {
    pub(super) lanes: Lanes,
    /// [`SEGMENTS`] segments of the first table, then of the second, and so on.
    pub(super) segments: Vec<Segment>,
    pub(super) several: HashMap<u64, Vec<u32>>,
    pub(super) len: usize,
}

impl Default for QuarterTables {
    fn default() -> Self {
        Self {
            lanes: Lanes::detect(),
            segments: vec![Segment::default(); 4 * SEGMENTS],
            several: HashMap::new(),
            len: 0,
        }
    }
}

impl QuarterTables {
    /// Creates empty tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of ids held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the collection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of different fingerprints held.
    #[must_use]
    pub fn fingerprints(&self) -> usize {
        self.segments[..SEGMENTS].iter().map(Segment::len).sum()
    }

    /// Returns the approximate number of bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let segments: usize = self.segments.iter().map(Segment::memory).sum();
        let several = self
            .several
            .values()
            .map(|ids| ids.capacity() * size_of::<u32>());
        segments
            + self.segments.capacity() * size_of::<Segment>()
            + several.sum::<usize>()
            + self.several.capacity() * (size_of::<(u64, Vec<u32>)>() + 1)
    }

    /// Adds `id` under `fingerprint`; a repeated pair is held twice. Returns false, and adds
    /// nothing, if [`MAX_EQUAL`] ids have this fingerprint.
    pub fn insert(&mut self, fingerprint: Fingerprint, id: u32) -> bool {
        let bits = fingerprint.as_u64();
        let key = Key::of(bits, 0);
        let segment = &mut self.segments[key.segment];
        if let Some(at) = segment.find(key.place) {
            let first = segment.id(at);
            let ids = self.several.entry(bits).or_insert_with(|| vec![first]);
            if ids.len() >= MAX_EQUAL {
                return false;
            }
            ids.push(id);
            segment.set_id(at, SEVERAL);
        } else {
            if id == SEVERAL {
                self.several.insert(bits, vec![id]);
            }
            segment.insert(key.place, Some(id));
            for table in 1..4 {
                let key = Key::of(bits, table);
                self.segments[key.segment].insert(key.place, None);
            }
        }
        self.len += 1;
        true
    }

    /// Removes `id` from `fingerprint`, once; returns false if it was not there.
    pub fn remove(&mut self, fingerprint: Fingerprint, id: u32) -> bool {
        let bits = fingerprint.as_u64();
        let key = Key::of(bits, 0);
        let segment = &mut self.segments[key.segment];
        let Some(at) = segment.find(key.place) else {
            return false;
        };
        let held = segment.id(at);
        if held != SEVERAL {
            if held != id {
                return false;
            }
        } else if let Some(ids) = self.several.get_mut(&bits) {
            let Some(position) = ids.iter().position(|&held| held == id) else {
                return false;
            };
            ids.remove(position);
            if !ids.is_empty() {
                self.len -= 1;
                return true;
            }
            self.several.remove(&bits);
        }
        for table in 0..4 {
            let key = Key::of(bits, table);
            self.segments[key.segment].remove(key.place);
        }
        self.len -= 1;
        true
    }

    /// Returns everything within `distance` bits of `probe`, nearest first and ids ascending, each
    /// id as often as it was added. A distance above [`crate::tables::MAX_DISTANCE`] is treated as
    /// this maximum.
    #[must_use]
    pub fn within(&self, probe: Fingerprint, distance: u32) -> Vec<Neighbour> {
        let mut found = Vec::new();
        self.each_within(probe, distance, |neighbour| found.push(neighbour));
        found.sort_unstable();
        found
    }

    /// Calls `visit` with everything within `distance` bits of `probe`, in no particular order.
    pub fn each_within(&self, probe: Fingerprint, distance: u32, mut visit: impl FnMut(Neighbour)) {
        let _ = self.until(probe, distance, |found| {
            visit(found);
            ControlFlow::Continue(())
        });
    }

    fn until(
        &self,
        probe: Fingerprint,
        distance: u32,
        mut visit: impl FnMut(Neighbour) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let probe = probe.as_u64();
        let mut hits = Vec::new();
        for steps in steps(distance).chunks(AHEAD) {
            for step in steps {
                let key = Key::flipped(probe, step);
                self.segments[key.segment].prefetch_bounds(
                    key.place.quarter,
                    key.place.sibling,
                    step.most,
                );
            }
            let mut batch = ScanBatch::EMPTY;
            let mut flow = ControlFlow::Continue(());
            for step in steps {
                let Key { segment, place } = Key::flipped(probe, step);
                let segment = &self.segments[segment];
                let run = |siblings, start, owner: usize| SiblingRun {
                    siblings,
                    start,
                    owner: owner as u32,
                    probe: place.sibling,
                    budget: step.most as u8,
                };
                if !segment.is_crowded() && batch.len < BATCH {
                    let (start, siblings) = segment.of_quarter(place.quarter);
                    if siblings.len() <= PIECE {
                        prefetch(siblings, 0);
                        prefetch(siblings, siblings.len().saturating_sub(1));
                        batch.push(run(siblings, start, batch.len), segment, step);
                        continue;
                    }
                }
                segment.each_bucket(place.quarter, place.sibling, step.most, |start, len| {
                    let pieces = segment.siblings(start, len).chunks(PIECE);
                    for (siblings, start) in pieces.zip((start..).step_by(PIECE)) {
                        prefetch(siblings, 0);
                        prefetch(siblings, siblings.len() - 1);
                        if flow.is_continue() && batch.len == BATCH {
                            flow = self.scan(&mut batch, &mut hits, probe, distance, &mut visit);
                        }
                        if flow.is_break() {
                            return;
                        }
                        batch.push(run(siblings, start as u32, batch.len), segment, step);
                    }
                });
                flow?;
            }
            self.scan(&mut batch, &mut hits, probe, distance, &mut visit)?;
        }
        ControlFlow::Continue(())
    }

    /// Scans the runs of `batch`, visits matches within `distance` of `probe`, and empties the
    /// batch.
    fn scan(
        &self,
        batch: &mut ScanBatch<'_>,
        hits: &mut Vec<SiblingMatch>,
        probe: u64,
        distance: u32,
        visit: &mut impl FnMut(Neighbour) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        hits.clear();
        self.lanes.scan(&batch.runs[..batch.len], hits);
        batch.len = 0;
        for hit in hits.iter() {
            if let Some((segment, step)) = batch.origins[hit.owner as usize] {
                segment.prefetch_rest(hit.at as usize, step.table == 0);
            }
        }
        for hit in hits {
            let Some((segment, step)) = batch.origins[hit.owner as usize] else {
                continue;
            };
            let at = hit.at as usize;
            let Some((bits, distance)) = verified(segment, at, probe, step, distance) else {
                continue;
            };
            let first = match step.table {
                0 => segment.id(at),
                _ => self.first_id(bits),
            };
            self.ids(bits, first, &mut |id| visit(Neighbour { distance, id }))?;
        }
        ControlFlow::Continue(())
    }

    /// Returns the entry of the first table's id column for this fingerprint, which must be
    /// present.
    pub(super) fn first_id(&self, bits: u64) -> u32 {
        let key = Key::of(bits, 0);
        let segment = &self.segments[key.segment];
        let at = segment.find(key.place);
        segment.id(at.expect("what one table holds, all hold"))
    }

    /// Calls `visit` with the ids of a fingerprint whose entry in the first table's id column is
    /// `first`.
    #[inline]
    pub(super) fn ids(
        &self,
        bits: u64,
        first: u32,
        visit: &mut impl FnMut(u32) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if first != SEVERAL {
            return visit(first);
        }
        let ids = self.several.get(&bits);
        ids.into_iter().flatten().try_for_each(|&id| visit(id))
    }
}

/// A batch of runs that are scanned in one call, with their segments and steps.
struct ScanBatch<'a> {
    runs: [SiblingRun<'a>; BATCH],
    origins: [Option<(&'a Segment, &'a Step)>; BATCH],
    len: usize,
}

impl<'a> ScanBatch<'a> {
    const EMPTY: Self = Self {
        runs: [SiblingRun {
            siblings: &[],
            start: 0,
            owner: 0,
            probe: 0,
            budget: 0,
        }; BATCH],
        origins: [None; BATCH],
        len: 0,
    };

    /// Adds a run. There is space, because a full batch is scanned first.
    fn push(&mut self, run: SiblingRun<'a>, segment: &'a Segment, step: &'a Step) {
        self.runs[self.len] = run;
        self.origins[self.len] = Some((segment, step));
        self.len += 1;
    }
}

/// The position of a fingerprint in one of the tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub(super) segment: usize,
    pub(super) place: Address,
}

impl Key {
    #[inline]
    pub(super) fn of(bits: u64, table: usize) -> Self {
        Self::flipped(bits, &Step::exact(table))
    }

    /// Returns the position with the error of `step` in the leading quarter.
    #[inline]
    pub(super) fn flipped(bits: u64, step: &Step) -> Self {
        // Rotates the half to the top, then the quarter.
        let turned = bits.rotate_left(32 * (step.table as u32 / 2));
        let (half, other) = ((turned >> 32) as u32, turned as u32);
        let half = half.rotate_left(16 * (step.table as u32 % 2));
        let quarter = (half >> 16) as u16 ^ step.flip;
        Self {
            segment: step.table * SEGMENTS + usize::from(quarter >> 8),
            place: Address {
                quarter: quarter as u8,
                sibling: half as u16,
                half: other,
            },
        }
    }
}

/// Returns the fingerprint that `step` found at a position, and its distance from the probe, if
/// this is within `distance` and no earlier step has found the fingerprint.
#[inline]
pub(super) fn verified(
    segment: &Segment,
    at: usize,
    probe: u64,
    step: &Step,
    distance: u32,
) -> Option<(u64, u32)> {
    let distance = distance.min(super::MAX_DISTANCE);
    let key = Key::of(probe, step.table);
    let sibling = segment.sibling(at) ^ key.place.sibling;
    let other = segment.half(at) ^ key.place.half;
    let apart = step.flip.count_ones() + sibling.count_ones() + other.count_ones();
    let was_found = step.table >= 2 && other.count_ones() <= upper_errors(distance);
    if apart > distance || sibling.count_ones() < step.least || was_found {
        return None;
    }
    let half = (u32::from(step.flip) << 16 | u32::from(sibling))
        .rotate_right(16 * (step.table as u32 % 2));
    let errors =
        (u64::from(half) << 32 | u64::from(other)).rotate_right(32 * (step.table as u32 / 2));
    Some((probe ^ errors, apart))
}
