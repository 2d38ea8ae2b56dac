//! A sketch of a bag of words: 64 bytes. Two sketches estimate the resemblance of their multisets
//! of words.
//!
//! The *n*-th occurrence of a word is a separate element, so that the Jaccard index of the elements
//! equals the index of the multisets: Σ min / Σ max of the counts. The elements are sampled 512
//! times (see `similarity`) and one bit of each sample is kept: at the resemblances in question,
//! one bit of many samples estimates better than many bits of few (Li and König, "b-bit minwise
//! hashing", WWW 2010, section 4). A changed word affects several shingles but only one word, which
//! matters for short texts with scattered changes (`docs/adr/0010`).
//!
//! The number of distinct words is kept with the sample. Prose has many for its length. Tables and
//! code listings have few, and there one word in ten makes the content different. Invariant: the
//! layout of [`BagSketch::to_bytes`] is stable for ever (`golden/bags.txt`).

use std::fmt;

use crate::logarithm::ln;
use crate::similarity;

/// Number of samples; one bit of each is kept.
const SAMPLES: usize = 512;
/// Size of a stored sketch: the number of distinct words, then 512 bits.
pub const BAG_BYTES: usize = 4 + SAMPLES / 8;
/// The number that each further occurrence adds to a word's hash; odd, so that occurrences differ.
const NEXT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sketch of the multiset of a text's words.
#[derive(Clone, PartialEq, Eq)]
pub struct BagSketch {
    distinct: u32,
    bits: [u64; SAMPLES / 64],
}

impl BagSketch {
    /// Returns the sketch of distinct words, given by their hashes and counts; `None` for an empty
    /// bag.
    pub(crate) fn of_counts(counts: &[(u64, u32)]) -> Option<Self> {
        let occurrences: usize = counts.iter().map(|(_, count)| *count as usize).sum();
        let mut elements = Vec::with_capacity(occurrences);
        for &(word, count) in counts {
            let mut element = word;
            for _ in 0..count {
                elements.push(element);
                element = element.wrapping_add(NEXT);
            }
        }
        if elements.is_empty() {
            return None;
        }
        let mut samples = [0; SAMPLES];
        similarity::sample(&elements, &mut samples);
        let mut bits = [0; SAMPLES / 64];
        for (bits, samples) in bits.iter_mut().zip(samples.as_chunks::<64>().0) {
            *bits = samples
                .iter()
                .rev()
                .fold(0, |bits, sample| bits << 1 | sample & 1);
        }
        Some(Self {
            distinct: counts.len() as u32,
            bits,
        })
    }

    /// Estimates the resemblance of the two bags, 0 to 1, with a standard error of about
    /// √((1-r²)/512): 2 % at .87.
    #[must_use]
    #[doc(alias = "jaccard")]
    pub fn resemblance(&self, other: &Self) -> f64 {
        let pairs = self.bits.iter().zip(&other.bits);
        let differing: u32 = pairs.map(|(one, other)| (one ^ other).count_ones()).sum();
        (1.0 - 2.0 * f64::from(differing) / SAMPLES as f64).max(0.0)
    }

    /// Returns the number of distinct words.
    #[must_use]
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// Returns the diversity of a text of `words` words (Herdan's C: ln distinct / ln words), in
    /// thousandths. Prose of any length is above 880, code and tables are below.
    #[must_use]
    pub fn diversity(&self, words: u32) -> u32 {
        match ln(u64::from(words)) {
            0 => 1_000,
            all => (1_000 * u128::from(ln(u64::from(self.distinct))) / u128::from(all)) as u32,
        }
    }

    /// Returns the stored form of the sketch, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; BAG_BYTES] {
        let mut bytes = [0; BAG_BYTES];
        let (distinct, bits) = bytes.split_at_mut(4);
        distinct.copy_from_slice(&self.distinct.to_le_bytes());
        for (bytes, bits) in bits.as_chunks_mut::<8>().0.iter_mut().zip(self.bits) {
            *bytes = bits.to_le_bytes();
        }
        bytes
    }

    /// Returns the sketch that was stored as `bytes` by the same [`ALGORITHM`](crate::ALGORITHM).
    #[must_use]
    pub fn from_bytes(bytes: &[u8; BAG_BYTES]) -> Self {
        let (distinct, bits) = bytes
            .split_first_chunk()
            .expect("a sketch has more than four bytes");
        let mut sketch = Self {
            distinct: u32::from_le_bytes(*distinct),
            bits: [0; SAMPLES / 64],
        };
        for (bits, bytes) in sketch.bits.iter_mut().zip(bits.as_chunks::<8>().0) {
            *bits = u64::from_le_bytes(*bytes);
        }
        sketch
    }
}

impl fmt::Debug for BagSketch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BagSketch({}, ", self.distinct)?;
        for byte in &self.to_bytes()[4..] {
            write!(f, "{byte:02x}")?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::mix;
    use proptest::prelude::*;

    /// Returns two bags of which `shared` words are common, three times each, and `apart` words of
    /// each one's own.
    fn pair(seed: u64, shared: u64, apart: u64) -> (BagSketch, BagSketch) {
        let word = |n: u64| mix(mix(seed).wrapping_add(n));
        let shared = || (0..shared).map(move |n| (word(n), 3));
        let own = |from: u64| (from..from + apart).map(move |n| (word(n), 1));
        let one: Vec<_> = shared().chain(own(1 << 20)).collect();
        let two: Vec<_> = shared().chain(own(1 << 30)).collect();
        (
            BagSketch::of_counts(&one).unwrap(),
            BagSketch::of_counts(&two).unwrap(),
        )
    }

    #[test]
    fn the_empty_bag_has_no_sketch_and_a_bag_resembles_itself() {
        assert_eq!(BagSketch::of_counts(&[]), None);
        let (one, same) = pair(1, 1, 0);
        assert_eq!((one.resemblance(&same), one.distinct()), (1.0, 1));
    }

    #[test]
    fn each_occurrence_of_a_word_is_an_element_of_its_own() {
        let (once, thrice) = (
            BagSketch::of_counts(&[(5, 1)]),
            BagSketch::of_counts(&[(5, 3)]),
        );
        let resemblance = once.unwrap().resemblance(&thrice.unwrap());
        assert!((resemblance - 1.0 / 3.0).abs() < 0.17, "{resemblance}");
    }

    /// Over 400 pairs for each resemblance: no bias beyond four standard errors, and a spread near
    /// the theory's 2 √(p(1-p)/512) where p = (1 + r)/2 is the chance that two bits agree.
    #[test]
    fn estimates_are_unbiased_and_spread_as_theory_says() {
        for (shared, apart) in [(100, 45), (300, 60), (1_000, 200), (20, 4), (40, 30)] {
            let r = 3.0 * shared as f64 / (3 * shared + 2 * apart) as f64;
            let errors: Vec<f64> = (0..400)
                .map(|seed| {
                    let (one, two) = pair(seed, shared, apart);
                    one.resemblance(&two) - r
                })
                .collect();
            let mean = errors.iter().sum::<f64>() / 400.0;
            let spread = (errors.iter().map(|error| error * error).sum::<f64>() / 400.0).sqrt();
            let theory = ((1.0 - r * r) / SAMPLES as f64).sqrt();
            assert!(
                mean.abs() < 4.0 * theory / 20.0 + 2e-3,
                "r = {r}: bias {mean}"
            );
            assert!(
                spread < 1.15 * theory,
                "r = {r}: spread {spread}, theory {theory}"
            );
        }
    }

    #[test]
    fn the_diversity_of_a_text_is_the_logarithm_of_its_distinct_words_to_the_base_of_all() {
        let of = |distinct: u64, words| {
            let counts: Vec<(u64, u32)> = (0..distinct).map(|n| (mix(n + 1), 1)).collect();
            BagSketch::of_counts(&counts).unwrap().diversity(words)
        };
        assert_eq!(
            (of(10, 100), of(100, 100), of(1, 1), of(1, 50)),
            (500, 1_000, 1_000, 0)
        );
    }

    #[test]
    fn a_sketch_of_another_length_is_refused() {
        let written = postcard::to_allocvec(&pair(1, 100, 0).0).unwrap();
        assert_eq!(written.len(), BAG_BYTES + 1);
        let mut short = written.clone();
        short[0] -= 1;
        assert!(postcard::from_bytes::<BagSketch>(&short).is_err());
    }

    proptest! {
        #[test]
        fn a_sketch_is_read_as_it_was_written(
            counts in prop::collection::vec((any::<u64>(), 1_u32..5), 1..200),
        ) {
            let sketch = BagSketch::of_counts(&counts).unwrap();
            prop_assert_eq!(&BagSketch::from_bytes(&sketch.to_bytes()), &sketch);
            let written = postcard::to_allocvec(&sketch).unwrap();
            prop_assert_eq!(&postcard::from_bytes::<BagSketch>(&written).unwrap(), &sketch);
        }
    }
}
