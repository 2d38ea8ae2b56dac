//! Fingerprints beyond plain features: without stop words, or weighted by document frequencies.
//!
//! Frequencies drift while a crawl learns them, and earlier fingerprints differ slightly from later
//! ones: between 1,000 and 100,000 documents, a word's weight changes by a few per cent. So the
//! frequencies of a fingerprinter never change; a caller that learns more creates a new
//! fingerprinter, seldom, or uses a fixed corpus.

use std::sync::Arc;

use crate::features::{Features, Ties, Unit, Weights};
use crate::fingerprint::Fingerprint;
use crate::frequencies::DocumentFrequencies;
use crate::key::HashKey;
use crate::logarithm::{self, ln};
use crate::simhash::weights::weight_of;
use crate::stop_words::StopWords;
use crate::text::NormalText;

/// Fingerprinting with fixed features, stop words and weights. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use neardup::{Features, Fingerprinter, HashKey, StopWords};
///
/// let stop_words: StopWords = ["the", "and"].into_iter().collect();
/// let without = Fingerprinter::new(Features::default(), Some(Arc::new(stop_words)), None)
///     .expect("only tf-idf needs frequencies");
/// let of = |text| without.fingerprint_of_text(text, HashKey::ZERO);
/// assert_eq!(of("the cat and the dog"), of("cat, dog"));
/// ```
#[derive(Clone, Debug)]
pub struct Fingerprinter {
    features: Features,
    stop_words: Option<Arc<StopWords>>,
    /// Present only if the weights need frequencies.
    frequencies: Option<Arc<DocumentFrequencies>>,
    ties: Ties,
}

impl Fingerprinter {
    /// Creates a fingerprinter of `features` that leaves out `stop_words`; shingles continue across
    /// the resulting gaps.
    ///
    /// # Errors
    /// [`InvalidFingerprinter`] if the weights are tf-idf and `frequencies` are missing or count
    /// other features, or if frequencies are given for weights that do not use them.
    pub fn new(
        features: Features,
        stop_words: Option<Arc<StopWords>>,
        frequencies: Option<Arc<DocumentFrequencies>>,
    ) -> Result<Self, InvalidFingerprinter> {
        match (features.weights, &frequencies) {
            (weights, None) if weights.needs_frequencies() => {
                Err(InvalidFingerprinter::NoFrequencies)
            }
            (weights, Some(_)) if !weights.needs_frequencies() => {
                Err(InvalidFingerprinter::NoUse(weights))
            }
            (_, Some(counted)) if counted.unit() != features.unit => {
                Err(InvalidFingerprinter::OtherUnit {
                    counted: counted.unit(),
                    asked: features.unit,
                })
            }
            _ => Ok(Self {
                features,
                stop_words,
                frequencies,
                ties: Ties::default(),
            }),
        }
    }

    /// Returns the features of the fingerprinter.
    #[must_use]
    pub fn features(&self) -> Features {
        self.features
    }

    /// Returns the stop words that are left out, if any.
    pub(crate) fn stop_words(&self) -> Option<&StopWords> {
        self.stop_words.as_deref()
    }

    /// Returns the document frequencies that weigh features, if any.
    pub(crate) fn frequencies(&self) -> Option<&DocumentFrequencies> {
        self.frequencies.as_deref()
    }

    /// Returns the fingerprinter with a rule for ties.
    #[must_use]
    pub fn ties(self, ties: Ties) -> Self {
        Self { ties, ..self }
    }

    /// Returns the rule for ties.
    #[must_use]
    pub fn has_ties(&self) -> Ties {
        self.ties
    }

    /// Returns the simhash of `text`, as defined at [`Features::fingerprint`], except for ties.
    #[must_use]
    pub fn fingerprint(&self, text: &NormalText, key: HashKey) -> Fingerprint {
        match (&self.frequencies, self.ties) {
            (None, Ties::Drop) => self.kept(text, |text| self.features.fingerprint(text, key)),
            _ => Fingerprint::of_weighted_by(&self.weighted(text, key), self.ties),
        }
    }

    /// Calls `read` with `text` without stop words, and returns its result.
    pub(crate) fn kept<T>(&self, text: &NormalText, read: impl FnOnce(&NormalText) -> T) -> T {
        match &self.stop_words {
            Some(words) => read(&words.taken_from(text)),
            None => read(text),
        }
    }

    /// Returns the hash and the weight of each feature, ascending by hash.
    pub(crate) fn weighted(&self, text: &NormalText, key: HashKey) -> Vec<(u64, u32)> {
        let Features { unit, weights } = self.features;
        self.kept(text, |text| match self.frequencies() {
            Some(frequencies) => weighted(text, self.features, frequencies, key),
            None => {
                let mut hashes = unit.hashes(text, key);
                hashes.sort_unstable();
                let distinct = hashes.chunk_by(|one, other| one == other);
                let weigh = |equal: &[u64]| (equal[0], weight_of(weights, equal.len() as u32));
                distinct.map(weigh).collect()
            }
        })
    }

    /// Returns the simhash of a text that is not yet normalised, in one pass if possible.
    #[must_use]
    pub fn fingerprint_of_text(&self, text: &str, key: HashKey) -> Fingerprint {
        if self.is_plain() {
            self.features.fingerprint_of_text(text, key)
        } else {
            self.fingerprint(&NormalText::of(text), key)
        }
    }

    /// Returns true if the features alone determine the fingerprints: hashes of the words are
    /// enough.
    pub(crate) fn is_plain(&self) -> bool {
        self.stop_words.is_none() && self.frequencies.is_none() && self.ties == Ties::Drop
    }
}

/// A fingerprinter of features only: without documents, tf-idf equals log-tf.
impl From<Features> for Fingerprinter {
    fn from(features: Features) -> Self {
        Self {
            features,
            stop_words: None,
            frequencies: None,
            ties: Ties::default(),
        }
    }
}

/// Returns the hash and the weight of each feature by its document frequency, ascending by hash.
fn weighted(
    text: &NormalText,
    features: Features,
    frequencies: &DocumentFrequencies,
    key: HashKey,
) -> Vec<(u64, u32)> {
    let Features { unit, weights } = features;
    let joined = text.as_str();
    let hashes = unit.hashes(text, key).into_iter();
    let mut features: Vec<(u64, (usize, usize))> = hashes.zip(unit.spans(text)).collect();
    // Sorts equal hashes in text order: the first occurrence names the term.
    features.sort_by_key(|&(hash, _)| hash);
    let documents = frequencies.documents();
    let distinct = features.chunk_by(|(one, _), (other, _)| one == other);
    let weighed = distinct.map(|equal| {
        let (hash, (start, end)) = equal[0];
        let with_it = u64::from(frequencies.of(&joined[start..end]));
        let times = equal.len() as u64;
        let weight = match weights {
            Weights::PlainTfIdf => {
                plain_weight(times, ln(documents).saturating_sub(ln(with_it.max(1))))
            }
            _ => weight(times, ln(documents + 1).saturating_sub(ln(with_it + 1))),
        };
        (hash, weight)
    });
    weighed.collect()
}

/// Returns (1 + ln tf) · (1 + idf) in steps of 1/1024; `idf` is in the steps of [`logarithm`]. The
/// result is at most 6.6 · 46 · 1024, so that a sum of 2³⁰ weights is far from overflowing 64 bits.
fn weight(times: u64, idf: u64) -> u32 {
    let steps = |logarithm: u64| (((logarithm::ONE + logarithm) >> 21) + 1) >> 1;
    ((steps(ln(times.min(255))) * steps(idf) + 512) >> 10) as u32
}

/// Returns tf · idf in steps of 1/1024, capped at the maximum of 32 bits.
fn plain_weight(times: u64, idf: u64) -> u32 {
    let steps = (u128::from(times) * u128::from(idf) + (1 << 21)) >> 22;
    u32::try_from(steps).unwrap_or(u32::MAX)
}

/// Reasons to refuse a fingerprinter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFingerprinter {
    /// Tf-idf weights without document frequencies.
    #[error("tf-idf needs document frequencies, learned or from a file")]
    NoFrequencies,
    /// The frequencies and the fingerprints have different features.
    #[error("these frequencies count {counted}, but the features are {asked}")]
    OtherUnit {
        /// Features that were counted.
        counted: Unit,
        /// Features of the fingerprints.
        asked: Unit,
    },
    /// Frequencies that the weights do not use.
    #[error("document frequencies require the weights `tf-idf` or `plain-tf-idf`, got `{0}`")]
    NoUse(Weights),
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn features(written: &str) -> Features {
        written.parse().unwrap()
    }

    fn frequencies(unit: &str, texts: &[&str]) -> Arc<DocumentFrequencies> {
        let mut frequencies = DocumentFrequencies::new(unit.parse().unwrap());
        for text in texts {
            frequencies.learn(&NormalText::of(text));
        }
        Arc::new(frequencies)
    }

    fn tf_idf(texts: &[&str]) -> Fingerprinter {
        Fingerprinter::new(
            features("word:1+tf-idf"),
            None,
            Some(frequencies("word:1", texts)),
        )
        .unwrap()
    }

    #[test]
    fn tf_idf_without_frequencies_or_with_those_of_other_features_is_refused() {
        let refusal = |written, frequencies| {
            Fingerprinter::new(features(written), None, frequencies).unwrap_err()
        };
        assert_eq!(
            refusal("word:1+tf-idf", None),
            InvalidFingerprinter::NoFrequencies
        );
        assert_eq!(
            refusal("word:2+tf-idf", Some(frequencies("word:1", &[]))).to_string(),
            "these frequencies count word:1, but the features are word:2"
        );
        assert_eq!(
            refusal("word:1+tf", Some(frequencies("word:1", &[]))),
            InvalidFingerprinter::NoUse(Weights::Tf)
        );
    }

    #[test]
    fn weights_follow_the_formula_of_the_textbook() {
        // Of 999 documents 9 have the word, which occurs 3 times: (1 + ln 3)(1 + ln 100).
        let idf = ln(1_000) - ln(10);
        let exact = (1.0 + 3_f64.ln()) * (1.0 + 100_f64.ln()) * 1024.0;
        assert!((f64::from(weight(3, idf)) - exact).abs() < 4.0);
        assert_eq!(weight(1, 0), 1024);
        assert_eq!(weight(255, 0), weight(256, 0));
    }

    /// tf · ln(N/df) as a naive program has it: a word of every document does not count, and a word
    /// that no document has counts as one of a single document.
    #[test]
    fn plain_tf_idf_is_the_product_of_the_textbook() {
        let texts = ["the a", "the b", "the c c", "the d", "the a d"];
        let frequencies = Some(frequencies("word:1", &texts));
        let fingerprinter =
            Fingerprinter::new(features("word:1+plain-tf-idf"), None, frequencies).unwrap();
        let of = |text: &str| fingerprinter.weighted(&NormalText::of(text), HashKey::ZERO);
        for (text, times, with_it) in [
            ("the the the", 3.0, 5.0),
            ("a", 1.0, 2.0),
            ("d d d d", 4.0, 2.0),
            ("c c", 2.0, 1.0),
            ("unseen unseen", 2.0, 1.0),
        ] {
            let exact = 1024.0 * times * f64::ln(5.0 / with_it);
            assert_eq!(of(text)[0].1, exact.round() as u32, "{text}");
        }
        assert_eq!(plain_weight(u64::MAX, 30 * logarithm::ONE), u32::MAX);
    }

    #[test]
    fn a_word_of_every_document_yields_to_a_rare_one() {
        let fingerprinter = tf_idf(&["the a", "the b", "the c", "the d"]);
        let fingerprint =
            |text: &str| fingerprinter.fingerprint(&NormalText::of(text), HashKey::ZERO);
        assert_eq!(fingerprint("the zebra"), fingerprint("zebra"));
    }

    #[cfg(feature = "stop-words")]
    #[test]
    fn stop_words_do_not_count_in_fingerprints() {
        let stop_words = Some(Arc::new(StopWords::of_language("en").unwrap()));
        for written in ["word:1", "word:2+none", "char:4"] {
            let features = features(written);
            let fingerprinter = Fingerprinter::new(features, stop_words.clone(), None).unwrap();
            let fingerprint =
                |text| fingerprinter.fingerprint(&NormalText::of(text), HashKey::ZERO);
            assert_eq!(
                fingerprint("The dog and the cat"),
                fingerprint("a dog, a cat"),
                "{written}"
            );
            assert_eq!(
                fingerprint("To be, or not to be"),
                Fingerprint::new(0),
                "{written}"
            );
        }
    }

    proptest! {
        #[test]
        fn without_documents_tf_idf_equals_log_tf(
            text in "([a-d]{1,2} ){0,60}",
            unit in 0..4_usize,
        ) {
            let unit = ["word:1", "word:3", "char:1", "char:5"][unit];
            let text = NormalText::of(&text);
            let weights = |weights| features(&format!("{unit}+{weights}"));
            let log_tf = weights("log-tf").fingerprint(&text, HashKey::ZERO);
            let none_seen = Some(frequencies(unit, &[]));
            let fingerprinter = Fingerprinter::new(weights("tf-idf"), None, none_seen).unwrap();
            prop_assert_eq!(fingerprinter.fingerprint(&text, HashKey::ZERO), log_tf);
            prop_assert_eq!(weights("tf-idf").fingerprint(&text, HashKey::ZERO), log_tf);
        }

        /// The sums of a naive program, of few features, so that ties are frequent.
        #[test]
        fn each_bit_is_the_sign_of_its_sum_and_a_tie_is_as_it_was_asked_for(
            text in "([a-d]{1,2} ){0,8}",
            written in prop::sample::select(vec![
                "word:1+none", "word:1+tf", "word:1+log-tf", "char:2+none", "word:2+plain-tf-idf",
                "word:1+tf-idf",
            ]),
            stops: bool,
        ) {
            let features = features(written);
            let unit = features.unit.to_string();
            let counted = frequencies(&unit, &["a b c", "a b", "a"]);
            let counted = Some(counted).filter(|_| features.weights.needs_frequencies());
            let stop_words: StopWords = ["a"].into_iter().collect();
            let stop_words = stops.then(|| Arc::new(stop_words));
            let dropping = Fingerprinter::new(features, stop_words, counted).unwrap();
            let normal = NormalText::of(&text);
            for ties in [Ties::Drop, Ties::One] {
                let fingerprinter = dropping.clone().ties(ties);
                let weighted = fingerprinter.weighted(&normal, HashKey::ZERO);
                let mut expected = 0_u64;
                for bit in 0..64 {
                    let vote = |&(hash, weight): &(u64, u32)| match hash >> bit & 1 {
                        1 => i64::from(weight),
                        _ => -i64::from(weight),
                    };
                    let sum: i64 = weighted.iter().map(vote).sum();
                    let is_one = sum > 0 || (sum == 0 && ties == Ties::One);
                    expected |= u64::from(is_one) << bit;
                }
                let expected = Fingerprint::new(expected);
                prop_assert_eq!(fingerprinter.fingerprint(&normal, HashKey::ZERO), expected);
                prop_assert_eq!(fingerprinter.fingerprint_of_text(&text, HashKey::ZERO), expected);
            }
        }

        #[test]
        fn log_weights_are_those_of_simhash(times in 1_u64..300) {
            let exact = ((1.0 + (times.min(255) as f64).ln()) * 1024.0).round();
            prop_assert_eq!(weight(times, 0), exact as u32);
        }
    }
}
