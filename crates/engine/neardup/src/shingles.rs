//! Shingles: a text as the set of its runs of *w* words, and the part that two such sets share.
//!
//! Resemblance |A∩B| / |A∪B| and containment |A∩B| / |A| (Broder, "On the resemblance and
//! containment of documents", 1997) are exact here, except for collisions of 64-bit hashes: fewer
//! than one in 10¹² among a million shingles.
//!
//! A shingle's hash is made from its words' hashes h₁…h_w: finished(h₁·Pʷ⁻¹ + … + h_w) modulo 2⁶⁴.
//! All hashes together cost two multiplications per word, for any width; the hash of a single word
//! is the word's own. Invariant: these hashes are stable for ever, since stored sketches are made
//! from them.

use crate::features::{Unit, Width};
use crate::key::HashKey;
use crate::text::NormalText;
use crate::words::hash::finished;

/// The *P* above: 3 modulo 8, so that exchanging two neighbours changes the sum by twice an odd
/// number.
const P: u64 = 0xd6e8_feb8_6659_fd93;

/// The set of a text's word shingles. A text with fewer words than a shingle is one shingle; the
/// set of a text without words is empty.
///
/// ```
/// use neardup::{HashKey, NormalText, Shingles, Width};
///
/// let width = Width::new(3).expect("3 is from 1 to 64");
/// let of = |text: &str| Shingles::of(&NormalText::of(text), width, HashKey::ZERO);
/// let (rose, roses) = (of("a rose is a rose"), of("a rose is a flower"));
/// // {a rose is, rose is a, is a rose} and {a rose is, rose is a, is a flower}
/// assert_eq!(rose.resemblance(&roses), 0.5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shingles {
    /// Ascending, each once.
    hashes: Vec<u64>,
}

impl Shingles {
    /// Returns the shingles of `width` words in `text`.
    #[must_use]
    pub fn of(text: &NormalText, width: Width, key: HashKey) -> Self {
        Self::from_hashes(shingle_hashes(&text.hashes(key), width).collect())
    }

    /// Returns the shingles of `text`: runs of words or of characters. Runs of characters include
    /// the single spaces between normalised words.
    #[must_use]
    pub fn of_unit(text: &NormalText, unit: Unit, key: HashKey) -> Self {
        Self::from_hashes(unit.hashes(text, key))
    }

    /// Creates the set of shingles with these hashes, in any order, repeated or not: for shingles
    /// made elsewhere. The hashes must look random, because samples of a set are chosen by them.
    #[must_use]
    pub fn from_hashes(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        hashes.dedup();
        Self { hashes }
    }

    /// Returns the number of different shingles.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns true if the set is empty: the text has no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns the hashes, ascending, each once.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the resemblance of the two sets (Jaccard index), 0 to 1. Two empty sets have
    /// resemblance 1.
    #[must_use]
    pub fn resemblance(&self, other: &Shingles) -> f64 {
        let shared = self.shared_with(other);
        ratio(shared, self.len() + other.len() - shared)
    }

    /// Returns the share of these shingles that also occurs in `other`, 0 to 1. The empty set is
    /// contained in every set: 1.
    #[must_use]
    pub fn containment_in(&self, other: &Shingles) -> f64 {
        ratio(self.shared_with(other), self.len())
    }

    /// Returns the number of shingles in both sets.
    #[must_use]
    pub fn shared_with(&self, other: &Shingles) -> usize {
        shared(&self.hashes, &other.hashes)
    }
}

impl Unit {
    /// Returns the hash of each feature of `text`, in text order and with repetitions.
    pub(crate) fn hashes(self, text: &NormalText, key: HashKey) -> Vec<u64> {
        match self {
            Unit::Words(Width::ONE) => text.hashes(key),
            Unit::Words(width) => shingle_hashes(&text.hashes(key), width).collect(),
            Unit::Chars(_) => {
                let joined = text.as_str().as_bytes();
                let spans = self.spans(text).into_iter();
                spans
                    .map(|(start, end)| key.token(&joined[start..end]))
                    .collect()
            }
        }
    }
}

/// Returns the number of values in both lists, each ascending and without repetition.
pub(crate) fn shared(mut mine: &[u64], mut theirs: &[u64]) -> usize {
    let mut shared = 0;
    while let ([one, my_rest @ ..], [two, their_rest @ ..]) = (mine, theirs) {
        shared += usize::from(one == two);
        if one <= two {
            mine = my_rest;
        }
        if two <= one {
            theirs = their_rest;
        }
    }
    shared
}

pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Returns the hash of each shingle, in text order and with repetitions.
pub(crate) fn shingle_hashes(words: &[u64], width: Width) -> impl Iterator<Item = u64> {
    let width = width.get().min(words.len());
    let highest = P.wrapping_pow(width as u32);
    let (first, others) = words.split_at(width.saturating_sub(1));
    let mut sum = first
        .iter()
        .fold(0, |sum: u64, word| sum.wrapping_mul(P).wrapping_add(*word));
    let leaving = std::iter::once(0).chain(words.iter().copied());
    others.iter().zip(leaving).map(move |(&enters, leaves)| {
        sum = sum
            .wrapping_mul(P)
            .wrapping_add(enters)
            .wrapping_sub(highest.wrapping_mul(leaves));
        if width == 1 { sum } else { finished(sum) }
    })
}

/// Appends the hash of each run of `width` words to `hashes`; there are at least `width` words.
/// Shingles of two or three words are hashed in parallel, in as many lanes as a register has, wider
/// shingles one after the other.
#[inline(always)]
pub(crate) fn hash_runs(words: &[u64], width: Width, hashes: &mut Vec<u64>) {
    const P2: u64 = P.wrapping_mul(P);
    let first = hashes.len();
    match (width.get(), words) {
        (2, [_, second @ ..]) => {
            hashes.resize(first + second.len(), 0);
            for ((hash, one), two) in hashes[first..].iter_mut().zip(words).zip(second) {
                *hash = finished(one.wrapping_mul(P).wrapping_add(*two));
            }
        }
        (3, [_, second @ .., _]) => {
            hashes.resize(first + second.len(), 0);
            let hashes = hashes[first..].iter_mut();
            for (((hash, one), two), three) in hashes.zip(words).zip(second).zip(&words[2..]) {
                let sum = one.wrapping_mul(P2).wrapping_add(two.wrapping_mul(P));
                *hash = finished(sum.wrapping_add(*three));
            }
        }
        _ => hashes.extend(shingle_hashes(words, width)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn shingles(text: &str, width: usize) -> Shingles {
        Shingles::of(
            &NormalText::of(text),
            Width::new(width).unwrap(),
            HashKey::ZERO,
        )
    }

    #[test]
    fn a_rose_is_a_rose_is_a_rose_has_three_shingles_of_four_words() {
        let rose = shingles("a rose is a rose is a rose", 4);
        assert_eq!(rose.len(), 3);
        for (shingle, contained) in [
            ("a rose is a", 1.0),
            ("rose is a rose", 1.0),
            ("is a rose is", 1.0),
            ("a rose a rose", 0.0),
            ("rose is a is", 0.0),
        ] {
            assert_eq!(
                shingles(shingle, 4).containment_in(&rose),
                contained,
                "{shingle}"
            );
        }
    }

    #[test]
    fn jack_london_resembles_himself_in_three_bigrams_of_eight() {
        let one = shingles("Jack London travelled to Oakland", 2);
        let two = shingles("Jack London travelled to the city of Oakland", 2);
        let three = shingles("Jack travelled from Oakland to London", 2);
        assert_eq!(one.resemblance(&two), 3.0 / 8.0);
        assert_eq!(one.resemblance(&three), 0.0);
    }

    #[test]
    fn a_text_resembles_itself_entirely_even_when_it_is_empty() {
        for text in ["", "word", "two words", "a text of more than three words"] {
            let shingles = shingles(text, 3);
            assert_eq!(shingles.resemblance(&shingles), 1.0, "{text}");
            assert_eq!(shingles.containment_in(&shingles), 1.0, "{text}");
        }
        assert_eq!(shingles("", 3).resemblance(&shingles("words", 3)), 0.0);
    }

    #[test]
    fn a_part_is_contained_in_the_whole_but_not_the_whole_in_the_part() {
        let part = shingles("the quick brown fox jumps", 3);
        let whole = shingles("see how the quick brown fox jumps over the lazy dog", 3);
        assert_eq!(part.containment_in(&whole), 1.0);
        assert_eq!(whole.containment_in(&part), 3.0 / 9.0);
        assert_eq!(shingles("", 3).containment_in(&whole), 1.0);
    }

    #[test]
    fn a_text_shorter_than_a_shingle_is_one_shingle() {
        assert_eq!(shingles("", 3).len(), 0);
        assert_eq!(shingles("one", 3).len(), 1);
        assert_eq!(shingles("one two", 64).len(), 1);
        assert_eq!(
            shingles("one two", 3).resemblance(&shingles("two one", 3)),
            0.0
        );
    }

    #[test]
    fn a_million_times_the_same_word_is_one_shingle() {
        assert_eq!(shingles(&"again ".repeat(1_000_000), 3).len(), 1);
    }

    proptest! {
        #[test]
        fn resemblance_is_that_of_sets_of_word_runs(
            one in prop::collection::vec("[abc]", 0..40),
            two in prop::collection::vec("[abc]", 0..40),
            width in 1_usize..6,
        ) {
            let runs = |words: &[String]| -> BTreeSet<Vec<String>> {
                let width = width.min(words.len()).max(1);
                words.windows(width).map(<[String]>::to_vec).collect()
            };
            let (a, b) = (runs(&one), runs(&two));
            let (one, two) = (shingles(&one.join(" "), width), shingles(&two.join(" "), width));
            prop_assert_eq!(one.len(), a.len());
            let shared = a.intersection(&b).count();
            prop_assert_eq!(one.resemblance(&two), ratio(shared, a.union(&b).count()));
            prop_assert_eq!(one.containment_in(&two), ratio(shared, a.len()));
        }

        #[test]
        fn a_rolled_shingle_hash_is_the_one_computed_afresh(
            words in prop::collection::vec(any::<u64>(), 0..40),
            width in 1_usize..65,
        ) {
            let rolled: Vec<u64> = shingle_hashes(&words, Width::new(width).unwrap()).collect();
            let width = width.min(words.len()).max(1);
            let afresh: Vec<u64> = words
                .windows(width)
                .map(|run| {
                    let sum =
                        run.iter().fold(0_u64, |sum, word| sum.wrapping_mul(P).wrapping_add(*word));
                    if width == 1 { sum } else { finished(sum) }
                })
                .collect();
            prop_assert_eq!(&rolled, &afresh);
            if width <= words.len() {
                for instructions in crate::Instructions::available() {
                    let mut runs = Vec::new();
                    let width = Width::new(width).unwrap();
                    crate::simd::hash_runs(instructions, &words, width, &mut runs);
                    prop_assert_eq!(&runs, &afresh, "{}", instructions.name());
                }
            }
        }
    }
}
