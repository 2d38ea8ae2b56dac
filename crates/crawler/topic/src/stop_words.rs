//! Removes the stop words of a text's language, which carry no topic.
//!
//! A text's language is the language with the most stop words in it. A few words are not enough to
//! tell languages apart (*war*, *die* and *sea* are stop words of German and Spanish), so languages
//! other than English need at least two stop words.

use std::sync::LazyLock;

use neardup::{NormalText, StopWords};

/// Maximum bytes of a text that are read to detect its language.
const SAMPLE: usize = 4_096;
/// Minimum number of stop words for a language other than English.
const LEAST: usize = 2;

/// Stop words of each language. English comes first and wins ties.
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
