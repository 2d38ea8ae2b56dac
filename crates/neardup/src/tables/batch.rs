//! Many probes at once.
//!
//! A probe waits for the bounds of its buckets, then for the siblings, then for the halves of the
//! survivors and the ids. In a batch each of these is asked for, for a whole group, before the
//! first is read. Where the tables are larger than the caches, a large batch goes through one table
//! after the other, each time in the order of the quarter that leads there: what it reads then lies
//! together and is shared with the probes before and behind (the batch query of Manku, Jain and Das
//! Sarma, WWW 2007, section 4, within one memory).
//!
//! What another table than the first finds has no id there. It is laid by and becomes a probe of
//! the first table that looks for itself alone.

use std::ops::ControlFlow;

use super::Found;
use super::lanes::{Hit, Run, prefetch};
use super::order::{Entry, by_quarter};
use super::probes::{Step, steps};
use super::quarters::{Key, QuarterTables, verified};
use super::segment::Segment;
use crate::Fingerprint;

/// How many looks are on their way at a time: enough to keep the memory busy, few enough for the
/// first-level cache.
const GROUP: usize = 64;

/// Lines of siblings asked for; what follows is fetched by the processor, which sees that they are
/// read in order.
const LINES: usize = 8;

/// From so many on probes are ordered: fewer have hardly anything to share.
const ORDERED: usize = 4_096;

/// And from so many held: less stays in a cache, and putting probes in order takes longer than it
/// saves.
const FAR: usize = 4_000_000;

/// How many probes are ordered at a time, and how many lookups: to bound what that takes.
const LOT: usize = 1 << 20;
const LOOKUPS: usize = 1 << 16;

/// Finds a fingerprint in the first table.
const EXACT: [Step; 1] = [Step {
    table: 0,
    flip: 0,
    least: 0,
    most: 0,
}];

/// One step for one probe.
#[derive(Clone, Copy)]
struct Look<'a> {
    segment: &'a Segment,
    probe: u64,
    query: u32,
    /// Its number in the list.
    step: u8,
    quarter: u8,
    sibling: u16,
}

/// A match of another table than the first.
struct Lookup {
    query: u32,
    bits: u64,
    distance: u32,
}

/// What a group needs on its way, kept from one group to the next.
#[derive(Default)]
struct ProbeScratch<'a> {
    looks: Vec<Look<'a>>,
    /// Each is owned by the look of that number.
    runs: Vec<Run<'a>>,
    hits: Vec<Hit>,
    lookups: Vec<Lookup>,
}

impl QuarterTables {
    /// Calls `visit` with the number of a probe and what is within `distance` bits of it, for all
    /// of them, in no particular order: what [`QuarterTables::each_within`] finds for each, sooner,
    /// since the waits for memory overlap.
    pub fn each_within_batch(
        &self,
        probes: &[Fingerprint],
        distance: u32,
        mut visit: impl FnMut(usize, Found),
    ) {
        let mut desk = ProbeScratch::default();
        let steps = steps(distance);
        for (lot, number) in probes.chunks(LOT).zip(0..) {
            // Many steps share what they read even where everything is near.
            let is_ordered = lot.len() >= ORDERED && (self.len() >= FAR || steps.len() > GROUP / 4);
            let bits = lot.iter().map(|probe| probe.as_u64());
            let numbers = (number * LOT) as u32..;
            let mut entries: Vec<Entry> = bits
                .zip(numbers)
                .map(|(bits, number)| Entry { bits, number })
                .collect();
            if !is_ordered {
                for some in entries.chunks(LOOKUPS / 16) {
                    self.look_and_verify(some, steps, distance, &mut desk, &mut visit);
                    self.look_up(&mut desk, &mut visit);
                }
                continue;
            }
            let mut spare = vec![Entry::default(); entries.len()];
            for table in 0..4 {
                let steps: Vec<Step> = steps
                    .iter()
                    .filter(|step| step.table == table)
                    .copied()
                    .collect();
                if steps.is_empty() {
                    continue;
                }
                by_quarter(&mut entries, table, &mut spare);
                for some in entries.chunks(LOOKUPS) {
                    self.look_and_verify(some, &steps, distance, &mut desk, &mut visit);
                    if desk.lookups.len() >= LOOKUPS {
                        self.look_up(&mut desk, &mut visit);
                    }
                }
            }
            self.look_up(&mut desk, &mut visit);
        }
    }

    /// Takes `steps` for all of `entries`, in groups: reports what the first table finds, and lays
    /// the rest by.
    fn look_and_verify<'a>(
        &'a self,
        entries: &[Entry],
        steps: &[Step],
        distance: u32,
        desk: &mut ProbeScratch<'a>,
        visit: &mut impl FnMut(usize, Found),
    ) {
        for steps in steps.chunks(GROUP) {
            for group in entries.chunks((GROUP / steps.len()).max(1)) {
                self.look(group, steps, desk);
                for hit in &desk.hits {
                    let look = desk.looks[hit.owner as usize];
                    let (step, at) = (&steps[usize::from(look.step)], hit.at as usize);
                    let Some((bits, distance)) =
                        verified(look.segment, at, look.probe, step, distance)
                    else {
                        continue;
                    };
                    if step.table == 0 {
                        self.report(bits, look.segment.id(at), look.query, distance, visit);
                    } else {
                        desk.lookups.push(Lookup {
                            query: look.query,
                            bits,
                            distance,
                        });
                    }
                }
            }
        }
    }

    /// Takes `steps` for the probes of a group: hits are what passed, each owned by its look.
    fn look<'a>(&'a self, group: &[Entry], steps: &[Step], desk: &mut ProbeScratch<'a>) {
        desk.looks.clear();
        let mut is_crowded = false;
        for (step, number) in steps.iter().zip(0..) {
            desk.looks.extend(group.iter().map(|entry| {
                let Key { segment, place } = Key::flipped(entry.bits, step);
                let segment = &self.segments[segment];
                segment.prefetch_bounds(place.quarter, place.sibling, step.most);
                is_crowded |= segment.is_crowded();
                Look {
                    segment,
                    probe: entry.bits,
                    query: entry.number,
                    step: number,
                    quarter: place.quarter,
                    sibling: place.sibling,
                }
            }));
        }
        desk.runs.clear();
        if is_crowded {
            for (look, number) in desk.looks.iter().zip(0..) {
                let budget = steps[usize::from(look.step)].most;
                let segment = look.segment;
                segment.each_bucket(look.quarter, look.sibling, budget, |start, len| {
                    let siblings = segment.siblings(start, len);
                    desk.runs.push(fetched(
                        siblings,
                        start as u32,
                        number,
                        look.sibling,
                        budget,
                    ));
                });
            }
        } else {
            desk.runs
                .extend(desk.looks.iter().zip(0..).map(|(look, number)| {
                    let budget = steps[usize::from(look.step)].most;
                    let (start, siblings) = look.segment.of_quarter(look.quarter);
                    fetched(siblings, start, number, look.sibling, budget)
                }));
        }
        desk.hits.clear();
        self.lanes.scan(&desk.runs, &mut desk.hits);
        for hit in &desk.hits {
            let look = desk.looks[hit.owner as usize];
            look.segment
                .prefetch_rest(hit.at as usize, steps[usize::from(look.step)].table == 0);
        }
    }

    /// Reports all lookups with the ids that the first table has for them.
    fn look_up<'a>(&'a self, desk: &mut ProbeScratch<'a>, visit: &mut impl FnMut(usize, Found)) {
        let lookups = std::mem::take(&mut desk.lookups);
        let numbered = lookups.iter().zip(0..);
        let mut entries: Vec<Entry> = numbered
            .map(|(lookup, number)| Entry {
                bits: lookup.bits,
                number,
            })
            .collect();
        if entries.len() >= ORDERED {
            let mut spare = vec![Entry::default(); entries.len()];
            by_quarter(&mut entries, 0, &mut spare);
        }
        for group in entries.chunks(GROUP) {
            self.look(group, &EXACT, desk);
            for hit in &desk.hits {
                let look = desk.looks[hit.owner as usize];
                let at = hit.at as usize;
                if look.segment.half(at) == look.probe as u32 {
                    let Lookup {
                        query,
                        bits,
                        distance,
                    } = lookups[look.query as usize];
                    self.report(bits, look.segment.id(at), query, distance, visit);
                }
            }
        }
        desk.lookups = lookups;
        desk.lookups.clear();
    }

    fn report(
        &self,
        bits: u64,
        first: u32,
        query: u32,
        distance: u32,
        visit: &mut impl FnMut(usize, Found),
    ) {
        let _ = self.ids(bits, first, &mut |id| {
            visit(query as usize, Found { distance, id });
            ControlFlow::Continue(())
        });
    }
}

/// The run of these siblings, which are asked for.
#[inline]
fn fetched(siblings: &[u16], start: u32, owner: u32, probe: u16, budget: u32) -> Run<'_> {
    (0..siblings.len().min(LINES * 32))
        .step_by(32)
        .for_each(|at| prefetch(siblings, at));
    prefetch(siblings, siblings.len().saturating_sub(1));
    Run {
        siblings,
        start,
        owner,
        probe,
        budget: budget as u8,
    }
}
