//! Fingerprints of a text in one pass: words, shingles and counts are made one chunk at a time and
//! then dropped.

use super::bit_counts::BitCounts;
use crate::features::{Features, Unit, Width};
use crate::fingerprint::Fingerprint;
use crate::key::HashKey;
use crate::shingles::shingle_hashes;
use crate::simd;
use crate::simd::instructions::Instructions;
use crate::simhash::simhash;
use crate::text::NormalText;
use crate::words;

/// Average length of an English word and its separator, in bytes.
const BYTES_A_WORD: usize = 6;

impl Features {
    /// Returns the simhash (Charikar, STOC 2002) of `text`: bit *i* is 1 if the features whose hash
    /// has bit *i* set outweigh all others. A tie gives 0, so a text without words has fingerprint
    /// 0.
    ///
    /// Features alone come without documents: here [`Weights::TfIdf`](crate::Weights::TfIdf) weighs
    /// as in an empty collection, by log-tf, and the plain variant by tf. A
    /// [`Fingerprinter`](crate::Fingerprinter) has
    /// [`DocumentFrequencies`](crate::frequencies::DocumentFrequencies).
    #[must_use]
    pub fn fingerprint(&self, text: &NormalText, key: HashKey) -> Fingerprint {
        simhash(&self.unit.hashes(text, key), self.weights)
    }

    /// Returns the fingerprint of a text that is not normalised: the same as
    /// [`fingerprint`](Features::fingerprint) of its [`NormalText`], but faster.
    #[must_use]
    pub fn fingerprint_of_text(&self, text: &str, key: HashKey) -> Fingerprint {
        self.fingerprint_of_text_by(text, key, Instructions::best())
    }

    /// Returns the same fingerprint, computed with the given instructions, to compare these.
    #[must_use]
    pub fn fingerprint_of_text_by(
        &self,
        text: &str,
        key: HashKey,
        instructions: Instructions,
    ) -> Fingerprint {
        match self.unit {
            Unit::Words(width) => {
                let counts = BitCounts::new(self.weights, text.len() / BYTES_A_WORD, instructions);
                let mut runs = Runs::new(width, counts, instructions);
                words::each_batch(text, key, instructions, |words| runs.add(words));
                runs.finished().votes().decided()
            }
            Unit::Chars(_) => self.fingerprint(&NormalText::of(text), key),
        }
    }
}

/// Makes shingles from words that come in batches.
struct Runs {
    width: Width,
    instructions: Instructions,
    counts: BitCounts,
    /// The last words, one fewer than in a shingle, followed by the words of the batch.
    words: Vec<u64>,
    shingles: Vec<u64>,
    /// True if there was a shingle.
    any: bool,
}

impl Runs {
    fn new(width: Width, counts: BitCounts, instructions: Instructions) -> Self {
        Self {
            width,
            instructions,
            counts,
            words: Vec::new(),
            shingles: Vec::new(),
            any: false,
        }
    }

    fn add(&mut self, words: &[u64]) {
        if self.width == Width::ONE {
            return self.counts.add(words);
        }
        self.words.extend_from_slice(words);
        if self.words.len() < self.width.get() {
            return;
        }
        self.any = true;
        self.counts.add_written(&mut self.shingles, |shingles| {
            simd::hash_runs(self.instructions, &self.words, self.width, shingles);
        });
        let done = self.words.len() - (self.width.get() - 1);
        self.words.drain(..done);
    }

    /// Returns the counts of all shingles. A text with fewer words than a shingle is one shingle.
    fn finished(mut self) -> BitCounts {
        if !self.any && !self.words.is_empty() {
            let all = shingle_hashes(&self.words, self.width);
            self.counts.add(&all.collect::<Vec<_>>());
        }
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(features: &str, text: &str) {
        let features: Features = features.parse().unwrap();
        let key = HashKey::new(9);
        let expected = features.fingerprint(&NormalText::of(text), key);
        for instructions in Instructions::available() {
            let found = features.fingerprint_of_text_by(text, key, instructions);
            assert_eq!(
                found,
                expected,
                "{features} by {} of {text:?}",
                instructions.name()
            );
        }
    }

    #[test]
    fn texts_shorter_than_a_shingle_and_longer_than_a_chunk_have_their_fingerprints() {
        for text in [
            "",
            " ",
            "one",
            "one two",
            "one two three",
            "é",
            "日本語 one",
        ] {
            for features in ["word:1", "word:3+none", "word:64+tf", "char:5"] {
                check(features, text);
            }
        }
        let long: Vec<String> = (0..20_000_u32)
            .map(|n| format!("{}", n * n % 3_001))
            .collect();
        for features in ["word:1", "word:2+tf", "word:3+none", "word:64"] {
            check(features, &long.join(" "));
        }
    }

    proptest! {
        #[test]
        fn a_text_has_the_fingerprint_of_its_normal_text(
            text in "([a-zA-Z0-9_.,' ]{0,60}[é東\n]?){0,6}",
            width in 1_usize..9,
            weights in prop::sample::select(vec!["none", "tf", "log-tf"]),
        ) {
            check(&format!("word:{width}+{weights}"), &text);
        }
    }
}
