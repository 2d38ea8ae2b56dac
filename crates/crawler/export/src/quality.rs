//! Quality signals: the figures that curators of training corpora use to filter texts.
//!
//! The names of the rules that use them are in the documentation of each figure: Gopher (Rae et
//! al., "Scaling Language Models", 2021, appendix A.1.1 and table A1), C4 (Raffel et al.,
//! "Exploring the Limits of Transfer Learning", JMLR 2020, section 2.2), RefinedWeb (Penedo et al.,
//! 2023, appendix G) and FineWeb (Penedo et al., 2024, section 3.6). This module does not filter.
//!
//! The papers leave open what a word is and what is counted. Here a word is one of
//! [`NormalText`], in lower case and without punctuation; a character is a Unicode scalar value; a
//! line is a line of the text that is not blank, without the white space around it. Shares are
//! between 0 and 1, and 0 if there is nothing to count.
//!
//! Invariant: a text of *n* words takes time and memory in proportion to *n*.

use std::collections::{HashMap, HashSet};

use neardup::{NormalText, StopWords};

/// A line of fewer characters is short (FineWeb).
const SHORT_LINE: usize = 30;

/// Characters that begin an item of a list (Gopher and RefinedWeb).
const BULLETS: [char; 8] = ['•', '‣', '◦', '▪', '●', '-', '*', '·'];

/// Characters that end a sentence (C4: full stop, question mark, exclamation mark, closing
/// quotation mark), and their equivalents in other scripts.
const TERMINAL: [char; 20] = [
    '.', '!', '?', '"', '\'', '”', '’', '»', '…', '。', '！', '？', '．', '」', '』', '؟', '۔',
    '।', '॥', '։',
];

/// Lengths *n* for the share of the most frequent n-gram (Gopher, table A1).
const TOP_LENGTHS: [usize; 3] = [2, 3, 4];

/// Lengths *n* for the share of repeated n-grams (Gopher, table A1).
const DUPLICATE_LENGTHS: [usize; 6] = [5, 6, 7, 8, 9, 10];

/// Figures about a text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QualitySignals {
    /// Words. Gopher keeps 50 to 100,000.
    pub words: u64,
    /// Mean length of a word in characters. Gopher keeps 3 to 10.
    pub mean_word_length: f64,
    /// Share of the words that have a letter. Gopher keeps 0.8 and more.
    pub alphabetic_words: f64,
    /// Share of the words that are stop words of the text's language; `None` without a list.
    /// (Gopher asks for two of eight English words.)
    pub stop_words: Option<f64>,
    /// Hash signs (`#`) per word. Gopher keeps up to 0.1.
    pub hashes_per_word: f64,
    /// Ellipses (`…` or `...`) per word. Gopher keeps up to 0.1.
    pub ellipses_per_word: f64,
    /// Share of the lines that begin with a bullet. Gopher keeps up to 0.9. A bullet that a browser
    /// draws is not in the text.
    pub bullet_lines: f64,
    /// Share of the lines that end with an ellipsis. Gopher keeps up to 0.3.
    pub ellipsis_lines: f64,
    /// Share of the lines that end like a sentence. C4 keeps only such lines; FineWeb drops texts
    /// with 0.12 or less.
    pub punctuated_lines: f64,
    /// Share of the lines with fewer than 30 characters. FineWeb drops texts with 0.67 or more.
    pub short_lines: f64,
    /// Share of the lines that equal an earlier one. Gopher keeps up to 0.3.
    pub duplicate_lines: f64,
    /// Share of the characters that are in such lines. Gopher keeps up to 0.2, FineWeb below 0.1.
    pub duplicate_line_characters: f64,
    /// Share of the words' characters that are in the most frequent 2-, 3- and 4-gram; 0 if none
    /// occurs twice. Of equally frequent ones the longest counts. Gopher keeps up to 0.20, 0.18
    /// and 0.16.
    pub top_n_grams: [f64; TOP_LENGTHS.len()],
    /// Share of the words' characters that are in a 5- to 10-gram that occurred before; each
    /// character counts once. Gopher keeps up to 0.15, 0.14, 0.13, 0.12, 0.11 and 0.10.
    pub duplicate_n_grams: [f64; DUPLICATE_LENGTHS.len()],
}

impl QualitySignals {
    /// Computes the figures of a text, given the stop words of its language.
    #[must_use]
    pub fn of(text: &str, stop_words: Option<&StopWords>) -> Self {
        let normal = NormalText::of(text);
        let words = Words::of(&normal);
        let count = words.ids.len();
        let with_letters = normal
            .words()
            .filter(|word| word.chars().any(char::is_alphabetic));
        let stopped = |list: &StopWords| count - list.taken_from(&normal).len().min(count);
        let ellipses = text.matches("...").count() + text.matches('…').count();
        let lines = Lines::of(text);
        Self {
            words: count as u64,
            mean_word_length: share(words.characters, count),
            alphabetic_words: share(with_letters.count(), count),
            stop_words: stop_words.map(|list| share(stopped(list), count)),
            hashes_per_word: share(text.matches('#').count(), count),
            ellipses_per_word: share(ellipses, count),
            bullet_lines: lines.share(|line| line.starts_with(BULLETS)),
            ellipsis_lines: lines.share(|line| line.ends_with('…') || line.ends_with("...")),
            punctuated_lines: lines.share(|line| line.ends_with(TERMINAL)),
            short_lines: lines.share(|line| line.chars().nth(SHORT_LINE - 1).is_none()),
            duplicate_lines: share(lines.repeated, lines.all.len()),
            duplicate_line_characters: share(lines.repeated_characters, lines.characters),
            top_n_grams: TOP_LENGTHS.map(|n| words.top(n)),
            duplicate_n_grams: DUPLICATE_LENGTHS.map(|n| words.duplicate(n)),
        }
    }
}

/// Returns `part / whole`, or 0 if the whole is 0.
fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// The lines of a text.
struct Lines<'t> {
    all: Vec<&'t str>,
    characters: usize,
    /// Lines that equal an earlier one, and their characters.
    repeated: usize,
    repeated_characters: usize,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let lines = text.lines().map(str::trim);
        let all: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
        let mut lines = Self {
            all: Vec::new(),
            characters: 0,
            repeated: 0,
            repeated_characters: 0,
        };
        let mut seen = HashSet::new();
        for line in &all {
            let characters = line.chars().count();
            lines.characters += characters;
            if !seen.insert(*line) {
                lines.repeated += 1;
                lines.repeated_characters += characters;
            }
        }
        lines.all = all;
        lines
    }

    fn share(&self, is_counted: impl Fn(&str) -> bool) -> f64 {
        let counted = self.all.iter().filter(|line| is_counted(line));
        share(counted.count(), self.all.len())
    }
}

/// The words of a text as numbers; equal words have equal numbers.
struct Words {
    ids: Vec<u32>,
    /// The length of each word in characters.
    lengths: Vec<usize>,
    characters: usize,
}

impl Words {
    fn of(text: &NormalText) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let (mut ids, mut lengths) = (Vec::new(), Vec::new());
        for word in text.words() {
            let next = numbers.len() as u32;
            ids.push(*numbers.entry(word).or_insert(next));
            lengths.push(word.chars().count());
        }
        let characters = lengths.iter().sum();
        Self {
            ids,
            lengths,
            characters,
        }
    }

    /// Returns the share of the characters in the most frequent n-gram, if it occurs twice.
    fn top(&self, n: usize) -> f64 {
        // For each n-gram: how often it occurs, and where first.
        let mut counts: HashMap<&[u32], (usize, usize)> = HashMap::new();
        for (at, gram) in self.ids.windows(n).enumerate() {
            counts.entry(gram).or_insert((0, at)).0 += 1;
        }
        let length = |at: usize| -> usize { self.lengths[at..at + n].iter().sum() };
        let repeated = counts.into_iter().filter(|(_, (count, _))| *count > 1);
        let top = repeated.max_by_key(|(_, (count, at))| (*count, length(*at), usize::MAX - at));
        top.map_or(0.0, |(top, _)| self.covered(n, |gram| gram == top))
    }

    /// Returns the share of the characters in n-grams that occurred before.
    fn duplicate(&self, n: usize) -> f64 {
        let mut seen = HashSet::new();
        self.covered(n, |gram| !seen.insert(gram))
    }

    /// Returns the share of the characters in the counted n-grams, each character once.
    fn covered<'s>(&'s self, n: usize, mut is_counted: impl FnMut(&'s [u32]) -> bool) -> f64 {
        let (mut covered, mut end) = (0, 0);
        for (at, gram) in self.ids.windows(n).enumerate() {
            if is_counted(gram) {
                covered += self.lengths[at.max(end)..at + n].iter().sum::<usize>();
                end = at + n;
            }
        }
        share(covered, self.characters)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    fn of(text: &str) -> QualitySignals {
        QualitySignals::of(text, None)
    }

    #[test]
    fn words_are_counted_without_punctuation() {
        let signals = of("The cat, 42 — and the #1 dog… Really...");
        // the cat 42 and the 1 dog really: 3 + 3 + 2 + 3 + 3 + 1 + 3 + 6 characters
        assert_eq!(signals.words, 8);
        check(signals.mean_word_length, 24.0 / 8.0);
        check(signals.alphabetic_words, 6.0 / 8.0);
        check(signals.hashes_per_word, 1.0 / 8.0);
        check(signals.ellipses_per_word, 2.0 / 8.0);
        assert_eq!(signals.stop_words, None);
    }

    #[test]
    fn stop_words_are_those_of_the_language() {
        let list: StopWords = ["the", "and"].into_iter().collect();
        let signals = QualitySignals::of("The cat and the dog", Some(&list));
        check(signals.stop_words.unwrap(), 3.0 / 5.0);
    }

    #[test]
    fn lines_are_judged_by_their_ends_and_blank_ones_are_not_counted() {
        let text = "• one\n\n - two.\nA sentence that has thirty characters, at least.\n  \n\
                    more…\nHe said: “Yes”\n終わり。\n";
        let signals = of(text);
        check(signals.bullet_lines, 2.0 / 6.0);
        check(signals.ellipsis_lines, 1.0 / 6.0);
        check(signals.punctuated_lines, 5.0 / 6.0);
        check(signals.short_lines, 5.0 / 6.0);
        check(of(&"x".repeat(29)).short_lines, 1.0);
        check(of(&"é".repeat(30)).short_lines, 0.0);
    }

    #[test]
    fn a_line_repeats_from_its_second_occurrence_on() {
        let signals = of("abcd\nxy\nabcd\n abcd \nABCD");
        check(signals.duplicate_lines, 2.0 / 5.0);
        check(signals.duplicate_line_characters, 8.0 / 18.0);
    }

    #[test]
    fn the_most_frequent_n_gram_is_counted_with_all_its_occurrences() {
        // 18 characters; "aa b" occurs three times, "b c" twice.
        let signals = of("aa b c d aa b c e aa b f gggg");
        check(signals.top_n_grams[0], 9.0 / 18.0);
        check(signals.top_n_grams[1], 8.0 / 18.0);
        // No 4-gram occurs twice.
        check(signals.top_n_grams[2], 0.0);
        // Overlapping occurrences cover each word once.
        check(of("a a a a").top_n_grams[0], 1.0);
        check(of("a a b").top_n_grams[0], 0.0);
        // Of "a b" and "cc dd", both twice, the longer one counts.
        check(of("a b x cc dd y a b z cc dd").top_n_grams[0], 8.0 / 15.0);
    }

    #[test]
    fn a_repeated_n_gram_is_counted_from_its_second_occurrence_on() {
        // Seven words of one letter, then the first six again.
        let signals = of("a b c d e f g a b c d e f");
        check(signals.duplicate_n_grams[0], 6.0 / 13.0);
        check(signals.duplicate_n_grams[1], 6.0 / 13.0);
        check(signals.duplicate_n_grams[2], 0.0);
        // Every 5-gram from the second word on occurred before.
        check(of(&"a ".repeat(8)).duplicate_n_grams[0], 7.0 / 8.0);
    }

    #[test]
    fn a_text_without_words_has_no_shares() {
        for text in ["", " \n ", "—"] {
            let signals = of(text);
            assert_eq!(
                (signals.words, signals.mean_word_length),
                (0, 0.0),
                "{text}"
            );
            assert_eq!(signals.duplicate_n_grams, [0.0; 6], "{text}");
        }
    }

    proptest! {
        #[test]
        fn shares_are_between_0_and_1_and_texts_without_repetition_have_none(
            text in "([ab]{1,2}[ .\n]){0,60}",
            count in 0..40_usize,
        ) {
            let signals = of(&text);
            let shares = [
                &[signals.alphabetic_words, signals.bullet_lines, signals.punctuated_lines][..],
                &[signals.duplicate_lines, signals.duplicate_line_characters],
                &signals.top_n_grams,
                &signals.duplicate_n_grams,
            ];
            for share in shares.concat() {
                prop_assert!((0.0..=1.0).contains(&share), "{:?}", signals);
            }
            // A longer n-gram that repeats contains shorter ones that do.
            prop_assert!(signals.duplicate_n_grams.is_sorted_by(|one, other| one >= other));
            let distinct: String = (0..count).map(|word| format!("w{word} ")).collect();
            prop_assert_eq!(of(&distinct).top_n_grams, [0.0; 3]);
            prop_assert_eq!(of(&distinct).duplicate_n_grams, [0.0; 6]);
        }
    }
}
