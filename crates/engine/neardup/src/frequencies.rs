//! Document frequencies: the number of documents that contain a feature.
//!
//! They are learned document by document in bounded memory. When more than twice [`MAX_TERMS`]
//! features are counted, the median count is subtracted from all counts, and features whose count
//! becomes 0 are dropped. This is the "frequent" algorithm of Misra and Gries (Finding repeated
//! elements, 1982) in the batched form of Anderson et al. (A high-performance algorithm for
//! identifying frequent items in data streams, IMC 2017): no count is too high, and each is too low
//! by at most the sum of all counts divided by `MAX_TERMS`. Dropped features are rare, and rare
//! features have similar weights.
//!
//! The file format is text, the most frequent features first, so that other lists are easy to
//! convert:
//!
//! ```text
//! documents<TAB>18846<TAB>word:1
//! the<TAB>17903
//! zebra<TAB>3
//! ```
//!
//! The third column of the first line names the counted features and may be omitted for `word:1`.
//! Invariants: a file reads back as it was written (property test); counts are from 1 to the number
//! of documents.

mod file;

use std::collections::{HashMap, HashSet};

pub use file::FrequenciesError;

use crate::features::Unit;
use crate::text::NormalText;

/// Maximum number of features: 262,144, about 20 MB if they are words. Twice as many while
/// learning.
pub const MAX_TERMS: usize = 1 << 18;

/// Maximum length of a counted feature, in bytes. A longer feature counts as never seen.
pub const MAX_TERM: usize = 256;

/// Number of documents, and number of documents per feature.
///
/// ```
/// use neardup::frequencies::DocumentFrequencies;
/// use neardup::{NormalText, Unit, Width};
///
/// let mut frequencies = DocumentFrequencies::new(Unit::Words(Width::ONE));
/// for text in ["The cat, the CAT", "The dog"] {
///     frequencies.learn(&NormalText::of(text));
/// }
/// assert_eq!((frequencies.of("the"), frequencies.of("cat")), (2, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFrequencies {
    unit: Unit,
    documents: u64,
    counts: HashMap<Box<str>, u32>,
    most: usize,
}

impl DocumentFrequencies {
    /// Creates the frequencies of an empty collection of documents.
    #[must_use]
    pub fn new(unit: Unit) -> Self {
        Self::with_max(unit, MAX_TERMS)
    }

    fn with_max(unit: Unit, most: usize) -> Self {
        Self {
            unit,
            documents: 0,
            counts: HashMap::new(),
            most,
        }
    }

    /// Counts one more document. If fingerprints leave out stop words and features are wider than a
    /// word, `text` must come without the stop words as well.
    pub fn learn(&mut self, text: &NormalText) {
        self.documents += 1;
        let joined = text.as_str();
        let mut seen = HashSet::new();
        for (start, end) in self.unit.spans(text) {
            let term = &joined[start..end];
            if term.len() > MAX_TERM || !seen.insert(term) {
                continue;
            }
            match self.counts.get_mut(term) {
                Some(count) => *count = count.saturating_add(1),
                None => {
                    self.counts.insert(term.into(), 1);
                    // In text order, so that the same documents always leave the same counts.
                    if self.counts.len() > 2 * self.most {
                        self.forget_rare();
                    }
                }
            }
        }
    }

    /// Subtracts the median from all counts; at most half of the features remain.
    fn forget_rare(&mut self) {
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        let middle = counts.len() / 2;
        let (_, &mut median, _) = counts.select_nth_unstable(middle);
        self.counts.retain(|_, count| {
            *count = count.saturating_sub(median);
            *count > 0
        });
    }

    /// Returns the unit of the counted features.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns all features, each with the number of documents that have it, in no particular
    /// order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.counts.iter().map(|(term, count)| (&**term, *count))
    }

    /// Returns the number of features counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Returns true if the collection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the number of documents that have `feature`, written as in [`NormalText::as_str`]; 0
    /// for an unknown feature.
    #[must_use]
    pub fn of(&self, feature: &str) -> u32 {
        self.counts.get(feature).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn learned(unit: &str, most: usize, texts: &[String]) -> DocumentFrequencies {
        let mut frequencies = DocumentFrequencies::with_max(unit.parse().unwrap(), most);
        for text in texts {
            frequencies.learn(&NormalText::of(text));
        }
        frequencies
    }

    #[test]
    fn a_document_counts_once_for_a_word_however_often_it_has_it() {
        let texts = [
            "The cat, the CAT".to_owned(),
            "the dog".to_owned(),
            String::new(),
        ];
        let words = learned("word:1", 10, &texts);
        assert_eq!(words.documents(), 3);
        assert_eq!(
            ["the", "cat", "dog", "cow"].map(|word| words.of(word)),
            [2, 1, 1, 0]
        );
        let pairs = learned("word:2", 10, &texts);
        assert_eq!(
            ["the cat", "cat the", "the dog"].map(|pair| pairs.of(pair)),
            [1, 1, 1]
        );
        assert_eq!(learned("char:3", 99, &texts).of("he "), 2);
    }

    #[test]
    fn a_word_of_the_greatest_length_is_counted_and_a_longer_one_is_not() {
        let texts = [MAX_TERM, MAX_TERM + 1].map(|length| "x".repeat(length));
        let words = learned("word:1", 10, &texts);
        assert_eq!(texts.each_ref().map(|word| words.of(word)), [1, 0]);
    }

    #[test]
    fn frequent_words_outlive_a_flood_of_rare_ones() {
        let flood = |n: u32| {
            format!(
                "always {} rare{n} rare{}",
                if n.is_multiple_of(3) { "third" } else { "" },
                n + 9_999_999
            )
        };
        let texts: Vec<String> = (0..3_000).map(flood).collect();
        let words = learned("word:1", 100, &texts);
        assert!(words.len() <= 200);
        let error = 3_000 * 4 / 100;
        assert!((3_000 - error..=3_000).contains(&words.of("always")));
        assert!((1_000 - error..=1_000).contains(&words.of("third")));
    }

    proptest! {
        #[test]
        fn counts_are_never_too_high_and_too_low_by_a_bounded_number(
            texts in prop::collection::vec("([a-h]{1,2} ){0,12}", 0..60), most in 1_usize..8,
        ) {
            let bounded = learned("word:1", most, &texts);
            let exact = learned("word:1", 1_000, &texts);
            prop_assert!(bounded.len() <= 2 * most);
            let all: u32 = exact.counts.values().sum();
            for (term, &count) in &exact.counts {
                let kept = bounded.of(term);
                prop_assert!(
                    kept <= count && count - kept <= all / most as u32,
                    "{term}: {kept} of {count}",
                );
            }
            prop_assert_eq!(learned("word:1", most, &texts), bounded);
        }
    }
}
