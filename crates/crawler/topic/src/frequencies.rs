//! Document frequencies of the topic's words, learned while crawling.
//!
//! Only the topic's words are counted, by their numbers in the topic, so there are at most
//! [`MAX_TOPIC_WORDS`] counts for any number of pages. The topic is reweighed at 32, 64, 128 …
//! pages ([`DocumentFrequencies::is_due`], [`Topic::reweigh`](crate::Topic::reweigh)): the weights
//! settle, and the number of changes stays small.

use serde::{Deserialize, Serialize};

use crate::judged::Judged;
use crate::word_table::MAX_TOPIC_WORDS;

/// Number of judged pages at the first reweighing.
pub const FIRST_REWEIGHING: u64 = 32;

/// Number of judged pages, in total and per word of the topic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct DocumentFrequencies {
    documents: u64,
    /// Indexed by word number; words beyond the end never occurred.
    counts: Vec<u64>,
}

impl DocumentFrequencies {
    /// Counts a page by its judgement. The topic must have the same words throughout.
    pub fn learn(&mut self, judged: &Judged) {
        self.documents += 1;
        for number in judged.found() {
            if number >= self.counts.len() {
                self.counts.resize(number + 1, 0);
            }
            self.counts[number] += 1;
        }
    }

    /// Returns the number of judged pages.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns true if the topic should be reweighed now: at 32, 64, 128 … pages.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.documents >= FIRST_REWEIGHING && self.documents.is_power_of_two()
    }

    /// Returns the number of pages that contain the word of this number.
    pub(crate) fn of(&self, number: usize) -> u64 {
        self.counts.get(number).copied().unwrap_or(0)
    }
}

/// The written form, before it is checked.
#[derive(Deserialize)]
struct Written {
    documents: u64,
    counts: Vec<u64>,
}

impl TryFrom<Written> for DocumentFrequencies {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { documents, counts } = written;
        if counts.len() > MAX_TOPIC_WORDS {
            return Err(format!(
                "a topic has at most {MAX_TOPIC_WORDS} words, got {}",
                counts.len()
            ));
        }
        match counts.iter().find(|count| **count > documents) {
            Some(count) => Err(format!("{count} of {documents} pages have a word")),
            None => Ok(Self { documents, counts }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Topic;
    use neardup::PageText;

    #[test]
    fn each_word_is_counted_once_a_page() {
        let topic = Topic::of_words("tidal power", None).unwrap();
        let mut frequencies = DocumentFrequencies::default();
        for text in ["power, power, power", "tidal power", "neither"] {
            frequencies.learn(&topic.judge(&PageText::of(text), None));
        }
        assert_eq!(frequencies.documents(), 3);
        // Words are numbered in alphabetical order.
        assert_eq!((frequencies.of(0), frequencies.of(1)), (2, 1));
        assert_eq!(frequencies.of(2), 0);
    }

    #[test]
    fn a_topic_is_weighed_again_at_powers_of_two() {
        let topic = Topic::of_words("tides", None).unwrap();
        let mut frequencies = DocumentFrequencies::default();
        let mut due = Vec::new();
        for _ in 0..300 {
            frequencies.learn(&topic.judge(&PageText::of("tides"), None));
            if frequencies.is_due() {
                due.push(frequencies.documents());
            }
        }
        assert_eq!(due, [32, 64, 128, 256]);
    }

    #[test]
    fn what_is_read_is_checked() {
        let read = |text: &str| serde_json::from_str::<DocumentFrequencies>(text);
        let good = read(r#"{"documents":3,"counts":[3,0,1]}"#).unwrap();
        let written = serde_json::to_string(&good).unwrap();
        assert_eq!(read(&written).unwrap(), good);
        assert!(read(r#"{"documents":3,"counts":[4]}"#).is_err());
        let many = vec!["1"; MAX_TOPIC_WORDS + 1].join(",");
        assert!(read(&format!(r#"{{"documents":3,"counts":[{many}]}}"#)).is_err());
    }
}
