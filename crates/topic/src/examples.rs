//! Words of examples: which of them say what the examples are about.
//!
//! Candidates are words that more than one example has, and that a larger part of the examples than
//! of other documents has, if frequencies are known. The words of the greatest sum of weights are
//! the topic's (Rocchio 1971, without negative examples).

use std::collections::BTreeMap;

use neardup::PageText;
use neardup::frequencies::{DocumentFrequencies, MAX_TERM};

use crate::page_words::{MAX_PAGE_WORDS, start_of};
use crate::stop_words::without_stop_words;
use crate::weights::{rarity, term_weight};
use crate::word_table::MAX_TOPIC_WORDS;

/// The most examples of a topic; further ones are left out, with a warning.
pub const MAX_EXAMPLES: usize = 100;
/// The different words of an example that are counted: the most frequent ones.
pub const MAX_EXAMPLE_WORDS: usize = 1_000;

/// An example as the occurrences of its words, without stop words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedExample {
    /// The number of words, with stop words.
    pub(crate) length: usize,
    pub(crate) counts: BTreeMap<Box<str>, u32>,
}

impl CountedExample {
    /// Counts the words of a page; none if it has no word that counts.
    pub(crate) fn of(page: &PageText<'_>) -> Option<Self> {
        let text = format!(
            "{}\n{}",
            page.title.unwrap_or_default(),
            start_of(page.text)
        );
        let words = without_stop_words(&text);
        let mut counts: BTreeMap<Box<str>, u32> = BTreeMap::new();
        for word in words
            .words()
            .take(MAX_PAGE_WORDS)
            .filter(|word| counts_in_examples(word))
        {
            *counts.entry(word.into()).or_default() += 1;
        }
        keep_most_frequent(&mut counts);
        let length = neardup::NormalText::of(&text).len().min(MAX_PAGE_WORDS);
        (!counts.is_empty()).then_some(Self { length, counts })
    }
}

/// Returns true for words that may say what a text is about: not numbers, and not single letters
/// of alphabets.
fn counts_in_examples(word: &str) -> bool {
    let is_letter = word.len() == 1;
    !is_letter && word.len() <= MAX_TERM && word.chars().any(char::is_alphabetic)
}

/// Removes all but the [`MAX_EXAMPLE_WORDS`] most frequent words; of equally frequent ones the last
/// in alphabetical order.
fn keep_most_frequent(counts: &mut BTreeMap<Box<str>, u32>) {
    if counts.len() <= MAX_EXAMPLE_WORDS {
        return;
    }
    let mut all: Vec<(Box<str>, u32)> = std::mem::take(counts).into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    all.truncate(MAX_EXAMPLE_WORDS);
    counts.extend(all);
}

/// The words that examples bring into a topic.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) words: Vec<Box<str>>,
    /// True if no word is in more than one example, although there are several.
    pub(crate) nothing_in_common: bool,
}

/// Chooses at most `most` words of the examples, the weightiest first.
pub(crate) fn choose(
    examples: &[CountedExample],
    frequencies: Option<&DocumentFrequencies>,
    most: usize,
) -> Chosen {
    struct Candidate {
        examples: usize,
        weight: f64,
    }
    let mut candidates: BTreeMap<&str, Candidate> = BTreeMap::new();
    for example in examples {
        for (word, times) in &example.counts {
            let candidate = candidates.entry(word).or_insert(Candidate {
                examples: 0,
                weight: 0.0,
            });
            candidate.examples += 1;
            candidate.weight += term_weight(*times);
        }
    }
    let is_common = |candidate: &Candidate| candidate.examples > 1;
    let nothing_in_common = examples.len() > 1 && !candidates.values().any(is_common);
    let needs_common = examples.len() > 1 && !nothing_in_common;
    let mut weighed: Vec<(&str, f64)> = Vec::new();
    for (word, candidate) in &candidates {
        let share = candidate.examples as f64 / examples.len() as f64;
        let is_typical = frequencies.is_none_or(|known| share > share_of(known, word));
        if is_typical && (!needs_common || is_common(candidate)) {
            weighed.push((
                word,
                candidate.weight * share * rarity_of(frequencies, word),
            ));
        }
    }
    weighed.sort_by(|one, two| two.1.total_cmp(&one.1));
    weighed.truncate(most.min(MAX_TOPIC_WORDS));
    Chosen {
        words: weighed.into_iter().map(|(word, _)| word.into()).collect(),
        nothing_in_common,
    }
}

/// Returns the rarity of a word by given frequencies; 1 without any.
pub(crate) fn rarity_of(frequencies: Option<&DocumentFrequencies>, word: &str) -> f64 {
    frequencies.map_or(1.0, |known| {
        rarity(known.of(word).into(), known.documents())
    })
}

/// Returns the part of all documents that have a word.
pub(crate) fn share_of(known: &DocumentFrequencies, word: &str) -> f64 {
    f64::from(known.of(word)) / (known.documents().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use neardup::{NormalText, Unit, Width};

    fn examples(texts: &[&str]) -> Vec<CountedExample> {
        let counted = |text: &&str| CountedExample::of(&PageText::of(text)).unwrap();
        texts.iter().map(counted).collect()
    }

    fn check(texts: &[&str], words: &[&str], nothing_in_common: bool) {
        let chosen = choose(&examples(texts), None, MAX_TOPIC_WORDS);
        let found: Vec<&str> = chosen.words.iter().map(|word| &**word).collect();
        assert_eq!(found, words, "{texts:?}");
        assert_eq!(chosen.nothing_in_common, nothing_in_common, "{texts:?}");
    }

    #[test]
    fn words_of_several_examples_are_chosen_the_weightiest_first() {
        check(
            &[
                "the tides, the tides and the turbines of 1966",
                "turbines turn with the tides",
                "the tides of a bay",
            ],
            &["tides", "turbines"],
            false,
        );
    }

    #[test]
    fn words_of_a_single_example_are_all_chosen() {
        check(
            &["tides and tides and x turbines"],
            &["tides", "turbines"],
            false,
        );
    }

    #[test]
    fn examples_with_nothing_in_common_bring_all_their_words_and_a_warning() {
        check(&["tides", "bread"], &["bread", "tides"], true);
    }

    #[test]
    fn words_that_other_documents_have_as_often_are_left_out() {
        let mut frequencies = DocumentFrequencies::new(Unit::Words(Width::ONE));
        for text in ["use it", "use the tool", "use tides", "rest"] {
            frequencies.learn(&NormalText::of(text));
        }
        let texts = [
            "use tides",
            "use the tides",
            "a bay with tides",
            "use tides",
        ];
        let chosen = choose(&examples(&texts), Some(&frequencies), 10);
        assert_eq!(chosen.words, ["tides".into()]);
    }

    #[test]
    fn an_example_without_a_word_that_counts_is_none() {
        for text in ["", "the of and", "12 34", "a b c"] {
            assert!(CountedExample::of(&PageText::of(text)).is_none(), "{text}");
        }
        assert!(CountedExample::of(&PageText::of("潮 力")).is_some());
    }

    #[test]
    fn the_most_frequent_words_of_a_long_example_are_kept() {
        let mut text: String = (0..MAX_EXAMPLE_WORDS)
            .map(|number| format!("word{number} "))
            .collect();
        let kept = |text: &str| CountedExample::of(&PageText::of(text)).unwrap().counts;
        assert_eq!(kept(&text).len(), MAX_EXAMPLE_WORDS);
        text.push_str("zebra zebra");
        assert_eq!(kept(&text).len(), MAX_EXAMPLE_WORDS);
        assert_eq!(kept(&text)["zebra"], 2);
    }
}
