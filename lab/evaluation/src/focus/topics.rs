//! The topics, and which pages are relevant to them, from `lab/evaluation/topics.txt`.

use std::collections::BTreeSet;

use super::hosts::Hosts;

/// The list of topics; its head describes the format.
const LIST: &str = include_str!("../../topics.txt");

/// A topic, its relevant pages and its examples, by their numbers.
#[derive(Clone, Debug)]
pub(crate) struct FocusTopic {
    /// Its place in the list.
    pub(crate) number: usize,
    pub(crate) name: String,
    /// True if formulas and constants may be chosen by it; false if it is only reported.
    pub(crate) chooses: bool,
    pub(crate) words: String,
    pub(crate) examples: Vec<u32>,
    /// The relevant pages, without the examples.
    pub(crate) relevant: BTreeSet<u32>,
}

/// The topics, and the title pages of the manuals.
#[derive(Clone, Debug)]
pub(crate) struct TopicList {
    pub(crate) titles: Vec<u32>,
    pub(crate) topics: Vec<FocusTopic>,
}

impl TopicList {
    /// Reads the list. A line that names no page is an error: a manual has changed.
    pub(crate) fn read(hosts: &Hosts) -> Result<Self, String> {
        Self::parse(LIST, hosts)
    }

    fn parse(list: &str, hosts: &Hosts) -> Result<Self, String> {
        let (mut titles, mut topics) = (Vec::new(), Vec::<FocusTopic>::new());
        let mut exceptions = Vec::new();
        for (line, number) in list.lines().zip(1..) {
            let wrong = |what: &str| format!("topics.txt, line {number}: {what}: {line}");
            let mut words = line.split_whitespace();
            let Some(verb) = words.next().filter(|verb| !verb.starts_with('#')) else {
                continue;
            };
            let rest: Vec<&str> = words.collect();
            if verb == "topic" {
                let [name, part @ ("choose" | "report")] = rest[..] else {
                    return Err(wrong("a name, and choose or report, are expected"));
                };
                topics.push(FocusTopic {
                    number: topics.len(),
                    name: name.to_owned(),
                    chooses: part == "choose",
                    words: String::new(),
                    examples: Vec::new(),
                    relevant: BTreeSet::new(),
                });
                continue;
            }
            let topic = topics.last_mut();
            if verb == "words" {
                topic.ok_or_else(|| wrong("a topic comes first"))?.words = rest.join(" ");
                continue;
            }
            let named = rest.split_first();
            let (name, paths) = named.ok_or_else(|| wrong("a host is expected"))?;
            let host = hosts.host(name).ok_or_else(|| wrong("no such host"))?;
            if verb == "except" {
                exceptions.extend(paths.iter().map(|text| (host, (*text).to_owned())));
                continue;
            }
            for path in paths {
                let pages = pages_at(hosts, host, path);
                if pages.is_empty() {
                    return Err(wrong("no such page"));
                }
                match (verb, topics.last_mut()) {
                    ("title", _) => titles.extend(pages),
                    ("example", Some(topic)) => topic.examples.extend(pages),
                    ("relevant", Some(topic)) => topic.relevant.extend(pages),
                    _ => return Err(wrong("no such verb")),
                }
            }
        }
        for FocusTopic {
            examples, relevant, ..
        } in &mut topics
        {
            relevant.retain(|page| {
                let page = &hosts.pages[*page as usize];
                let is_excepted = |(host, text): &(usize, String)| {
                    *host == page.host && page.path.contains(text.as_str())
                };
                !exceptions.iter().any(is_excepted)
            });
            relevant.retain(|page| !examples.contains(page));
        }
        Ok(Self { titles, topics })
    }
}

/// Returns the pages of a host that a path names; one that ends in `*` names all that begin so.
fn pages_at(hosts: &Hosts, host: usize, path: &str) -> Vec<u32> {
    let Some(start) = path.strip_suffix('*') else {
        return hosts.at(host, path).into_iter().collect();
    };
    let begins = |page: &&u32| {
        let page = &hosts.pages[**page as usize];
        page.host == host && page.path.starts_with(start)
    };
    let all: Vec<u32> = (0..hosts.pages.len() as u32).collect();
    all.iter().filter(begins).copied().collect()
}
