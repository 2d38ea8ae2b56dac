//! Hashed texts: only the hashes of the words are kept.

use xxhash_rust::xxh3::Xxh3;

use crate::bag::BagSketch;
use crate::features::{Weights, Width};
use crate::fingerprint::Fingerprint;
use crate::key::HashKey;
use crate::simd;
use crate::simd::instructions::Instructions;
use crate::simhash::bit_counts::BitCounts;
use crate::simhash::table::Table;
use crate::simhash::votes::Votes;
use crate::text::NormalText;

/// The hashes of a text's words, in text order: enough for its digest, its fingerprint and its
/// shingles, and several times faster to make than a [`NormalText`].
///
/// ```
/// use neardup::{HashKey, HashedText};
///
/// let of = |text| HashedText::of(text, HashKey::ZERO);
/// assert_eq!(of("To be, or not to be").digest(), of("to be or not to be").digest());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedText {
    key: HashKey,
    words: Vec<u64>,
}

impl HashedText {
    /// Returns the words of `text`, hashed with `key`.
    #[must_use]
    pub fn of(text: &str, key: HashKey) -> Self {
        let mut words = Vec::with_capacity(text.len() / 5);
        super::each_batch(text, key, Instructions::best(), |batch| {
            words.extend_from_slice(batch);
        });
        Self { key, words }
    }

    /// Returns the words of a text that is normalised, or made of tokens, hashed with `key`.
    #[must_use]
    pub fn of_normal(text: &NormalText, key: HashKey) -> Self {
        let words = text.hashes(key);
        Self { key, words }
    }

    /// Returns the key of the hashes.
    #[must_use]
    pub fn key(&self) -> HashKey {
        self.key
    }

    /// Returns the hashes of the words, in text order.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.words
    }

    /// Returns the number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns true if the text contains no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns a digest of the text: texts with the same words in the same order have the same
    /// digest. Other texts have it with a probability of 2⁻⁶⁴ if they differ in a single word, and
    /// 2⁻¹²⁸ otherwise.
    #[must_use]
    pub fn digest(&self) -> u128 {
        let mut digest = Xxh3::with_seed(self.key.as_u64());
        for words in self.words.chunks(64) {
            let mut bytes = [[0; 8]; 64];
            for (bytes, word) in bytes.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
            digest.update(bytes[..words.len()].as_flattened());
        }
        digest.digest128()
    }

    /// Returns the simhash of the runs of `width` words.
    #[must_use]
    pub fn fingerprint(&self, width: Width, weights: Weights) -> Fingerprint {
        let mut counts = BitCounts::new(weights, self.words.len(), Instructions::best());
        if width == Width::ONE {
            counts.add(&self.words);
        } else {
            counts.add(&self.runs(width));
        }
        counts.votes().decided()
    }

    /// Returns the sketch of the multiset of words, and their simhash weighted by 1 + ln tf: one
    /// count serves both.
    pub(crate) fn bag_and_fingerprint(&self) -> (Option<BagSketch>, Fingerprint) {
        // A third of six thousand words are different.
        let mut table = Table::new(Weights::LogTf, self.words.len() / 3, Instructions::best());
        table.add(&self.words);
        table.finish();
        let bag = BagSketch::of_counts(&table.counts());
        let mut votes = Votes::new();
        table.vote(&mut votes);
        (bag, votes.decided())
    }

    /// Returns the hashes of the runs of `width` words, in text order and with repetitions; fewer
    /// words are one run.
    #[must_use]
    pub fn runs(&self, width: Width) -> Vec<u64> {
        let mut runs = Vec::with_capacity(self.words.len());
        if self.words.len() < width.get() {
            runs.extend(crate::shingles::shingle_hashes(&self.words, width));
        } else {
            simd::hash_runs(Instructions::best(), &self.words, width, &mut runs);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{Features, Unit};
    use crate::shingles::Shingles;
    use proptest::prelude::*;

    fn hashed(text: &str) -> HashedText {
        HashedText::of(text, HashKey::new(5))
    }

    #[test]
    fn the_digest_depends_on_words_and_their_order_and_nothing_else() {
        assert_eq!(
            hashed("One two, THREE").digest(),
            hashed("one  two: three!").digest()
        );
        assert_ne!(
            hashed("one two three").digest(),
            hashed("one three two").digest()
        );
        assert_ne!(hashed("one two three").digest(), hashed("one two").digest());
        assert_ne!(
            hashed("one").digest(),
            HashedText::of("one", HashKey::ZERO).digest()
        );
        let long = "word ".repeat(1_000);
        assert_ne!(hashed(&long).digest(), hashed(&long[5..]).digest());
    }

    #[test]
    fn a_text_without_words_is_empty() {
        assert!(hashed(" ... ").is_empty());
        assert!(hashed(" ... ").runs(Width::VERIFICATION).is_empty());
        assert_eq!(hashed("a b").len(), 2);
    }

    proptest! {
        #[test]
        fn fingerprints_and_shingles_are_those_of_the_normal_text(
            text in "([a-c ,é]{0,60} ){0,4}",
            width in 1_usize..6,
            weights in prop::sample::select(vec![Weights::None, Weights::Tf, Weights::LogTf]),
        ) {
            let (width, key) = (Width::new(width).unwrap(), HashKey::new(5));
            let (normal, hashed) = (NormalText::of(&text), hashed(&text));
            prop_assert_eq!(&HashedText::of_normal(&normal, key), &hashed);
            let features = Features { unit: Unit::Words(width), weights };
            prop_assert_eq!(hashed.fingerprint(width, weights), features.fingerprint(&normal, key));
            let mut runs = hashed.runs(width);
            runs.sort_unstable();
            runs.dedup();
            let shingles = Shingles::of(&normal, width, key);
            prop_assert_eq!(&runs, shingles.hashes());
        }
    }
}
