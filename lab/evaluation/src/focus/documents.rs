//! The documents of the evaluation, and its topics as a user gives them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use topic::{DocumentFrequencies, ExampleText, LinkText, Topic, TopicBuilder};
use web::PageUrl;

use super::hosts::Hosts;
use super::judged::{Bags, hashes};
use super::learning::{Features, WEIGHTS};
use super::link_graph::{self, GraphLink, ReadPage};
use super::seeds::Hubs;
use super::topics::{FocusTopic, TopicList};
use crate::threads;

/// The documents of the evaluation, read.
pub(crate) struct Documents {
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) hubs: Hubs,
    pub(crate) pages: Vec<ReadPage>,
    pub(crate) urls: Vec<PageUrl>,
    /// The words of the manuals' pages.
    pub(crate) bags: Bags,
    pub(crate) list: TopicList,
    /// The number of the directory of each page.
    pub(crate) directory_of: Vec<usize>,
    /// The directories, with their hosts.
    pub(crate) directories: Vec<String>,
    /// The topics as users give them, by [`Given`]; made when they are first asked for.
    made: Vec<[OnceLock<Made>; 3]>,
}

impl Documents {
    pub(crate) fn read(manuals: &Path) -> Result<Self, String> {
        let hosts = Hosts::find(manuals).map_err(|why| why.to_string())?;
        let list = TopicList::read(&hosts)?;
        Self::of(hosts, list)
    }

    /// Reads the pages of the hosts, and adds the hubs.
    pub(crate) fn of(mut hosts: Hosts, list: TopicList) -> Result<Self, String> {
        let hubs = Hubs::add(&mut hosts, &list);
        let pages = link_graph::read_all(&hosts).map_err(|why| why.to_string())?;
        let bags = Bags::of(&pages[..hosts.manual_pages]);
        let (directories, directory_of) = directories(&hosts);
        let made = list.topics.iter().map(|_| Default::default()).collect();
        let urls = (0..pages.len() as u32)
            .map(|page| hosts.url(page))
            .collect();
        Ok(Self {
            hosts: Arc::new(hosts),
            hubs,
            pages,
            urls,
            bags,
            list,
            directory_of,
            directories,
            made,
        })
    }

    /// Returns a topic in one of the ways in which it is given.
    pub(crate) fn made(&self, topic: &FocusTopic, given: Given) -> &Made {
        self.made[topic.number][given as usize].get_or_init(|| Made::of(self, topic, given))
    }

    /// Returns the words of a link that a model learns from, hashed, with its parent's relevance.
    pub(crate) fn link_features(&self, link: &GraphLink, from_on_topic: bool) -> Features {
        let page = &self.hosts.pages[link.target as usize];
        let name = &self.hosts.names[page.host];
        let text = format!("{} {name} {}", link.anchor, page.path);
        let mut features: Features = hashes(&text.replace(['/', '.', '_', '-'], " "))
            .into_iter()
            .map(|hash| (hash % (WEIGHTS as u64 - 2)) as u32 + 2)
            .collect();
        features.push(u32::from(from_on_topic));
        features.sort_unstable();
        features.dedup();
        features
    }
}

/// Returns the directories of the pages, and the number of the directory of each page.
fn directories(hosts: &Hosts) -> (Vec<String>, Vec<usize>) {
    let mut numbers = BTreeMap::new();
    let mut of_pages = Vec::with_capacity(hosts.pages.len());
    for page in &hosts.pages {
        let end = page.path.rfind('/').unwrap_or(0);
        let directory = format!("{}{}", hosts.names[page.host], &page.path[..end]);
        let next = numbers.len();
        of_pages.push(*numbers.entry(directory).or_insert(next));
    }
    let mut names: Vec<(usize, String)> = numbers
        .into_iter()
        .map(|(name, number)| (number, name))
        .collect();
    names.sort_unstable();
    (names.into_iter().map(|(_, name)| name).collect(), of_pages)
}

/// The way in which a topic is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Given {
    Words,
    Examples,
    Both,
}

impl Given {
    pub(crate) const ALL: [Self; 3] = [Self::Words, Self::Examples, Self::Both];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Examples => "examples",
            Self::Both => "both",
        }
    }
}

/// A topic, and its judgement of the manuals' pages.
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
    /// Judges the manuals' pages, with the rarities that a crawl of every eighth page would learn.
    pub(crate) fn of(documents: &Documents, topic: &FocusTopic, given: Given) -> Self {
        let topic = topic_of(documents, topic, given);
        let judge = |topic: &Topic, page: usize| {
            topic.judge(
                &documents.pages[page].page_text(),
                Some(&documents.urls[page]),
            )
        };
        let count = documents.hosts.manual_pages;
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

    /// Returns the score of each link, in the order of pages and links.
    pub(crate) fn link_words(&self, documents: &Documents) -> Vec<Vec<f64>> {
        threads::each(documents.pages.len(), |page| {
            let links = documents.pages[page].links.iter();
            let score = |link: &GraphLink| {
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
