//! Topics as a user gives them, and what they make of all pages and links.

use topic::{DocumentFrequencies, ExampleText, LinkText, Topic, TopicBuilder};

use super::relevance::Documents;
use super::topics::FocusTopic;
use crate::threads;

/// The way in which a topic is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Words,
    Examples,
    Both,
}

impl Given {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Examples => "examples",
            Self::Both => "both",
        }
    }
}

/// A topic, and its judgement of all pages.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) topic: Topic,
    pub(crate) relevance: Vec<f64>,
    pub(crate) threshold: f64,
}

/// Returns the topic of the words, the examples, or both, without frequencies.
pub(crate) fn topic_of(documents: &Documents, topic: &FocusTopic, given: Given) -> Topic {
    let mut builder = TopicBuilder::new(None);
    if given != Given::Examples {
        builder = builder
            .words(&topic.words)
            .expect("the topic has words that count");
    }
    if given != Given::Words {
        for page in &topic.examples {
            let example = ExampleText {
                name: &documents.hosts.pages[*page as usize].path,
                page: documents.pages[*page as usize].page_text(),
            };
            builder
                .example(&example)
                .expect("the example has words that count");
        }
    }
    let (topic, _) = builder.build().expect("the topic has words that count");
    topic
}

impl Made {
    /// Judges all pages, with the rarities that a crawl of every eighth page would learn.
    pub(crate) fn of(documents: &Documents, topic: &FocusTopic, given: Given) -> Self {
        let topic = topic_of(documents, topic, given);
        let judge = |topic: &Topic, page: usize| topic.judge(&documents.pages[page].page_text());
        let count = documents.pages.len();
        let mut frequencies = DocumentFrequencies::default();
        for judged in threads::each(count / 8, |page| judge(&topic, 8 * page)) {
            frequencies.learn(&judged);
        }
        let topic = topic.reweigh(&frequencies);
        let share = |page| judge(&topic, page).relevance.share();
        Self {
            relevance: threads::each(count, share),
            threshold: topic.threshold().share(),
            topic,
        }
    }

    /// Returns the promise of each link, in the order of pages and links.
    pub(crate) fn link_words(&self, documents: &Documents) -> Vec<Vec<f64>> {
        threads::each(documents.pages.len(), |page| {
            let links = documents.pages[page].links.iter();
            let score = |link: &super::link_graph::GraphLink| {
                self.topic.link_score(&LinkText {
                    anchor: &link.anchor,
                    around: &link.around,
                    url: &documents.urls[link.target as usize],
                })
            };
            links.map(score).collect()
        })
    }
}
