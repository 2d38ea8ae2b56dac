//! Two pages, split into shared blocks, similar blocks, and blocks that only one page has.

use std::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::blocks::{Block, ComparedPage, LONG, bag_of};
use crate::frame::{FrameBlock, Frames, HostFrame, place_behind};
use crate::reason::Reason;

/// Maximum number of unmatched blocks per page. With more, blocks are not paired by their words.
const MAX_PAIRED: usize = 128;
/// Minimum similarity of the words of similar blocks (Dice's coefficient).
const ALIKE: f64 = 0.6;
/// The minimum for short blocks, which may share only a label: `Date: 4 May`.
const ALIKE_SHORT: f64 = 0.5;
const MAX_SHORT_BLOCK: usize = 4;

/// A block that only one page has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left<'a> {
    pub(crate) block: Block<'a>,
    /// Place after the preceding block of the boilerplate.
    pub(crate) place: Option<u64>,
    /// True for a block of the boilerplate that has other numbers or addresses on the other page.
    /// It has no weight.
    pub(crate) is_frame: bool,
    /// True if other pages have the block with the same numbers.
    is_constant: bool,
    /// True if shared blocks of the content come before and after the block.
    pub(crate) is_within: bool,
}

/// Parts of two pages.
#[derive(Debug, Default)]
pub(crate) struct Parts<'a> {
    /// Words of blocks that both pages have, outside the boilerplate.
    pub(crate) shared: usize,
    /// Words of blocks of the main content that both pages have, with the boilerplate.
    pub(crate) shared_main: usize,
    /// Part of `shared` that is in long blocks.
    pub(crate) shared_long: usize,
    /// True if the page has blocks of the boilerplate, or no boilerplate is known.
    pub(crate) page_has_frame: bool,
    /// True if the original has blocks of the boilerplate, or no boilerplate is known.
    pub(crate) original_has_frame: bool,
    /// Blocks that are similar but not equal: the page's, and the original's.
    pub(crate) pairs: Vec<(Left<'a>, Left<'a>)>,
    /// Blocks that only the page has.
    pub(crate) only_page: Vec<Left<'a>>,
    /// Blocks that only the original has.
    pub(crate) only_original: Vec<Left<'a>>,
    /// Places where both pages have an equal block outside the boilerplate.
    pub(crate) places: HashSet<u64>,
    /// Blocks with numbers or addresses that both pages have.
    pub(crate) numbered: Vec<Block<'a>>,
}

impl<'a> Parts<'a> {
    /// Splits two pages into parts.
    pub(crate) fn of(
        page: &'a ComparedPage,
        original: &'a ComparedPage,
        frames: Frames<'_>,
    ) -> Self {
        let mut parts = Self::default();
        let ours = placed(page, frames.page);
        let theirs = placed(original, frames.original);
        let has_frame = |frame: Option<&HostFrame>, blocks: &[Left<'_>]| {
            frame.is_none() || blocks.iter().any(|left| left.is_frame)
        };
        parts.page_has_frame = has_frame(frames.page, &ours);
        parts.original_has_frame = has_frame(frames.original, &theirs);
        let by_words = page.is_plain || original.is_plain;
        let key = |left: &Left<'_>| match by_words {
            true => left.block.words_hash(),
            false => left.block.hash,
        };
        let mut held: HashMap<u64, usize> = HashMap::new();
        for left in &theirs {
            *held.entry(key(left)).or_default() += 1;
        }
        let mut within = Within::default();
        for (at, left) in ours.into_iter().enumerate() {
            match held.get_mut(&key(&left)).filter(|times| **times > 0) {
                Some(times) => {
                    *times -= 1;
                    within.shares(at, &left);
                    parts.share(&left);
                }
                None => parts.only_page.push(within.left(at, left)),
            }
        }
        within.mark(&mut parts.only_page);
        let mut within = Within::default();
        // Of equal blocks, the last ones remain.
        for (at, left) in theirs.iter().enumerate().rev() {
            match held.get_mut(&key(left)).filter(|times| **times > 0) {
                Some(times) => {
                    *times -= 1;
                    parts.only_original.push(within.left(at, *left));
                }
                None => within.shares(at, left),
            }
        }
        within.mark(&mut parts.only_original);
        parts.only_original.reverse();
        parts.pair();
        parts
    }

    /// Returns true if most words that both pages have are in short blocks.
    pub(crate) fn is_list(&self) -> bool {
        2 * self.shared_long < self.shared
    }

    /// Counts a block that both pages have.
    fn share(&mut self, left: &Left<'a>) {
        self.places.extend(left.place.filter(|_| !left.is_frame));
        self.numbered
            .extend(left.block.has_values().then_some(left.block));
        if left.block.is_main {
            self.shared_main += left.block.words;
        }
        if !left.is_constant {
            let words = left.block.words;
            self.shared += words;
            self.shared_long += if words >= LONG { words } else { 0 };
        }
    }

    /// Pairs similar blocks: first blocks that differ only in numbers, then by their words.
    fn pair(&mut self) {
        let same_shape = |one: &Left<'_>, other: &Left<'_>| {
            f64::from(u8::from(one.block.shape == other.block.shape))
        };
        self.pair_by(1.0, same_shape);
        if self.only_page.len().max(self.only_original.len()) <= MAX_PAIRED {
            let bags: HashMap<u64, Bag> = self
                .only_page
                .iter()
                .chain(&self.only_original)
                .map(|left| (left.block.hash, Bag::of(left.block.text)))
                .collect();
            self.pair_by(ALIKE_SHORT, |one, other| {
                let (one, other) = (&bags[&one.block.hash], &bags[&other.block.hash]);
                one.similarity(other)
            });
        }
    }

    /// Pairs each block of the page with the most similar block of the original.
    fn pair_by(&mut self, least: f64, similarity: impl Fn(&Left<'_>, &Left<'_>) -> f64) {
        let mut left = Vec::new();
        for ours in std::mem::take(&mut self.only_page) {
            let mut best: Option<(usize, f64)> = None;
            for (place, theirs) in self.only_original.iter().enumerate() {
                let similarity = similarity(&ours, theirs);
                if similarity >= least && best.is_none_or(|(_, highest)| similarity > highest) {
                    best = Some((place, similarity));
                }
            }
            match best {
                Some((place, _)) => {
                    let theirs = self.only_original.remove(place);
                    self.pairs.push((ours, theirs));
                }
                None => left.push(ours),
            }
        }
        self.only_page = left;
    }
}

/// The stretch of a page between the first and the last long content block that the other page also
/// has.
#[derive(Default)]
struct Within {
    shared: Option<(usize, usize)>,
    /// Positions of the unmatched blocks.
    left: Vec<usize>,
}

impl Within {
    fn shares(&mut self, at: usize, left: &Left<'_>) {
        if left.block.is_main && !left.is_frame && left.block.words >= LONG {
            let (first, last) = self.shared.unwrap_or((at, at));
            self.shared = Some((first.min(at), last.max(at)));
        }
    }

    fn left<'a>(&mut self, at: usize, left: Left<'a>) -> Left<'a> {
        self.left.push(at);
        left
    }

    /// Marks the unmatched blocks within the stretch.
    fn mark(&self, left: &mut [Left<'_>]) {
        if let Some((first, last)) = self.shared {
            for (left, at) in left.iter_mut().zip(&self.left) {
                left.is_within = (first..last).contains(at);
            }
        }
    }
}

/// Returns the blocks of a page, with their places.
pub(crate) fn placed<'a>(page: &'a ComparedPage, frame: Option<&HostFrame>) -> Vec<Left<'a>> {
    // A block that a page repeats, such as the button of each product, does not begin a place.
    let mut times: HashMap<u64, u32> = HashMap::new();
    for block in page.blocks() {
        *times.entry(block.shape).or_default() += 1;
    }
    let mut place: Option<(u64, FrameBlock)> = None;
    let mut placed = Vec::new();
    for block in page.blocks() {
        let part = frame.and_then(|frame| frame.part(&block).map(|part| (frame, part)));
        if let Some((frame, part)) = part
            && times[&block.shape] == 1
            && frame.is_common(part)
        {
            // A changing place may contain blocks of the boilerplate. They are less common than the
            // block that ends the place.
            let is_within = place.is_some_and(|(place, start)| {
                frame.changes_by_itself(place) && part.pages < start.pages / 2
            });
            if !is_within {
                place = Some((place_behind(block.shape), part));
            }
        }
        let place = place.map(|(place, _)| place);
        let is_frame = part.is_some();
        placed.push(Left {
            block,
            place,
            is_frame,
            is_constant: frame.is_some_and(|frame| frame.has(&block)),
            is_within: false,
        });
    }
    placed
}

/// Returns the blocks of a page's main content, without the boilerplate and changing places.
pub(crate) fn own_blocks<'a>(
    page: &'a ComparedPage,
    frame: &HostFrame,
) -> impl Iterator<Item = Block<'a>> {
    let own = placed(page, Some(frame)).into_iter().filter(|left| {
        let changes = left
            .place
            .is_some_and(|place| frame.changes_by_itself(place));
        left.block.is_main && !left.is_frame && !changes
    });
    own.map(|left| left.block)
}

/// A number or an address that differs between two blocks of one shape.
pub(crate) struct Differing<'a> {
    pub(crate) place: u64,
    pub(crate) ours: &'a str,
    pub(crate) theirs: &'a str,
    /// Position in the text of our block, in bytes.
    pub(crate) at: Range<usize>,
    is_address: bool,
}

impl Differing<'_> {
    /// Returns the difference as a reason. It is one only if the place does not change on its own.
    pub(crate) fn reason(&self) -> Reason {
        let (ours, theirs) = (self.ours.to_owned(), self.theirs.to_owned());
        match self.is_address {
            true => Reason::Address(ours, theirs),
            false => Reason::Number(ours, theirs),
        }
    }
}

impl<'a> Left<'a> {
    /// Returns the numbers and addresses that differ between two blocks of one shape.
    pub(crate) fn values_that_differ(&self, other: &Self) -> Vec<Differing<'a>> {
        let (ours, theirs) = (self.block.values(), other.block.values());
        let pairs = ours.into_iter().zip(theirs);
        let differing = pairs.filter(|(ours, theirs)| ours.text != theirs.text);
        differing
            .map(|(ours, theirs)| Differing {
                place: ours.place(&self.block),
                at: ours.range(),
                ours: ours.text,
                theirs: theirs.text,
                is_address: ours.is_address,
            })
            .collect()
    }
}

/// The words of a block.
struct Bag {
    /// Hashes of the words, ascending.
    words: Vec<u64>,
    /// One bit per word.
    sample: u64,
}

impl Bag {
    fn of(text: &str) -> Self {
        let words = bag_of(text);
        let bits = words
            .iter()
            .map(|word| 1_u64 << (word % u64::from(u64::BITS)));
        let sample = bits.fold(0, |sample, bit| sample | bit);
        Self { words, sample }
    }

    /// Returns Dice's coefficient of two bags; 0 if they are not similar.
    fn similarity(&self, other: &Self) -> f64 {
        let longer = self.words.len().max(other.words.len());
        let least = if longer <= MAX_SHORT_BLOCK {
            ALIKE_SHORT
        } else {
            ALIKE
        };
        // Each bit that only one bag has means at least one word that the other bag lacks.
        let may_share = |one: &Self, other: &Self| {
            one.words.len() - (one.sample & !other.sample).count_ones() as usize
        };
        let most = may_share(self, other).min(may_share(other, self));
        match most >= needed(least, &self.words, &other.words) {
            true => dice_at_least(least, &self.words, &other.words),
            false => 0.0,
        }
    }
}

/// Returns the number of words that two multisets must share to reach a value of Dice's
/// coefficient.
fn needed(least: f64, one: &[u64], other: &[u64]) -> usize {
    (least * (one.len() + other.len()) as f64 / 2.0).ceil() as usize
}

/// Returns Dice's coefficient of two ascending multisets; 0 if it is less than `least`. For most
/// pairs, this shows before their ends.
fn dice_at_least(least: f64, one: &[u64], other: &[u64]) -> f64 {
    let sum = one.len() + other.len();
    let needed = needed(least, one, other);
    let (mut ours, mut theirs) = (one, other);
    let mut shared = 0;
    while shared + ours.len().min(theirs.len()) >= needed {
        let ([one, our_rest @ ..], [other, their_rest @ ..]) = (ours, theirs) else {
            return 2.0 * shared as f64 / sum.max(1) as f64;
        };
        if one <= other {
            ours = our_rest;
        }
        if other <= one {
            theirs = their_rest;
        }
        shared += usize::from(one == other);
    }
    0.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts the words that two bags share, without any bound.
    fn dice(one: &[u64], other: &[u64]) -> f64 {
        let mut left = other.to_vec();
        let mut shared = 0;
        for word in one {
            if let Some(place) = left.iter().position(|other| other == word) {
                left.remove(place);
                shared += 1;
            }
        }
        2.0 * f64::from(shared) / (one.len() + other.len()).max(1) as f64
    }

    proptest! {
        #[test]
        fn blocks_are_alike_if_they_share_enough_words(
            mut one in prop::collection::vec(0..12_u64, 0..12),
            mut other in prop::collection::vec(0..12_u64, 0..12),
            least in 0.1..1.0_f64,
        ) {
            one.sort_unstable();
            other.sort_unstable();
            let all = dice(&one, &other);
            let expected = if all >= least { all } else { 0.0 };
            prop_assert_eq!(dice_at_least(least, &one, &other), expected);
        }

        #[test]
        fn the_sample_of_a_bag_hides_no_similarity(
            one in "([a-e]{1,2} ){0,9}",
            other in "([a-e]{1,2} ){0,9}",
        ) {
            let (one, other) = (Bag::of(&one), Bag::of(&other));
            let longer = one.words.len().max(other.words.len());
            let least = if longer <= MAX_SHORT_BLOCK { ALIKE_SHORT } else { ALIKE };
            let expected = dice_at_least(least, &one.words, &other.words);
            prop_assert_eq!(one.similarity(&other), expected);
        }

        #[test]
        fn a_word_has_a_letter_or_digit_and_ends_at_white_space(text in "[a-c0-9 .\\t-]{0,700}") {
            let runs = text.split_ascii_whitespace();
            let words = runs.filter(|run| run.contains(|c: char| c.is_ascii_alphanumeric()));
            prop_assert_eq!(crate::blocks::words_in(&text), words.count());
        }
    }
}
