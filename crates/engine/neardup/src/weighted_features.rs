//! Weighted features: the vector of a text that its simhash projects.
//!
//! A simhash estimates the angle between two such vectors (Charikar, STOC 2002, section 3): each of
//! its bits differs with probability θ/π. The vectors themselves give the exact cosine, for
//! comparisons of a few texts. Invariant: the simhash of these features is the fingerprint of the
//! text (property test).

use crate::features::Ties;
use crate::fingerprint::Fingerprint;
use crate::fingerprinter::Fingerprinter;
use crate::key::HashKey;
use crate::text::NormalText;

/// The distinct features of a text, each with its weight.
///
/// ```
/// use neardup::{Features, Fingerprinter, HashKey, NormalText, WeightedFeatures};
///
/// let fingerprinter = Fingerprinter::from(Features::default());
/// let of = |text| WeightedFeatures::of(&NormalText::of(text), &fingerprinter, HashKey::ZERO);
/// let (one, two) = (of("red green"), of("green blue"));
/// assert!((one.cosine(&two) - 0.5).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightedFeatures {
    /// The hash and the weight of each feature, ascending by hash, each once.
    features: Vec<(u64, u32)>,
    ties: Ties,
}

impl WeightedFeatures {
    /// Returns the features of `text` that `fingerprinter` hashes under `key`.
    #[must_use]
    pub fn of(text: &NormalText, fingerprinter: &Fingerprinter, key: HashKey) -> Self {
        Self {
            features: fingerprinter.weighted(text, key),
            ties: fingerprinter.has_ties(),
        }
    }

    /// Returns the hash and the weight of each feature, ascending by hash.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u32)] {
        &self.features
    }

    /// Returns the simhash of the features.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_weighted_by(&self.features, self.ties)
    }

    /// Returns the cosine of the angle between the two vectors of weights, 0 to 1. Two texts
    /// without features have cosine 1; if only one text has features, the cosine is 0.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f64 {
        if self.features.is_empty() || other.features.is_empty() {
            return if self == other { 1.0 } else { 0.0 };
        }
        let length = |features: &[(u64, u32)]| {
            let squares = features
                .iter()
                .map(|(_, weight)| f64::from(*weight).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let (mut mine, mut theirs) = (&self.features[..], &other.features[..]);
        let mut product = 0.0;
        while let ([one, my_rest @ ..], [two, their_rest @ ..]) = (mine, theirs) {
            if one.0 == two.0 {
                product += f64::from(one.1) * f64::from(two.1);
            }
            if one.0 <= two.0 {
                mine = my_rest;
            }
            if two.0 <= one.0 {
                theirs = their_rest;
            }
        }
        (product / (length(&self.features) * length(&other.features))).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::features::Features;
    use crate::frequencies::DocumentFrequencies;
    use crate::stop_words::StopWords;

    fn fingerprinter(features: &str, stops: bool) -> Fingerprinter {
        let features: Features = features.parse().unwrap();
        let frequencies = features.weights.needs_frequencies().then(|| {
            let mut frequencies = DocumentFrequencies::new(features.unit);
            frequencies.learn(&NormalText::of("a b c d"));
            frequencies.learn(&NormalText::of("a b"));
            Arc::new(frequencies)
        });
        let stop_words: StopWords = ["a"].into_iter().collect();
        let stop_words = stops.then(|| Arc::new(stop_words));
        Fingerprinter::new(features, stop_words, frequencies).unwrap()
    }

    #[test]
    fn texts_without_features_have_cosine_one_and_resemble_no_other() {
        let fingerprinter = fingerprinter("word:1", false);
        let of = |text| WeightedFeatures::of(&NormalText::of(text), &fingerprinter, HashKey::ZERO);
        assert_eq!(of("").cosine(&of("")), 1.0);
        assert_eq!(of("").cosine(&of("word")), 0.0);
        assert_eq!(of("word").cosine(&of("word")), 1.0);
    }

    /// Over 400 pairs of texts of 200 words, at cosines of 1/4, 1/2 and 3/4.
    #[test]
    fn the_distance_of_simhashes_estimates_the_cosine_as_theory_says() {
        let fingerprinter = fingerprinter("word:1+none", false);
        for shared in [50, 100, 150] {
            let errors: Vec<f64> = (0..400)
                .map(|seed| {
                    let text = |from: usize| {
                        let words = (from..from + 200).map(|word| format!("s{seed}w{word}"));
                        let words = NormalText::of_tokens(words);
                        WeightedFeatures::of(&words, &fingerprinter, HashKey::ZERO)
                    };
                    let (one, two) = (text(0), text(200 - shared));
                    let exact = one.cosine(&two);
                    assert!((exact - shared as f64 / 200.0).abs() < 1e-9);
                    one.fingerprint().cosine(two.fingerprint()) - exact
                })
                .collect();
            let theory = Fingerprint::cosine_error(shared as f64 / 200.0);
            let mean = errors.iter().sum::<f64>() / 400.0;
            let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 400.0).sqrt();
            // A cosine is no linear function of the angle, so that its estimate has a small bias.
            assert!(
                mean.abs() < 4.0 * theory / 20.0 + 0.02,
                "{shared}: bias {mean}"
            );
            assert!(
                (spread / theory - 1.0).abs() < 0.15,
                "{shared}: {spread}, {theory}"
            );
        }
    }

    proptest! {
        #[test]
        fn the_simhash_of_the_features_is_the_fingerprint_of_the_text(
            text in "([a-d]{1,2} ){0,60}",
            unit in prop::sample::select(vec!["word:1", "word:3", "char:4"]),
            weights in prop::sample::select(vec!["none", "tf", "log-tf", "tf-idf", "plain-tf-idf"]),
            stops: bool,
        ) {
            let fingerprinter = fingerprinter(&format!("{unit}+{weights}"), stops);
            let text = NormalText::of(&text);
            let features = WeightedFeatures::of(&text, &fingerprinter, HashKey::ZERO);
            let expected = fingerprinter.fingerprint(&text, HashKey::ZERO);
            prop_assert_eq!(features.fingerprint(), expected);
            prop_assert!(features.as_slice().is_sorted_by(|one, two| one.0 < two.0));
        }

        #[test]
        fn the_cosine_is_that_of_the_vectors_of_counts(
            one in prop::collection::vec("[a-e]", 1..30),
            two in prop::collection::vec("[a-e]", 1..30),
        ) {
            let fingerprinter = fingerprinter("word:1+tf", false);
            let counts = |words: &[String]| {
                let mut counts = BTreeMap::<String, f64>::new();
                for word in words {
                    *counts.entry(word.clone()).or_default() += 1.0;
                }
                counts
            };
            let (a, b) = (counts(&one), counts(&two));
            let product: f64 =
                a.iter().map(|(word, count)| count * b.get(word).copied().unwrap_or(0.0)).sum();
            let length = |counts: &BTreeMap<String, f64>| {
                counts.values().map(|count| count * count).sum::<f64>().sqrt()
            };
            let of = |words: &[String]| {
                WeightedFeatures::of(&NormalText::of_tokens(words), &fingerprinter, HashKey::ZERO)
            };
            let found = of(&one).cosine(&of(&two));
            prop_assert!((found - product / (length(&a) * length(&b))).abs() < 1e-9);
        }
    }
}
