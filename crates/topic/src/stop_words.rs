//! Stop words of the language of a text, which are no part of a topic.
//!
//! The language is that whose stop words the text has most of. A few words are not enough to name a
//! language (*war*, *die* and *sea* are stop words of German and Spanish), so languages other than
//! English need two of their stop words.

use std::sync::LazyLock;

use neardup::{NormalText, StopWords};

/// The bytes of a text by which its language is recognised.
const SAMPLE: usize = 4_096;
/// The number of stop words that a language other than English needs.
const LEAST: usize = 2;

/// The stop words of each language. English is the first: it is preferred among equals.
static LISTS: LazyLock<Vec<StopWords>> = LazyLock::new(|| {
    let others = StopWords::languages().filter(|code| *code != "en");
    let codes = std::iter::once("en").chain(others);
    codes
        .filter_map(|code| StopWords::of_language(code).ok())
        .collect()
});

/// Returns the words of a text without the stop words of its language.
pub(crate) fn without_stop_words(text: &str) -> NormalText {
    let sample = NormalText::of(&text[..text.floor_char_boundary(SAMPLE)]);
    let mut best: Option<(usize, &StopWords)> = None;
    for (number, list) in LISTS.iter().enumerate() {
        let taken = sample.len() - list.taken_from(&sample).len();
        let least = if number == 0 { 1 } else { LEAST };
        if taken >= least && best.is_none_or(|(most, _)| taken > most) {
            best = Some((taken, list));
        }
    }
    let words = NormalText::of(text);
    match best {
        Some((_, list)) => list.taken_from(&words),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_of_the_language_are_left_out() {
        for (text, left) in [
            ("the power of the tides", "power tides"),
            ("die Kraft der Gezeiten", "kraft gezeiten"),
            ("la puissance de la marée", "puissance marée"),
            (
                "энергия приливов и отливов в море",
                "энергия приливов отливов море",
            ),
            ("tidal power", "tidal power"),
            ("the of and", ""),
            ("", ""),
        ] {
            assert_eq!(without_stop_words(text).as_str(), left, "{text}");
        }
    }

    #[test]
    fn a_single_word_does_not_name_a_language() {
        for text in ["war", "war crimes", "die casting", "deep sea", "man pages"] {
            assert_eq!(without_stop_words(text).as_str(), text);
        }
    }
}
