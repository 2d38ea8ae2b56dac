//! The relevance formula: saturation of occurrences, inverse document frequency, thresholds.
//!
//! The crate's documentation gives the formula and its sources; this module is its only
//! implementation.

use crate::relevance::Relevance;

/// Minimum relevance of a page on topic, for a topic of many words without examples: the best value
/// on the topics used for tuning (`docs/measurements/focus.md`).
pub const THRESHOLD_BY_WORDS: Relevance = Relevance::from_thousandths(300);

/// Minimum threshold by examples: a few examples say little about how different pages on topic may
/// be. This is the best value on the topics used for tuning, too.
pub const THRESHOLD_BY_EXAMPLES: Relevance = Relevance::from_thousandths(450);

/// Maximum threshold by words, for a single word or if one word is much rarer than the rest.
const GREATEST_BY_WORDS: f64 = 0.6;

/// Threshold by words, as a multiple of what the weightiest word alone can contribute.
const MORE_THAN_ONE_WORD: f64 = 1.04;

/// Returns the threshold of a topic of words with these weights: the weightiest word alone never
/// suffices, unless its weight reaches the maximum threshold.
pub(crate) fn threshold_by_words(weights: &[f64]) -> Relevance {
    let alone = weights.iter().copied().fold(0.0, f64::max);
    let least = THRESHOLD_BY_WORDS.share();
    Relevance::from_share((MORE_THAN_ONE_WORD * alone).clamp(least, GREATEST_BY_WORDS))
}

/// Number of different words in a full text; a page with fewer is less relevant.
pub const MIN_DIFFERENT_WORDS: usize = 32;

/// Number of occurrences in the text that a word of the URL's path counts as.
pub(crate) const IN_PATH: u32 = 6;

/// Occurrences, on a page of usual length, that give half of the saturation (k₁ of BM25).
const HALF_SATURATED: f64 = 6.0;
/// Influence of the page's length, from 0 to 1 (b of BM25).
const BY_LENGTH: f64 = 0.75;
/// Number of words on a page of usual length.
const USUAL_LENGTH: f64 = 500.0;
/// Minimum length in words; shorter pages count as this long.
const MIN_LENGTH: usize = 100;
/// Saturation at which a word contributes its full weight: 14 occurrences in 500 words.
const FULL_WORD: f64 = 0.7;

/// Maximum number of words in a topic of few words.
const FEW_WORDS: usize = 16;
/// Maximum share of a page's words that are the topic's, for topics of few and of many words. Fewer
/// than one in a thousand relevant pages of the evaluation exceed it.
const DENSEST_OF_FEW: f64 = 0.25;
const DENSEST_OF_MANY: f64 = 0.4;

/// Exponent of the inverse document frequency: between 1 and the 2 of tf-idf on both sides.
const OF_IDF: f64 = 1.5;
/// Minimum inverse document frequency: even a word in every document counts a little.
const MIN_IDF: f64 = 0.01;

/// Returns the fraction of its weight, from 0 to 1, that a word contributes if it occurs `times` on
/// a page of `length` words.
pub(crate) fn covered(times: u32, length: usize) -> f64 {
    let length = length.max(MIN_LENGTH) as f64 / USUAL_LENGTH;
    let half = HALF_SATURATED * (1.0 - BY_LENGTH + BY_LENGTH * length);
    let saturation = f64::from(times) / (f64::from(times) + half);
    (saturation / FULL_WORD).min(1.0)
}

/// Returns the share of a word in an example, without its inverse document frequency. An example of
/// fewer than [`MIN_LENGTH`] words counts as one of [`MIN_LENGTH`].
pub(crate) fn share_of_example(times: u32, length: usize) -> f64 {
    f64::from(times) / length.max(MIN_LENGTH) as f64
}

/// Returns the factor of a word's weight by its inverse document frequency.
pub(crate) fn by_idf(idf: f64) -> f64 {
    idf.powf(OF_IDF)
}

/// Returns the weight of a word by its occurrences in the user's words.
pub(crate) fn term_weight(times: u32) -> f64 {
    match times {
        0 => 0.0,
        some => 1.0 + f64::from(some).ln(),
    }
}

/// Returns the inverse document frequency, above 0 and up to 1, of a word that `frequency` of
/// `documents` contain.
pub(crate) fn idf(frequency: u64, documents: u64) -> f64 {
    if documents == 0 {
        return 1.0;
    }
    let all = documents as f64 + 1.0;
    let share = (all / (frequency as f64 + 0.5)).ln() / (all / 0.5).ln();
    share.clamp(MIN_IDF, 1.0)
}

/// Returns the factor of a page with this many different words.
pub(crate) fn of_variety(different: usize) -> f64 {
    different.min(MIN_DIFFERENT_WORDS) as f64 / MIN_DIFFERENT_WORDS as f64
}

/// Returns the maximum share of the topic's words on a page that is not stuffed with them.
pub(crate) fn densest(weights: &[f64]) -> f64 {
    let words = weights.iter().filter(|weight| **weight > 0.0).count();
    match words {
        ..=FEW_WORDS => DENSEST_OF_FEW,
        _ => DENSEST_OF_MANY,
    }
}

/// Returns the share of the topic's words on a page of `length` words. A page of fewer than
/// [`MIN_LENGTH`] words counts as one of [`MIN_LENGTH`].
pub(crate) fn keyword_density(topic_words: u64, length: usize) -> f64 {
    topic_words as f64 / length.max(MIN_LENGTH) as f64
}

/// Returns the factor of a page of this keyword density: 1, or the square of `densest /
/// keyword_density` on a page stuffed with the topic's words, so that a page of nothing else is off
/// topic.
pub(crate) fn by_keyword_density(keyword_density: f64, densest: f64) -> f64 {
    if keyword_density > densest {
        (densest / keyword_density).powi(2)
    } else {
        1.0
    }
}

/// Divides weights by their sum, unless that is 0.
pub(crate) fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    if sum > 0.0 {
        for weight in weights {
            *weight /= sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_occurrences_bring_more_up_to_1_and_the_first_brings_most() {
        let of = |times| covered(times, 500);
        assert_eq!(of(0), 0.0);
        assert!((of(6) - 0.5 / 0.7).abs() < 1e-9);
        assert!(of(1) - of(0) > of(2) - of(1));
        assert!(of(13) < 1.0);
        for times in [14, 1_000_000, u32::MAX] {
            assert_eq!(of(times), 1.0);
        }
    }

    #[test]
    fn the_same_occurrences_bring_less_on_a_longer_page() {
        assert!(covered(3, 5_000) < covered(3, 500));
        assert!(covered(3, 500) < covered(3, 100));
        assert_eq!(covered(3, 100), covered(3, 1));
        assert!(share_of_example(3, 500) < share_of_example(3, 100));
        assert_eq!(share_of_example(3, 100), share_of_example(3, 1));
    }

    #[test]
    fn a_word_that_no_document_has_is_rare_and_one_of_all_documents_hardly_counts() {
        assert_eq!(idf(0, 0), 1.0);
        assert_eq!(idf(0, 1_000), 1.0);
        assert_eq!(idf(1_000, 1_000), MIN_IDF);
        assert_eq!(idf(5_000, 1_000), MIN_IDF);
        assert!(idf(1, 1_000) > idf(10, 1_000));
    }

    #[test]
    fn of_several_words_one_alone_is_never_enough() {
        for words in 2..=8 {
            let weight = 1.0 / f64::from(words);
            let most = covered(u32::MAX, 1) * weight;
            let threshold = threshold_by_words(&vec![weight; words as usize]);
            assert!(Relevance::from_share(most) < threshold, "{words}");
            assert!(threshold >= THRESHOLD_BY_WORDS, "{words}");
        }
        assert_eq!(threshold_by_words(&[1.0]).share(), GREATEST_BY_WORDS);
    }

    #[test]
    fn a_page_beyond_the_density_of_natural_texts_is_less_relevant() {
        assert_eq!(densest(&[0.5, 0.5, 0.0]), 0.25);
        assert_eq!(densest(&[1.0 / 16.0; 16]), 0.25);
        assert_eq!(densest(&[1.0 / 17.0; 17]), 0.4);
        assert_eq!(keyword_density(50, 200), 0.25);
        assert_eq!(keyword_density(20, 20), 0.2, "a short text is easily dense");
        assert_eq!(keyword_density(0, 0), 0.0);
        for (keyword_density, factor) in [(0.0, 1.0), (0.25, 1.0), (0.5, 0.25), (1.0, 0.0625)] {
            assert_eq!(by_keyword_density(keyword_density, 0.25), factor);
        }
    }

    #[test]
    fn a_page_of_few_different_words_is_less_than_a_text() {
        assert_eq!(of_variety(0), 0.0);
        assert_eq!(of_variety(16), 0.5);
        assert_eq!(of_variety(32), 1.0);
        assert_eq!(of_variety(33), 1.0);
    }
}
