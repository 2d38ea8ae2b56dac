//! Recipes: what values were made of, so that incomparable ones are not compared.
//!
//! Invariant: recipes are on disk, so a recipe of the defaults is stable for ever; whatever is not
//! a default adds to it.

use crate::fingerprinter::Fingerprinter;
use crate::key::HashKey;
use crate::mix::mix;

/// The recipe of fingerprints and signatures: key, features, stop words, frequencies, bits. Only
/// values of equal recipes are comparable; a recipe recognises a key but does not reveal it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recipe {
    key: u64,
    features: u64,
}

impl Recipe {
    /// Creates the recipe of the fingerprints of this fingerprinter under this key.
    #[must_use]
    pub fn new(fingerprinter: impl Into<Fingerprinter>, key: HashKey) -> Self {
        let fingerprinter = fingerprinter.into();
        let mut recipe = Self {
            key: key.digest(b"which key is this") as u64,
            features: short_digest(fingerprinter.features().to_string().as_bytes()),
        };
        if let Some(words) = fingerprinter.stop_words() {
            // A sum: the words have no order.
            let of_words = words.iter().map(|words| short_digest(words.as_bytes()));
            recipe.add("stop words", of_words.fold(0, u64::wrapping_add));
        }
        if let Some(frequencies) = fingerprinter.frequencies() {
            let of_terms = frequencies
                .iter()
                .map(|(term, documents)| mix(short_digest(term.as_bytes()) ^ u64::from(documents)));
            let sum = of_terms.fold(frequencies.documents(), u64::wrapping_add);
            recipe.add("frequencies", sum);
        }
        recipe
    }

    /// Adds what is not a default.
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

    /// Returns the recipe stored as `bytes`.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self {
            key: both as u64,
            features: (both >> 64) as u64,
        }
    }
}

fn short_digest(bytes: &[u8]) -> u64 {
    HashKey::ZERO.digest(bytes) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;

    use super::*;
    use crate::{
        DocumentFrequencies, Features, NormalText, SignatureBuilder, StopWords, Unit, Weights,
        Width,
    };

    #[test]
    fn everything_that_changes_a_value_changes_the_recipe() {
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
        let recipes = [
            Recipe::new(Features::default(), HashKey::ZERO),
            Recipe::new(Features::default(), HashKey::new(1)),
            Recipe::new(of_weights(Weights::None), HashKey::ZERO),
            Recipe::new(stopped("en"), HashKey::ZERO),
            Recipe::new(stopped("de"), HashKey::ZERO),
            Recipe::new(counted("one"), HashKey::ZERO),
            Recipe::new(counted("two"), HashKey::ZERO),
            Recipe::new(counted("two three"), HashKey::ZERO),
            builder().halved().recipe(),
            builder().least_words(3).recipe(),
            builder().shingled_by(Unit::Words(Width::ONE)).recipe(),
            builder().shingled_by(Unit::Chars(Width::ONE)).recipe(),
        ];
        assert_eq!(recipes.iter().collect::<HashSet<_>>().len(), recipes.len());
        assert_eq!(builder().recipe(), recipes[0]);
        for recipe in recipes {
            assert_eq!(Recipe::from_bytes(recipe.to_bytes()), recipe);
        }
        assert_eq!(
            Recipe::new(counted("two"), HashKey::ZERO),
            Recipe::new(counted("two"), HashKey::ZERO)
        );
    }
}
