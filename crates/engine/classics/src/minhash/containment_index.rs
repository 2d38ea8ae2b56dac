//! Containment search: the sets that contain most of a given set.
//!
//! (The problem of Zhu, Nargesian, Pu and Miller, "LSH Ensemble: internet-scale domain search",
//! VLDB 2016.) LSH Ensemble finds candidates by bands that are tuned to each range of sizes, and
//! misses some. This index compares every set that is large enough instead. Sets that are too small
//! to hold the share are skipped by their exact size, and each other set costs one comparison per
//! minimum. So only the error of the estimate can cause a miss, and a query takes time in
//! proportion to the number of sets.
//!
//! Invariant: all sets have the same scheme, and they are sorted by size, ascending.

use std::collections::BTreeMap;

use super::{Incomparable, MinHash, Scheme};

/// A set that contains a share of the queried set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contained<Id> {
    /// Id of the set, as given by the caller.
    pub within: Id,
    /// Estimated share of the queried set that this set contains, 0 to 1.
    pub containment: f64,
}

/// An index of MinHashes that is searched by containment.
///
/// ```
/// use classics::minhash::{ContainmentIndex, Incomparable, MinHasher};
///
/// let hasher = MinHasher::default();
/// let of = |members: std::ops::Range<u64>| {
///     let members: Vec<u64> = members.collect();
///     hasher.of_members(&members, members.len() as u64)
/// };
/// let mut index = ContainmentIndex::new();
/// index.insert("all", of(0..1_000))?;
/// index.insert("other", of(5_000..6_000))?;
/// index.insert("too small", of(0..100))?;
/// let found = index.containing(&of(300..900), 0.8)?;
/// assert_eq!(found.iter().map(|found| *found.within).collect::<Vec<_>>(), ["all"]);
/// # Ok::<(), Incomparable>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContainmentIndex<Id> {
    /// Sets by number of members, then in the order of insertion.
    sets: BTreeMap<u64, Vec<(Id, MinHash)>>,
    scheme: Option<Scheme>,
    len: usize,
}

impl<Id> Default for ContainmentIndex<Id> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Id> ContainmentIndex<Id> {
    /// Creates an empty index.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            sets: BTreeMap::new(),
            scheme: None,
            len: 0,
        }
    }

    /// Inserts a set under `id`; several sets may have the same id.
    ///
    /// # Errors
    /// [`Incomparable`] if the sets of the index have another family or number of minima.
    pub fn insert(&mut self, id: Id, set: MinHash) -> Result<(), Incomparable> {
        self.check(&set)?;
        self.scheme = Some(set.scheme());
        self.sets.entry(set.size()).or_default().push((id, set));
        self.len += 1;
        Ok(())
    }

    /// Returns the sets that contain at least the share `least`, 0 to 1, of `set`, as estimated by
    /// [`MinHash::containment_in`]. The greatest share comes first; among equal shares the smallest
    /// set, then the earliest.
    ///
    /// # Errors
    /// [`Incomparable`] if `set` and the index have different families or numbers of minima.
    pub fn containing(
        &self,
        set: &MinHash,
        least: f64,
    ) -> Result<Vec<Contained<&Id>>, Incomparable> {
        self.check(set)?;
        // A set of n members contains at most n members of another. The required number may be a
        // fraction; it is rounded down, so that no matching set is skipped.
        let from = (least.clamp(0.0, 1.0) * set.size() as f64).floor() as u64;
        let mut found = Vec::new();
        for (within, held) in self.sets.range(from..).flat_map(|(_, sets)| sets) {
            let containment = set.containment_in(held)?;
            if containment >= least {
                found.push(Contained {
                    within,
                    containment,
                });
            }
        }
        found.sort_by(|one, two| two.containment.total_cmp(&one.containment));
        Ok(found)
    }

    /// Returns the number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn check(&self, set: &MinHash) -> Result<(), Incomparable> {
        self.scheme
            .map_or(Ok(()), |scheme| scheme.check(set.scheme()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::minhash::{Family, MinHasher};

    fn of(members: std::ops::Range<u64>) -> MinHash {
        let members: Vec<u64> = members.collect();
        MinHasher::default().of_members(&members, members.len() as u64)
    }

    #[test]
    fn sets_of_another_scheme_are_refused() {
        let mut index = ContainmentIndex::new();
        index.insert(1, of(0..10)).unwrap();
        let other = MinHasher::new(Family::Permutations, 200).unwrap();
        let other = other.of_members(&[1], 1);
        assert!(index.insert(2, other.clone()).is_err());
        assert!(index.containing(&other, 0.5).is_err());
        assert_eq!((index.len(), index.is_empty()), (1, false));
    }

    #[test]
    fn every_set_contains_the_empty_one_and_the_empty_one_contains_no_other() {
        let mut index = ContainmentIndex::new();
        index.insert("empty", of(0..0)).unwrap();
        index.insert("full", of(0..10)).unwrap();
        let within = |set: &MinHash| -> Vec<&str> {
            let found = index.containing(set, 0.5).unwrap();
            found.iter().map(|found| *found.within).collect()
        };
        assert_eq!(within(&of(0..0)), ["empty", "full"]);
        assert_eq!(within(&of(0..10)), ["full"]);
    }

    proptest! {
        /// Against the definition, without any skipping: only sets that are too small by their size
        /// may be missing.
        #[test]
        fn the_sets_found_are_those_of_a_scan_that_are_large_enough(
            sets in prop::collection::vec((0_u64..300, 0_u64..300), 0..20),
            (start, length) in (0_u64..300, 0_u64..300),
            least in 0.0..1.0,
        ) {
            let mut index = ContainmentIndex::new();
            for (id, &(start, length)) in sets.iter().enumerate() {
                index.insert(id, of(start..start + length)).unwrap();
            }
            let query = of(start..start + length);
            let found = index.containing(&query, least).unwrap();
            prop_assert!(found.is_sorted_by(|one, two| one.containment >= two.containment));
            for (id, &(start, size)) in sets.iter().enumerate() {
                let containment = query.containment_in(&of(start..start + size)).unwrap();
                let is_found = found.iter().any(|found| *found.within == id);
                let is_large_enough = size as f64 >= least * length as f64;
                prop_assert!(!is_found || containment >= least);
                prop_assert!(is_found || containment < least || !is_large_enough);
            }
        }
    }
}
