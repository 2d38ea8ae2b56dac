//! Clusters of documents, made from pairs of similar documents.
//!
//! Similarity is not transitive, so there are two notions. [`Groups::around`] is the usual one:
//! each document is compared only with originals and joins one original, so that all members of a
//! cluster are similar to its first. [`Clusters`] contain everything that a chain of similar pairs
//! connects (union-find over verified pairs; Broder et al., "Syntactic clustering of the web",
//! 1997, section 4); the ends of a chain may be far apart.
//!
//! Invariant: documents are numbered consecutively from 0, and [`Groups`] depend on neither the
//! order nor the repetition of the pairs that made them.

/// Connected components of similar pairs: union by size, path halving (Tarjan and van Leeuwen, JACM
/// 1984). 8 bytes per document.
///
/// ```
/// use neardup::clusters::Clusters;
///
/// let mut clusters = Clusters::new(4);
/// assert!(clusters.unite(0, 3) && clusters.unite(3, 1) && !clusters.unite(0, 1));
/// let groups = clusters.into_groups();
/// assert_eq!(groups.iter().collect::<Vec<_>>(), [&[0, 1, 3][..], &[2]]);
/// ```
#[derive(Clone, Debug)]
pub struct Clusters {
    parents: Vec<u32>,
    /// Number of documents below a root, including the root.
    sizes: Vec<u32>,
}

impl Clusters {
    /// Creates `count` clusters of one document each.
    #[must_use]
    pub fn new(count: u32) -> Self {
        Self {
            parents: (0..count).collect(),
            sizes: vec![1; count as usize],
        }
    }

    /// Merges the clusters of the two documents; returns false if both were in the same cluster
    /// already.
    ///
    /// # Panics
    /// If a number is not less than the count given to [`Clusters::new`].
    pub fn unite(&mut self, one: u32, two: u32) -> bool {
        let (one, two) = (self.root(one), self.root(two));
        if one == two {
            return false;
        }
        let (large, small) = if self.sizes[one as usize] < self.sizes[two as usize] {
            (two, one)
        } else {
            (one, two)
        };
        self.parents[small as usize] = large;
        self.sizes[large as usize] += self.sizes[small as usize];
        true
    }

    /// Returns true if the two documents are in the same cluster.
    ///
    /// # Panics
    /// If a number is not less than the count given to [`Clusters::new`].
    #[must_use]
    pub fn united(&mut self, one: u32, two: u32) -> bool {
        self.root(one) == self.root(two)
    }

    /// Returns the member that represents the cluster of `document` until the next union.
    ///
    /// # Panics
    /// If `document` is not less than the count given to [`Clusters::new`].
    #[must_use]
    pub fn root(&mut self, document: u32) -> u32 {
        let mut at = document as usize;
        while self.parents[at] as usize != at {
            let grandparent = self.parents[self.parents[at] as usize];
            self.parents[at] = grandparent;
            at = grandparent as usize;
        }
        at as u32
    }

    /// Returns the clusters as lists.
    #[must_use]
    pub fn into_groups(mut self) -> Groups {
        let count = self.parents.len() as u32;
        for document in 0..count {
            self.parents[document as usize] = self.root(document);
        }
        // From here on, the entry of a root in `firsts` is the first member.
        let Self {
            mut parents,
            sizes: mut firsts,
        } = self;
        for document in (0..count).rev() {
            firsts[parents[document as usize] as usize] = document;
        }
        for parent in &mut parents {
            *parent = firsts[*parent as usize];
        }
        Groups::of(&parents)
    }
}

/// Clusters as lists of their members. 8 bytes per document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// The members of each group in turn, ascending.
    members: Vec<u32>,
    /// End of each group; groups are sorted by their first members.
    ends: Vec<u32>,
}

/// A document that is unknown or the duplicate of another, and so cannot have duplicates itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("document {0} is not an original")]
pub struct NotAnOriginal(u32);

impl Groups {
    /// Returns the clusters around originals. `originals` contains the original of each document:
    /// the document itself or an earlier one.
    ///
    /// ```
    /// use neardup::clusters::{Groups, NotAnOriginal};
    ///
    /// let groups = Groups::around(&[0, 1, 0])?;
    /// assert_eq!(groups.iter().collect::<Vec<_>>(), [&[0, 2][..], &[1]]);
    /// # Ok::<(), NotAnOriginal>(())
    /// ```
    ///
    /// # Errors
    /// [`NotAnOriginal`] if an original is itself a duplicate, which would make a chain, or comes
    /// after its duplicate.
    pub fn around(originals: &[u32]) -> Result<Self, NotAnOriginal> {
        for (document, &original) in (0..).zip(originals) {
            let is_original = originals.get(original as usize) == Some(&original);
            if !is_original || original > document {
                return Err(NotAnOriginal(original));
            }
        }
        Ok(Self::of(originals))
    }

    /// Returns the groups of documents; `firsts` contains, for each document, the first one of its
    /// group.
    fn of(firsts: &[u32]) -> Self {
        let mut ends = Vec::new();
        // Position of the next member of each document's group.
        let mut next = vec![0_u32; firsts.len()];
        for &first in firsts {
            next[first as usize] += 1;
        }
        let mut end = 0;
        for place in next.iter_mut().filter(|size| **size > 0) {
            let size = std::mem::replace(place, end);
            end += size;
            ends.push(end);
        }
        let mut members = vec![0; firsts.len()];
        for (document, &first) in (0..).zip(firsts) {
            let place = &mut next[first as usize];
            members[*place as usize] = document;
            *place += 1;
        }
        Self { members, ends }
    }

    /// Returns the number of groups, including groups of one member.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the members of the group with this number, ascending; empty if the group does not
    /// exist.
    #[must_use]
    pub fn get(&self, group: u32) -> &[u32] {
        let group = group as usize;
        let start = group
            .checked_sub(1)
            .and_then(|before| self.ends.get(before));
        let end = self.ends.get(group).copied().unwrap_or(0) as usize;
        self.members
            .get(start.copied().unwrap_or(0) as usize..end)
            .unwrap_or_default()
    }

    /// Iterates over the groups, sorted by first member; the members of each group ascend.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let group = &self.members[start..end as usize];
            start = end as usize;
            group
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Spreads the least number along pairs until nothing changes.
    fn connected(count: u32, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut least: Vec<u32> = (0..count).collect();
        loop {
            let before = least.clone();
            for &(one, two) in pairs {
                let both = least[one as usize].min(least[two as usize]);
                least[one as usize] = both;
                least[two as usize] = both;
            }
            if least == before {
                break;
            }
        }
        let members = |first: u32| {
            (0..count)
                .filter(|&document| least[document as usize] == first)
                .collect()
        };
        (0..count)
            .filter(|&first| least[first as usize] == first)
            .map(members)
            .collect()
    }

    fn lists(groups: &Groups) -> Vec<Vec<u32>> {
        groups.iter().map(<[u32]>::to_vec).collect()
    }

    #[test]
    fn no_documents_make_no_groups() {
        assert!(Clusters::new(0).into_groups().is_empty());
        assert!(Groups::around(&[]).unwrap().is_empty());
    }

    #[test]
    fn a_chain_is_one_cluster_and_around_originals_it_is_not() {
        let mut clusters = Clusters::new(3);
        assert!(clusters.unite(0, 1) && clusters.unite(1, 2) && !clusters.unite(0, 2));
        assert!(clusters.united(0, 2));
        assert_eq!(lists(&clusters.into_groups()), [[0, 1, 2]]);

        assert_eq!(
            lists(&Groups::around(&[0, 0, 2]).unwrap()),
            [vec![0, 1], vec![2]]
        );
    }

    #[test]
    fn an_original_is_neither_a_duplicate_nor_a_later_document() {
        assert_eq!(Groups::around(&[0, 0, 1]), Err(NotAnOriginal(1)));
        assert_eq!(Groups::around(&[0, 0, 3]), Err(NotAnOriginal(3)));
        assert_eq!(Groups::around(&[1, 1]), Err(NotAnOriginal(1)));
    }

    #[test]
    fn a_million_documents_in_one_chain_are_one_cluster() {
        let mut clusters = Clusters::new(1_000_000);
        (1..1_000_000).for_each(|document| assert!(clusters.unite(document - 1, document)));
        assert_eq!(clusters.into_groups().len(), 1);
    }

    proptest! {
        #[test]
        fn clusters_are_the_connected_components_whatever_the_order_of_pairs(
            count in 1_u32..60,
            pairs in prop::collection::vec((0_u32..60, 0_u32..60), 0..60),
        ) {
            let mut pairs: Vec<(u32, u32)> =
                pairs.into_iter().map(|(one, two)| (one % count, two % count)).collect();
            let expected = connected(count, &pairs);
            for _ in 0..2 {
                let mut clusters = Clusters::new(count);
                let unions = pairs.iter().filter(|(one, two)| clusters.unite(*one, *two)).count();
                prop_assert_eq!(unions, count as usize - expected.len());
                let groups = clusters.into_groups();
                prop_assert_eq!(&lists(&groups), &expected);
                for (number, group) in (0..).zip(groups.iter()) {
                    prop_assert_eq!(groups.get(number), group);
                }
                prop_assert!(groups.get(groups.len() as u32).is_empty());
                pairs.reverse();
                pairs.extend_from_within(..pairs.len() / 2);
            }
        }
    }
}
