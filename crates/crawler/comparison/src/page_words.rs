//! The set of words of a page.

use std::cell::OnceCell;

use crate::blocks::{ComparedPage, bag_of};

/// The words of a page. They exist only while pages are compared: they take as much memory as the
/// page's text, and few comparisons need them.
pub(crate) struct PageWords<'a> {
    pub(crate) page: &'a ComparedPage,
    /// Hashes of the words, ascending; computed on first use.
    words: OnceCell<Vec<u64>>,
}

impl<'a> PageWords<'a> {
    pub(crate) fn of(page: &'a ComparedPage) -> Self {
        Self {
            page,
            words: OnceCell::new(),
        }
    }

    /// Returns true if any block contains a word with this hash.
    pub(crate) fn contain(&self, word: u64) -> bool {
        let words = self.words.get_or_init(|| {
            let blocks = self.page.blocks();
            let mut words: Vec<u64> = blocks.flat_map(|block| bag_of(block.text)).collect();
            words.sort_unstable();
            words
        });
        words.binary_search(&word).is_ok()
    }
}
