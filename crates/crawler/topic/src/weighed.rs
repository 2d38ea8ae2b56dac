//! A topic's weights, and the relevance scale that its examples imply.
//!
//! A topic always resembles the texts that it was made from, so each example is compared with a
//! topic of the other examples (leave-one-out). The best-covered example defines relevance 1. The
//! threshold lies halfway between other documents and the lower quartile of the examples, but never
//! below [`THRESHOLD_BY_EXAMPLES`].

use crate::examples::WORDS_OF_EXAMPLES;
use crate::relevance::Relevance;
use crate::stored::{StoredExample, StoredTopic};
use crate::weights::{
    THRESHOLD_BY_EXAMPLES, by_idf, covered, densest, normalise, share_of_example, term_weight,
    threshold_by_words,
};

/// Coverage of a page with relevance 1, relative to the example's own, if there is a single
/// example: there is nothing to compare that with.
const OF_A_SINGLE_EXAMPLE: f64 = 0.5;
/// Minimum of this ratio for several examples, if they have next to nothing in common.
const OF_UNLIKE_EXAMPLES: f64 = 0.25;
/// Number of the weightiest words that a link with score 1 contains: links have few words.
const WORDS_OF_A_LINK: usize = 3;
/// Length in words of a page that contains a topic word by chance.
const USUAL_PAGE: usize = 500;
/// Share of the weight for given words if there are examples, too.
const OF_GIVEN: f64 = 1.0 / 3.0;

/// Values that are computed from a stored topic.
#[derive(Clone, Debug)]
pub(crate) struct Weighed {
    /// Weight of each word; the sum is 1.
    pub(crate) weights: Vec<f64>,
    /// Coverage of a page with relevance 1.
    pub(crate) full: f64,
    /// Maximum share of the topic's words on a page that is not stuffed with them.
    pub(crate) densest: f64,
    /// Total weight of the words in a link with score 1.
    pub(crate) full_of_link: f64,
    /// Minimum relevance of a page on topic, unless the user chooses another.
    pub(crate) threshold: Relevance,
}

impl Weighed {
    /// Weighs the words of a checked topic.
    pub(crate) fn of(topic: &StoredTopic) -> Self {
        let given = of_given(topic);
        let sums = ExampleSums::of(topic);
        let weights = joined(topic, &given, &sums);
        if topic.examples.is_empty() {
            return Self {
                densest: densest(&weights),
                full_of_link: weightiest(&weights),
                threshold: threshold_by_words(&weights),
                weights,
                full: 1.0,
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
                let weights = joined(topic, &given, &sums.without(example));
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
            .map(|(word, weight)| weight * word.elsewhere.share() * covered(1, USUAL_PAGE))
            .sum();
        let between = (lower_quarter + elsewhere) / 2.0;
        Self {
            densest: densest(&weights),
            full_of_link: weightiest(&weights),
            weights,
            full,
            threshold: Relevance::from_share(between / full).max(THRESHOLD_BY_EXAMPLES),
        }
    }
}

/// Returns the total weight of the words in a link with score 1.
fn weightiest(weights: &[f64]) -> f64 {
    let mut weights = weights.to_vec();
    weights.sort_by(|one, two| two.total_cmp(one));
    weights.iter().take(WORDS_OF_A_LINK).sum()
}

/// Returns the fraction of the weight that these occurrences cover.
pub(crate) fn coverage(
    weights: &[f64],
    counts: impl Iterator<Item = (u16, u32)>,
    length: usize,
) -> f64 {
    let of = |(number, times)| weights[usize::from(number)] * covered(times, length);
    counts.map(of).sum()
}

fn coverage_of_example(weights: &[f64], example: &StoredExample) -> f64 {
    coverage(
        weights,
        example.counts.iter().copied(),
        example.length as usize,
    )
}

/// Returns the weights of the words that the user gave.
fn of_given(topic: &StoredTopic) -> Vec<f64> {
    let words = topic.words.iter();
    let mut weights: Vec<f64> = words
        .map(|word| term_weight(word.given) * by_idf(word.idf.share()))
        .collect();
    normalise(&mut weights);
    weights
}

/// Occurrences of the topic's words in some examples.
#[derive(Clone)]
struct ExampleSums {
    /// Number of examples.
    examples: u32,
    /// Per word: the number of examples that contain it, and the sum of its shares in the examples.
    words: Vec<(u32, f64)>,
}

impl ExampleSums {
    fn of(topic: &StoredTopic) -> Self {
        let mut sums = Self {
            examples: topic.examples.len() as u32,
            words: vec![(0, 0.0); topic.words.len()],
        };
        for example in &topic.examples {
            for &(number, times) in &example.counts {
                let (examples, shares) = &mut sums.words[usize::from(number)];
                *examples += 1;
                *shares += share_of_example(times, example.length as usize);
            }
        }
        sums
    }

    /// Returns the sums without this example.
    fn without(&self, example: &StoredExample) -> Self {
        let mut others = self.clone();
        others.examples -= 1;
        for &(number, times) in &example.counts {
            let (examples, shares) = &mut others.words[usize::from(number)];
            *examples -= 1;
            *shares -= share_of_example(times, example.length as usize);
        }
        others
    }

    /// Returns the weight of each word, without its inverse document frequency: its mean share in
    /// the examples, times the fraction of examples that contain it.
    fn weights(&self) -> impl Iterator<Item = f64> {
        let all = f64::from(self.examples.max(1));
        self.words
            .iter()
            .map(move |(examples, shares)| match examples {
                // The remainder of a subtraction may be a rounding error.
                0 => 0.0,
                some => shares * f64::from(*some) / all,
            })
    }
}

/// Combines the weights of given words and of words from examples.
fn joined(topic: &StoredTopic, given: &[f64], sums: &ExampleSums) -> Vec<f64> {
    let rarities = topic.words.iter().map(|word| by_idf(word.idf.share()));
    let of_examples = sums.weights().zip(rarities);
    let mut weights: Vec<f64> = of_examples.map(|(sum, idf)| sum * idf).collect();
    keep_weightiest(&mut weights, WORDS_OF_EXAMPLES);
    normalise(&mut weights);
    let has = |weights: &[f64]| weights.iter().any(|weight| *weight > 0.0);
    let of_given = match (has(given), has(&weights)) {
        (true, true) => OF_GIVEN,
        (true, false) => 1.0,
        (false, _) => 0.0,
    };
    for (weight, given) in weights.iter_mut().zip(given) {
        *weight = of_given * given + (1.0 - of_given) * *weight;
    }
    weights
}

/// Sets all but the `most` greatest weights to 0; between equal ones, the first are kept.
fn keep_weightiest(weights: &mut [f64], most: usize) {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|one, two| weights[*two].total_cmp(&weights[*one]));
    for number in order.into_iter().skip(most) {
        weights[number] = 0.0;
    }
}
