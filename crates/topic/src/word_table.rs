//! The numbers of a topic's words, found by their hashes.
//!
//! Nearly all words of a page are not the topic's, so a look-up has to fail fast: the table has
//! eight slots for each word, and one comparison decides most of the time.

use neardup::{HashKey, HashedText, NormalText};

/// The most words of a topic.
pub const MAX_TOPIC_WORDS: usize = 256;

/// Slots for each word.
const SLOTS: usize = 8;
/// The number of an empty slot.
const EMPTY: u16 = u16::MAX;
/// The key of all hashes of topics. A secret key would protect nothing: a page can have the topic's
/// words themselves.
const KEY: HashKey = HashKey::ZERO;

/// The numbers of the topic's words by their hashes.
#[derive(Clone, Debug)]
pub(crate) struct WordTable {
    hashes: Vec<u64>,
    slots: Vec<u16>,
    mask: usize,
}

impl WordTable {
    /// Creates the table of normalised words, at most [`MAX_TOPIC_WORDS`].
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let words = NormalText::of_tokens(words.take(MAX_TOPIC_WORDS));
        let hashes = HashedText::of_normal(&words, KEY).hashes().to_vec();
        let size = (hashes.len() * SLOTS).next_power_of_two().max(SLOTS);
        let mut table = Self {
            slots: vec![EMPTY; size],
            mask: size - 1,
            hashes,
        };
        for number in 0..table.hashes.len() {
            let mut slot = table.hashes[number] as usize & table.mask;
            while table.slots[slot] != EMPTY {
                slot = (slot + 1) & table.mask;
            }
            table.slots[slot] = number as u16;
        }
        table
    }

    /// Returns the number of the word with this hash, if it is the topic's.
    #[inline]
    pub(crate) fn number_of(&self, hash: u64) -> Option<usize> {
        let mut slot = hash as usize & self.mask;
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                return None;
            }
            if self.hashes[usize::from(number)] == hash {
                return Some(usize::from(number));
            }
            slot = (slot + 1) & self.mask;
        }
    }
}

/// Returns the words of a text as the hashes of [`WordTable`].
pub(crate) fn hashed(text: &str) -> HashedText {
    HashedText::of(text, KEY)
}

/// Returns the words of a short text as the same hashes: [`hashed`] is made for kilobytes.
pub(crate) fn hashed_short(text: &str) -> HashedText {
    HashedText::of_normal(&NormalText::of(text), KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_its_number_and_no_other_word_has_one() {
        for count in [0, 1, 2, 100, MAX_TOPIC_WORDS] {
            let words: Vec<String> = (0..count).map(|number| format!("word{number}")).collect();
            let table = WordTable::of(words.iter().map(String::as_str));
            for (number, word) in words.iter().enumerate() {
                assert_eq!(table.number_of(hashed(word).hashes()[0]), Some(number));
            }
            for other in 0..1_000 {
                let hash = hashed(&format!("other{other}")).hashes()[0];
                assert_eq!(table.number_of(hash), None);
            }
        }
    }

    #[test]
    fn words_beyond_the_most_are_left_out() {
        let words: Vec<String> = (0..=MAX_TOPIC_WORDS).map(|n| format!("word{n}")).collect();
        let table = WordTable::of(words.iter().map(String::as_str));
        let number = |word: &str| table.number_of(hashed(word).hashes()[0]);
        assert_eq!(number("word255"), Some(255));
        assert_eq!(number("word256"), None);
    }
}
