//! Batches of probes.
//!
//! A probe waits for the bounds of its buckets, then for the siblings, then for the halves of the
//! survivors and the ids. In a batch, each step is prefetched for a whole group before the first is
//! read. If the tables are larger than the caches, a large batch visits one table after the other,
//! each time sorted by its leading quarter: neighbouring probes then read neighbouring memory and
//! share it (the batch query of Manku, Jain and Das Sarma, WWW 2007, section 4, within one memory).
//!
//! A match in another table than the first has no id there. It is postponed and becomes an exact
//! probe of the first table.

use std::ops::ControlFlow;

use super::Neighbour;
use super::lanes::{SiblingMatch, SiblingRun, prefetch};
use super::order::{NumberedFingerprint, by_quarter, numbered};
use super::probes::{Step, by_table, steps};
use super::quarters::{Key, QuarterTables, verified};
use super::segment::Segment;
use crate::fingerprint::Fingerprint;

/// Number of probes in flight: enough to keep the memory busy, few enough for the first-level
/// cache.
const GROUP: usize = 64;

/// Number of cache lines of siblings that are prefetched. The processor fetches the following lines
/// itself, because the access is sequential.
const LINES: usize = 8;

/// Minimum number of probes that are sorted: fewer have hardly anything to share.
const ORDERED: usize = 4_096;

/// Minimum number of fingerprints held for sorting the probes: fewer stay in a cache, and sorting
/// takes longer than it saves.
const FAR: usize = 4_000_000;

/// Maximum number of probes sorted at a time, and of pending ids: bounds on memory.
const LOT: usize = 1 << 20;
const MAX_PENDING: usize = 1 << 16;

/// The step that finds a fingerprint in the first table.
const EXACT: [Step; 1] = [Step::exact(0)];

/// One step for one probe.
#[derive(Clone, Copy)]
struct Probe<'a> {
    segment: &'a Segment,
    bits: u64,
    query: u32,
    /// Number of the step in the list.
    step: u8,
    quarter: u8,
    sibling: u16,
}

/// A match whose ids are not known yet.
struct PendingMatch {
    query: u32,
    bits: u64,
    distance: u32,
}

/// Buffers of a group, reused by the next group.
#[derive(Default)]
struct ProbeScratch<'a> {
    probes_in_flight: Vec<Probe<'a>>,
    /// The owner of a run is the index of its probe.
    runs: Vec<SiblingRun<'a>>,
    hits: Vec<SiblingMatch>,
    pending: Vec<PendingMatch>,
}

impl QuarterTables {
    /// Calls `visit` with the number of a probe and each fingerprint within `distance` bits of it,
    /// for all probes, in no particular order. The results equal those from
    /// [`QuarterTables::each_within`], but this is faster, because memory latencies overlap.
    pub fn each_within_batch(
        &self,
        probes: &[Fingerprint],
        distance: u32,
        mut visit: impl FnMut(usize, Neighbour),
    ) {
        let mut scratch = ProbeScratch::default();
        let steps = steps(distance);
        for (lot, number) in probes.chunks(LOT).zip(0..) {
            // Many steps share the memory that they read even if everything is near.
            let is_ordered = lot.len() >= ORDERED && (self.len() >= FAR || steps.len() > GROUP / 4);
            let bits = lot.iter().map(|probe| probe.as_u64());
            let mut entries = numbered(bits, (number * LOT) as u32);
            if !is_ordered {
                for some in entries.chunks(MAX_PENDING / 16) {
                    self.probe_and_verify(some, steps, distance, &mut scratch, &mut visit);
                    self.report_pending(&mut scratch, &mut visit);
                }
                continue;
            }
            let mut spare = vec![NumberedFingerprint::default(); entries.len()];
            for steps in by_table(distance) {
                by_quarter(&mut entries, steps[0].table, &mut spare);
                for some in entries.chunks(MAX_PENDING) {
                    self.probe_and_verify(some, steps, distance, &mut scratch, &mut visit);
                    if scratch.pending.len() >= MAX_PENDING {
                        self.report_pending(&mut scratch, &mut visit);
                    }
                }
            }
            self.report_pending(&mut scratch, &mut visit);
        }
    }

    /// Takes `steps` for all `entries`, in groups: reports matches in the first table, and keeps
    /// other matches as pending.
    fn probe_and_verify<'a>(
        &'a self,
        entries: &[NumberedFingerprint],
        steps: &[Step],
        distance: u32,
        scratch: &mut ProbeScratch<'a>,
        visit: &mut impl FnMut(usize, Neighbour),
    ) {
        for steps in steps.chunks(GROUP) {
            for group in entries.chunks((GROUP / steps.len()).max(1)) {
                self.take_steps(group, steps, scratch);
                for hit in &scratch.hits {
                    let probe = scratch.probes_in_flight[hit.owner as usize];
                    let (step, at) = (&steps[usize::from(probe.step)], hit.at as usize);
                    let found = verified(probe.segment, at, probe.bits, step, distance);
                    let Some((bits, distance)) = found else {
                        continue;
                    };
                    let found = PendingMatch {
                        query: probe.query,
                        bits,
                        distance,
                    };
                    if step.table == 0 {
                        self.report(&found, probe.segment.id(at), visit);
                    } else {
                        scratch.pending.push(found);
                    }
                }
            }
        }
    }

    /// Takes `steps` for the probes of a group. The survivors become hits, each owned by its probe.
    fn take_steps<'a>(
        &'a self,
        group: &[NumberedFingerprint],
        steps: &[Step],
        scratch: &mut ProbeScratch<'a>,
    ) {
        scratch.probes_in_flight.clear();
        let mut is_crowded = false;
        for (step, number) in steps.iter().zip(0..) {
            scratch.probes_in_flight.extend(group.iter().map(|entry| {
                let Key { segment, place } = Key::flipped(entry.bits, step);
                let segment = &self.segments[segment];
                segment.prefetch_bounds(place.quarter, place.sibling, step.most);
                is_crowded |= segment.is_crowded();
                Probe {
                    segment,
                    bits: entry.bits,
                    query: entry.number,
                    step: number,
                    quarter: place.quarter,
                    sibling: place.sibling,
                }
            }));
        }
        scratch.runs.clear();
        let budget = |probe: &Probe<'_>| steps[usize::from(probe.step)].most;
        let probes = scratch.probes_in_flight.iter().zip(0..);
        if is_crowded {
            for (probe, number) in probes {
                let (segment, sibling, most) = (probe.segment, probe.sibling, budget(probe));
                segment.each_bucket(probe.quarter, sibling, most, |start, len| {
                    let siblings = segment.siblings(start, len);
                    let run = fetched(siblings, start as u32, number, sibling, most);
                    scratch.runs.push(run);
                });
            }
        } else {
            scratch.runs.extend(probes.map(|(probe, number)| {
                let (start, siblings) = probe.segment.of_quarter(probe.quarter);
                fetched(siblings, start, number, probe.sibling, budget(probe))
            }));
        }
        scratch.hits.clear();
        self.lanes.scan(&scratch.runs, &mut scratch.hits);
        for hit in &scratch.hits {
            let probe = scratch.probes_in_flight[hit.owner as usize];
            let with_id = steps[usize::from(probe.step)].table == 0;
            probe.segment.prefetch_rest(hit.at as usize, with_id);
        }
    }

    /// Reports all pending matches with the ids from the first table.
    fn report_pending<'a>(
        &'a self,
        scratch: &mut ProbeScratch<'a>,
        visit: &mut impl FnMut(usize, Neighbour),
    ) {
        let pending = std::mem::take(&mut scratch.pending);
        let mut entries = numbered(pending.iter().map(|found| found.bits), 0);
        if entries.len() >= ORDERED {
            let mut spare = vec![NumberedFingerprint::default(); entries.len()];
            by_quarter(&mut entries, 0, &mut spare);
        }
        for group in entries.chunks(GROUP) {
            self.take_steps(group, &EXACT, scratch);
            for hit in &scratch.hits {
                let probe = scratch.probes_in_flight[hit.owner as usize];
                let at = hit.at as usize;
                if probe.segment.half(at) == probe.bits as u32 {
                    let found = &pending[probe.query as usize];
                    self.report(found, probe.segment.id(at), visit);
                }
            }
        }
        scratch.pending = pending;
        scratch.pending.clear();
    }

    /// Reports a match with its ids; `first` is its entry in the first table's id column.
    fn report(&self, found: &PendingMatch, first: u32, visit: &mut impl FnMut(usize, Neighbour)) {
        let distance = found.distance;
        let _ = self.ids(found.bits, first, &mut |id| {
            visit(found.query as usize, Neighbour { distance, id });
            ControlFlow::Continue(())
        });
    }
}

/// Returns a run of siblings and prefetches it.
#[inline]
fn fetched(siblings: &[u16], start: u32, owner: u32, probe: u16, budget: u32) -> SiblingRun<'_> {
    (0..siblings.len().min(LINES * 32))
        .step_by(32)
        .for_each(|at| prefetch(siblings, at));
    prefetch(siblings, siblings.len().saturating_sub(1));
    SiblingRun {
        siblings,
        start,
        owner,
        probe,
        budget: budget as u8,
    }
}
