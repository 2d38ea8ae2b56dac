//! Stop words: words that carry little meaning in their language, such as "the", "und", "の".
//!
//! Fingerprints may leave them out on request. They stay in the text, in its digest and in the
//! shingles that decide about resemblance: "to be or not to be" is a text, and stop words are half
//! of the evidence that a passage was copied. With logarithmic weights they hardly affect a
//! fingerprint anyway, so the default keeps them.
//!
//! The lists come from NLTK, mostly from Snowball, and otherwise from Stopwords ISO, as provided by
//! the crate `stop-words` (feature `stop-words`); folded like texts. (The lists of ISO contain
//! "war" and "peace" in Russian.)

use std::collections::HashSet;

use crate::text::NormalText;

/// A set of stop words, of one language or any other.
/// An entry may be several words (`これ` is two, "bởi vì" as well); they are removed if they occur
/// together.
/// together.
///
/// ```
/// use neardup::{NormalText, StopWords};
///
/// let stop_words: StopWords = ["the", "New York Times"].into_iter().collect();
/// let left = stop_words.taken_from(&NormalText::of("The New York Times of New York"));
/// assert_eq!(left.as_str(), "of new york");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StopWords {
    /// Normalised words, joined by single spaces.
    phrases: HashSet<Box<str>>,
    /// Number of words of the longest phrase.
    longest: usize,
}

impl StopWords {
    /// Returns the stop words of the language with this ISO 639-1 code, in either case.
    ///
    /// # Errors
    /// [`UnknownLanguage`] for a language without a list; the error contains the known languages.
    #[cfg(feature = "stop-words")]
    pub fn of_language(code: &str) -> Result<Self, UnknownLanguage> {
        let known = stop_words::lookup(code.to_ascii_lowercase());
        let words = known.ok_or_else(|| UnknownLanguage(code.chars().take(40).collect()))?;
        Ok(words.iter().collect())
    }

    /// Returns all entries, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.phrases.iter().map(|words| &**words)
    }

    /// Returns the codes of all languages with a list, in alphabetical order.
    #[cfg(feature = "stop-words")]
    pub fn languages() -> impl Iterator<Item = &'static str> {
        stop_words::available_languages().iter().copied()
    }

    /// Returns `text` without the stop words. If several entries begin at the same word, the
    /// longest is removed.
    #[must_use]
    pub fn taken_from(&self, text: &NormalText) -> NormalText {
        let joined = text.as_str();
        let spans: Vec<(usize, usize)> = text.spans().collect();
        let mut kept = Vec::with_capacity(spans.len());
        let mut at = 0;
        while at < spans.len() {
            let start = spans[at].0;
            let most = self.longest.min(spans.len() - at);
            let stopped = (1..=most).rev().find(|words| {
                self.phrases
                    .contains(&joined[start..spans[at + words - 1].1])
            });
            if stopped.is_none() {
                kept.push(spans[at]);
            }
            at += stopped.unwrap_or(1);
        }
        text.with_words_at(&kept)
    }
}

impl<S: AsRef<str>> FromIterator<S> for StopWords {
    /// Collects any words or phrases. They are normalised; items without a word are skipped.
    fn from_iter<I: IntoIterator<Item = S>>(words: I) -> Self {
        let mut stop_words = StopWords::default();
        for phrase in words {
            let phrase = NormalText::of(phrase.as_ref());
            if !phrase.is_empty() {
                stop_words.longest = stop_words.longest.max(phrase.len());
                stop_words.phrases.insert(phrase.as_str().into());
            }
        }
        stop_words
    }
}

/// A language without a list of stop words.
#[cfg(feature = "stop-words")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no stop words for `{0}`, only for {known}",
    known = StopWords::languages().collect::<Vec<_>>().join(", ")
)]
pub struct UnknownLanguage(String);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(stop_words: &StopWords, text: &str, left: &str) {
        let left_over = stop_words.taken_from(&NormalText::of(text));
        assert_eq!(left_over.as_str(), left, "{text:?}");
        assert_eq!(left_over, NormalText::of(left), "{text:?}");
    }

    #[cfg(feature = "stop-words")]
    #[test]
    fn stop_words_are_taken_from_texts_of_their_language() {
        let of = |code: &str| StopWords::of_language(code).unwrap();
        check(&of("en"), "The cat AND the dog", "cat dog");
        check(&of("EN"), "To be, or not to be", "");
        check(
            &of("de"),
            "Die Straße und das Gänsefüßchen",
            "strasse gänsefüsschen",
        );
        check(&of("ru"), "Война и мир", "война мир");
        check(&of("ja"), "これは犬", "犬");
        check(&of("en"), "", "");
    }

    #[test]
    fn the_longest_phrase_is_taken_and_parts_of_it_stay() {
        let stop_words: StopWords = ["New York", "new york times", "…", ""].iter().collect();
        assert_eq!(stop_words.phrases.len(), 2);
        check(
            &stop_words,
            "The New York Times of New York, new",
            "the of new",
        );
    }

    #[cfg(feature = "stop-words")]
    #[test]
    fn an_unknown_language_is_refused_with_the_known_ones() {
        let message = StopWords::of_language("xx").unwrap_err().to_string();
        assert!(
            message.starts_with("there are no stop words for `xx`, only for af, ar, "),
            "{message}"
        );
        assert!(message.ends_with(", zu"), "{message}");
        for code in StopWords::languages() {
            let words = StopWords::of_language(code).unwrap();
            assert!(!words.phrases.is_empty(), "{code}");
        }
    }

    proptest! {
        #[test]
        fn single_stop_words_are_filtered_and_nothing_else_is(
            text in "([ab]{1,2} ){0,20}",
            stop in "[ab]{1,2}",
        ) {
            let stop_words: StopWords = [&stop].into_iter().collect();
            let left: Vec<&str> = text.split_whitespace().filter(|word| **word != stop).collect();
            let taken = stop_words.taken_from(&NormalText::of(&text));
            prop_assert_eq!(taken.words().collect::<Vec<_>>(), left);
        }
    }
}
