//! Builds topics from words, from examples, or from both.

use std::collections::BTreeMap;
use std::fmt;

use neardup::frequencies::{DocumentFrequencies, MAX_TERM};
use neardup::{HashKey, PageText};

use crate::examples::{self, CountedExample, MAX_EXAMPLES};
use crate::inflections::base;
use crate::stop_words::without_stop_words;
use crate::stored::{Millionths, StoredExample, StoredTopic, TOPIC_VERSION, TopicWord};
use crate::topic::Topic;
use crate::word_table::MAX_TOPIC_WORDS;

/// Minimum number of examples; fewer give a warning.
const MIN_EXAMPLES: usize = 3;

/// The text of an example, with a name for messages.
#[derive(Clone, Copy, Debug)]
pub struct ExampleText<'a> {
    /// File or URL.
    pub name: &'a str,
    /// The text.
    pub page: PageText<'a>,
}

/// A topic that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TopicError {
    /// No words were given, or only stop words.
    #[error("the topic has no usable word: {given:?}")]
    NoWord {
        /// The words that were given.
        given: String,
    },
    /// More words than a topic can hold.
    #[error("a topic has at most {MAX_TOPIC_WORDS} words, got {count}")]
    TooManyWords {
        /// Number of words.
        count: usize,
    },
    /// An example without a word that counts.
    #[error("the example {name} has no usable word")]
    EmptyExample {
        /// Its name.
        name: String,
    },
}

/// A reason why a topic may be worse than necessary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Fewer than three examples.
    FewExamples {
        /// Number of examples.
        count: usize,
    },
    /// No word occurs in more than one example.
    NothingInCommon,
    /// Examples beyond [`MAX_EXAMPLES`] were ignored.
    ExamplesLeftOut,
}

impl Warning {
    /// Returns the warnings for this number of examples.
    pub(crate) fn of_examples(
        count: usize,
        leaves_out: bool,
        nothing_in_common: bool,
    ) -> Vec<Self> {
        let is_few = (1..MIN_EXAMPLES).contains(&count);
        let warnings = [
            leaves_out.then_some(Self::ExamplesLeftOut),
            nothing_in_common.then_some(Self::NothingInCommon),
            is_few.then_some(Self::FewExamples { count }),
        ];
        warnings.into_iter().flatten().collect()
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewExamples { count } => write!(
                f,
                "a topic from examples should have at least {MIN_EXAMPLES} examples, got {count}"
            ),
            Self::NothingInCommon => {
                f.write_str("the examples have no word in common: are they about one topic?")
            }
            Self::ExamplesLeftOut => write!(
                f,
                "a topic has at most {MAX_EXAMPLES} examples: the others are ignored"
            ),
        }
    }
}

/// A builder of topics. It reads examples one by one, and keeps only their words.
#[derive(Clone, Debug)]
pub struct TopicBuilder<'a> {
    frequencies: Option<&'a DocumentFrequencies>,
    /// The text of the words that the user gave.
    pub(crate) given_text: String,
    /// Occurrences of each given word.
    given: BTreeMap<Box<str>, u32>,
    pub(crate) examples: Vec<CountedExample>,
    pub(crate) leaves_out: bool,
}

impl Topic {
    /// Returns the topic of `words` without stop words. The inverse document frequency comes from
    /// `frequencies`, or is learned while crawling.
    ///
    /// # Errors
    /// No word counts, or there are more than [`MAX_TOPIC_WORDS`].
    pub fn of_words(
        words: &str,
        frequencies: Option<&DocumentFrequencies>,
    ) -> Result<Self, TopicError> {
        let (topic, _) = TopicBuilder::new(frequencies).words(words)?.build()?;
        Ok(topic)
    }

    /// Returns the topic of `examples`.
    ///
    /// # Errors
    /// There is no example, or an example has no usable word.
    pub fn of_examples(
        examples: &[ExampleText<'_>],
        frequencies: Option<&DocumentFrequencies>,
    ) -> Result<(Self, Vec<Warning>), TopicError> {
        let mut builder = TopicBuilder::new(frequencies);
        for example in examples {
            builder.example(example)?;
        }
        builder.build()
    }
}

impl<'a> TopicBuilder<'a> {
    /// Creates a builder of an empty topic. The inverse document frequency of its words comes from
    /// `frequencies`, or is learned while crawling.
    #[must_use]
    pub fn new(frequencies: Option<&'a DocumentFrequencies>) -> Self {
        Self {
            frequencies,
            given_text: String::new(),
            given: BTreeMap::new(),
            examples: Vec::new(),
            leaves_out: false,
        }
    }

    /// Adds words, except stop words. A repeated word weighs more; inflected forms of a word are
    /// the same word.
    ///
    /// # Errors
    /// No word counts, or there are more than [`MAX_TOPIC_WORDS`].
    pub fn words(mut self, words: &str) -> Result<Self, TopicError> {
        self.given_text.push_str(words);
        for word in without_stop_words(words).words() {
            if word.len() <= MAX_TERM {
                *self.given.entry(word.into()).or_default() += 1;
            }
        }
        match self.given.len() {
            0 => Err(self.no_word()),
            count if count > MAX_TOPIC_WORDS => Err(TopicError::TooManyWords { count }),
            _ => Ok(self),
        }
    }

    /// Adds an example.
    ///
    /// # Errors
    /// The example has no usable word. It is ignored, and the builder remains usable.
    pub fn example(&mut self, example: &ExampleText<'_>) -> Result<(), TopicError> {
        if self.examples.len() == MAX_EXAMPLES {
            self.leaves_out = true;
            return Ok(());
        }
        match CountedExample::of(&example.page) {
            Some(counted) => {
                self.examples.push(counted);
                Ok(())
            }
            None => Err(TopicError::EmptyExample {
                name: example.name.to_owned(),
            }),
        }
    }

    /// Returns true once an example was ignored because there were too many.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.leaves_out
    }

    /// Builds the topic.
    ///
    /// # Errors
    /// Neither words nor examples were given.
    pub fn build(&self) -> Result<(Topic, Vec<Warning>), TopicError> {
        let room = MAX_TOPIC_WORDS - self.given.len();
        let chosen = examples::choose(&self.examples, self.frequencies, room);
        let mut words: Vec<TopicWord> = Vec::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let given = self.given.iter().map(|(word, times)| (word, *times));
        for (word, given) in given.chain(chosen.words.iter().map(|word| (word, 0))) {
            let number = *numbers.entry(base(word)).or_insert(words.len());
            match words.get_mut(number) {
                Some(form) => form.given = form.given.saturating_add(given),
                None => words.push(self.topic_word(word, given)),
            }
        }
        if words.is_empty() {
            return Err(self.no_word());
        }
        let stored = StoredTopic {
            version: TOPIC_VERSION,
            examples: self
                .examples
                .iter()
                .map(|one| stored(one, &numbers))
                .collect(),
            words,
            learns: self.frequencies.is_none(),
            threshold: None,
        };
        let count = self.examples.len();
        let warnings = Warning::of_examples(count, self.leaves_out, chosen.nothing_in_common);
        Ok((Topic::of_stored(stored, HashKey::ZERO), warnings))
    }

    fn no_word(&self) -> TopicError {
        TopicError::NoWord {
            given: self.given_text.chars().take(100).collect(),
        }
    }

    fn topic_word(&self, word: &str, given: u32) -> TopicWord {
        let elsewhere = self
            .frequencies
            .map_or(0.0, |known| examples::share_of(known, word));
        TopicWord {
            word: word.into(),
            given,
            idf: Millionths::of(examples::idf_of(self.frequencies, word)),
            elsewhere: Millionths::of(elsewhere),
        }
    }
}

/// Returns the occurrences of the topic's words in an example. `numbers` maps the base of each word
/// to its number.
fn stored(example: &CountedExample, numbers: &BTreeMap<String, usize>) -> StoredExample {
    let counts = examples::by_base(example).into_iter();
    let counts = counts.filter_map(|(base, times)| Some((*numbers.get(&base)? as u16, times)));
    let mut counts: Vec<(u16, u32)> = counts.collect();
    counts.sort_unstable();
    StoredExample {
        length: u32::try_from(example.length).unwrap_or(u32::MAX),
        counts,
    }
}
