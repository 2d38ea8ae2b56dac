//! Sets of seeds: the pages that a crawl begins with.
//!
//! Users begin a crawl with what they have at hand, and a figure of one set of seeds may be due to
//! these seeds. The rules of the sets, [`SeedSet`], were written before any crawl began with them.
//! All of them need a hub, a page that names title pages of manuals (Kleinberg 1999). It is made
//! here, on a host of its own.

use std::collections::BTreeSet;

use super::hosts::Hosts;
use super::topics::{FocusTopic, TopicList};

/// A rule for the seeds of a crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedSet {
    /// A hub that names all title pages.
    Titles,
    /// The same hub, and the topic's example pages: those of a user who knows some pages.
    Examples,
    /// A hub that names the title pages of the hosts without a relevant page, and links to a second
    /// hub, which names the other title pages. So every relevant page is behind a page off topic.
    /// An example is a relevant page here. If every host has relevant pages, the first hub names
    /// those of the hosts with the fewest.
    Elsewhere,
}

impl SeedSet {
    pub(crate) const ALL: [Self; 3] = [Self::Titles, Self::Examples, Self::Elsewhere];

    /// Returns the rule in the words of the report.
    pub(crate) const fn rule(self) -> &'static str {
        match self {
            Self::Titles => "*titles*: a page that names all title pages.",
            Self::Examples => {
                "*examples*: the same page, and the topic's own example pages: the seeds of a user \
                 who has some pages at hand."
            }
            Self::Elsewhere => {
                "*elsewhere*: a page that names the title pages of the hosts without a relevant \
                 page for the topic, or, if every host has one, of the hosts with the fewest. It \
                 links to a second page, which names the other title pages. So the seeds are far \
                 from the topic."
            }
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Titles => "titles",
            Self::Examples => "examples",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// The hubs, by their numbers.
#[derive(Debug)]
pub(crate) struct Hubs {
    titles: u32,
    /// The first hub of [`SeedSet::Elsewhere`], by the number of the topic.
    elsewhere: Vec<u32>,
}

impl Hubs {
    /// Adds the hubs to the pages of the hosts.
    pub(crate) fn add(hosts: &mut Hosts, list: &TopicList) -> Self {
        let all = hub(hosts, &list.titles, None);
        let titles = hosts.add_hub(all);
        let mut elsewhere = Vec::new();
        for topic in &list.topics {
            let (far, near) = far_and_near(hosts, &list.titles, topic);
            let second = hub(hosts, &near, None);
            let second = hosts.add_hub(second);
            let first = hub(hosts, &far, Some(second));
            elsewhere.push(hosts.add_hub(first));
        }
        Self { titles, elsewhere }
    }

    /// Returns the seeds of a crawl about a topic.
    pub(crate) fn seeds(&self, set: SeedSet, topic: &FocusTopic) -> Vec<u32> {
        match set {
            SeedSet::Titles => vec![self.titles],
            SeedSet::Examples => [&[self.titles], topic.examples.as_slice()].concat(),
            SeedSet::Elsewhere => vec![self.elsewhere[topic.number]],
        }
    }
}

/// Returns the title pages of the hosts with the fewest relevant pages, and the other ones.
fn far_and_near(hosts: &Hosts, titles: &[u32], topic: &FocusTopic) -> (Vec<u32>, Vec<u32>) {
    let mut relevant = vec![0; hosts.names.len()];
    let pages: BTreeSet<&u32> = topic.relevant.iter().chain(&topic.examples).collect();
    for page in pages {
        relevant[hosts.pages[*page as usize].host] += 1;
    }
    let of_host = |title: &u32| relevant[hosts.pages[*title as usize].host];
    let fewest = titles.iter().map(of_host).min().unwrap_or(0);
    titles.iter().partition(|title| of_host(title) == fewest)
}

/// Returns a page that names the hosts of title pages, and links to a further hub.
fn hub(hosts: &Hosts, titles: &[u32], further: Option<u32>) -> String {
    let mut page = String::from("<!DOCTYPE html><title>Manuals</title><h1>Manuals</h1><ul>");
    for title in titles {
        let name = &hosts.names[hosts.pages[*title as usize].host];
        page.push_str(&format!("<li><a href=\"{}\">{name}</a>", hosts.url(*title)));
    }
    if let Some(further) = further {
        let url = hosts.url(further);
        page.push_str(&format!("<li><a href=\"{url}\">More manuals</a>"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three hosts of a title page and two more pages each, numbered in this order.
    fn hosts() -> Hosts {
        let pages = [("/", ""), ("/1", ""), ("/2", "")];
        Hosts::of_pages(&["a", "b", "c"].map(|name| (name, &pages[..])))
    }

    fn topic(relevant: &[u32], examples: &[u32]) -> FocusTopic {
        FocusTopic {
            number: 0,
            name: "tides".to_owned(),
            chooses: true,
            words: "tides".to_owned(),
            examples: examples.to_vec(),
            relevant: relevant.iter().copied().collect(),
        }
    }

    #[test]
    fn the_far_hosts_are_those_with_the_fewest_relevant_pages() {
        let titles = [0, 3, 6];
        for (relevant, examples, far) in [
            (&[1, 2][..], &[][..], &[3, 6][..]),
            (&[1, 2], &[4], &[6]),
            (&[1, 2, 4, 7, 8], &[], &[3]),
            (&[], &[], &[0, 3, 6]),
        ] {
            let (found, near) = far_and_near(&hosts(), &titles, &topic(relevant, examples));
            assert_eq!((&*found, found.len() + near.len()), (far, titles.len()));
        }
    }

    #[test]
    fn the_second_hub_names_what_the_first_one_does_not() {
        let mut hosts = hosts();
        let list = TopicList {
            titles: vec![0, 3, 6],
            topics: vec![topic(&[4], &[1])],
        };
        let hubs = Hubs::add(&mut hosts, &list);
        let seeds = |set| hubs.seeds(set, &list.topics[0]);
        assert_eq!(seeds(SeedSet::Titles), [9]);
        assert_eq!(seeds(SeedSet::Examples), [9, 1]);
        assert_eq!(seeds(SeedSet::Elsewhere), [11]);
        let text = |page: usize| String::from_utf8(hosts.pages[page].read().unwrap()).unwrap();
        let named = |page| ["//a.", "//b.", "//c.", "/2.html"].map(|url| text(page).contains(url));
        assert_eq!(named(9), [true, true, true, false]);
        assert_eq!(named(10), [true, true, false, false]);
        assert_eq!(named(11), [false, false, true, true]);
    }
}
