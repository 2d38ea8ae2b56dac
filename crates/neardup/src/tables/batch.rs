//! Many probes at once: while the memory fetches what one needs, the others are worked on.
//!
//! A probe waits for the bounds of its buckets, then for the siblings, then for the halves of the survivors, then for the
//! ids. In a batch each of these is asked for, for a whole group, before the first is read.

use std::ops::ControlFlow;

use super::Found;
use super::lanes::{Hit, Run, prefetch};
use super::probes::{Step, steps};
use super::quarters::{Key, QuarterTables, verified};
use crate::Fingerprint;

/// How many looks are on their way at a time: enough to keep the memory busy, few enough for the first-level cache.
const GROUP: usize = 64;

/// Lines of siblings asked for; what follows is fetched by the processor, which sees that they are read in order.
const LINES: usize = 8;

/// One step for one probe.
#[derive(Clone, Copy)]
struct Look {
    query: u32,
    /// Its number in the list.
    step: u32,
    key: Key,
}

/// A match of another table than the first; its id is on its way.
struct Lookup {
    query: usize,
    bits: u64,
    distance: u32,
}

/// What a group needs on its way, kept from one group to the next.
#[derive(Default)]
struct Desk<'a> {
    looks: Vec<Look>,
    runs: Vec<Run<'a>>,
    /// The look that each run belongs to, and where the run starts.
    origins: Vec<(u32, u32)>,
    hits: Vec<Hit>,
    lookups: Vec<Lookup>,
}

impl QuarterTables {
    /// Calls `visit` with the number of a probe and what is within `distance` bits of it, for all of them, in no
    /// particular order: what [`QuarterTables::each_within`] finds for each, several times sooner where the tables
    /// are larger than the caches.
    pub fn each_within_batch(
        &self,
        probes: &[Fingerprint],
        distance: u32,
        mut visit: impl FnMut(usize, Found),
    ) {
        let mut desk = Desk::default();
        for steps in steps(distance).chunks(GROUP) {
            let queries = (GROUP / steps.len()).max(1);
            for (number, group) in probes.chunks(queries).enumerate() {
                self.look(group, number * queries, steps, &mut desk);
                self.verify(probes, steps, distance, &mut desk, &mut visit);
                if desk.lookups.len() >= GROUP / 2 {
                    self.look_up(&mut desk, &mut visit);
                }
            }
        }
        self.look_up(&mut desk, &mut visit);
    }

    /// Takes `steps` for the probes of a group, the first of which has the number `first`: hits are what passed.
    fn look<'a>(&'a self, group: &[Fingerprint], first: usize, steps: &[Step], desk: &mut Desk<'a>) {
        desk.looks.clear();
        for (probe, query) in group.iter().zip(first as u32..) {
            for (step, number) in steps.iter().zip(0..) {
                let key = Key::flipped(probe.as_u64(), step);
                self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, step.most);
                desk.looks.push(Look {
                    query,
                    step: number,
                    key,
                });
            }
        }
        desk.runs.clear();
        desk.origins.clear();
        for (look, number) in desk.looks.iter().zip(0..) {
            let place = look.key.place;
            let budget = steps[look.step as usize].most;
            let segment = &self.segments[look.key.segment];
            segment.each_bucket(place.quarter, place.sibling, budget, |start, len| {
                let siblings = segment.siblings(start, len);
                (0..len.min(LINES * 32))
                    .step_by(32)
                    .for_each(|at| prefetch(siblings, at));
                prefetch(siblings, len - 1);
                desk.runs.push(Run {
                    siblings,
                    probe: place.sibling,
                    budget: budget as u8,
                });
                desk.origins.push((number, start as u32));
            });
        }
        desk.hits.clear();
        self.lanes.scan(&desk.runs, &mut desk.hits);
        // From now on a hit has the number of its look and its place in the segment.
        for hit in &mut desk.hits {
            let (look, start) = desk.origins[hit.run as usize];
            hit.run = look;
            hit.at += start;
            let segment = &self.segments[desk.looks[look as usize].key.segment];
            segment.prefetch_rest(hit.at as usize);
        }
    }

    fn verify(
        &self,
        probes: &[Fingerprint],
        steps: &[Step],
        distance: u32,
        desk: &mut Desk<'_>,
        visit: &mut impl FnMut(usize, Found),
    ) {
        for hit in &desk.hits {
            let look = desk.looks[hit.run as usize];
            let (query, step) = (look.query as usize, &steps[look.step as usize]);
            let segment = &self.segments[look.key.segment];
            let probe = probes[query].as_u64();
            let Some((bits, distance)) = verified(segment, hit.at as usize, probe, step, distance) else {
                continue;
            };
            if step.table == 0 {
                self.report(bits, segment.id(hit.at as usize), query, distance, visit);
                continue;
            }
            let key = Key::of(bits, 0);
            self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, 0);
            desk.lookups.push(Lookup {
                query,
                bits,
                distance,
            });
        }
    }

    /// Reports all lookups with the ids that the first table has for them.
    fn look_up(&self, desk: &mut Desk<'_>, visit: &mut impl FnMut(usize, Found)) {
        for lookup in &desk.lookups {
            let key = Key::of(lookup.bits, 0);
            self.segments[key.segment].prefetch_halves(key.place);
        }
        for lookup in desk.lookups.drain(..) {
            let first = self.first_id(lookup.bits);
            self.report(lookup.bits, first, lookup.query, lookup.distance, visit);
        }
    }

    fn report(
        &self,
        bits: u64,
        first: u32,
        query: usize,
        distance: u32,
        visit: &mut impl FnMut(usize, Found),
    ) {
        let _ = self.ids(bits, first, &mut |id| {
            visit(query, Found { distance, id });
            ControlFlow::Continue(())
        });
    }
}
