//! One of the two texts: its words, their positions, and the bytes of runs of words.

use std::ops::Range;

use neardup::{NormalText, word_ranges};

/// A run of words of one text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartOfSide {
    /// Number of the first word.
    pub(crate) first: usize,
    /// True if the other text also has the words.
    pub(crate) is_shared: bool,
}

/// A text that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// Number of compared bytes: the whole text, unless it is cut.
    pub(crate) length: usize,
    /// True if the text continues.
    pub(crate) is_cut: bool,
    /// Byte range of each word.
    places: Vec<Range<usize>>,
}

impl Side {
    /// Reads a text up to `bytes` bytes and `words` words. Also returns the words.
    pub(crate) fn read(text: &str, bytes: usize, words: usize) -> (Self, NormalText) {
        let mut length = text.floor_char_boundary(bytes);
        if length < text.len() {
            // A word that the limit cuts in two does not count as a word of the text.
            let white = text[..length].rfind(char::is_whitespace);
            length = white.unwrap_or(length);
        }
        let mut places = word_ranges(&text[..length]);
        if let Some(next) = places.get(words) {
            length = next.start;
            places.truncate(words);
        }
        let side = Self {
            length,
            is_cut: length < text.len(),
            places,
        };
        (side, NormalText::of(&text[..length]))
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> usize {
        self.places.len()
    }

    /// Returns the byte range of each part of the text; an empty range for a part that only the
    /// other text has. Shared and unshared parts alternate.
    pub(crate) fn tile(
        &self,
        text: &str,
        parts: impl DoubleEndedIterator<Item = Option<PartOfSide>>,
    ) -> Vec<Range<usize>> {
        let mut end = self.length;
        let backwards = parts.rev().map(|part| {
            let start = part.map_or(end, |part| self.start_of(text, part));
            start..std::mem::replace(&mut end, start)
        });
        let mut ranges: Vec<_> = backwards.collect();
        ranges.reverse();
        ranges
    }

    /// Returns the first byte of a part. Marks that touch a word stay with it. White space stays
    /// with the shared words, so that a change begins and ends with changed text.
    fn start_of(&self, text: &str, part: PartOfSide) -> usize {
        if part.first == 0 {
            return 0;
        }
        let end = self.places[part.first - 1].end;
        let between = &text[end..self.places[part.first].start];
        let mut whites = between.char_indices().filter(|(_, c)| c.is_whitespace());
        end + match part.is_shared {
            true => whites.next().map_or(0, |(at, _)| at),
            false => whites
                .next_back()
                .map_or(between.len(), |(at, white)| at + white.len_utf8()),
        }
    }

    /// Returns the byte range of a word.
    pub(crate) fn place(&self, word: usize) -> Range<usize> {
        self.places[word].clone()
    }
}
