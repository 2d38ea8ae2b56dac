//! What comparing documents brings to light.

use neardup::Likeness;

use crate::dedup::encoding::DocumentNames;
use crate::error::BatchError;

/// One result, of the kind that was asked for.
#[derive(Debug)]
pub enum Finding<'a> {
    /// An earlier document says the same.
    Duplicate(Duplicate<'a>),
    /// Two documents are alike.
    Pair(SimilarPair<&'a str>),
    /// Documents belong together.
    Cluster(Cluster<'a>),
}

/// A document that says what an earlier one said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicate<'a> {
    /// The later one's id.
    pub document: &'a str,
    /// The id of the original.
    pub duplicate_of: &'a str,
    /// In which way they are alike; [`distance`] and [`resemblance`] tell it in two numbers.
    pub likeness: Likeness,
}

/// Two documents that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair<Id> {
    /// The earlier one's id.
    pub a: Id,
    /// The later one's id.
    pub b: Id,
    /// In which way they are alike.
    pub likeness: Likeness,
}

/// Documents that belong together, at least two.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    pub(super) members: &'a [u32],
    pub(super) names: &'a DocumentNames<'a>,
}

impl<'a> Cluster<'a> {
    /// Returns the number of entries.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a cluster has two members at least"
    )]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Their ids in the order in which they came, one by one: there may be more of them than memory
    /// holds, so they may have to be read back from a file.
    #[must_use]
    pub fn members(&self) -> Members<'a> {
        Members {
            rest: self.members.iter(),
            names: self.names,
        }
    }
}

/// The ids of a cluster's members.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: std::slice::Iter<'a, u32>,
    names: &'a DocumentNames<'a>,
}

impl Iterator for Members<'_> {
    type Item = Result<String, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest.next().map(|&number| self.names.get(number))
    }
}

/// In how many bits the fingerprints differ; 0 for what is equal.
#[must_use]
pub fn distance(likeness: Likeness) -> u32 {
    match likeness {
        Likeness::SamePayload | Likeness::SameText => 0,
        Likeness::Near { distance, .. } => distance,
    }
}

/// Returns the estimated resemblance; 1 for what is equal.
#[must_use]
pub fn resemblance(likeness: Likeness) -> f64 {
    match likeness {
        Likeness::SamePayload | Likeness::SameText => 1.0,
        Likeness::Near { resemblance, .. } => resemblance,
    }
}
