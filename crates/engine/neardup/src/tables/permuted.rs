//! Sorted in-memory tables of any design.
//!
//! For each permutation of a [`TableDesign`], a table holds all fingerprints in that order of bits,
//! sorted. In each table, a probe finds the run that shares its leading bits by interpolation, and
//! computes the distance to each fingerprint of the run (Manku, Jain and Das Sarma, WWW 2007,
//! section 3). [`super::QuarterTables`] are faster and smaller; these tables are for custom designs
//! and serve as a reference for other tables.
//!
//! Real fingerprints are skewed: many pages have the very same fingerprint. Tables therefore hold
//! each fingerprint once, and a map from fingerprints to ids holds the pages; a thousand equal
//! pages cost a probe one comparison. Invariant: a fingerprint is in all tables if and only if it
//! is in the map, where its list of ids may be empty after removals.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::TableDesign;
use super::sorted::SortedTable;
use crate::fingerprint::Fingerprint;
use crate::ids::Ids;

/// Maximum number of ids per fingerprint; later ids are not found by it.
pub const MAX_EQUAL: usize = 1_024;

/// Fingerprints with their ids, in permuted sorted tables.
///
/// ```
/// use neardup::tables::{PermutedTables, TableDesign};
/// use neardup::Fingerprint;
///
/// let design = TableDesign::for_distance(3)?;
/// let tables = PermutedTables::build(design, [(Fingerprint::new(0b0111), 1)]);
/// let found = tables.within(Fingerprint::new(0), 3);
/// assert_eq!(found.iter().map(|near| (near.id, near.distance)).collect::<Vec<_>>(), [(1, 3)]);
/// # Ok::<(), neardup::tables::InvalidDesign>(())
/// ```
#[derive(Clone, Debug)]
pub struct PermutedTables {
    design: TableDesign,
    /// One table per permutation of the design.
    tables: Vec<SortedTable>,
    ids: HashMap<u64, Ids>,
    len: usize,
    /// Number of fingerprints in the tables without ids.
    vacant: usize,
}

/// A fingerprint near a probe, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Neighbour {
    /// Number of bits that differ between the fingerprint and the probe.
    pub distance: u32,
    /// Id as given by the caller.
    pub id: u32,
}

impl PermutedTables {
    /// Creates empty tables of this design.
    #[must_use]
    pub fn new(design: TableDesign) -> Self {
        let tables = design
            .tables()
            .iter()
            .map(|table| SortedTable::new(table.prefix_bits()))
            .collect();
        Self {
            design,
            tables,
            ids: HashMap::new(),
            len: 0,
            vacant: 0,
        }
    }

    /// Builds tables of all items, as if they had been inserted one after the other.
    #[must_use]
    pub fn build(design: TableDesign, items: impl IntoIterator<Item = (Fingerprint, u32)>) -> Self {
        let mut built = Self::new(design);
        for (fingerprint, id) in items {
            let bits = built.significant(fingerprint);
            match built.ids.entry(bits) {
                Entry::Vacant(entry) => {
                    entry.insert(Ids::One(id));
                    built.len += 1;
                }
                Entry::Occupied(mut entry) => {
                    built.len += usize::from(entry.get_mut().push(id, MAX_EQUAL));
                }
            }
        }
        for (table, permutation) in built.tables.iter_mut().zip(built.design.tables()) {
            let values = built
                .ids
                .keys()
                .map(|&bits| permutation.apply(bits))
                .collect();
            *table = SortedTable::of(permutation.prefix_bits(), values);
        }
        built
    }

    /// Returns the design of the tables.
    #[must_use]
    pub fn design(&self) -> &TableDesign {
        &self.design
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

    /// Returns the approximate number of bytes held.
    #[must_use]
    pub fn memory(&self) -> usize {
        let tables: usize = self.tables.iter().map(SortedTable::memory).sum();
        let lists: usize = self.ids.values().map(Ids::memory).sum();
        tables + lists + self.ids.capacity() * (size_of::<(u64, Ids)>() + 1)
    }

    /// Adds `id` under `fingerprint`; a repeated pair is held twice. Returns false, and adds
    /// nothing, if [`MAX_EQUAL`] ids have this fingerprint.
    pub fn insert(&mut self, fingerprint: Fingerprint, id: u32) -> bool {
        let bits = self.significant(fingerprint);
        if let Some(ids) = self.ids.get_mut(&bits) {
            let was_vacant = ids.as_slice().is_empty();
            let added = ids.push(id, MAX_EQUAL);
            self.vacant -= usize::from(was_vacant);
            self.len += usize::from(added);
            return added;
        }
        self.ids.insert(bits, Ids::One(id));
        for (table, permutation) in self.tables.iter_mut().zip(self.design.tables()) {
            table.insert(permutation.apply(bits));
        }
        self.len += 1;
        true
    }

    /// Removes `id` from `fingerprint`; returns false if it was not there.
    pub fn remove(&mut self, fingerprint: Fingerprint, id: u32) -> bool {
        let bits = self.significant(fingerprint);
        let Some(ids) = self.ids.get_mut(&bits) else {
            return false;
        };
        if !ids.remove(id) {
            return false;
        }
        self.len -= 1;
        if ids.as_slice().is_empty() {
            self.vacant += 1;
            // Compacted once a quarter is vacant, so that on average a removal costs no more than
            // an insertion.
            if self.vacant * 4 > self.ids.len() {
                self.drop_vacant();
            }
        }
        true
    }

    /// Returns everything within `distance` bits of `probe`, nearest first and ids ascending, each
    /// id as often as it was added. The distance of the design is the maximum; a greater `distance`
    /// is reduced to it.
    #[must_use]
    pub fn within(&self, probe: Fingerprint, distance: u32) -> Vec<Neighbour> {
        let mut found = Vec::new();
        self.each_within(probe, distance, |neighbour| found.push(neighbour));
        found.sort_unstable();
        found
    }

    /// Calls `visit` with everything within `distance` bits of `probe`, in no particular order. The
    /// distance of the design is the maximum; a greater `distance` is reduced to it.
    pub fn each_within(&self, probe: Fingerprint, distance: u32, mut visit: impl FnMut(Neighbour)) {
        let distance = distance.min(self.design.distance());
        let probe = self.significant(probe);
        for (number, (table, permutation)) in
            self.tables.iter().zip(self.design.tables()).enumerate()
        {
            let permuted = permutation.apply(probe);
            for &value in table.alike(permuted).into_iter().flatten() {
                let apart = (value ^ permuted).count_ones();
                if apart > distance {
                    continue;
                }
                let bits = permutation.undo(value);
                let earlier = &self.design.tables()[..number];
                if earlier
                    .iter()
                    .any(|table| (bits ^ probe) & table.leading_bits() == 0)
                {
                    continue; // That table has reported it.
                }
                let ids = self.ids.get(&bits).map_or(&[][..], Ids::as_slice);
                ids.iter().for_each(|&id| {
                    visit(Neighbour {
                        distance: apart,
                        id,
                    });
                });
            }
        }
    }

    /// Returns the bits that the design covers.
    fn significant(&self, fingerprint: Fingerprint) -> u64 {
        fingerprint.as_u64() & u64::MAX >> (64 - self.design.bits())
    }

    fn drop_vacant(&mut self) {
        self.ids.retain(|_, ids| !ids.as_slice().is_empty());
        for (table, permutation) in self.tables.iter_mut().zip(self.design.tables()) {
            table.retain(|value| self.ids.contains_key(&permutation.undo(value)));
        }
        self.vacant = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::oracle::{brute_force, clustered, neighbour};
    use super::*;
    use crate::mix::mix;
    use crate::tables::design::MAX_DISTANCE;
    use proptest::prelude::*;

    fn tables(distance: u32) -> PermutedTables {
        PermutedTables::new(TableDesign::for_distance(distance).unwrap())
    }

    #[test]
    fn empty_tables_find_nothing() {
        let tables = tables(3);
        assert!(tables.is_empty());
        assert_eq!(tables.within(Fingerprint::new(0), 3), []);
    }

    #[test]
    fn everything_planted_among_a_hundred_thousand_is_found_and_nothing_else() {
        let mut tables = tables(3);
        let held: Vec<(u64, u32)> = (0..100_000).map(|id| (mix(u64::from(id)), id)).collect();
        for &(bits, id) in &held {
            assert!(tables.insert(Fingerprint::new(bits), id));
        }
        assert_eq!(tables.len(), 100_000);
        for &(bits, id) in held.iter().step_by(97) {
            for flips in 0..=4 {
                let probe = neighbour(bits, flips, u64::from(id));
                let found = tables.within(Fingerprint::new(probe), 3);
                assert_eq!(
                    found.contains(&Neighbour {
                        distance: flips,
                        id
                    }),
                    flips <= 3
                );
            }
        }
        for n in 0..50 {
            let probe = mix(n * 1_000) ^ n;
            assert_eq!(
                tables.within(Fingerprint::new(probe), 3),
                brute_force(&held, probe, 3)
            );
        }
    }

    #[test]
    fn equal_fingerprints_are_kept_up_to_the_cap_and_one_past_it_is_refused() {
        let mut tables = tables(3);
        let same = Fingerprint::new(77);
        assert!((0..MAX_EQUAL as u32).all(|id| tables.insert(same, id)));
        assert!(!tables.insert(same, 9_999));
        assert_eq!(tables.len(), MAX_EQUAL);
        assert_eq!(tables.within(Fingerprint::new(76), 3).len(), MAX_EQUAL);
        assert!(tables.remove(same, 3) && tables.insert(same, 9_999));
    }

    #[test]
    fn removed_fingerprints_are_not_found_and_can_be_added_again() {
        let mut tables = tables(3);
        let fingerprint = |id: u32| Fingerprint::new(mix(u64::from(id)));
        (0..2_000).for_each(|id| assert!(tables.insert(fingerprint(id), id)));
        (0..2_000)
            .filter(|id| id % 3 > 0)
            .for_each(|id| assert!(tables.remove(fingerprint(id), id)));
        assert!(!tables.remove(fingerprint(1), 1));
        assert!(!tables.remove(fingerprint(0), 1));
        for id in 0..2_000 {
            assert_eq!(tables.within(fingerprint(id), 3).is_empty(), id % 3 > 0);
        }
        assert!(tables.insert(fingerprint(1), 1));
        assert_eq!(
            tables.within(fingerprint(1), 3),
            [Neighbour { distance: 0, id: 1 }]
        );
        assert_eq!(tables.len(), 668);
    }

    #[test]
    fn a_greater_distance_than_that_of_the_design_is_treated_as_that() {
        let mut tables = tables(1);
        assert!(
            tables.insert(Fingerprint::new(0b1), 1) && tables.insert(Fingerprint::new(0b11), 2)
        );
        assert_eq!(
            tables.within(Fingerprint::new(0), 64),
            [Neighbour { distance: 1, id: 1 }]
        );
        assert_eq!(tables.within(Fingerprint::new(0), 0), []);
    }

    #[test]
    fn every_design_finds_what_brute_force_finds() {
        let seeds: Vec<(u64, u32, u64)> = (0..3_000).map(|n| (n % 60, n as u32 % 11, n)).collect();
        let held = clustered(&seeds);
        let mut designs = 0;
        for distance in 0..=MAX_DISTANCE {
            for levels in [
                &[][..],
                &[distance + 1],
                &[distance + 2],
                &[distance + 3],
                &[distance + 1, distance + 1],
                &[distance + 1, distance + 2],
                &[distance + 2, distance + 2],
                &[distance + 1, distance + 1, distance + 1],
            ] {
                let Ok(design) = TableDesign::new(64, distance, levels) else {
                    continue;
                };
                if design.tables().len() > 40 {
                    continue;
                }
                designs += 1;
                let items = held.iter().map(|&(bits, id)| (Fingerprint::new(bits), id));
                let tables = PermutedTables::build(design, items);
                assert_eq!(tables.len(), held.len());
                for centre in 0..60 {
                    let probe = neighbour(mix(centre), distance / 2, centre);
                    let found = tables.within(Fingerprint::new(probe), distance);
                    assert_eq!(
                        found,
                        brute_force(&held, probe, distance),
                        "{}",
                        tables.design()
                    );
                }
            }
        }
        assert!(designs > 30, "{designs}");
    }

    #[test]
    fn thirty_two_bits_are_found_by_their_own_designs() {
        let held: Vec<(u64, u32)> = (0..3_000)
            .map(|id| (mix(u64::from(id)) >> 32, id))
            .collect();
        let mut tables = PermutedTables::new(TableDesign::new(32, 3, &[5]).unwrap());
        for &(bits, id) in &held {
            // The bits above the lowest 32 are no part of such a fingerprint.
            assert!(tables.insert(Fingerprint::new(bits | u64::from(id) << 32), id));
        }
        for &(bits, _) in held.iter().step_by(37) {
            let probe = bits ^ 0b101;
            let found = tables.within(Fingerprint::new(probe | 0xffff << 48), 3);
            assert_eq!(found, brute_force(&held, probe, 3));
        }
        assert!(tables.remove(Fingerprint::new(held[7].0 | 1 << 60), 7));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn at_every_distance_exactly_what_brute_force_finds_is_found(
            seeds in prop::collection::vec((0_u64..40, 0_u32..10, any::<u64>()), 1..900),
            removed in any::<u64>(),
        ) {
            let mut held = clustered(&seeds);
            for k in 0..=MAX_DISTANCE {
                let mut tables = tables(k);
                for &(bits, id) in &held {
                    assert!(tables.insert(Fingerprint::new(bits), id));
                }
                for centre in 0..40 {
                    let probe = mix(centre);
                    prop_assert_eq!(
                        tables.within(Fingerprint::new(probe), k),
                        brute_force(&held, probe, k),
                    );
                }
            }
            let mut tables = tables(5);
            held.iter().for_each(|&(bits, id)| assert!(tables.insert(Fingerprint::new(bits), id)));
            held.retain(|&(bits, id)| {
                let stays = mix(removed ^ u64::from(id)).is_multiple_of(2);
                assert!(stays || tables.remove(Fingerprint::new(bits), id));
                stays
            });
            prop_assert_eq!(tables.len(), held.len());
            for centre in 0..40 {
                let probe = mix(centre);
                prop_assert_eq!(
                    tables.within(Fingerprint::new(probe), 5),
                    brute_force(&held, probe, 5),
                );
            }
        }
    }
}
