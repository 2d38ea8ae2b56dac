//! Parameters digest: a digest of the parameters behind a value, so that incomparable values are
//! not compared.
//!
//! Invariant: digests are on disk, so the digest of the defaults is stable for ever; anything that
//! is not a default adds to it.

use crate::ALGORITHM;
use crate::features::Ties;
use crate::fingerprinter::Fingerprinter;
use crate::frequencies::DocumentFrequencies;
use crate::key::HashKey;
use crate::mix::mix;
use crate::stop_words::StopWords;

/// Digest of the parameters of fingerprints and signatures: key, features, stop words, frequencies,
/// bits. Only values with equal digests are comparable. It identifies a key without revealing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParametersDigest {
    key: u64,
    features: u64,
}

impl ParametersDigest {
    /// Creates the parameters digest of the fingerprints of this fingerprinter under this key.
    #[must_use]
    pub fn new(fingerprinter: impl Into<Fingerprinter>, key: HashKey) -> Self {
        let fingerprinter = fingerprinter.into();
        let mut parameters_digest = Self {
            key: digest_of_key(key),
            features: short_digest(fingerprinter.features().to_string().as_bytes()),
        };
        if let Some(words) = fingerprinter.stop_words() {
            parameters_digest.add("stop words", sum_of_words(words));
        }
        if let Some(frequencies) = fingerprinter.frequencies() {
            parameters_digest.add("frequencies", sum_of_terms(frequencies));
        }
        if fingerprinter.has_ties() == Ties::One {
            parameters_digest.add("ties", 1);
        }
        parameters_digest
    }

    /// Returns the digested parameters in words: name and value, such as `features` and
    /// `word:1+log-tf`. Two digests of fingerprints are equal exactly if all parameters are. A key
    /// is identified but not revealed.
    #[must_use]
    pub fn parts(fingerprinter: impl Into<Fingerprinter>, key: HashKey) -> Vec<Parameter> {
        let fingerprinter = fingerprinter.into();
        let none = || "none".to_owned();
        let words = fingerprinter.stop_words().map(|words| {
            let (count, sum) = (words.iter().count(), sum_of_words(words));
            format!("{count} words, {sum:016x}")
        });
        let frequencies = fingerprinter.frequencies().map(|frequencies| {
            let (count, sum) = (frequencies.documents(), sum_of_terms(frequencies));
            format!("{count} documents, {sum:016x}")
        });
        let part = |name, value| Parameter { name, value };
        vec![
            part("algorithm", ALGORITHM.to_string()),
            part("features", fingerprinter.features().to_string()),
            part("stop words", words.unwrap_or_else(none)),
            part("frequencies", frequencies.unwrap_or_else(none)),
            part("ties", fingerprinter.has_ties().to_string()),
            part("key", format!("{:016x}", digest_of_key(key))),
        ]
    }

    /// Adds a value that is not the default.
    pub(crate) fn add(&mut self, name: &str, value: u64) {
        self.features = mix(self.features ^ short_digest(name.as_bytes()).wrapping_add(mix(value)));
    }

    /// Returns the stored form.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..].copy_from_slice(&self.features.to_le_bytes());
        bytes
    }

    /// Returns the parameters digest stored as `bytes`.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self {
            key: both as u64,
            features: (both >> 64) as u64,
        }
    }
}

/// A parameter in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Name of the part.
    pub name: &'static str,
    /// Value of the part.
    pub value: String,
}

fn digest_of_key(key: HashKey) -> u64 {
    key.digest(b"which key is this") as u64
}

/// Returns a sum of digests, because the words are unordered.
fn sum_of_words(words: &StopWords) -> u64 {
    let of_words = words.iter().map(|words| short_digest(words.as_bytes()));
    of_words.fold(0, u64::wrapping_add)
}

fn sum_of_terms(frequencies: &DocumentFrequencies) -> u64 {
    let of_terms = frequencies
        .iter()
        .map(|(term, documents)| mix(short_digest(term.as_bytes()) ^ u64::from(documents)));
    of_terms.fold(frequencies.documents(), u64::wrapping_add)
}

fn short_digest(bytes: &[u8]) -> u64 {
    HashKey::ZERO.digest(bytes) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;
    use crate::{Features, FingerprintBits, NormalText, SignatureBuilder, Unit, Weights, Width};

    #[test]
    fn fingerprints_of_other_bits_features_or_keys_differ_in_that_part_of_their_parameters() {
        let builder = |key| SignatureBuilder::new(Features::default(), HashKey::new(key));
        let other = |features: &str| {
            SignatureBuilder::new(features.parse::<Features>().unwrap(), HashKey::ZERO)
        };
        let default = builder(0).fingerprint_parameters();
        for (changed, name) in [
            (builder(1), "key"),
            (builder(0).bits(FingerprintBits::new(32).unwrap()), "bits"),
            (other("word:3"), "features"),
            (other("word:1+tf"), "features"),
        ] {
            let parts = changed.fingerprint_parameters();
            let pairs = parts.iter().zip(&default);
            let differing: Vec<&str> = pairs
                .filter(|(one, two)| one != two)
                .map(|(one, _)| one.name)
                .collect();
            assert_eq!(differing, [name]);
            assert_ne!(
                changed.fingerprint_digest(),
                builder(0).fingerprint_digest()
            );
        }
        // Neither makes another fingerprint.
        let same = builder(0).min_words(3).shingled_by(Unit::Chars(Width::ONE));
        assert_eq!(same.fingerprint_digest(), builder(0).fingerprint_digest());
        assert_eq!(same.fingerprint_parameters(), default);
    }

    #[test]
    fn everything_that_changes_a_value_changes_the_parameters() {
        let of_weights = |weights| Features {
            weights,
            ..Features::default()
        };
        let counted = |text: &str| {
            let mut frequencies = DocumentFrequencies::new(Features::default().unit);
            frequencies.learn(&NormalText::of(text));
            let features = of_weights(Weights::TfIdf);
            Fingerprinter::new(features, None, Some(Arc::new(frequencies))).unwrap()
        };
        let stopped = |word| {
            let words: StopWords = [word].into_iter().collect();
            Fingerprinter::new(Features::default(), Some(Arc::new(words)), None).unwrap()
        };
        let builder = || SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let digests = [
            ParametersDigest::new(Features::default(), HashKey::ZERO),
            ParametersDigest::new(Features::default(), HashKey::new(1)),
            ParametersDigest::new(of_weights(Weights::None), HashKey::ZERO),
            ParametersDigest::new(stopped("en"), HashKey::ZERO),
            ParametersDigest::new(stopped("de"), HashKey::ZERO),
            ParametersDigest::new(counted("one"), HashKey::ZERO),
            ParametersDigest::new(counted("two"), HashKey::ZERO),
            ParametersDigest::new(counted("two three"), HashKey::ZERO),
            builder()
                .bits(FingerprintBits::new(32).unwrap())
                .parameters_digest(),
            builder()
                .bits(FingerprintBits::new(9).unwrap())
                .parameters_digest(),
            ParametersDigest::new(
                Fingerprinter::from(Features::default()).ties(Ties::One),
                HashKey::ZERO,
            ),
            builder().min_words(3).parameters_digest(),
            builder()
                .shingled_by(Unit::Words(Width::ONE))
                .parameters_digest(),
            builder()
                .shingled_by(Unit::Chars(Width::ONE))
                .parameters_digest(),
        ];
        assert_eq!(digests.iter().collect::<HashSet<_>>().len(), digests.len());
        assert_eq!(builder().parameters_digest(), digests[0]);
        for parameters_digest in digests {
            assert_eq!(
                ParametersDigest::from_bytes(parameters_digest.to_bytes()),
                parameters_digest
            );
        }
        assert_eq!(
            ParametersDigest::new(counted("two"), HashKey::ZERO),
            ParametersDigest::new(counted("two"), HashKey::ZERO)
        );
    }
}
