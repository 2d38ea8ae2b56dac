//! A topic's weights, and what its examples say about the relevance of a page.
//!
//! Each example is compared with the topic of the others (leave-one-out), because a topic always
//! resembles the texts that it was made from. The best of them is a page of relevance 1; the
//! threshold lies halfway between other documents and the lower quarter of the examples.

use crate::relevance::Relevance;
use crate::stored::{StoredExample, StoredTopic};
use crate::weights::{FULL_BY_WORDS, normalise, saturation, term_weight, threshold_by_words};

/// The part of an example's coverage by its own words that another page may reach: there is
/// nothing to compare a single example with.
const OF_A_SINGLE_EXAMPLE: f64 = 0.5;
/// The least part of it if there are several, for those with next to nothing in common.
const OF_UNLIKE_EXAMPLES: f64 = 0.25;
/// The weightiest words of which a link with score 1 has all: links have few words.
const WORDS_OF_A_LINK: usize = 3;
/// The number of words of a page that has a word of other documents.
const USUAL_PAGE: usize = 500;

/// The values that are computed from a stored topic.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    /// The weight of each word; the sum is 1.
    pub(crate) weights: Vec<f64>,
    /// The coverage of a page with relevance 1.
    pub(crate) full: f64,
    /// The weight of the words of a link with score 1.
    pub(crate) full_of_link: f64,
    /// The relevance from which a page is on topic, unless the user chooses another.
    pub(crate) threshold: Relevance,
}

impl Weighed {
    /// Weighs the words of a checked topic.
    pub(crate) fn of(topic: &StoredTopic) -> Self {
        let given = of_given(topic);
        let sums = sums_of_examples(topic);
        let weights = joined(topic, &given, &sums);
        if topic.examples.is_empty() {
            return Self {
                full_of_link: weightiest(&weights),
                threshold: threshold_by_words(&weights),
                weights,
                full: FULL_BY_WORDS,
            };
        }
        let own = topic
            .examples
            .iter()
            .map(|example| coverage_of_example(&weights, example))
            .fold(0.0, f64::max);
        let mut others: Vec<f64> = Vec::new();
        if topic.examples.len() > 1 {
            for example in &topic.examples {
                let mut of_others = sums.clone();
                for &(number, times) in &example.counts {
                    of_others[usize::from(number)] -= term_weight(times);
                }
                let weights = joined(topic, &given, &of_others);
                others.push(coverage_of_example(&weights, example));
            }
        } else {
            others.push(own * OF_A_SINGLE_EXAMPLE);
        }
        others.sort_by(f64::total_cmp);
        let best = others.last().copied().unwrap_or_default();
        let full = best.max(own * OF_UNLIKE_EXAMPLES);
        let lower_quarter = others[others.len() / 4];
        let elsewhere: f64 = topic
            .words
            .iter()
            .zip(&weights)
            .map(|(word, weight)| weight * word.elsewhere.share() * saturation(1, USUAL_PAGE))
            .sum();
        let between = (lower_quarter + elsewhere) / 2.0;
        Self {
            full_of_link: weightiest(&weights),
            weights,
            full,
            threshold: Relevance::from_share(between / full).max(Relevance::LEAST),
        }
    }
}

/// Returns the weight of the words that make a link promising.
fn weightiest(weights: &[f64]) -> f64 {
    let mut weights = weights.to_vec();
    weights.sort_by(|one, two| two.total_cmp(one));
    weights.iter().take(WORDS_OF_A_LINK).sum()
}

/// Returns the part of the weight that these occurrences cover.
pub(crate) fn coverage(weights: &[f64], counts: &[(u16, u32)], length: usize) -> f64 {
    let of =
        |&(number, times): &(u16, u32)| weights[usize::from(number)] * saturation(times, length);
    counts.iter().map(of).sum()
}

fn coverage_of_example(weights: &[f64], example: &StoredExample) -> f64 {
    coverage(weights, &example.counts, example.length as usize)
}

/// Returns the weights of the words that the user gave.
fn of_given(topic: &StoredTopic) -> Vec<f64> {
    let words = topic.words.iter();
    let mut weights: Vec<f64> = words
        .map(|word| term_weight(word.given) * word.rarity.share())
        .collect();
    normalise(&mut weights);
    weights
}

/// Returns the sum of each word's weights in the examples, without its rarity.
fn sums_of_examples(topic: &StoredTopic) -> Vec<f64> {
    let mut sums = vec![0.0; topic.words.len()];
    for (number, times) in topic.examples.iter().flat_map(|example| &example.counts) {
        sums[usize::from(*number)] += term_weight(*times);
    }
    sums
}

/// Joins the weights of given words with those of examples: each kind has half of the weight if
/// there are both.
fn joined(topic: &StoredTopic, given: &[f64], sums: &[f64]) -> Vec<f64> {
    let rarities = topic.words.iter().map(|word| word.rarity.share());
    let mut weights: Vec<f64> = sums
        .iter()
        .zip(rarities)
        // What is left of a sum after a subtraction may be less than nothing by a rounding error.
        .map(|(sum, rarity)| sum.max(0.0) * rarity)
        .collect();
    normalise(&mut weights);
    for (weight, given) in weights.iter_mut().zip(given) {
        *weight += given;
    }
    normalise(&mut weights);
    weights
}
