//! Fingerprints beyond plain features: without stop words, or weighted by document frequencies.
//!
//! Frequencies drift while a crawl learns them, and fingerprints made with earlier ones differ a
//! little from later ones: between 1,000 and 100,000 documents a word's weight changes by a few per
//! cent. So the frequencies of a fingerprinter never change; a caller that learns more makes a new
//! fingerprinter, seldom, or uses a fixed corpus.

use std::sync::Arc;

use crate::features::{Features, Unit, Weights};
use crate::fingerprint::Fingerprint;
use crate::frequencies::DocumentFrequencies;
use crate::key::HashKey;
use crate::logarithm::{self, ln};
use crate::stop_words::StopWords;
use crate::text::NormalText;

/// A maker of fingerprints of one kind. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
///
/// use neardup::{Features, Fingerprinter, HashKey, StopWords};
///
/// let stop_words = StopWords::of_language("en").expect("English has a list");
/// let without = Fingerprinter::new(Features::default(), Some(Arc::new(stop_words)), None)
///     .expect("only tf-idf needs frequencies");
/// let of = |text| without.fingerprint_of_text(text, HashKey::ZERO);
/// assert_eq!(of("the cat and the dog"), of("cat, dog"));
/// ```
#[derive(Clone, Debug)]
pub struct Fingerprinter {
    features: Features,
    stop_words: Option<Arc<StopWords>>,
    /// Present only if the weights need them.
    frequencies: Option<Arc<DocumentFrequencies>>,
}

impl Fingerprinter {
    /// Creates a fingerprinter of `features` that leaves out `stop_words`; shingles continue across
    /// the gaps that these leave.
    ///
    /// # Errors
    /// [`InvalidFingerprinter`] if the weights are tf-idf and `frequencies` are missing or count
    /// other features, or if frequencies are given to weights that do not use them.
    pub fn new(
        features: Features,
        stop_words: Option<Arc<StopWords>>,
        frequencies: Option<Arc<DocumentFrequencies>>,
    ) -> Result<Self, InvalidFingerprinter> {
        match (features.weights, &frequencies) {
            (Weights::TfIdf, None) => Err(InvalidFingerprinter::NoFrequencies),
            (Weights::TfIdf, Some(counted)) if counted.unit() != features.unit => {
                Err(InvalidFingerprinter::OtherUnit {
                    counted: counted.unit(),
                    asked: features.unit,
                })
            }
            (Weights::None | Weights::Tf | Weights::LogTf, Some(_)) => {
                Err(InvalidFingerprinter::NoUse(features.weights))
            }
            _ => Ok(Self {
                features,
                stop_words,
                frequencies,
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

    /// Returns the simhash of `text`, as defined at [`Features::fingerprint`].
    #[must_use]
    pub fn fingerprint(&self, text: &NormalText, key: HashKey) -> Fingerprint {
        match &self.frequencies {
            Some(_) => Fingerprint::of_weighted(&self.weighted_by_documents(text, key)),
            None => self.kept(text, |text| self.features.fingerprint(text, key)),
        }
    }

    /// Returns the result of `read` for `text` without stop words.
    pub(crate) fn kept<T>(&self, text: &NormalText, read: impl FnOnce(&NormalText) -> T) -> T {
        match &self.stop_words {
            Some(words) => read(&words.taken_from(text)),
            None => read(text),
        }
    }

    /// Returns the hash and the weight by tf-idf of each feature, ascending by hash; without
    /// frequencies none.
    pub(crate) fn weighted_by_documents(&self, text: &NormalText, key: HashKey) -> Vec<(u64, u32)> {
        let Some(frequencies) = self.frequencies() else {
            return Vec::new();
        };
        self.kept(text, |text| {
            weighted(text, self.features.unit, frequencies, key)
        })
    }

    /// Returns the simhash of a text that is not normalised yet, in one pass if possible.
    #[must_use]
    pub fn fingerprint_of_text(&self, text: &str, key: HashKey) -> Fingerprint {
        if self.needs_no_words() {
            self.features.fingerprint_of_text(text, key)
        } else {
            self.fingerprint(&NormalText::of(text), key)
        }
    }

    /// Returns true if the hashes of the words suffice.
    pub(crate) fn needs_no_words(&self) -> bool {
        self.stop_words.is_none() && self.frequencies.is_none()
    }
}

/// A fingerprinter of features alone: without documents tf-idf equals log-tf.
impl From<Features> for Fingerprinter {
    fn from(features: Features) -> Self {
        Self {
            features,
            stop_words: None,
            frequencies: None,
        }
    }
}

/// Returns the hash and the weight by tf-idf of each feature, ascending by hash.
fn weighted(
    text: &NormalText,
    unit: Unit,
    frequencies: &DocumentFrequencies,
    key: HashKey,
) -> Vec<(u64, u32)> {
    let joined = text.as_str();
    let hashes = unit.hashes(text, key).into_iter();
    let mut features: Vec<(u64, (usize, usize))> = hashes.zip(unit.spans(text)).collect();
    // Equal hashes in the order of the text: the first occurrence names the term.
    features.sort_by_key(|&(hash, _)| hash);
    let documents = ln(frequencies.documents() + 1);
    let distinct = features.chunk_by(|(one, _), (other, _)| one == other);
    let weighed = distinct.map(|equal| {
        let (hash, (start, end)) = equal[0];
        let with_it = u64::from(frequencies.of(&joined[start..end]));
        let idf = documents.saturating_sub(ln(with_it + 1));
        (hash, weight(equal.len() as u64, idf))
    });
    weighed.collect()
}

/// Returns (1 + ln tf) · (1 + idf) in steps of 1/1024; `idf` is in the steps of [`logarithm`]. The
/// result is at most 6.6 · 46 · 1024, so that sums of 2³⁰ of them are far from overflowing 64 bits.
fn weight(times: u64, idf: u64) -> u32 {
    let steps = |logarithm: u64| (((logarithm::ONE + logarithm) >> 21) + 1) >> 1;
    ((steps(ln(times.min(255))) * steps(idf) + 512) >> 10) as u32
}

/// The reasons for which a fingerprinter is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFingerprinter {
    /// Tf-idf weights without document frequencies.
    #[error("tf-idf weighs by documents: frequencies are needed, learned or from a corpus file")]
    NoFrequencies,
    /// Frequencies of other features than those of the fingerprints.
    #[error("these frequencies are of {counted}, but the features are {asked}")]
    OtherUnit {
        /// The features that were counted.
        counted: Unit,
        /// The features of the fingerprints.
        asked: Unit,
    },
    /// Frequencies that the weights do not use.
    #[error("document frequencies are of use to `tf-idf` only, and the weights are `{0}`")]
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
            "these frequencies are of word:1, but the features are word:2"
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

    #[test]
    fn a_word_of_every_document_yields_to_a_rare_one() {
        let fingerprinter = tf_idf(&["the a", "the b", "the c", "the d"]);
        let fingerprint =
            |text: &str| fingerprinter.fingerprint(&NormalText::of(text), HashKey::ZERO);
        assert_eq!(fingerprint("the zebra"), fingerprint("zebra"));
    }

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

        #[test]
        fn log_weights_are_those_of_simhash(times in 1_u64..300) {
            let exact = ((1.0 + (times.min(255) as f64).ln()) * 1024.0).round();
            prop_assert_eq!(weight(times, 0), exact as u32);
        }
    }
}
