//! The judgement of a page: its relevance, and the topic's words that it contains.

use crate::relevance::Relevance;
use crate::word_table::MAX_TOPIC_WORDS;

/// The judgement of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Relevance of the page.
    pub relevance: Relevance,
    /// Bit set of the topic's words on the page.
    found: [u64; MAX_TOPIC_WORDS / 64],
}

impl Judged {
    /// Creates a judgement with the numbers of the words that the page contains.
    pub(crate) fn of(relevance: Relevance, numbers: impl Iterator<Item = usize>) -> Self {
        let mut found = [0; MAX_TOPIC_WORDS / 64];
        for number in numbers {
            found[number / 64] |= 1 << (number % 64);
        }
        Self { relevance, found }
    }

    /// Returns the numbers of the topic's words on the page, in ascending order.
    pub(crate) fn found(&self) -> impl Iterator<Item = usize> {
        let is_found = |number: &usize| self.found[number / 64] >> (number % 64) & 1 == 1;
        (0..MAX_TOPIC_WORDS).filter(is_found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_words_are_returned_in_ascending_order() {
        for numbers in [
            &[][..],
            &[0],
            &[63, 64],
            &[0, 127, 128, MAX_TOPIC_WORDS - 1],
        ] {
            let judged = Judged::of(Relevance::NONE, numbers.iter().rev().copied());
            assert_eq!(judged.found().collect::<Vec<_>>(), numbers);
        }
    }
}
