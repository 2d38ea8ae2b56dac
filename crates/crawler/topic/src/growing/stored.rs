//! The stored form of a growing topic. It contains all words of the examples, since the next
//! example may add any of them to the topic.
//!
//! The current topic is stored, too: earlier verdicts and link scores are based on it, even if a
//! later version of this crate would build a different one.

use std::collections::BTreeMap;

use neardup::frequencies::MAX_TERM;
use serde::{Deserialize, Serialize};

use super::GrowingTopic;
use crate::examples::{CountedExample, MAX_EXAMPLE_WORDS, MAX_EXAMPLES};
use crate::topic::Topic;

/// Version of stored growing topics; other versions are rejected.
pub const GROWING_TOPIC_VERSION: u16 = 2;

/// The stored form of a growing topic.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredGrowing {
    version: u16,
    words: String,
    examples: Vec<StoredCounted>,
    nothing_in_common: bool,
    left_out: bool,
    complete: bool,
    topic: Option<Topic>,
}

/// The stored form of an example: all words that count, since any of them may be added to the
/// topic.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCounted {
    /// URL of the seed; `None` for an example that the user gave.
    seed: Option<String>,
    length: usize,
    words: BTreeMap<Box<str>, u32>,
}

/// A stored growing topic that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadGrowing {
    #[error("a growing topic of version {0}; this crawler reads version {GROWING_TOPIC_VERSION}")]
    Version(u16),
    #[error("a topic has at most {MAX_EXAMPLES} examples, got {0}")]
    Examples(usize),
    #[error("example {0} of the topic is out of range")]
    Example(usize),
    #[error("the topic has examples and no words of them")]
    NoTopic,
}

impl From<GrowingTopic> for StoredGrowing {
    fn from(topic: GrowingTopic) -> Self {
        let given = topic.examples.len() - topic.seeds.len();
        let seeds = std::iter::repeat_n(None, given).chain(topic.seeds.into_iter().map(Some));
        let examples = seeds.zip(topic.examples);
        Self {
            version: GROWING_TOPIC_VERSION,
            words: topic.words,
            examples: examples
                .map(|(seed, example)| StoredCounted {
                    seed,
                    length: example.length,
                    words: example.counts,
                })
                .collect(),
            nothing_in_common: topic.nothing_in_common,
            left_out: topic.leaves_out,
            complete: topic.is_complete,
            topic: topic.topic,
        }
    }
}

impl TryFrom<StoredGrowing> for GrowingTopic {
    type Error = BadGrowing;

    fn try_from(stored: StoredGrowing) -> Result<Self, BadGrowing> {
        if stored.version != GROWING_TOPIC_VERSION {
            return Err(BadGrowing::Version(stored.version));
        }
        if stored.examples.len() > MAX_EXAMPLES {
            return Err(BadGrowing::Examples(stored.examples.len()));
        }
        if stored.topic.is_none() && !stored.examples.is_empty() {
            return Err(BadGrowing::NoTopic);
        }
        let (mut examples, mut seeds) = (Vec::new(), Vec::new());
        for (number, example) in stored.examples.into_iter().enumerate() {
            let StoredCounted {
                seed,
                length,
                words,
            } = example;
            let is_word = |word: &str| !word.is_empty() && word.len() <= MAX_TERM;
            let are_words = words
                .iter()
                .all(|(word, times)| is_word(word) && *times > 0);
            let is_in_order = seed.is_some() || seeds.is_empty();
            let is_right = (1..=MAX_EXAMPLE_WORDS).contains(&words.len()) && are_words;
            if !is_right || !is_in_order {
                return Err(BadGrowing::Example(number));
            }
            seeds.extend(seed);
            examples.push(CountedExample {
                length,
                counts: words,
            });
        }
        Ok(Self {
            frequencies: None,
            words: stored.words,
            examples,
            seeds,
            nothing_in_common: stored.nothing_in_common,
            leaves_out: stored.left_out,
            is_complete: stored.complete,
            topic: stored.topic,
        })
    }
}

#[cfg(test)]
mod tests {
    use neardup::PageText;

    use super::*;
    use crate::builder::{ExampleText, TopicBuilder};

    /// The form on disk of version 2.
    const GOLDEN: &str = concat!(
        r#"{"version":2,"words":"power","examples":[{"seed":null,"length":2,"words":{"tides":2}},"#,
        r#"{"seed":"http://a.test/","length":3,"words":{"bay":1,"tides":1}}],"#,
        r#""nothing_in_common":false,"left_out":false,"complete":true,"topic":{"version":2,"#,
        r#""words":[{"word":"power","given":1,"idf":1000000,"elsewhere":0},"#,
        r#"{"word":"tides","given":0,"idf":1000000,"elsewhere":0}],"#,
        r#""examples":[{"length":2,"counts":[[1,2]]},{"length":3,"counts":[[1,1]]}],"#,
        r#""learns":true,"threshold":null}}"#
    );

    #[test]
    fn the_form_on_disk_is_a_promise() {
        let mut builder = TopicBuilder::new(None).words("power").unwrap();
        let page = PageText::of("tides, tides");
        let name = "tides.txt";
        builder.example(&ExampleText { name, page }).unwrap();
        let mut topic = GrowingTopic::new(builder, None);
        assert!(topic.add("http://a.test/", &PageText::of("tides a bay")));
        topic.complete();
        assert_eq!(serde_json::to_string(&topic).unwrap(), GOLDEN);
        let read: GrowingTopic = serde_json::from_str(GOLDEN).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), GOLDEN);
    }

    #[test]
    fn a_stored_topic_that_is_out_of_range_is_refused() {
        fn check(expected: BadGrowing, change: impl FnOnce(&mut StoredGrowing)) {
            let mut stored: StoredGrowing = serde_json::from_str(GOLDEN).unwrap();
            change(&mut stored);
            assert_eq!(GrowingTopic::try_from(stored).err(), Some(expected));
        }
        check(BadGrowing::Version(3), |topic| topic.version = 3);
        check(BadGrowing::NoTopic, |topic| topic.topic = None);
        check(BadGrowing::Examples(101), |topic| {
            topic.examples.resize_with(101, || StoredCounted {
                seed: None,
                length: 1,
                words: BTreeMap::from([("tides".into(), 1)]),
            });
        });
        check(BadGrowing::Example(0), |topic| {
            topic.examples[0].words.clear();
        });
        check(BadGrowing::Example(1), |topic| {
            topic.examples[1].words.insert("ebb".into(), 0);
        });
        check(BadGrowing::Example(1), |topic| {
            topic.examples[1].words.insert("".into(), 1);
        });
        check(BadGrowing::Example(1), |topic| {
            topic.examples[1]
                .words
                .insert("x".repeat(MAX_TERM + 1).into(), 1);
        });
        check(BadGrowing::Example(0), |topic| {
            let words = (0..=MAX_EXAMPLE_WORDS).map(|number| (format!("w{number}").into(), 1));
            topic.examples[0].words = words.collect();
        });
        check(BadGrowing::Example(1), |topic| topic.examples.reverse());
    }
}
