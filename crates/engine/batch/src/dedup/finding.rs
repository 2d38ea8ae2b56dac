//! Findings: the results of comparing documents.

use neardup::{BandedSignature, MatchKind};

use crate::dedup::decisions::Decisions;
use crate::document_id::DocumentId;
use crate::document_names::DocumentNames;
use crate::error::BatchError;

/// A result of the requested kind.
#[derive(Debug)]
pub enum Finding<'a> {
    /// A document repeats an earlier one.
    Duplicate(Duplicate<'a>),
    /// A document repeats no earlier one; with [`Options::originals`](super::Options::originals).
    Original(Original<'a>),
    /// Two documents are similar.
    Pair(SimilarPair<&'a DocumentId>),
    /// Documents form a cluster.
    Cluster(Cluster<'a>),
}

/// A document that repeats no earlier one.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// The id.
    pub document: &'a DocumentId,
    /// The signature.
    pub signature: &'a BandedSignature,
}

/// A document that repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Duplicate<'a> {
    /// The number of the later document in the run, from 0.
    pub number: u64,
    /// The id of the later document.
    pub document: &'a DocumentId,
    /// The id of the original.
    pub duplicate_of: &'a DocumentId,
    /// The kind and degree of the match.
    pub match_kind: MatchKind,
}

/// Two similar documents or texts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimilarPair<Id> {
    /// The id of the earlier document.
    pub a: Id,
    /// The id of the later document.
    pub b: Id,
    /// The kind and degree of the match.
    pub match_kind: MatchKind,
}

/// A cluster of at least two documents.
#[derive(Clone, Copy, Debug)]
pub struct Cluster<'a> {
    pub(super) members: &'a [u32],
    pub(super) names: &'a DocumentNames<'a>,
    /// None if chains connect the members.
    pub(super) decisions: Option<&'a Decisions<'a>>,
}

impl<'a> Cluster<'a> {
    /// Returns the number of members.
    #[must_use]
    #[expect(
        clippy::len_without_is_empty,
        reason = "a cluster has two members at least"
    )]
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns the match kind of each member and the original, the first member, in the order of
    /// the members; `None` for the original, and for all if chains connect them.
    pub fn match_kinds(&self) -> impl Iterator<Item = Option<MatchKind>> + use<'a> {
        let decisions = self.decisions;
        let match_kind = move |&member: &u32| Some(decisions?.original_of(member)?.1);
        self.members.iter().map(match_kind)
    }

    /// Returns true if every member is like the first, and false if chains connect them.
    #[must_use]
    pub fn is_around_original(&self) -> bool {
        self.decisions.is_some()
    }

    /// Returns the ids of the members in the order of the documents, one by one: they may exceed
    /// the memory, so they may be read back from a file.
    pub fn members(&self) -> impl Iterator<Item = Result<DocumentId, BatchError>> + use<'a> {
        let names = self.names;
        self.members.iter().map(|&number| names.get(number))
    }
}
