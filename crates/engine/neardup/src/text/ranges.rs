//! The byte ranges of words in a text as it was written.
//!
//! [`NormalText`](super::NormalText) contains the words folded and joined, for comparison; readers
//! want to see them as written. Ranges are needed only to show a text, so they are found by the
//! definition and the libraries, without a fast path. Invariant: there is a range for each word of
//! `NormalText::of`, in the same sequence, and folding the range gives the word (property test).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::MAX_TEXT;
use super::unicode::first_part;

/// Returns the byte range of each word of `text`, in the sequence of the words of
/// [`NormalText::of`](super::NormalText::of). Reads at most [`MAX_TEXT`] bytes, too.
///
/// ```
/// use neardup::{NormalText, word_ranges};
///
/// let text = "Die STRASSE, die straße!";
/// let words: Vec<&str> = word_ranges(text).into_iter().map(|range| &text[range]).collect();
/// assert_eq!(words, ["Die", "STRASSE", "die", "straße"]);
/// assert_eq!(words.len(), NormalText::of(text).len());
/// ```
#[must_use]
pub fn word_ranges(text: &str) -> Vec<Range<usize>> {
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    // An English word and its separator take six bytes on average.
    let mut ranges = Vec::with_capacity(text.len() / 6 + 1);
    let mut start = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        add_ranges(piece.trim_end(), start, &mut ranges);
        start += piece.len();
    }
    ranges
}

/// Appends the ranges of a piece without white space, which begins at `start`.
fn add_ranges(piece: &str, mut start: usize, ranges: &mut Vec<Range<usize>>) {
    let mut rest = piece;
    while !rest.is_empty() {
        let (part, others) = rest.split_at(first_part(rest));
        let words = part.unicode_word_indices();
        ranges.extend(words.map(|(at, word)| start + at..start + at + word.len()));
        start += part.len();
        rest = others;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::NormalText;
    use crate::text::fold::folded;

    fn check(text: &str) {
        let ranges = word_ranges(text);
        let words: Vec<String> = ranges
            .iter()
            .map(|word| folded(&text[word.clone()]))
            .collect();
        let normal = NormalText::of(text);
        assert_eq!(words, normal.words().collect::<Vec<_>>(), "{text:?}");
        let ends = ranges.iter().map(|word| word.end);
        let starts = ranges.iter().skip(1).map(|word| word.start);
        assert!(
            ends.zip(starts).all(|(end, start)| end <= start),
            "{text:?}"
        );
    }

    #[test]
    fn a_range_is_the_word_as_it_was_written() {
        let text = "“Don’t”  PANIC:\n東京タワー, 3.14 km² (foo_bar) ___";
        let words: Vec<&str> = word_ranges(text).into_iter().map(|at| &text[at]).collect();
        let expected = [
            "Don’t", "PANIC", "東", "京", "タ", "ワ", "ー", "3.14", "km", "²", "foo_bar",
        ];
        assert_eq!(words, expected);
        check(text);
        for text in [
            "",
            " ",
            "one",
            "カ\u{3099}_x 〆切",
            "a\u{ad}b\u{200d} c",
            "א\"ב ג'",
        ] {
            check(text);
        }
    }

    proptest! {
        #[test]
        fn ranges_are_the_places_of_the_words(text in "\\PC{0,60}") {
            check(&text);
        }

        #[test]
        fn ranges_of_marks_and_scripts_are_the_places_of_the_words(
            text in "[a-cA-C0-2_.,:'\"’ \n\u{301}\u{3099}\u{ad}\u{200d}éß東ひカกא한²]{0,40}",
        ) {
            check(&text);
        }
    }
}
