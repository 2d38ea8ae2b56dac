//! A topic that grows: each seed page of a crawl becomes an example.
//!
//! Each new example rebuilds the topic from the words of all examples. These words are stored, so
//! that a crawl that continues in the middle of its seeds does not need their pages again. A
//! complete topic accepts no further examples.

mod stored;

use std::sync::Arc;

use neardup::PageText;
use neardup::frequencies::DocumentFrequencies;
use serde::{Deserialize, Serialize};

use self::stored::StoredGrowing;
use crate::builder::{TopicBuilder, TopicError, Warning};
use crate::examples::{CountedExample, MAX_EXAMPLES};
use crate::topic::Topic;

pub use self::stored::GROWING_TOPIC_VERSION;

/// A topic of the user's words and examples, if any, and of the seeds' pages in the order of
/// reading: at most [`MAX_EXAMPLES`] examples.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "StoredGrowing", into = "StoredGrowing")]
pub struct GrowingTopic {
    frequencies: Option<Arc<DocumentFrequencies>>,
    /// Words that the user gave; empty if there are none.
    words: String,
    /// Examples that the user gave, followed by the examples from seeds.
    examples: Vec<CountedExample>,
    /// URLs of the seeds that became examples.
    seeds: Vec<String>,
    nothing_in_common: bool,
    leaves_out: bool,
    is_complete: bool,
    /// The current topic; `None` without words and examples.
    topic: Option<Topic>,
}

impl GrowingTopic {
    /// Creates a topic of the builder's words and examples, which may be empty. `frequencies` must
    /// equal the builder's.
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

    /// Sets the frequencies that the next example is weighed with. They are not stored.
    #[must_use]
    pub fn with_frequencies(self, frequencies: Option<Arc<DocumentFrequencies>>) -> Self {
        Self {
            frequencies,
            ..self
        }
    }

    /// Returns true if this seed is an example already, or if the topic accepts no more examples.
    #[must_use]
    pub fn is_done_with(&self, seed: &str) -> bool {
        let is_full = self.is_complete || self.examples.len() == MAX_EXAMPLES;
        is_full || self.seeds.iter().any(|known| known == seed)
    }

    /// Adds the page of a seed; returns true if it has become an example. Ignores a seed that was
    /// added before, a page without a word that counts, and a page with the words of another
    /// example.
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

    /// Ends the growth, once all seeds were read.
    pub fn complete(&mut self) {
        self.is_complete = true;
    }

    /// Returns true once the topic accepts no further examples.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the current topic; `None` without words and examples.
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
}
