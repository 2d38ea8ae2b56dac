//! Measures of relevance, over all pages at once.

use std::collections::HashMap;

use neardup::{HashKey, HashedText, Width};

use super::link_graph::ReadPage;
use crate::threads;

/// The words of all pages, counted; a word is a number.
pub(crate) struct Bags {
    pub(crate) pages: Vec<Bag>,
    /// The number of pages that have each word.
    frequencies: Vec<u32>,
    numbers: HashMap<u64, u32>,
    mean_length: f64,
}

/// The words of a page, in the order of their numbers, and how often each occurs.
#[derive(Debug, Default)]
pub(crate) struct Bag {
    pub(crate) counts: Vec<(u32, u32)>,
    pub(crate) length: u32,
}

/// Returns the hashes of the words of a text.
pub(crate) fn hashes(text: &str) -> Vec<u64> {
    HashedText::of(text, HashKey::ZERO).runs(Width::ONE)
}

impl Bags {
    pub(crate) fn of(pages: &[ReadPage]) -> Self {
        let hashed = threads::each(pages.len(), |number| {
            let page = pages[number].page_text();
            let mut words = hashes(page.title.unwrap_or_default());
            words.extend(hashes(page.text));
            words
        });
        let mut numbers = HashMap::new();
        let mut frequencies = Vec::new();
        let mut bags = Vec::with_capacity(pages.len());
        for words in hashed {
            let mut found: Vec<u32> = Vec::with_capacity(words.len());
            for hash in words {
                let next = numbers.len() as u32;
                found.push(*numbers.entry(hash).or_insert(next));
            }
            let bag = Bag::of(found);
            frequencies.resize(numbers.len(), 0);
            for (word, _) in &bag.counts {
                frequencies[*word as usize] += 1;
            }
            bags.push(bag);
        }
        let total: f64 = bags.iter().map(|bag| f64::from(bag.length)).sum();
        Self {
            mean_length: total / bags.len().max(1) as f64,
            pages: bags,
            frequencies,
            numbers,
        }
    }

    /// Returns the words of a text that some page has.
    pub(crate) fn bag_of(&self, text: &str) -> Bag {
        let known = hashes(text);
        Bag::of(
            known
                .iter()
                .filter_map(|hash| self.numbers.get(hash).copied())
                .collect(),
        )
    }

    /// Returns how rare a word is: ln(N / df).
    fn rarity(&self, word: u32) -> f64 {
        let frequency = f64::from(self.frequencies[word as usize].max(1));
        (self.pages.len() as f64 / frequency).ln()
    }

    /// Returns the weights of a bag, (1 + ln tf) × rarity, with length 1 (Salton and Buckley 1988).
    fn weights(&self, bag: &Bag) -> Vec<(u32, f64)> {
        let weigh =
            |&(word, times): &(u32, u32)| (word, (1.0 + f64::from(times).ln()) * self.rarity(word));
        let mut weights: Vec<(u32, f64)> = bag.counts.iter().map(weigh).collect();
        let length = weights
            .iter()
            .map(|(_, weight)| weight * weight)
            .sum::<f64>()
            .sqrt();
        for (_, weight) in &mut weights {
            *weight /= length.max(f64::MIN_POSITIVE);
        }
        weights
    }

    /// Returns the cosine of each page to the mean of some bags.
    pub(crate) fn cosines(&self, examples: &[&Bag]) -> Vec<f64> {
        let mut centroid: HashMap<u32, f64> = HashMap::new();
        for bag in examples {
            for (word, weight) in self.weights(bag) {
                *centroid.entry(word).or_default() += weight;
            }
        }
        let length = centroid
            .values()
            .map(|weight| weight * weight)
            .sum::<f64>()
            .sqrt();
        let cosine = |page: &Bag| {
            let weights = self.weights(page).into_iter();
            let common = weights.filter_map(|(word, weight)| Some(weight * centroid.get(&word)?));
            common.sum::<f64>() / length.max(f64::MIN_POSITIVE)
        };
        threads::each(self.pages.len(), |number| cosine(&self.pages[number]))
    }

    /// Returns the BM25 of each page for some words (Robertson et al., TREC-3, 1994).
    pub(crate) fn bm25(&self, words: &Bag) -> Vec<f64> {
        let (k, b) = (1.2, 0.75);
        let score = |page: &Bag| {
            let norm = k * (1.0 - b + b * f64::from(page.length) / self.mean_length);
            let of_word = |&(word, _): &(u32, u32)| {
                let place = page.counts.binary_search_by_key(&word, |(word, _)| *word);
                let times = place.map_or(0.0, |place| f64::from(page.counts[place].1));
                self.rarity(word) * times * (k + 1.0) / (times + norm)
            };
            words.counts.iter().map(of_word).sum()
        };
        threads::each(self.pages.len(), |number| score(&self.pages[number]))
    }
}

impl Bag {
    fn of(mut words: Vec<u32>) -> Self {
        words.sort_unstable();
        let runs = words.chunk_by(|one, two| one == two);
        Self {
            counts: runs.map(|run| (run[0], run.len() as u32)).collect(),
            length: words.len() as u32,
        }
    }
}
