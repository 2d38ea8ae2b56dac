//! A topic's words, found by the hashes of their forms.
//!
//! Nearly all words of a page are not the topic's, so a look-up must fail fast. The table has at
//! least four slots per form, and one comparison is usually enough.

use neardup::{HashKey, HashedText, NormalText};

use crate::inflections;

/// Maximum number of words in a topic.
pub const MAX_TOPIC_WORDS: usize = 256;

/// Slots per form.
const SLOTS: usize = 4;
/// Marks an empty slot.
const EMPTY: u16 = u16::MAX;

/// The numbers of the topic's words by the hashes of their forms.
#[derive(Clone, Debug)]
pub(crate) struct WordTable {
    key: HashKey,
    /// Hash of each form, and the number of its word.
    forms: Vec<(u64, u16)>,
    /// Indices into `forms`.
    slots: Vec<u16>,
    mask: usize,
}

impl WordTable {
    /// Creates the table of normalised words, at most [`MAX_TOPIC_WORDS`], hashed under `key`. A
    /// form that two words share belongs to the first word, unless it is a word of the topic
    /// itself.
    pub(crate) fn of<'a>(words: impl Iterator<Item = &'a str>, key: HashKey) -> Self {
        let words: Vec<&str> = words.take(MAX_TOPIC_WORDS).collect();
        let mut forms: Vec<(String, u16)> = Vec::new();
        for (word, number) in words.iter().zip(0..) {
            forms.push(((*word).to_owned(), number));
        }
        for (word, number) in words.iter().zip(0..) {
            let others = inflections::inflected_forms(word).into_iter().skip(1);
            forms.extend(others.map(|form| (form, number)));
        }
        let normal = NormalText::of_tokens(forms.iter().map(|(form, _)| form.as_str()));
        let hashes = HashedText::of_normal(&normal, key);
        let size = (forms.len() * SLOTS).next_power_of_two().max(SLOTS);
        let mut table = Self {
            key,
            slots: vec![EMPTY; size],
            mask: size - 1,
            forms: Vec::with_capacity(forms.len()),
        };
        for (&hash, (_, number)) in hashes.hashes().iter().zip(forms) {
            table.insert(hash, number);
        }
        table
    }

    /// Adds a form, unless the table contains it already.
    fn insert(&mut self, hash: u64, number: u16) {
        let mut slot = hash as usize & self.mask;
        while self.slots[slot] != EMPTY {
            if self.forms[usize::from(self.slots[slot])].0 == hash {
                return;
            }
            slot = (slot + 1) & self.mask;
        }
        self.slots[slot] = self.forms.len() as u16;
        self.forms.push((hash, number));
    }

    /// Returns the key of its hashes.
    pub(crate) const fn key(&self) -> HashKey {
        self.key
    }

    /// Returns the words of a text, hashed with the key of the table.
    pub(crate) fn hashed(&self, text: &str) -> HashedText {
        HashedText::of(text, self.key)
    }

    /// Calls `visit` with the hash of each word of a short text; [`hashed`](Self::hashed) is meant
    /// for kilobytes.
    pub(crate) fn each_word(&self, text: &str, visit: impl FnMut(u64)) {
        NormalText::of(text).word_hashes(self.key).for_each(visit);
    }

    /// Returns the number of the topic's word that has a form with this hash.
    #[inline]
    pub(crate) fn number_of(&self, hash: u64) -> Option<usize> {
        let mut slot = hash as usize & self.mask;
        loop {
            let place = self.slots[slot];
            if place == EMPTY {
                return None;
            }
            let (found, number) = self.forms[usize::from(place)];
            if found == hash {
                return Some(usize::from(number));
            }
            slot = (slot + 1) & self.mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_its_number_and_no_other_word_has_one() {
        for count in [0, 1, 2, 100, MAX_TOPIC_WORDS] {
            let words: Vec<String> = (0..count).map(|number| format!("word{number}")).collect();
            let table = WordTable::of(words.iter().map(String::as_str), HashKey::new(7));
            for (number, word) in words.iter().enumerate() {
                assert_eq!(
                    table.number_of(table.hashed(word).hashes()[0]),
                    Some(number)
                );
            }
            for other in 0..1_000 {
                let hash = table.hashed(&format!("other{other}")).hashes()[0];
                assert_eq!(table.number_of(hash), None);
            }
        }
    }

    #[test]
    fn a_form_of_a_word_has_its_number_unless_it_is_a_word_itself() {
        let words = ["tide", "logging", "logs"].into_iter();
        let table = WordTable::of(words, HashKey::new(7));
        let number = |word: &str| table.number_of(table.hashed(word).hashes()[0]);
        assert_eq!(number("tides"), Some(0));
        assert_eq!(number("logged"), Some(1));
        assert_eq!(
            number("logs"),
            Some(2),
            "a topic of version 1 may have both"
        );
        assert_eq!(number("tidal"), None);
    }

    #[test]
    fn words_beyond_the_most_are_left_out() {
        let words: Vec<String> = (0..=MAX_TOPIC_WORDS).map(|n| format!("word{n}")).collect();
        let table = WordTable::of(words.iter().map(String::as_str), HashKey::new(7));
        let number = |word: &str| table.number_of(table.hashed(word).hashes()[0]);
        assert_eq!(number("word255"), Some(255));
        assert_eq!(number("word256"), None);
    }
}
