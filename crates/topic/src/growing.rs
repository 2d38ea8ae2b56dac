//! A topic that grows: each seed of a crawl is a further example of it.
//!
//! The topic is built anew with each example, from the words of all. They are stored, so that a
//! crawl that is continued in the middle of its seeds needs no page again. A topic that is complete
//! takes no further example.

use std::collections::BTreeMap;
use std::sync::Arc;

use neardup::PageText;
use neardup::frequencies::{DocumentFrequencies, MAX_TERM};
use serde::{Deserialize, Serialize};

use crate::builder::{TopicBuilder, TopicError, Warning};
use crate::examples::{CountedExample, MAX_EXAMPLE_WORDS, MAX_EXAMPLES};
use crate::topic::Topic;

/// The version of stored growing topics. Those of other versions are refused.
pub const GROWING_TOPIC_VERSION: u16 = 1;

/// A topic of the words and examples that a user gave, if any, and of the seeds' pages, in the
/// order in which they were read: at most [`MAX_EXAMPLES`] examples.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredGrowing", into = "StoredGrowing")]
pub struct GrowingTopic {
    frequencies: Option<Arc<DocumentFrequencies>>,
    /// The words that the user gave; empty without any.
    words: String,
    /// Those that the user gave, then those of the seeds.
    examples: Vec<CountedExample>,
    /// The URLs of the seeds that are examples.
    seeds: Vec<String>,
    nothing_in_common: bool,
    leaves_out: bool,
    is_complete: bool,
    /// The topic so far; none without words and examples.
    topic: Option<Topic>,
}

impl GrowingTopic {
    /// Creates a topic of the words and examples in this builder, which may have none. The builder
    /// has the same frequencies.
    #[must_use]
    pub fn new(builder: TopicBuilder<'_>, frequencies: Option<Arc<DocumentFrequencies>>) -> Self {
        Self {
            topic: builder.build().ok().map(|(topic, _)| topic),
            frequencies,
            words: builder.given_text,
            examples: builder.examples,
            seeds: Vec::new(),
            nothing_in_common: false,
            leaves_out: builder.leaves_out,
            is_complete: false,
        }
    }

    /// Sets the frequencies by which the topic is built with the next example. They are not stored.
    #[must_use]
    pub fn with_frequencies(self, frequencies: Option<Arc<DocumentFrequencies>>) -> Self {
        Self {
            frequencies,
            ..self
        }
    }

    /// Returns true if this seed is an example, or if there is no room for another.
    #[must_use]
    pub fn is_done_with(&self, seed: &str) -> bool {
        let is_full = self.is_complete || self.examples.len() == MAX_EXAMPLES;
        is_full || self.seeds.iter().any(|known| known == seed)
    }

    /// Adds the page of a seed; returns true if it has become an example. The same seed again is
    /// none, and neither is a page without a word that counts or with the words of another example.
    pub fn add(&mut self, seed: &str, page: &PageText<'_>) -> bool {
        if self.is_complete || self.seeds.iter().any(|known| known == seed) {
            return false;
        }
        let Some(example) = CountedExample::of(page) else {
            return false;
        };
        if self.examples.contains(&example) {
            return false;
        }
        if self.examples.len() == MAX_EXAMPLES {
            self.leaves_out = true;
            return false;
        }
        self.examples.push(example);
        self.seeds.push(seed.to_owned());
        self.build().is_ok()
    }

    /// Builds the topic of all examples.
    fn build(&mut self) -> Result<(), TopicError> {
        let frequencies = self.frequencies.clone();
        let mut builder = TopicBuilder::new(frequencies.as_deref());
        if !self.words.is_empty() {
            builder = builder.words(&self.words)?;
        }
        builder.examples = std::mem::take(&mut self.examples);
        let built = builder.build();
        self.examples = builder.examples;
        let (topic, warnings) = built?;
        self.nothing_in_common = warnings.contains(&Warning::NothingInCommon);
        self.topic = Some(topic);
        Ok(())
    }

    /// Ends the growth: all seeds were read.
    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Returns true once the topic takes no further example.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the topic so far; none if there were no words and no examples.
    #[must_use]
    pub fn topic(&self) -> Option<&Topic> {
        self.topic.as_ref()
    }

    /// Returns the number of seeds that are examples.
    #[must_use]
    pub fn seeds(&self) -> usize {
        self.seeds.len()
    }

    /// Returns the warnings about the examples so far.
    #[must_use]
    pub fn warnings(&self) -> Vec<Warning> {
        Warning::of_examples(self.examples.len(), self.leaves_out, self.nothing_in_common)
    }
}

/// The stored form of a growing topic.
#[derive(Debug, Serialize, Deserialize)]
struct StoredGrowing {
    version: u16,
    words: String,
    examples: Vec<StoredCounted>,
    nothing_in_common: bool,
    left_out: bool,
    complete: bool,
    topic: Option<Topic>,
}

/// The stored form of an example: all its words that count, since each may become the topic's.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCounted {
    /// The seed that has it; none for an example that the user gave.
    seed: Option<String>,
    length: usize,
    words: BTreeMap<Box<str>, u32>,
}

/// A stored growing topic that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum BadGrowing {
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
    use super::*;

    const BARRAGE: &str = "The tidal barrage closes the estuary with turbines.";
    const LAGOON: &str = "A tidal lagoon has turbines and keeps the estuary open.";
    const BREAD: &str = "Bread is baked from flour and water.";

    fn nothing() -> GrowingTopic {
        GrowingTopic::new(TopicBuilder::new(None), None)
    }

    fn of(seeds: &[(&str, &str)]) -> GrowingTopic {
        let mut topic = nothing();
        for (seed, text) in seeds {
            topic.add(seed, &PageText::of(text));
        }
        topic
    }

    fn words(topic: &GrowingTopic) -> Vec<String> {
        let words = topic.topic().map(Topic::words).unwrap_or_default();
        let mut words: Vec<String> = words.iter().map(|(word, _)| (*word).to_owned()).collect();
        words.sort();
        words
    }

    fn through_json(topic: &GrowingTopic) -> GrowingTopic {
        serde_json::from_str(&serde_json::to_string(topic).unwrap()).unwrap()
    }

    #[test]
    fn a_topic_grows_with_each_seed_to_what_the_seeds_share() {
        assert_eq!(nothing().topic(), None);
        let one = of(&[("a", BARRAGE)]);
        assert_eq!(
            words(&one),
            ["barrage", "closes", "estuary", "tidal", "turbines"]
        );
        let two = of(&[("a", BARRAGE), ("b", LAGOON)]);
        assert_eq!(words(&two), ["estuary", "tidal", "turbines"]);
        assert_eq!((one.seeds(), two.seeds()), (1, 2));
    }

    #[test]
    fn a_topic_of_seeds_is_that_of_the_same_texts_as_examples_of_the_user() {
        let mut builder = TopicBuilder::new(None).words("power").unwrap();
        let grown = {
            let mut grown = GrowingTopic::new(builder.clone(), None);
            assert_eq!(words(&grown), ["power"]);
            assert!(grown.add("a", &PageText::of(BARRAGE)));
            assert!(grown.add("b", &PageText::of(LAGOON)));
            grown
        };
        for text in [BARRAGE, LAGOON] {
            let page = PageText::of(text);
            let name = "a file";
            builder.example(&crate::ExampleText { name, page }).unwrap();
        }
        assert_eq!(grown.topic(), Some(&builder.build().unwrap().0));
    }

    #[test]
    fn the_same_seed_again_a_copy_of_it_and_a_page_without_words_are_no_examples() {
        let mut topic = of(&[("a", BARRAGE)]);
        for (seed, text) in [
            ("a", LAGOON),
            ("b", BARRAGE),
            ("c", "the of and"),
            ("d", ""),
        ] {
            assert!(!topic.add(seed, &PageText::of(text)), "{seed}");
        }
        assert_eq!(topic.seeds(), 1);
    }

    #[test]
    fn a_complete_topic_takes_no_further_seed() {
        let mut topic = of(&[("a", BARRAGE)]);
        topic.complete();
        assert!(!topic.add("b", &PageText::of(LAGOON)));
        assert!(through_json(&topic).is_complete());
    }

    #[test]
    fn a_topic_has_at_most_100_seeds_and_warns_of_more() {
        let mut topic = nothing();
        for seed in 0..MAX_EXAMPLES {
            let text = format!("tidal word{seed}");
            assert!(topic.add(&seed.to_string(), &PageText::of(&text)));
        }
        assert_eq!(topic.warnings(), []);
        assert!(!topic.add("one more", &PageText::of(LAGOON)));
        assert_eq!(topic.seeds(), MAX_EXAMPLES);
        assert_eq!(topic.warnings(), [Warning::ExamplesLeftOut]);
        assert_eq!(through_json(&topic).warnings(), topic.warnings());
    }

    #[test]
    fn few_seeds_and_seeds_with_nothing_in_common_are_warned_of() {
        let few = Warning::FewExamples { count: 2 };
        let unlike = of(&[("a", BARRAGE), ("b", BREAD)]);
        for topic in [&unlike, &through_json(&unlike)] {
            assert_eq!(topic.warnings(), [Warning::NothingInCommon, few.clone()]);
        }
        assert_eq!(of(&[("a", BARRAGE), ("b", LAGOON)]).warnings(), [few]);
        assert_eq!(nothing().warnings(), []);
    }

    #[test]
    fn a_topic_that_is_stored_between_two_seeds_grows_as_if_it_had_not_been() {
        let whole = of(&[("a", BARRAGE), ("b", LAGOON), ("c", BREAD)]);
        let mut stored = through_json(&of(&[("a", BARRAGE), ("b", LAGOON)]));
        assert!(stored.add("c", &PageText::of(BREAD)));
        assert_eq!(stored.topic(), whole.topic());
    }

    /// The form on disk of version 1.
    const GOLDEN: &str = concat!(
        r#"{"version":1,"words":"power","examples":[{"seed":null,"length":2,"words":{"tides":2}},"#,
        r#"{"seed":"http://a.test/","length":3,"words":{"bay":1,"tides":1}}],"#,
        r#""nothing_in_common":false,"left_out":false,"complete":true,"topic":{"version":1,"#,
        r#""words":[{"word":"power","given":1,"rarity":1000000,"elsewhere":0},"#,
        r#"{"word":"tides","given":0,"rarity":1000000,"elsewhere":0}],"#,
        r#""examples":[{"length":2,"counts":[[1,2]]},{"length":3,"counts":[[1,1]]}],"#,
        r#""learns":true,"threshold":null}}"#
    );

    #[test]
    fn the_form_on_disk_is_a_promise() {
        let mut builder = TopicBuilder::new(None).words("power").unwrap();
        let page = PageText::of("tides, tides");
        let name = "tides.txt";
        builder.example(&crate::ExampleText { name, page }).unwrap();
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
        check(BadGrowing::Version(2), |topic| topic.version = 2);
        check(BadGrowing::NoTopic, |topic| topic.topic = None);
        check(BadGrowing::Examples(101), |topic| {
            topic.examples.resize_with(101, || StoredCounted {
                seed: None,
                length: 1,
                words: BTreeMap::from([("tides".into(), 1)]),
            });
        });
        check(BadGrowing::Example(0), |topic| {
            topic.examples[0].words.clear()
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
