//! The decision on two texts, step by step.
//!
//! Each step is a figure. [`TextPair::nearness`] decides by these figures, and an explanation of
//! the decision shows the same ones.

use crate::signature::{PageSignature, TextSignature};
use crate::sketch::Sketch;
use crate::thresholds::{MatchKind, Thresholds};
use crate::title_terms::TitleTerms;

/// Thresholds on the multiset of words, the second criterion of near duplicates. A changed date,
/// name or number in a short text costs five shingles but only one word.
#[derive(Clone, Copy, Debug)]
struct WordThresholds {
    /// Minimum number of words of the shorter text.
    words: u32,
    /// Minimum diversity of either text, in thousandths. Tables, code and lists are below it; each
    /// of their words counts.
    diversity: u32,
    /// Minimum resemblance of the multisets of words.
    of_words: f64,
    /// Minimum resemblance of the shingles: the same words in another order are another text.
    of_shingles: f64,
}

/// Thresholds for two pages with titles or headings. Pages of one site that share these (overloads
/// of a function, editions of a manual) are closely related, and are duplicates only if their texts
/// are long enough to decide.
const BY_WORDS_WITH_TITLES: WordThresholds = WordThresholds {
    words: 100,
    diversity: 885,
    of_words: 0.87,
    of_shingles: 0.60,
};

/// Thresholds for texts without title and heading.
const BY_WORDS_ALONE: WordThresholds = WordThresholds {
    words: 15,
    diversity: 850,
    of_words: 0.85,
    of_shingles: 0.55,
};

/// Two texts with different digests, and the thresholds that decide on them.
#[derive(Clone, Copy, Debug)]
pub struct TextPair<'a> {
    thresholds: &'a Thresholds,
    one: &'a TextSignature,
    two: &'a TextSignature,
    is_canonical: bool,
}

impl<'a> TextPair<'a> {
    /// Pairs two texts. Set `is_canonical` if one page declares the other as its canonical page: a
    /// lower resemblance is then enough.
    #[must_use]
    pub fn new(
        thresholds: &'a Thresholds,
        one: &'a TextSignature,
        two: &'a TextSignature,
        is_canonical: bool,
    ) -> Self {
        Self {
            thresholds,
            one,
            two,
            is_canonical,
        }
    }

    /// Returns the number of words of the shorter text, which determines the threshold.
    #[must_use]
    pub fn words(&self) -> u32 {
        self.one.words.min(self.two.words)
    }

    /// Returns true if the pages have different title terms, and are therefore not near duplicates;
    /// `None` if a page has no title terms.
    #[must_use]
    pub fn title_terms_differ(&self) -> Option<bool> {
        let title_terms = self
            .one
            .title_terms
            .as_ref()
            .zip(self.two.title_terms.as_ref());
        title_terms.map(|(one, two): (&TitleTerms, &TitleTerms)| one.differs_from(two))
    }

    /// Returns the resemblance of the word 5-shingles, 0 to 1, estimated from the sketches; `None`
    /// for a text that is too short to resemble others.
    #[must_use]
    pub fn resemblance(&self) -> Option<f64> {
        let sketches = self.one.sketch.as_ref().zip(self.two.sketch.as_ref());
        sketches.map(|(one, two)| one.resemblance(two))
    }

    /// Returns the minimum resemblance of near duplicates of this length, 0 to 1.
    #[must_use]
    pub fn min_resemblance(&self) -> f64 {
        match self.is_canonical {
            true => self.thresholds.min_resemblance_to_canonical(self.words()),
            false => self.thresholds.min_resemblance(self.words()),
        }
    }

    /// Returns the resemblance of the multisets of words, 0 to 1. It decides together with the
    /// shingles. `None` if a text lacks the multiset.
    #[must_use]
    pub fn resemblance_of_words(&self) -> Option<f64> {
        let bags = self.one.bag.as_ref().zip(self.two.bag.as_ref());
        bags.map(|(one, two)| one.resemblance(two))
    }

    /// Returns the match kind of the texts; `None` if they are not near duplicates. `resemblance`
    /// returns the resemblance of the shingles, estimated or exact.
    pub(crate) fn nearness(&self, resemblance: impl FnOnce() -> f64) -> Option<MatchKind> {
        let distance = self.one.fingerprint.distance(self.two.fingerprint);
        if !self.thresholds.needs_bands() {
            return (distance <= self.thresholds.distance()).then(|| MatchKind::Near {
                distance,
                resemblance: resemblance(),
            });
        }
        if self.one.main_content != self.two.main_content {
            return None;
        }
        let title_terms_differ = self.title_terms_differ();
        if title_terms_differ == Some(true) {
            return None;
        }
        let resemblance = resemblance();
        let is_enough = resemblance >= self.min_resemblance();
        let is_near = match (self.thresholds.resemblance(), title_terms_differ) {
            (Some(_), _) => is_enough,
            // A text that has grown by a fifth keeps most of its shingles; without a title, the
            // words must agree, too.
            (None, None) if !self.is_canonical => {
                is_enough && self.of_words() >= BY_WORDS_ALONE.of_words
                    || BY_WORDS_ALONE.holds(resemblance, self)
            }
            (None, _) => is_enough || BY_WORDS_WITH_TITLES.holds(resemblance, self),
        };
        is_near.then_some(MatchKind::Near {
            distance,
            resemblance,
        })
    }

    fn of_words(&self) -> f64 {
        self.resemblance_of_words().unwrap_or(0.0)
    }
}

impl WordThresholds {
    /// Returns true if two texts whose shingles have the resemblance `of_shingles` are near
    /// duplicates by their words.
    fn holds(&self, of_shingles: f64, pair: &TextPair<'_>) -> bool {
        let diversity =
            |text: &TextSignature| text.bag.as_ref().map_or(0, |bag| bag.diversity(text.words));
        of_shingles >= self.of_shingles
            && pair.words() >= self.words
            && pair.of_words() >= self.of_words
            && diversity(pair.one).min(diversity(pair.two)) >= self.diversity
    }
}

impl Thresholds {
    /// Returns the match kind of two pages; `None` if they are not similar enough or have different
    /// title terms. The fingerprints' distance is reported but does not decide: it is one of two
    /// ways to find candidates.
    #[must_use]
    pub fn match_kind(&self, one: &PageSignature, two: &PageSignature) -> Option<MatchKind> {
        self.match_kind_for(one, two, false)
    }

    /// Returns the match kind of `page` and the page that it declares canonical. A lower
    /// resemblance is enough, but the declaration alone never is.
    #[must_use]
    pub fn match_kind_to_canonical(
        &self,
        page: &PageSignature,
        canonical: &PageSignature,
    ) -> Option<MatchKind> {
        self.match_kind_for(page, canonical, true)
    }

    /// Returns the match kind of two pages whose resemblance, 0 to 1, is known exactly.
    #[must_use]
    pub fn exact_match_kind(
        &self,
        one: &PageSignature,
        two: &PageSignature,
        resemblance: f64,
    ) -> Option<MatchKind> {
        self.match_kind_by(one, two, false, |_, _| resemblance)
    }

    fn match_kind_for(
        &self,
        one: &PageSignature,
        two: &PageSignature,
        is_canonical: bool,
    ) -> Option<MatchKind> {
        self.match_kind_by(one, two, is_canonical, Sketch::resemblance)
    }

    fn match_kind_by(
        &self,
        one: &PageSignature,
        two: &PageSignature,
        is_canonical: bool,
        resemblance: impl Fn(&Sketch, &Sketch) -> f64,
    ) -> Option<MatchKind> {
        if one.payload == two.payload {
            return Some(MatchKind::SamePayload);
        }
        let (one, two) = (one.text.as_deref()?, two.text.as_deref()?);
        if one.digest == two.digest {
            return Some(MatchKind::SameText);
        }
        let (sketch, other) = one.sketch.as_ref().zip(two.sketch.as_ref())?;
        TextPair::new(self, one, two, is_canonical).nearness(|| resemblance(sketch, other))
    }

    /// Returns the match kind of two texts with different digests; `sketch` belongs to `one`.
    pub(crate) fn nearness(
        &self,
        one: &TextSignature,
        sketch: &Sketch,
        two: &TextSignature,
    ) -> Option<MatchKind> {
        let other = two.sketch.as_ref()?;
        TextPair::new(self, one, two, false).nearness(|| sketch.resemblance(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::key::HashKey;
    use crate::signature::{PageText, SignatureBuilder};

    #[test]
    fn within_so_many_bits_alone_decides_whatever_the_resemblance_is() {
        let within = |distance| Thresholds::within(distance).unwrap();
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let words: Vec<String> = (0..300).map(|at| format!("word{at}")).collect();
        let signature = |words: &[String]| {
            let text = words.join(" ");
            let payload = HashKey::ZERO.digest(text.as_bytes());
            builder.signature(payload, Some(PageText::of(&text)))
        };
        let (one, two) = (signature(&words), signature(&words[..299]));
        let Some(MatchKind::Near { distance, .. }) = within(7).match_kind(&one, &two) else {
            panic!("near");
        };
        assert!((1..=7).contains(&distance));
        assert_eq!(within(distance - 1).match_kind(&one, &two), None);
        let strict = Thresholds::new(7, 1.0).unwrap();
        assert_eq!(strict.match_kind(&one, &two), None);
        assert_eq!(
            within(0).match_kind(&one, &one),
            Some(MatchKind::SamePayload)
        );
        assert!(Thresholds::within(8).is_err());
    }

    #[test]
    fn a_canonical_claim_is_believed_only_if_the_texts_are_nearly_similar_enough() {
        let words = |numbers: std::ops::Range<u32>| -> String {
            numbers.map(|number| format!("word{number} ")).collect()
        };
        let signature = |payload, text: &str, main_content| {
            let text = PageText {
                main_content,
                ..PageText::of(text)
            };
            SignatureBuilder::new(Features::default(), HashKey::ZERO).signature(payload, Some(text))
        };
        let thresholds = Thresholds::default();
        let page = signature(1, &words(0..400), None);
        for (payload, with, as_canonical, as_any) in [
            (1, words(900..1_300), true, true),
            (2, words(0..400), true, true),
            (2, words(15..415), true, true),
            // About 335 of 457 shingles in common: .74.
            (2, words(60..460), true, false),
            // About 236 of 556: .42.
            (2, words(160..560), false, false),
            (2, words(900..1_300), false, false),
        ] {
            let other = signature(payload, &with, None);
            let found = thresholds.match_kind_to_canonical(&page, &other);
            assert_eq!(found.is_some(), as_canonical, "{found:?}");
            assert_eq!(
                thresholds.match_kind(&page, &other).is_some(),
                as_any,
                "{found:?}"
            );
            if as_any {
                assert_eq!(thresholds.match_kind(&page, &other), found);
            }
        }
        // Short texts and different main contents are compared exactly only.
        for (one, other) in [
            (
                signature(1, &words(0..14), None),
                signature(2, &words(0..13), None),
            ),
            (
                signature(1, &words(0..400), Some("tea")),
                signature(2, &words(1..401), Some("coffee")),
            ),
        ] {
            assert_eq!(thresholds.match_kind_to_canonical(&one, &other), None);
        }
    }
}
