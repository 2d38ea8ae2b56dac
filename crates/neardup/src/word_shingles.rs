//! Readable shingles: the runs of words themselves, of which [`Shingles`](crate::Shingles) keeps
//! the hashes.

use std::collections::HashSet;

use crate::features::Width;
use crate::text::NormalText;

/// Returns the different runs of `width` words in `text`, in the order of their first occurrence,
/// joined by single spaces. A text with fewer words is one run; a text without words has none.
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
            // A single space stands between a word and the next.
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

    proptest! {
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
