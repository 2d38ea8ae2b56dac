//! Which places share a key, where nearly all keys have one place.
//!
//! The gallery keeps eight bands a page, and so this is most of its memory: a key is cut to 32 bits (whoever looks up verifies
//! what is found, so keys that are taken for one another cost time and nothing else: at a million pages one look-up in
//! five hundred meets a stranger), and a place is held in the map itself until a second one comes. 8 bytes a key in the map,
//! where 64-bit keys with lists took 32.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::mix::mix;

/// Places are below this.
pub(crate) const MOST_PLACES: u32 = 1 << 31;

/// Marks the number of a crowd where a place would stand.
const CROWD: u32 = MOST_PLACES;

/// Places by key, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowds {
    held: HashMap<u32, u32>,
    crowds: Vec<Vec<u32>>,
    /// Numbers of crowds that were dissolved.
    free: Vec<u32>,
}

impl Crowds {
    /// The places under `key`, and perhaps others.
    pub(crate) fn under(&self, key: u64) -> &[u32] {
        match self.held.get(&short(key)) {
            None => &[],
            Some(held) if held & CROWD == 0 => std::slice::from_ref(held),
            Some(held) => &self.crowds[(held & !CROWD) as usize],
        }
    }

    /// Adds `place`, which is below [`MOST_PLACES`]; false, and nothing added, where `cap` places are there already.
    pub(crate) fn push(&mut self, key: u64, place: u32, cap: usize) -> bool {
        match self.held.entry(short(key)) {
            Entry::Vacant(entry) => {
                entry.insert(place);
            }
            Entry::Occupied(entry) if entry.get() & CROWD != 0 => {
                let crowd = &mut self.crowds[(entry.get() & !CROWD) as usize];
                if crowd.len() >= cap {
                    return false;
                }
                crowd.push(place);
            }
            Entry::Occupied(mut entry) => {
                if cap < 2 {
                    return false;
                }
                let crowd = vec![*entry.get(), place];
                let number = match self.free.pop() {
                    Some(number) => {
                        self.crowds[number as usize] = crowd;
                        number
                    }
                    None => {
                        self.crowds.push(crowd);
                        (self.crowds.len() - 1) as u32
                    }
                };
                entry.insert(CROWD | number);
            }
        }
        true
    }

    /// Takes `place` out, where it is.
    pub(crate) fn remove(&mut self, key: u64, place: u32) {
        let Entry::Occupied(entry) = self.held.entry(short(key)) else {
            return;
        };
        let held = *entry.get();
        if held == place {
            entry.remove();
        } else if held & CROWD != 0 {
            let number = held & !CROWD;
            let crowd = &mut self.crowds[number as usize];
            crowd.retain(|one| *one != place);
            if crowd.is_empty() {
                *crowd = Vec::new();
                self.free.push(number);
                entry.remove();
            }
        }
    }

    /// Bytes held, about.
    pub(crate) fn memory(&self) -> usize {
        let lists: usize = self.crowds.iter().map(Vec::capacity).sum();
        self.held.capacity() * (size_of::<(u32, u32)>() + 1)
            + self.crowds.capacity() * size_of::<Vec<u32>>()
            + (lists + self.free.capacity()) * size_of::<u32>()
    }
}

/// All bits of the key count: a band's key has its number in the upper half.
const fn short(key: u64) -> u32 {
    mix(key) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against a map of lists, with few keys, so that crowds come and go.
        #[test]
        fn places_come_back_in_the_order_in_which_they_came(
            steps in prop::collection::vec((0_u64..5, 0_u32..12, any::<bool>()), 0..200), cap in 1_usize..5,
        ) {
            let mut crowds = Crowds::default();
            let mut lists: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for (key, place, add) in steps {
                let list = lists.entry(key).or_default();
                if !add {
                    list.retain(|one| *one != place);
                    crowds.remove(key, place);
                } else if !list.contains(&place) {
                    let fits = list.len() < cap;
                    prop_assert_eq!(crowds.push(key, place, cap), fits);
                    if fits {
                        list.push(place);
                    }
                }
                for (key, list) in &lists {
                    prop_assert_eq!(crowds.under(*key), &list[..]);
                }
            }
        }
    }
}
