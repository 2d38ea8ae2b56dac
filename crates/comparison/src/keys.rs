//! Keys by which a page with the same content is found.

use std::cmp::Reverse;

use crate::blocks::{Block, ComparedPage, spread};
use crate::frame::HostFrame;
use crate::parts::own_blocks;

/// The least number of words of a block by which pages are found.
const LEAST_WORDS_OF_KEY: usize = 5;

/// The lookup keys of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Hashes of the longest blocks, the longest first.
    pub longest: Vec<u64>,
    /// Hashes of a sample of the blocks.
    pub sampled: Vec<u64>,
    /// A hash of the heading and all blocks, in any order.
    pub whole: u64,
    /// A hash of the heading.
    pub heading: u64,
}

impl ComparedPage {
    /// Returns the lookup keys of the page, at most so many by length and so many of the sample.
    /// Blocks of the main content count, without the frame and what changes by itself.
    ///
    /// A page that contains the other one's content has its longest blocks. Pages with many short
    /// blocks, such as lists, have a part of the sample in common: the blocks with the least hashes
    /// (Broder, "On the resemblance and containment of documents", 1997).
    #[must_use]
    pub fn keys(&self, longest: usize, sampled: usize, frame: &HostFrame) -> Keys {
        let hashes = |blocks: &[&Block], most: usize| -> Vec<u64> {
            blocks.iter().take(most).map(|block| block.hash).collect()
        };
        let mut blocks: Vec<&Block> = own_blocks(self, frame).collect();
        let whole = self.hash_with(&blocks);
        blocks.sort_by_key(|block| spread(block.hash));
        blocks.dedup_by_key(|block| block.hash);
        let sampled = hashes(&blocks, sampled);
        blocks.retain(|block| block.words >= LEAST_WORDS_OF_KEY);
        blocks.sort_by_key(|block| (Reverse(block.text.len()), block.hash));
        Keys {
            longest: hashes(&blocks, longest),
            sampled,
            whole,
            heading: self.content(),
        }
    }

    /// Returns a hash of its heading and of the blocks of its main content in any order, without
    /// the frame and what changes by itself: pages with one such hash differ in what stands beside
    /// it.
    #[must_use]
    pub fn content_hash(&self, frame: &HostFrame) -> u64 {
        self.hash_with(&own_blocks(self, frame).collect::<Vec<_>>())
    }

    /// Returns a hash of its heading and these blocks.
    fn hash_with(&self, blocks: &[&Block]) -> u64 {
        let hashes = blocks.iter().map(|block| spread(block.hash));
        hashes.fold(0, u64::wrapping_add) ^ self.content()
    }
}
