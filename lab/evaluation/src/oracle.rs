//! The oracle: exact resemblance (Jaccard) of all pairs of many sets, without comparing each pair.
//!
//! For each member there is a list of the sets that have it. For every set the lists of its members
//! are read and the common members counted, so the cost depends on the shared members, not on n²/2
//! merges of whole sets.

use crate::threads;

/// Two of the sets, the lower number first, and their resemblance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Resembling {
    pub(crate) a: u32,
    pub(crate) b: u32,
    pub(crate) resemblance: f64,
}

/// Returns all pairs of `sets` (ascending, each member once) whose resemblance is at least `least`,
/// which is above 0. Empty sets resemble nothing.
pub(crate) fn resembling(sets: &[&[u64]], least: f64) -> Vec<Resembling> {
    let holders = Holders::of(sets);
    let found = threads::each(sets.len(), |b| {
        let mut shared = vec![0_u32; b];
        for &member in &holders.members[b] {
            for &a in holders.of_member(member) {
                let Some(count) = shared.get_mut(a as usize) else {
                    break;
                };
                *count += 1;
            }
        }
        let mut found = Vec::new();
        for (a, &shared) in shared.iter().enumerate().filter(|(_, shared)| **shared > 0) {
            let all = sets[a].len() + sets[b].len() - shared as usize;
            let resemblance = f64::from(shared) / all as f64;
            if resemblance >= least {
                found.push(Resembling {
                    a: a as u32,
                    b: b as u32,
                    resemblance,
                });
            }
        }
        found
    });
    found.into_iter().flatten().collect()
}

/// Returns Σ min / Σ max of two ascending lists of words with their counts (the Jaccard index of
/// multisets).
pub(crate) fn resemblance_of_counts(one: &[(u64, u32)], two: &[(u64, u32)]) -> f64 {
    let (mut mine, mut theirs) = (one, two);
    let (mut least, mut most) = (0_u64, 0_u64);
    loop {
        match (mine, theirs) {
            ([], []) => break,
            ([(_, count), rest @ ..], []) => {
                most += u64::from(*count);
                mine = rest;
            }
            ([], [(_, count), rest @ ..]) => {
                most += u64::from(*count);
                theirs = rest;
            }
            ([(word, count), my_rest @ ..], [(other, others), their_rest @ ..]) => {
                if word == other {
                    least += u64::from(*count.min(others));
                    most += u64::from(*count.max(others));
                    (mine, theirs) = (my_rest, their_rest);
                } else if word < other {
                    most += u64::from(*count);
                    mine = my_rest;
                } else {
                    most += u64::from(*others);
                    theirs = their_rest;
                }
            }
        }
    }
    if most == 0 {
        1.0
    } else {
        least as f64 / most as f64
    }
}

/// The sets that have each member; members of one set only are left out.
struct Holders {
    /// For each member the sets that have it, ascending, one list after the other.
    holders: Vec<u32>,
    /// The start of each member's list in `holders`, and the end of the last.
    starts: Vec<usize>,
    /// For each set its members, by number.
    members: Vec<Vec<u32>>,
}

impl Holders {
    fn of(sets: &[&[u64]]) -> Self {
        let mut all: Vec<(u64, u32)> = Vec::with_capacity(sets.iter().map(|set| set.len()).sum());
        for (number, set) in (0..).zip(sets) {
            all.extend(set.iter().map(|&member| (member, number)));
        }
        all.sort_unstable();
        let mut made = Self {
            holders: Vec::new(),
            starts: vec![0],
            members: vec![Vec::new(); sets.len()],
        };
        for same in all
            .chunk_by(|one, two| one.0 == two.0)
            .filter(|same| same.len() > 1)
        {
            let member = made.starts.len() as u32 - 1;
            for &(_, set) in same {
                made.holders.push(set);
                made.members[set as usize].push(member);
            }
            made.starts.push(made.holders.len());
        }
        made
    }

    fn of_member(&self, member: u32) -> &[u32] {
        let member = member as usize;
        &self.holders[self.starts[member]..self.starts[member + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn merged(one: &[u64], two: &[u64]) -> f64 {
        let shared = one.iter().filter(|member| two.contains(member)).count();
        shared as f64 / (one.len() + two.len() - shared) as f64
    }

    #[test]
    fn the_oracle_finds_the_same_pairs_as_comparing_each_pair() {
        let mut random = Random::new(7);
        let sets: Vec<Vec<u64>> = (0..120)
            .map(|_| {
                let mut set: Vec<u64> = (0..random.below(30))
                    .map(|_| random.below(40) as u64)
                    .collect();
                set.sort_unstable();
                set.dedup();
                set
            })
            .collect();
        let slices: Vec<&[u64]> = sets.iter().map(Vec::as_slice).collect();
        let mut expected = Vec::new();
        for b in 0..sets.len() {
            for a in 0..b {
                let resemblance = merged(&sets[a], &sets[b]);
                if resemblance >= 0.3 {
                    let (a, b) = (a as u32, b as u32);
                    expected.push(Resembling { a, b, resemblance });
                }
            }
        }
        assert!(expected.len() > 100, "{}", expected.len());
        assert_eq!(resembling(&slices, 0.3), expected);
    }

    #[test]
    fn counted_words_share_the_lesser_of_two_counts() {
        let one = [(1, 2), (3, 1), (9, 4)];
        let two = [(1, 1), (4, 1), (9, 5)];
        assert_eq!(
            resemblance_of_counts(&one, &two),
            (1.0 + 4.0) / (2.0 + 1.0 + 1.0 + 5.0)
        );
        assert_eq!(resemblance_of_counts(&one, &one), 1.0);
        assert_eq!(resemblance_of_counts(&one, &[]), 0.0);
        assert_eq!(resemblance_of_counts(&[], &[]), 1.0);
    }
}
