//! Blocks that differ between two pages, with their weight in the decision, for users.

use crate::alike::Differences;
use crate::blocks::ComparedPage;
use crate::decision::counts;
use crate::frame::Frames;
use crate::parts::{Left, Parts};

/// A block that only one of two pages has, or that differs between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingBlock {
    /// Text of the page, if it has the block.
    pub page: Option<String>,
    /// Text of the original, if it has the block.
    pub original: Option<String>,
    /// Weight of the difference.
    pub weight: BlockWeight,
}

/// Weight of a difference in the decision on two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockWeight {
    /// It counts.
    Counts,
    /// It does not count: the block is part of the site's boilerplate.
    Frame,
    /// It does not count: its text changes on its own.
    Changing,
    /// It does not count: only capitals, punctuation or the order of the words differ.
    SameWords,
    /// It does not count: it is short and outside the main content, or gives the page's address.
    Aside,
}

impl BlockWeight {
    /// Returns its name in outputs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Frame => "frame",
            Self::Changing => "changes",
            Self::SameWords => "same-words",
            Self::Aside => "aside",
        }
    }
}

/// Returns the blocks that differ between two pages: first similar pairs, then blocks of only the
/// page, then blocks of only the original, each group in page order.
#[must_use]
pub fn differing_blocks(
    page: &ComparedPage,
    original: &ComparedPage,
    frames: Frames<'_>,
) -> Vec<DifferingBlock> {
    let is_changing =
        |place: Option<u64>| place.is_some_and(|place| frames.change_by_themselves(place));
    let parts = Parts::of(page, original, frames);
    let weight = |left: &Left<'_>| match () {
        () if left.is_frame => BlockWeight::Frame,
        () if is_changing(left.place) => BlockWeight::Changing,
        () if counts(&left.block) => BlockWeight::Counts,
        () => BlockWeight::Aside,
    };
    let weight_of_pair = |ours: &Left<'_>, theirs: &Left<'_>| {
        let mut differences = Differences::of(page, original);
        differences.pair(ours, theirs, &is_changing);
        match () {
            () if differences.has_some() => BlockWeight::Counts,
            () if ours.is_frame || theirs.is_frame => BlockWeight::Frame,
            () if ours.block.words_hash() == theirs.block.words_hash() => BlockWeight::SameWords,
            () if ours.block.is_main || theirs.block.is_main => BlockWeight::Changing,
            () => BlockWeight::Aside,
        }
    };
    let text = |left: &Left<'_>| Some(left.block.text.to_owned());
    let pairs = parts.pairs.iter().map(|(ours, theirs)| DifferingBlock {
        page: text(ours),
        original: text(theirs),
        weight: weight_of_pair(ours, theirs),
    });
    let only_page = parts.only_page.iter().map(|left| DifferingBlock {
        page: text(left),
        original: None,
        weight: weight(left),
    });
    let only_original = parts.only_original.iter().map(|left| DifferingBlock {
        page: None,
        original: text(left),
        weight: weight(left),
    });
    pairs.chain(only_page).chain(only_original).collect()
}
