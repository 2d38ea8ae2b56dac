//! An index of texts under the caller's own ids: a builder of signatures and the index that holds
//! its signatures, in one value.
//!
//! Signatures of different keys, features or shingles look the same and never match, so an index
//! that mixes them finds nothing, silently. Invariant: everything in an index was made by its one
//! builder; an index with another [`ParametersDigest`] is refused.

use std::collections::HashMap;
use std::hash::Hash;

use thiserror::Error;

use crate::features::Features;
use crate::key::HashKey;
use crate::parameters_digest::ParametersDigest;
use crate::signature::{PageSignature, PageText, SignatureBuilder};
use crate::signature_index::SignatureIndex;
use crate::text::NormalText;
use crate::thresholds::{Match, Thresholds};

/// A text for a [`TextIndex`], made from a `&str`, a [`PageText`], or the words of the caller's own
/// tokenizer ([`NormalText::of_tokens`]).
#[derive(Clone, Copy, Debug)]
pub enum IndexText<'a> {
    /// A text, perhaps with title, heading and main content.
    Page(PageText<'a>),
    /// Words, unchanged.
    Words(&'a NormalText),
}

impl<'a> From<&'a str> for IndexText<'a> {
    fn from(text: &'a str) -> Self {
        Self::Page(PageText::of(text))
    }
}

impl<'a> From<&'a String> for IndexText<'a> {
    fn from(text: &'a String) -> Self {
        Self::Page(PageText::of(text))
    }
}

impl<'a> From<PageText<'a>> for IndexText<'a> {
    fn from(page: PageText<'a>) -> Self {
        Self::Page(page)
    }
}

impl<'a> From<&'a NormalText> for IndexText<'a> {
    fn from(words: &'a NormalText) -> Self {
        Self::Words(words)
    }
}

/// An index of texts in memory. About 800 bytes per text, plus two ids.
///
/// ```
/// use neardup::{MatchKind, TextIndex};
///
/// let mut index = TextIndex::default();
/// index.insert("hamlet", "To be, or not to be: that is the question.");
/// let found = index.find("to be or not to be — that is the question").expect("it is there");
/// assert_eq!((*found.of, found.match_kind), ("hamlet", MatchKind::SameText));
/// ```
#[derive(Clone, Debug)]
pub struct TextIndex<Id> {
    builder: SignatureBuilder,
    index: SignatureIndex,
    /// By the number of the signature in the index.
    ids: Vec<Option<Id>>,
    numbers: HashMap<Id, u64>,
}

/// The signatures and thresholds of a crawl, with the zero key.
impl<Id: Clone + Eq + Hash> Default for TextIndex<Id> {
    fn default() -> Self {
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        Self::new(builder, Thresholds::default())
    }
}

impl<Id: Clone + Eq + Hash> TextIndex<Id> {
    /// Creates an empty index of signatures that are made by `builder` and compared by
    /// `thresholds`.
    #[must_use]
    pub fn new(builder: SignatureBuilder, thresholds: Thresholds) -> Self {
        Self {
            builder,
            index: SignatureIndex::new(thresholds),
            ids: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// Restores the index that had these [`signatures`](Self::signatures) and this parameters
    /// digest when it was stored.
    ///
    /// # Errors
    /// [`OtherParameters`] if signatures of `parameters digest` and of `builder` cannot be
    /// compared.
    pub fn restored(
        builder: SignatureBuilder,
        thresholds: Thresholds,
        parameters_digest: ParametersDigest,
        signatures: impl IntoIterator<Item = (Id, PageSignature)>,
    ) -> Result<Self, OtherParameters> {
        if builder.parameters_digest() != parameters_digest {
            return Err(OtherParameters);
        }
        let mut index = Self::new(builder, thresholds);
        for (id, signature) in signatures {
            index.insert_signature(id, signature);
        }
        Ok(index)
    }

    /// Returns the signatures of all texts, in the order of insertion, to store them.
    pub fn signatures(&self) -> impl Iterator<Item = (&Id, &PageSignature)> {
        let signatures = self.index.iter();
        signatures.map(|(number, _, signature)| (self.id(number), signature))
    }

    /// Inserts a text under `id`, replacing an earlier one. Title and heading count if `text` is a
    /// [`PageText`] that has them.
    pub fn insert<'a>(&mut self, id: Id, text: impl Into<IndexText<'a>>) {
        let signature = self.signature(text);
        self.insert_signature(id, signature);
    }

    /// Inserts a text under `id`, unless it repeats a text in the index; then it returns the
    /// original instead. A text that is only compared with originals never continues a chain.
    pub fn insert_original<'a>(
        &mut self,
        id: Id,
        text: impl Into<IndexText<'a>>,
    ) -> Option<Match<Id>> {
        let signature = self.signature(text);
        if let Some(found) = self.index.find(&signature) {
            let of = self.id(found.of).clone();
            return Some(Match {
                of,
                match_kind: found.match_kind,
            });
        }
        self.insert_signature(id, signature);
        None
    }

    /// Returns the original that `text` is a duplicate of, as [`SignatureIndex::find`] does.
    #[must_use]
    pub fn find<'a>(&self, text: impl Into<IndexText<'a>>) -> Option<Match<&Id>> {
        let found = self.index.find(&self.signature(text));
        found.map(|found| self.named(found))
    }

    /// Returns all texts that `text` is a duplicate of, the best first, as
    /// [`SignatureIndex::find_all`] does.
    #[must_use]
    pub fn find_all<'a>(&self, text: impl Into<IndexText<'a>>) -> Vec<Match<&Id>> {
        self.nearest(text, usize::MAX)
    }

    /// Returns the first `most` of [`find_all`](Self::find_all).
    #[must_use]
    pub fn nearest<'a>(&self, text: impl Into<IndexText<'a>>, most: usize) -> Vec<Match<&Id>> {
        let found = self.index.nearest(&self.signature(text), most);
        found.into_iter().map(|found| self.named(found)).collect()
    }

    /// Removes the text under `id`; returns false if there is none.
    pub fn remove(&mut self, id: &Id) -> bool {
        let Some(number) = self.numbers.remove(id) else {
            return false;
        };
        self.ids[number as usize] = None;
        self.index.remove(number)
    }

    /// Moves the texts of `other` into this index, in their order; an id that this index already
    /// has gets the text of `other`.
    ///
    /// # Errors
    /// [`OtherParameters`] if the signatures of the two cannot be compared. In this case nothing is
    /// moved.
    pub fn merge(&mut self, other: &Self) -> Result<(), OtherParameters> {
        if self.parameters_digest() != other.parameters_digest() {
            return Err(OtherParameters);
        }
        for (number, id) in (0..).zip(&other.ids) {
            let held = id.as_ref().zip(other.index.get(number));
            if let Some((id, signature)) = held {
                self.insert_signature(id.clone(), signature.clone());
            }
        }
        Ok(())
    }

    /// Returns true if there is a text under `id`.
    #[must_use]
    pub fn contains(&self, id: &Id) -> bool {
        self.numbers.contains_key(id)
    }

    /// Returns the number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Returns true if the index is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the parameters digest of the signatures.
    #[must_use]
    pub fn parameters_digest(&self) -> ParametersDigest {
        self.builder.parameters_digest()
    }

    /// Returns the approximate number of bytes held, without data that ids point to.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.index.memory()
            + self.ids.capacity() * size_of::<Option<Id>>()
            + self.numbers.capacity() * (size_of::<(Id, u64)>() + 1)
    }

    fn signature<'a>(&self, text: impl Into<IndexText<'a>>) -> PageSignature {
        match text.into() {
            IndexText::Page(page) => {
                let payload = self.builder.payload(&page);
                self.builder.signature(payload, Some(page))
            }
            IndexText::Words(words) => {
                let payload = self.builder.payload(&PageText::of(words.as_str()));
                self.builder.signature_of_words(payload, words)
            }
        }
    }

    fn insert_signature(&mut self, id: Id, signature: PageSignature) {
        self.remove(&id);
        let number = self.ids.len() as u64;
        self.index.insert(number, signature);
        self.ids.push(Some(id.clone()));
        self.numbers.insert(id, number);
    }

    fn named(&self, found: Match) -> Match<&Id> {
        Match {
            of: self.id(found.of),
            match_kind: found.match_kind,
        }
    }

    fn id(&self, number: u64) -> &Id {
        let id = self.ids[number as usize].as_ref();
        id.expect("a removed text is not found")
    }
}

/// Signatures that cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "signatures in one index must have the same features, shingles, stop words, frequencies, bits, \
     least words and key: make all with one `SignatureBuilder`"
)]
pub struct OtherParameters;

/// Returns, for each of `texts`, the index of the earlier text that it repeats; `None` for an
/// original. Reads one text at a time; holds about 800 bytes per original.
///
/// The rules are the rules of a crawl: equal words, or nearly equal words in texts of at least 15.
/// [`TextIndex::insert_original`] does the same with your own rules and ids.
///
/// ```
/// let texts = ["To be, or not to be", "Much ado about nothing", "to be or not to be!"];
/// let repeated: Vec<Option<usize>> = neardup::dedup(texts).collect();
/// assert_eq!(repeated, [None, None, Some(0)]);
///
/// let originals = texts.iter().zip(repeated).filter(|(_, repeated)| repeated.is_none());
/// assert_eq!(originals.count(), 2);
/// ```
pub fn dedup<Text: AsRef<str>>(
    texts: impl IntoIterator<Item = Text>,
) -> impl Iterator<Item = Option<usize>> {
    let mut originals = TextIndex::default();
    let texts = texts.into_iter().enumerate();
    texts.map(move |(at, text)| {
        let found = originals.insert_original(at, text.as_ref());
        found.map(|found| found.of)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::thresholds::MatchKind;

    fn text(topic: usize, cut: usize) -> String {
        let words = (cut..120).map(|word| format!("topic{topic}word{word}"));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn texts_are_found_under_ids_of_any_type_best_first() {
        let mut index = TextIndex::default();
        index.insert("nearly".to_owned(), &text(1, 3));
        index.insert("same".to_owned(), &text(1, 0).to_uppercase());
        index.insert("other".to_owned(), &text(2, 0));
        let found = index.find_all(&text(1, 0));
        let found: Vec<(&str, bool)> = found
            .iter()
            .map(|found| (found.of.as_str(), found.match_kind == MatchKind::SameText))
            .collect();
        assert_eq!(found, [("same", true), ("nearly", false)]);
        assert_eq!(index.nearest(&text(1, 0), 1).len(), 1);
        assert_eq!(index.find(&text(3, 0)), None);
        assert!(index.remove(&"same".to_owned()) && !index.remove(&"same".to_owned()));
        let found = index.find(&text(1, 0)).map(|found| found.of.as_str());
        assert_eq!(found, Some("nearly"));
        assert_eq!(
            (index.len(), index.contains(&"same".to_owned())),
            (2, false)
        );
        assert!(index.memory() > 500);
    }

    #[test]
    fn a_text_under_a_known_id_replaces_the_earlier_one() {
        let mut index = TextIndex::default();
        index.insert(7, "some words");
        index.insert(7, "other words");
        assert_eq!((index.len(), index.find("some words")), (1, None));
        assert_eq!(index.find("other words").map(|found| *found.of), Some(7));
    }

    #[test]
    fn words_of_another_tokenizer_are_indexed_as_they_are() {
        let mut index = TextIndex::default();
        let lines = |text: &str| NormalText::of_tokens(text.lines());
        index.insert("code", &lines("let x = 1;\nlet y = 2;"));
        let found = |text| index.find(&lines(text)).map(|found| found.match_kind);
        assert_eq!(
            found("let x = 1;\n\nlet y = 2;\n"),
            Some(MatchKind::SamePayload)
        );
        assert_eq!(found("LET x = 1;\nlet y = 2;"), None);
    }

    #[test]
    fn the_same_text_under_another_title_is_not_the_same_bytes() {
        let mut index = TextIndex::default();
        let titled = |title| PageText {
            title: Some(title),
            ..PageText::of("to be or not to be")
        };
        index.insert(1, titled("Hamlet, Prince of Denmark"));
        let match_kind = |title| index.find(titled(title)).map(|found| found.match_kind);
        assert_eq!(
            match_kind("Hamlet, Prince of Denmark"),
            Some(MatchKind::SamePayload)
        );
        assert_ne!(match_kind("Macbeth"), Some(MatchKind::SamePayload));
    }

    #[test]
    fn an_index_is_restored_from_its_signatures_and_only_by_its_own_parameters() {
        let builder = |key| SignatureBuilder::new(Features::default(), HashKey::new(key));
        let mut index = TextIndex::new(builder(1), Thresholds::default());
        index.insert("a", &text(1, 0));
        index.insert("b", &text(2, 0));
        index.insert("c", &text(1, 3));
        index.remove(&"a");
        let restored = |key| {
            let signatures = index
                .signatures()
                .map(|(id, signature)| (*id, signature.clone()));
            TextIndex::restored(
                builder(key),
                Thresholds::default(),
                index.parameters_digest(),
                signatures,
            )
        };
        let same = restored(1).unwrap();
        assert_eq!(same.len(), 2);
        assert_eq!(same.find_all(&text(1, 1)), index.find_all(&text(1, 1)));
        assert_eq!(same.find(&text(2, 0)).map(|found| *found.of), Some("b"));
        assert_eq!(restored(2).err(), Some(OtherParameters));
    }

    #[test]
    fn indexes_of_one_parameters_are_merged_and_others_are_refused() {
        let builder = |key| SignatureBuilder::new(Features::default(), HashKey::new(key));
        let index = |builder| TextIndex::<u32>::new(builder, Thresholds::default());
        let (mut one, mut two) = (index(builder(1)), index(builder(1)));
        one.insert(1, "first words");
        one.insert(2, "second words");
        two.insert(2, "third words");
        one.merge(&two).unwrap();
        let found = |text| one.find(text).map(|found| *found.of);
        assert_eq!(
            ["first words", "second words", "third words"].map(found),
            [Some(1), None, Some(2)]
        );
        for other in [
            builder(2),
            builder(1).bits(crate::FingerprintBits::new(32).unwrap()),
            builder(1).min_words(3),
        ] {
            assert_eq!(one.clone().merge(&index(other)), Err(OtherParameters));
        }
    }

    proptest! {
        /// Against the definition: each text is compared with the originals before it.
        #[test]
        fn dedup_names_the_original_that_a_scan_of_all_originals_names(
            texts in prop::collection::vec((0_usize..3, 0_usize..4), 0..30),
        ) {
            let texts: Vec<String> = texts.iter().map(|&(topic, cut)| text(topic, cut)).collect();
            let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
            let signatures: Vec<PageSignature> = texts
                .iter()
                .map(|text| {
                    let payload = HashKey::ZERO.digest(text.as_bytes());
                    builder.signature(payload, Some(PageText::of(text)))
                })
                .collect();
            let thresholds = Thresholds::default();
            let mut expected: Vec<Option<usize>> = Vec::new();
            for (at, signature) in signatures.iter().enumerate() {
                let originals = (0..at).filter(|&earlier| expected[earlier].is_none());
                let match_kind =
                    |at: usize| Some((at, thresholds.match_kind(signature, &signatures[at])?));
                let best = originals.filter_map(match_kind).reduce(|best, next| {
                    if next.1.resemblance() > best.1.resemblance() { next } else { best }
                });
                expected.push(best.map(|(at, _)| at));
            }
            prop_assert_eq!(dedup(&texts).collect::<Vec<_>>(), expected);
        }
    }
}
