//! Many probes at once.
//!
//! A probe waits for the bounds of its buckets, then for the siblings, then for the halves of the survivors, then for the
//! ids. In a batch each of these is asked for, for a whole group, before the first is read. A large batch goes through one
//! table after the other, each time in the order of the quarter that leads there: what it reads then lies together and is
//! shared with the probes before and behind (the batch query of Manku, Jain and Das Sarma, WWW 2007, section 4,
//! within one memory).

use std::ops::ControlFlow;

use super::Found;
use super::lanes::{Hit, Run, prefetch};
use super::order::{Entry, by_quarter};
use super::probes::{Step, steps};
use super::quarters::{Key, QuarterTables, verified};
use crate::Fingerprint;

/// How many looks are on their way at a time: enough to keep the memory busy, few enough for the first-level cache.
const GROUP: usize = 64;

/// Lines of siblings asked for; what follows is fetched by the processor, which sees that they are read in order.
const LINES: usize = 8;

/// From so many on probes are ordered: fewer have hardly anything to share.
const ORDERED: usize = 4_096;

/// How many probes are ordered at a time, and how many lookups: to bound what that takes.
const LOT: usize = 1 << 20;
const LOOKUPS: usize = 1 << 16;

/// One step for one probe.
#[derive(Clone, Copy)]
struct Look {
    query: u32,
    probe: u64,
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
        let steps = steps(distance);
        for (lot, number) in probes.chunks(LOT).zip(0..) {
            let is_ordered = lot.len() >= ORDERED;
            let bits = lot.iter().map(|probe| probe.as_u64());
            let numbers = (number * LOT) as u32..;
            let mut entries: Vec<Entry> = bits
                .zip(numbers)
                .map(|(bits, number)| Entry { bits, number })
                .collect();
            if !is_ordered {
                self.look_and_verify(&entries, steps, distance, &mut desk, &mut visit);
                self.look_up(&mut desk, &mut visit);
                continue;
            }
            let mut spare = vec![Entry::default(); entries.len()];
            for table in 0..4 {
                let steps: Vec<Step> = steps.iter().filter(|step| step.table == table).copied().collect();
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

    /// Takes `steps` for all of `entries`, in groups: reports what the first table finds, and lays the rest by.
    fn look_and_verify<'a>(
        &'a self,
        entries: &[Entry],
        steps: &[Step],
        distance: u32,
        desk: &mut Desk<'a>,
        visit: &mut impl FnMut(usize, Found),
    ) {
        for steps in steps.chunks(GROUP) {
            for group in entries.chunks((GROUP / steps.len()).max(1)) {
                self.look(group, steps, desk);
                self.verify(steps, distance, desk, visit);
            }
        }
    }

    /// Takes `steps` for the probes of a group: hits are what passed.
    fn look<'a>(&'a self, group: &[Entry], steps: &[Step], desk: &mut Desk<'a>) {
        desk.looks.clear();
        for entry in group {
            for (step, number) in steps.iter().zip(0..) {
                let key = Key::flipped(entry.bits, step);
                self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, step.most);
                desk.looks.push(Look {
                    query: entry.number,
                    probe: entry.bits,
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
        steps: &[Step],
        distance: u32,
        desk: &mut Desk<'_>,
        visit: &mut impl FnMut(usize, Found),
    ) {
        for hit in &desk.hits {
            let look = desk.looks[hit.run as usize];
            let (query, step) = (look.query as usize, &steps[look.step as usize]);
            let segment = &self.segments[look.key.segment];
            let found = verified(segment, hit.at as usize, look.probe, step, distance);
            let Some((bits, distance)) = found else {
                continue;
            };
            if step.table == 0 {
                self.report(bits, segment.id(hit.at as usize), query, distance, visit);
                continue;
            }
            desk.lookups.push(Lookup {
                query,
                bits,
                distance,
            });
        }
    }

    /// Reports all lookups with the ids that the first table has for them, in its order.
    fn look_up(&self, desk: &mut Desk<'_>, visit: &mut impl FnMut(usize, Found)) {
        desk.lookups.sort_unstable_by_key(|lookup| lookup.bits);
        for group in desk.lookups.chunks(GROUP / 2) {
            for lookup in group {
                let key = Key::of(lookup.bits, 0);
                self.segments[key.segment].prefetch_bounds(key.place.quarter, key.place.sibling, 0);
            }
            for lookup in group {
                let key = Key::of(lookup.bits, 0);
                self.segments[key.segment].prefetch_halves(key.place);
            }
            for lookup in group {
                let first = self.first_id(lookup.bits);
                self.report(lookup.bits, first, lookup.query, lookup.distance, visit);
            }
        }
        desk.lookups.clear();
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
