//! Selects the words that describe what the examples are about.
//!
//! Inflected forms of a word are one word. Candidates are words that more than one example
//! contains; if frequencies are known, a larger fraction of the examples than of other documents
//! must contain them. The topic keeps the [`MAX_CANDIDATES`] best candidates and gives a weight to
//! the [`WORDS_OF_EXAMPLES`] weightiest (Rocchio 1971, without negative examples). Reweighing the
//! topic may change this selection, because inverse document frequency is learned later.

use std::collections::BTreeMap;

use neardup::PageText;
use neardup::frequencies::{DocumentFrequencies, MAX_TERM};

use crate::inflections::{base, inflected_forms};
use crate::page_words::{MAX_PAGE_WORDS, start_of};
use crate::stop_words::without_stop_words;
use crate::weights::{by_idf, idf, share_of_example};

/// Maximum number of examples in a topic; further ones are ignored, with a warning.
pub const MAX_EXAMPLES: usize = 100;
/// Maximum number of different words counted per example: the most frequent ones.
pub const MAX_EXAMPLE_WORDS: usize = 1_000;
/// Maximum number of words from examples in a topic.
pub(crate) const MAX_CANDIDATES: usize = 128;
/// Maximum number of words from examples that have a weight.
pub const WORDS_OF_EXAMPLES: usize = 32;

/// An example as the occurrences of its words, without stop words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedExample {
    /// Number of words, including stop words.
    pub(crate) length: usize,
    pub(crate) counts: BTreeMap<Box<str>, u32>,
}

impl CountedExample {
    /// Counts the words of a page. Returns `None` if no word counts.
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

/// Returns true for words that may describe a text: not numbers, and not single letters of
/// alphabets.
fn counts_in_examples(word: &str) -> bool {
    let is_letter = word.len() == 1;
    !is_letter && word.len() <= MAX_TERM && word.chars().any(char::is_alphabetic)
}

/// Removes all but the [`MAX_EXAMPLE_WORDS`] most frequent words; between equally frequent ones,
/// the last in alphabetical order go first.
fn keep_most_frequent(counts: &mut BTreeMap<Box<str>, u32>) {
    if counts.len() <= MAX_EXAMPLE_WORDS {
        return;
    }
    let mut all: Vec<(Box<str>, u32)> = std::mem::take(counts).into_iter().collect();
    all.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    all.truncate(MAX_EXAMPLE_WORDS);
    counts.extend(all);
}

/// Words that the examples add to a topic.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) words: Vec<Box<str>>,
    /// True if no word occurs in more than one of several examples.
    pub(crate) nothing_in_common: bool,
}

/// A word of the examples.
#[derive(Debug, Default)]
struct Candidate<'a> {
    /// Most frequent form, with its occurrences.
    form: (&'a str, u32),
    examples: usize,
    /// Sum of the word's shares in the examples.
    share: f64,
}

/// Chooses up to `most` words of the examples, the weightiest first.
pub(crate) fn choose(
    examples: &[CountedExample],
    frequencies: Option<&DocumentFrequencies>,
    most: usize,
) -> Chosen {
    let candidates = candidates(examples);
    let is_common = |candidate: &Candidate<'_>| candidate.examples > 1;
    let nothing_in_common = examples.len() > 1 && !candidates.values().any(is_common);
    let needs_common = examples.len() > 1 && !nothing_in_common;
    let mut weighed: Vec<(&str, f64)> = Vec::new();
    for candidate in candidates.values() {
        let word = candidate.form.0;
        let part = candidate.examples as f64 / examples.len() as f64;
        let is_typical = frequencies.is_none_or(|known| part > share_of(known, word));
        if is_typical && (!needs_common || is_common(candidate)) {
            let idf = idf_of(frequencies, word);
            weighed.push((word, candidate.share * part * by_idf(idf)));
        }
    }
    weighed.sort_by(|one, two| two.1.total_cmp(&one.1));
    weighed.truncate(most.min(MAX_CANDIDATES));
    Chosen {
        words: weighed.into_iter().map(|(word, _)| word.into()).collect(),
        nothing_in_common,
    }
}

/// Returns the words of the examples by their bases.
fn candidates(examples: &[CountedExample]) -> BTreeMap<String, Candidate<'_>> {
    let mut forms: BTreeMap<&str, u32> = BTreeMap::new();
    for (form, times) in examples.iter().flat_map(|example| &example.counts) {
        let all = forms.entry(form).or_default();
        *all = all.saturating_add(*times);
    }
    let mut candidates: BTreeMap<String, Candidate<'_>> = BTreeMap::new();
    for (form, times) in forms {
        let candidate = candidates.entry(base(form)).or_default();
        if times > candidate.form.1 {
            candidate.form = (form, times);
        }
    }
    for example in examples {
        for (base, times) in by_base(example) {
            let candidate = candidates.entry(base).or_default();
            candidate.examples += 1;
            candidate.share += share_of_example(times, example.length);
        }
    }
    candidates
}

/// Returns the occurrences of an example's words by their bases.
pub(crate) fn by_base(example: &CountedExample) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    for (form, times) in &example.counts {
        let all: &mut u32 = counts.entry(base(form)).or_default();
        *all = all.saturating_add(*times);
    }
    counts
}

/// Returns the inverse document frequency of a word by the given frequencies, or 1 without
/// frequencies.
pub(crate) fn idf_of(frequencies: Option<&DocumentFrequencies>, word: &str) -> f64 {
    frequencies.map_or(1.0, |known| {
        idf(documents_with(known, word).into(), known.documents())
    })
}

/// Returns the number of documents that contain the most frequent inflected form of a word: a lower
/// bound for the documents that contain any form.
fn documents_with(known: &DocumentFrequencies, word: &str) -> u32 {
    let forms = inflected_forms(word).into_iter();
    forms.map(|form| known.of(&form)).max().unwrap_or_default()
}

/// Returns the fraction of all documents that contain a word.
pub(crate) fn share_of(known: &DocumentFrequencies, word: &str) -> f64 {
    f64::from(documents_with(known, word)) / (known.documents().max(1) as f64)
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
        let chosen = choose(&examples(texts), None, MAX_CANDIDATES);
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
    fn forms_of_a_word_are_one_word_by_its_most_frequent_form() {
        check(
            &["a turbine, a tide, and tides", "turbines", "turning tides"],
            &["tides", "turbine"],
            false,
        );
    }

    #[test]
    fn no_more_than_the_most_words_are_kept() {
        let text: String = (0..=MAX_CANDIDATES).map(|n| format!("word{n} ")).collect();
        for (most, expected) in [(usize::MAX, MAX_CANDIDATES), (10, 10)] {
            let chosen = choose(&examples(&[&text, &text]), None, most);
            assert_eq!(chosen.words.len(), expected);
        }
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
