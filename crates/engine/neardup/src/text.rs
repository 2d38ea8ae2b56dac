//! Normalised text: the words of a text, folded.
//!
//! Two texts that differ in white space, punctuation, capitals or composed accents are the same. A
//! text is cut at white space and around each Han ideograph and kana, which are separate words
//! because their scripts do not mark the ends of words. The pieces are cut into words by Unicode's
//! rules (UAX 29), which make each letter of Thai, Lao, Khmer and Burmese a word for the same
//! reason. Of single characters, bigrams and whole runs, single characters found most
//! (`tests/unspaced.rs` has the table). A word is then case folded and composed (`fold`).
//!
//! ASCII, the largest part of most texts, takes a fast path (`ascii`), and so does text that can be
//! decided character by character (`unicode`); the libraries handle the rest. Invariant: `plain` in
//! the tests is the definition; the fast paths equal it (property tests).

mod ascii;
mod fold;
pub(crate) mod letters;
mod ranges;
pub(crate) mod unicode;
mod words;

use crate::key::HashKey;
use unicode::WORTH_A_CHANGE;
use words::Words;

pub use ranges::word_ranges;

/// Maximum number of bytes of a text that are read: 1 GiB. The rest is ignored.
pub const MAX_TEXT: usize = 1 << 30;

/// The normalised words of a text, joined by single spaces.
///
/// ```
/// use neardup::NormalText;
///
/// let text = NormalText::of("Die STRASSE, die straße!");
/// assert_eq!(text.as_str(), "die strasse die strasse");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NormalText {
    /// UTF-8, checked only when characters are read.
    joined: Vec<u8>,
    /// End of each word in `joined`; the next word starts one byte later. `MAX_TEXT` keeps it
    /// within 32 bits.
    ends: Vec<u32>,
}

impl NormalText {
    /// Returns the words of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::of_first(text, MAX_TEXT)
    }

    fn of_first(text: &str, bytes: usize) -> Self {
        let text = &text[..text.floor_char_boundary(bytes)];
        let mut words = Words::with_room_for(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let ascii = ascii_at_start(rest.as_bytes());
            let certain_end = if ascii == rest.len() {
                ascii
            } else {
                after_last_white(&rest.as_bytes()[..ascii])
            };
            if certain_end == rest.len() || certain_end >= WORTH_A_CHANGE {
                words.add_ascii(&rest.as_bytes()[..certain_end]);
                rest = &rest[certain_end..];
            }
            let read = words.add_unicode(rest);
            rest = &rest[read..];
        }
        words.into_text()
    }

    /// Creates a text of words from the caller's own tokenizer, unchanged: neither cut nor folded.
    /// Empty words are left out; words beyond [`MAX_TEXT`] bytes in all are ignored. Everything
    /// that is made from a text (features, shingles, signatures) can be made from it.
    ///
    /// Words of another tokenizer are other words: texts are comparable only if the same tokenizer
    /// made the words of both.
    ///
    /// ```
    /// use neardup::{HashKey, NormalText, Shingles, Width};
    ///
    /// let lines = NormalText::of_tokens("let x = 1;\nlet y = 2;\n".lines());
    /// assert_eq!(Shingles::of(&lines, Width::ONE, HashKey::ZERO).len(), 2);
    /// ```
    #[must_use]
    pub fn of_tokens<Token: AsRef<str>>(tokens: impl IntoIterator<Item = Token>) -> Self {
        let mut text = Self::default();
        for token in tokens {
            let token = token.as_ref().as_bytes();
            if token.is_empty() {
                continue;
            }
            let between = usize::from(!text.ends.is_empty());
            if text.joined.len() + between + token.len() > MAX_TEXT {
                break;
            }
            text.push(token);
        }
        text
    }

    /// Returns the words, joined by single spaces. Checks each byte.
    #[must_use]
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.joined).expect("only whole characters were appended")
    }

    /// Returns the number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the text contains no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the words, in text order.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let joined = self.as_str();
        self.spans().map(|(start, end)| &joined[start..end])
    }

    /// Returns a digest of the text: texts have the same digest if and only if they have the same
    /// words in the same order.
    #[must_use]
    pub fn digest(&self, key: HashKey) -> u128 {
        key.digest(&self.joined)
    }

    /// Returns the hash of each word, in text order. The hashes equal those from
    /// [`HashedText`](crate::HashedText), which is made for longer texts.
    pub fn word_hashes(&self, key: HashKey) -> impl Iterator<Item = u64> {
        self.spans()
            .map(move |(start, end)| key.token(&self.joined[start..end]))
    }

    /// Returns the same hashes, stored.
    pub(crate) fn hashes(&self, key: HashKey) -> Vec<u64> {
        self.word_hashes(key).collect()
    }

    /// Returns the text of the words at these spans of [`NormalText::as_str`].
    pub(crate) fn with_words_at(&self, spans: &[(usize, usize)]) -> NormalText {
        let mut text = NormalText::default();
        for &(start, end) in spans {
            text.push(&self.joined[start..end]);
        }
        text
    }

    fn push(&mut self, word: &[u8]) {
        if !self.ends.is_empty() {
            self.joined.push(b' ');
        }
        self.joined.extend_from_slice(word);
        self.ends.push(self.joined.len() as u32);
    }

    /// Returns the bounds of each word in [`NormalText::as_str`].
    pub(crate) fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let span = (start, end as usize);
            start = end as usize + 1;
            span
        })
    }
}

/// Returns the number of ASCII bytes at the start.
pub(crate) fn ascii_at_start(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks::<64>();
    let any = |block: &[u8; 64]| block.iter().fold(0, |any, byte| any | byte) >= 0x80;
    let known = 64 * blocks.iter().position(any).unwrap_or(blocks.len());
    let rest = &bytes[known..];
    let other = rest.iter().position(|byte| !byte.is_ascii());
    known + other.unwrap_or(rest.len())
}

/// Returns the position after the last white space; 0 if there is none.
pub(crate) fn after_last_white(bytes: &[u8]) -> usize {
    let white = bytes.iter().rposition(u8::is_ascii_whitespace);
    white.map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests;
