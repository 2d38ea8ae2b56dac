//! Many probes at once: while the memory fetches what one needs, the others are worked on.
//!
//! A probe waits for the bounds of its buckets, then for the siblings, then for the halves of the survivors, then for the
//! ids. In a batch each of these is asked for, for a whole group, before the first is read.

use std::ops::ControlFlow;

use super::Found;
use super::probes::{Step, steps};
use super::quarters::{Key, QuarterTables, verified};
use crate::Fingerprint;

/// How many looks are on their way at a time: enough to keep the memory busy, few enough for the first-level cache.
const GROUP: usize = 64;

/// A look whose sibling passed; its other half is on its way.
struct Survivor {
    query: usize,
    step: Step,
    at: usize,
}

/// A match of another table than the first; its id is on its way.
struct Lookup {
    query: usize,
    bits: u64,
    distance: u32,
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
        let mut survivors = Vec::new();
        let mut lookups = Vec::new();
        let steps = steps(distance);
        for steps in steps.chunks(GROUP) {
            let queries = (GROUP / steps.len()).max(1);
            for (number, group) in probes.chunks(queries).enumerate() {
                self.look(group, number * queries, steps, &mut survivors);
                for survivor in survivors.drain(..) {
                    let bits = probes[survivor.query].as_u64();
                    let key = Key::flipped(bits, &survivor.step);
                    let segment = &self.segments[key.segment];
                    let Some((bits, distance)) =
                        verified(segment, survivor.at, bits, &survivor.step, distance)
                    else {
                        continue;
                    };
                    let query = survivor.query;
                    if survivor.step.table == 0 {
                        self.report(bits, segment.id(survivor.at), query, distance, &mut visit);
                        continue;
                    }
                    let key = Key::of(bits, 0);
                    self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, 0);
                    lookups.push(Lookup {
                        query,
                        bits,
                        distance,
                    });
                }
                if lookups.len() >= GROUP / 2 {
                    self.look_up(&mut lookups, &mut visit);
                }
            }
        }
        self.look_up(&mut lookups, &mut visit);
    }

    /// Takes `steps` for the probes of a group, the first of which has the number `first`.
    fn look(&self, group: &[Fingerprint], first: usize, steps: &[Step], survivors: &mut Vec<Survivor>) {
        let looks = || {
            let of = |probe: &Fingerprint| {
                let bits = probe.as_u64();
                steps.iter().map(move |step| (step, Key::flipped(bits, step)))
            };
            group
                .iter()
                .zip(first..)
                .flat_map(move |(probe, query)| of(probe).map(move |look| (query, look)))
        };
        for (_, (step, key)) in looks() {
            self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, step.most);
        }
        for (_, (step, key)) in looks() {
            self.segments[key.segment].prefetch_siblings(key.place.quarter, key.place.sibling, step.most);
        }
        for (query, (step, key)) in looks() {
            let segment = &self.segments[key.segment];
            let _ = segment.each_near(
                self.lanes,
                key.place.quarter,
                key.place.sibling,
                step.most,
                |at| {
                    segment.prefetch_half(at);
                    survivors.push(Survivor {
                        query,
                        step: *step,
                        at,
                    });
                    ControlFlow::Continue(())
                },
            );
        }
    }

    /// Reports all of `lookups` with the ids that the first table has for them.
    fn look_up(&self, lookups: &mut Vec<Lookup>, visit: &mut impl FnMut(usize, Found)) {
        for lookup in &*lookups {
            let key = Key::of(lookup.bits, 0);
            self.segments[key.segment].prefetch_siblings(key.place.quarter, key.place.sibling, 0);
        }
        let mut equals = Vec::with_capacity(lookups.len());
        for (number, lookup) in lookups.iter().enumerate() {
            let key = Key::of(lookup.bits, 0);
            let segment = &self.segments[key.segment];
            let _ = segment.each_near(self.lanes, key.place.quarter, key.place.sibling, 0, |at| {
                segment.prefetch_half(at);
                equals.push((number, at));
                ControlFlow::Continue(())
            });
        }
        for (number, at) in equals {
            let lookup = &lookups[number];
            let key = Key::of(lookup.bits, 0);
            let segment = &self.segments[key.segment];
            if segment.half(at) == key.place.half {
                self.report(lookup.bits, segment.id(at), lookup.query, lookup.distance, visit);
            }
        }
        lookups.clear();
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
