//! Topics with the knowledge that all simulated crawls about them share.

use std::collections::BTreeSet;

use super::documents::{Documents, Given, Made};
use super::judgement::Judgement;
use super::outcome::Outcome;
use super::rules::Rule;
use super::seeds::SeedSet;
use super::simulator::simulate;
use super::topics::FocusTopic;

/// A topic with what all rules know of it.
pub(crate) struct Prepared<'a> {
    pub(crate) topic: &'a FocusTopic,
    pub(crate) given: Given,
    made: &'a Made,
    link_words: Vec<Vec<f64>>,
    distances: Vec<u32>,
}

/// A simulated crawl.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimulatedCrawl {
    pub(crate) seeds: SeedSet,
    pub(crate) rule: Rule,
    /// The time for which a slot may stay empty, in milliseconds.
    pub(crate) anticipation: u64,
    pub(crate) most: usize,
}

impl Prepared<'_> {
    /// Returns the outcome of a simulated crawl about the topic.
    pub(crate) fn outcome(&self, documents: &Documents, crawl: SimulatedCrawl) -> Outcome {
        let seeds = documents.hubs.seeds(crawl.seeds, self.topic);
        let (rule, anticipation, most) = (crawl.rule, crawl.anticipation, crawl.most);
        let judgement = self.judgement();
        let visits = simulate(documents, &judgement, &seeds, rule, anticipation, most);
        Outcome::of(&visits, self.topic)
    }

    fn judgement(&self) -> Judgement<'_> {
        Judgement {
            relevance: &self.made.relevance,
            threshold: self.made.threshold,
            link_words: &self.link_words,
            distances: &self.distances,
        }
    }
}

/// Returns the topics of a part, in each of the ways in which they are given.
pub(crate) fn prepare<'a>(documents: &'a Documents, chooses: bool) -> Vec<Prepared<'a>> {
    let mut prepared = Vec::new();
    for topic in documents
        .list
        .topics
        .iter()
        .filter(|topic| topic.chooses == chooses)
    {
        let distances = distances(documents, &topic.relevant);
        for given in Given::ALL {
            let made = documents.made(topic, given);
            prepared.push(Prepared {
                topic,
                given,
                link_words: made.link_words(documents),
                made,
                distances: distances.clone(),
            });
        }
    }
    prepared
}

/// Returns, for each page, the number of links from there to the nearest relevant page, in steps;
/// a relevant page has 0.
fn distances(documents: &Documents, relevant: &BTreeSet<u32>) -> Vec<u32> {
    let mut back: Vec<Vec<u32>> = vec![Vec::new(); documents.pages.len()];
    for (page, number) in documents.pages.iter().zip(0..) {
        for link in &page.links {
            back[link.target as usize].push(number);
        }
    }
    let mut distances = vec![u32::MAX; documents.pages.len()];
    let mut reached: Vec<u32> = relevant.iter().copied().collect();
    for step in 0.. {
        if reached.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for page in reached {
            if distances[page as usize] == u32::MAX {
                distances[page as usize] = step;
                next.extend(&back[page as usize]);
            }
        }
        reached = next;
    }
    distances
}
