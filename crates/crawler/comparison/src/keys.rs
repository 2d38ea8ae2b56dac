//! Lookup keys for pages with the same content.

use std::cmp::Reverse;

use crate::blocks::{Block, ComparedPage, spread};
use crate::frame::HostFrame;
use crate::parts::own_blocks;

/// Minimum words of a block that serves as a key.
const MIN_WORDS_OF_KEY: usize = 5;

/// Lookup keys of a page.
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
    /// Returns the lookup keys of the page: at most `longest` hashes by length and `sampled` hashes
    /// of the sample. Only blocks of the main content count, without the boilerplate and changing
    /// places.
    ///
    /// A page that contains the other page's content has its longest blocks. Pages with many short
    /// blocks, such as lists, share a part of the sample: the blocks with the least hashes (Broder,
    /// "On the resemblance and containment of documents", 1997).
    #[must_use]
    pub fn keys(&self, longest: usize, sampled: usize, frame: &HostFrame) -> Keys {
        let hashes = |blocks: &[Block<'_>], most: usize| -> Vec<u64> {
            blocks.iter().take(most).map(|block| block.hash).collect()
        };
        let mut blocks: Vec<Block<'_>> = own_blocks(self, frame).collect();
        let whole = self.hash_with(&blocks);
        blocks.sort_by_key(|block| spread(block.hash));
        blocks.dedup_by_key(|block| block.hash);
        let sampled = hashes(&blocks, sampled);
        blocks.retain(|block| block.words >= MIN_WORDS_OF_KEY);
        blocks.sort_by_key(|block| (Reverse(block.text.len()), block.hash));
        Keys {
            longest: hashes(&blocks, longest),
            sampled,
            whole,
            heading: self.content(),
        }
    }

    /// Returns a hash of the heading and these blocks.
    fn hash_with(&self, blocks: &[Block<'_>]) -> u64 {
        let hashes = blocks.iter().map(|block| spread(block.hash));
        hashes.fold(0, u64::wrapping_add) ^ self.content()
    }
}
