//! Readable shingles: the runs of words or characters themselves; [`Shingles`](crate::Shingles)
//! keep only their hashes.

use std::collections::HashSet;

use crate::features::{Unit, Width};
use crate::text::NormalText;

/// Returns the different runs of `width` words in `text`, sorted by first occurrence, joined by
/// single spaces. A text with fewer words is one run; a text without words yields nothing.
///
/// ```
/// use neardup::{NormalText, Width, word_shingles};
///
/// let text = NormalText::of("A rose is a rose is a rose");
/// let runs: Vec<&str> = word_shingles(&text, Width::new(4).expect("4 is from 1 to 64")).collect();
/// assert_eq!(runs, ["a rose is a", "rose is a rose", "is a rose is"]);
/// ```
pub fn word_shingles(text: &NormalText, width: Width) -> impl Iterator<Item = &str> {
    let joined = text.as_str();
    let spans = || {
        text.words().scan(0, |next, word| {
            let start = *next;
            // A single space separates a word from the next.
            *next = start + word.len() + 1;
            Some((start, start + word.len()))
        })
    };
    let width = width.get().min(text.len());
    let starts = spans().map(|(start, _)| start);
    let ends = spans().skip(width.saturating_sub(1)).map(|(_, end)| end);
    let mut met = HashSet::new();
    starts
        .zip(ends)
        .map(move |(start, end)| &joined[start..end])
        .filter(move |run| met.insert(*run))
}

/// Returns the different runs of words or of characters in `text`, sorted by first occurrence: the
/// members of [`Shingles::of_unit`](crate::Shingles::of_unit). Runs of characters include the
/// single spaces between words.
///
/// ```
/// use neardup::{NormalText, UnknownFeatures, readable_shingles};
///
/// let text = NormalText::of("A rose");
/// assert_eq!(readable_shingles(&text, "char:3".parse()?), ["a r", " ro", "ros", "ose"]);
/// # Ok::<(), UnknownFeatures>(())
/// ```
#[must_use]
pub fn readable_shingles(text: &NormalText, unit: Unit) -> Vec<&str> {
    let joined = text.as_str();
    let spans = unit.spans(text).into_iter();
    let mut met = HashSet::new();
    spans
        .map(|(start, end)| &joined[start..end])
        .filter(|run| met.insert(*run))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::HashKey;
    use crate::shingles::Shingles;
    use proptest::prelude::*;

    fn runs(text: &str, width: usize) -> Vec<String> {
        let text = NormalText::of(text);
        word_shingles(&text, Width::new(width).unwrap())
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn a_rose_is_a_rose_is_a_rose_has_exactly_these_shingles_of_four_words() {
        assert_eq!(
            runs("a rose is a rose is a rose", 4),
            ["a rose is a", "rose is a rose", "is a rose is"]
        );
    }

    #[test]
    fn a_short_text_is_one_run_and_an_empty_one_has_none() {
        assert_eq!(runs("One", 3), ["one"]);
        assert_eq!(runs("one, two", 3), ["one two"]);
        assert_eq!(runs("", 3), [""; 0]);
        assert_eq!(runs("…", 1), [""; 0]);
    }

    #[test]
    fn the_earth_is_moving_has_fifteen_runs_of_five_characters() {
        let earth = NormalText::of("The earth is moving");
        let runs = readable_shingles(&earth, "char:5".parse().unwrap());
        assert_eq!((runs.len(), runs[0], runs[14]), (15, "the e", "oving"));
    }

    proptest! {
        #[test]
        fn there_are_as_many_readable_shingles_of_any_unit_as_hashed_ones(
            words in prop::collection::vec("[aäc]{1,2}", 0..60),
            width in 1_usize..6,
        ) {
            let text = NormalText::of(&words.join(" "));
            let width = Width::new(width).unwrap();
            for unit in [Unit::Words(width), Unit::Chars(width)] {
                let hashed = Shingles::of_unit(&text, unit, HashKey::ZERO);
                prop_assert_eq!(readable_shingles(&text, unit).len(), hashed.len());
            }
            let runs: Vec<&str> = word_shingles(&text, width).collect();
            prop_assert_eq!(readable_shingles(&text, Unit::Words(width)), runs);
        }

        #[test]
        fn there_are_as_many_runs_as_shingles(
            words in prop::collection::vec("[aäc]{1,2}", 0..60),
            width in 1_usize..6,
        ) {
            let text = words.join(", ");
            let normal = NormalText::of(&text);
            let shingles = Shingles::of(&normal, Width::new(width).unwrap(), HashKey::ZERO);
            prop_assert_eq!(runs(&text, width).len(), shingles.len());
        }
    }
}
