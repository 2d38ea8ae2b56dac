//! Document frequencies of a topic's words, which a focused crawl learns: the number of pages off
//! topic with each word.
//!
//! Words are counted by their numbers in the topic, so the counts are valid only for a topic of the
//! same number of seeds.

use serde::{Deserialize, Serialize};
use topic::{DocumentFrequencies, Judged, Topic};

/// The frequencies of the topic's words in pages off topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedWords {
    /// The frequencies in all pages off topic.
    all: DocumentFrequencies,
    /// The frequencies that the topic was last weighed with.
    in_force: DocumentFrequencies,
    /// The number of seeds that the topic was made from, with `--topic-of-seeds`: words are counted
    /// by their number in the topic.
    seeds: usize,
}

impl LearnedWords {
    /// Returns the words learned for a topic of this number of seeds; none if the number differs.
    #[must_use]
    pub fn of_seeds(self, seeds: usize) -> Self {
        match self.seeds == seeds {
            true => self,
            false => Self {
                seeds,
                ..Self::default()
            },
        }
    }

    /// Returns the number of pages off topic that were counted.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.all.documents()
    }

    /// Returns the number of seeds that the topic was made from.
    #[must_use]
    pub fn seeds(&self) -> usize {
        self.seeds
    }

    /// Returns the topic, weighed as it was when the crawl last learned.
    #[must_use]
    pub fn weighed(&self, topic: &Topic) -> Topic {
        topic.reweigh(&self.in_force)
    }

    /// Counts a page off topic; returns true if the topic should be weighed again.
    pub fn learn(&mut self, judged: &Judged) -> bool {
        self.all.learn(judged);
        let is_due = self.all.is_due();
        if is_due {
            self.in_force.clone_from(&self.all);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use neardup::PageText;

    use super::*;

    #[test]
    fn words_that_were_learned_by_the_topic_of_fewer_seeds_are_forgotten() {
        let topic = Topic::of_words("tides", None).unwrap();
        let mut words = LearnedWords::default().of_seeds(2);
        words.learn(&topic.judge(&PageText::of("bread"), None));
        assert_eq!(words.clone().of_seeds(2), words);
        assert_eq!(words.clone().of_seeds(3).pages(), 0);
        assert_eq!(words.of_seeds(3).of_seeds(3).seeds, 3);
    }
}
