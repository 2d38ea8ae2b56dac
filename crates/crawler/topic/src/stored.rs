//! The stored form of a topic: everything that it was made from, in whole numbers.
//!
//! A crawl continues with the topic that it began with, so the form has a version, and everything
//! that is read is checked. Reading computes the weights (`weighed.rs`). Numbers are whole so that
//! a topic equals itself after a round trip through JSON.

use serde::{Deserialize, Serialize};

use crate::examples::MAX_EXAMPLES;
use crate::relevance::Relevance;
use crate::word_table::MAX_TOPIC_WORDS;

/// Version of stored topics; other versions are rejected.
pub const TOPIC_VERSION: u16 = 2;

/// A share of 1 in millionths.
const MILLION: u32 = 1_000_000;

/// The stored form of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredTopic {
    pub(crate) version: u16,
    pub(crate) words: Vec<TopicWord>,
    pub(crate) examples: Vec<StoredExample>,
    /// True if inverse document frequency is learned while crawling; false with given frequencies.
    pub(crate) learns: bool,
    /// Threshold that the user chose.
    pub(crate) threshold: Option<Relevance>,
}

/// A word of a topic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopicWord {
    pub(crate) word: Box<str>,
    /// Occurrences among the words that the user gave.
    pub(crate) given: u32,
    /// Inverse document frequency, scaled to 0 to 1.
    pub(crate) idf: Millionths,
    /// Fraction of other documents that contain the word, by the given frequencies.
    pub(crate) elsewhere: Millionths,
}

/// An example: its number of words, and the occurrences of the topic's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredExample {
    pub(crate) length: u32,
    pub(crate) counts: Vec<(u16, u32)>,
}

/// A number from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Millionths(u32);

impl Millionths {
    pub(crate) fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * f64::from(MILLION)).round() as u32)
    }

    pub(crate) fn share(self) -> f64 {
        f64::from(self.0) / f64::from(MILLION)
    }
}

/// A stored topic that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadTopic {
    #[error("a topic of version {0}; this crawler reads version {TOPIC_VERSION}")]
    Version(u16),
    #[error("a topic has 1 to {MAX_TOPIC_WORDS} words, got {0}")]
    Words(usize),
    #[error("a topic has at most {MAX_EXAMPLES} examples, got {0}")]
    Examples(usize),
    #[error("word {0} of the topic is out of range")]
    Word(usize),
    #[error("example {0} of the topic is out of range")]
    Example(usize),
}

impl StoredTopic {
    /// Checks a topic that was read.
    pub(crate) fn checked(self) -> Result<Self, BadTopic> {
        if self.version != TOPIC_VERSION {
            return Err(BadTopic::Version(self.version));
        }
        if self.words.is_empty() || self.words.len() > MAX_TOPIC_WORDS {
            return Err(BadTopic::Words(self.words.len()));
        }
        if self.examples.len() > MAX_EXAMPLES {
            return Err(BadTopic::Examples(self.examples.len()));
        }
        for (number, word) in self.words.iter().enumerate() {
            let is_known = word.given > 0 || !self.examples.is_empty();
            let is_share = |share: Millionths| share.0 <= MILLION;
            let is_right = is_share(word.idf) && is_share(word.elsewhere) && word.idf.0 > 0;
            if word.word.is_empty() || !is_known || !is_right {
                return Err(BadTopic::Word(number));
            }
        }
        for (number, example) in self.examples.iter().enumerate() {
            let counts = &example.counts;
            let ascends = counts.is_sorted_by(|(one, _), (two, _)| one < two);
            let are_words = counts
                .iter()
                .all(|(word, times)| usize::from(*word) < self.words.len() && *times > 0);
            if !ascends || !are_words {
                return Err(BadTopic::Example(number));
            }
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> StoredTopic {
        StoredTopic {
            version: TOPIC_VERSION,
            words: vec![TopicWord {
                word: "tides".into(),
                given: 1,
                idf: Millionths::of(1.0),
                elsewhere: Millionths::of(0.0),
            }],
            examples: vec![StoredExample {
                length: 5,
                counts: vec![(0, 2)],
            }],
            learns: true,
            threshold: None,
        }
    }

    #[test]
    fn a_stored_topic_that_is_out_of_range_is_refused() {
        fn check(expected: BadTopic, change: impl FnOnce(&mut StoredTopic)) {
            let mut topic = good();
            change(&mut topic);
            assert_eq!(topic.checked(), Err(expected));
        }
        assert!(good().checked().is_ok());
        check(BadTopic::Version(3), |topic| topic.version = 3);
        check(BadTopic::Words(0), |topic| topic.words.clear());
        check(BadTopic::Words(257), |topic| {
            topic.words = vec![topic.words[0].clone(); 257];
        });
        check(BadTopic::Examples(101), |topic| {
            topic.examples = vec![topic.examples[0].clone(); 101];
        });
        check(BadTopic::Word(0), |topic| topic.words[0].word = "".into());
        check(BadTopic::Word(0), |topic| {
            topic.words[0].idf = Millionths(0);
        });
        check(BadTopic::Word(0), |topic| {
            topic.words[0].elsewhere = Millionths(MILLION + 1);
        });
        check(BadTopic::Word(0), |topic| {
            topic.examples.clear();
            topic.words[0].given = 0;
        });
        check(BadTopic::Example(0), |topic| {
            topic.examples[0].counts = vec![(1, 1)];
        });
        check(BadTopic::Example(0), |topic| {
            topic.examples[0].counts = vec![(0, 1), (0, 1)];
        });
    }
}
