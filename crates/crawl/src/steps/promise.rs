//! The promise of a link: which links of a focused crawl are visited first.
//!
//! Three witnesses speak for a link: the topic's words in its anchor, beside it and in its URL
//! (Hersovici et al. 1998, "The shark-search algorithm"), the relevance of the page that has it
//! (Cho, Garcia-Molina and Page 1998), and the harvest of its URL pattern so far, with that of its
//! host before the pattern has one. Their weighted mean falls into one of eight levels, each 0.6 of
//! the one before it: most promises are small, and equal steps would throw their order away. Within
//! a level, links behind fewer pages off topic in a row go first.
//!
//! The weights were chosen on half of the topics of `docs/measurements/focus.md`.

use std::collections::HashMap;
use std::sync::Arc;

use store::{DiscoveredUrl, Harvest, UrlHarvest};
use topic::{LinkText, Topic};
use web::{Document, Link, PageUrl};

use crate::context::CrawlContext;
use crate::runtime::focus::JudgedPage;

/// The shares of the witnesses; their sum is 1.
const OF_WORDS: f64 = 5.0 / 7.0;
const OF_PAGE: f64 = 1.0 / 7.0;
const OF_PATTERN: f64 = 1.0 / 7.0;

/// The least score of a level, in parts of that of the level before it.
const STEP: f64 = 0.6;

/// The longest run of pages off topic that is counted; longer runs count as this one.
const LONGEST_RUN: u8 = 3;

/// The share of pages on topic that is assumed of a host without visits, and the number of visits
/// that an assumption is worth.
const PRIOR: f64 = 0.1;
const PRIOR_VISITS: f64 = 2.0;

/// The page that has the links, as far as their promise depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parent<'a> {
    found: &'a DiscoveredUrl,
    judged: Option<&'a JudgedPage>,
}

impl<'a> Parent<'a> {
    /// Returns the page that was queued as `found` and judged as this. A listing or a file is not
    /// judged: it passes on the run of pages off topic that led to it.
    pub(crate) const fn of(found: &'a DiscoveredUrl, judged: Option<&'a JudgedPage>) -> Self {
        Self { found, judged }
    }

    /// Gives each page among these links its promise, in a crawl with a topic. `document` has
    /// their words.
    pub(crate) fn promise(
        self,
        context: &CrawlContext,
        document: Option<&Document>,
        links: Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let Some(focus) = &context.focus else {
            return links;
        };
        let harvests = context.frontier.harvests(&links);
        let words = LinkWords::of(document);
        let (topic, witness) = (focus.topic(), self.witness());
        let promised = links.into_iter().zip(harvests).map(|(link, harvest)| {
            // Requisites have no topic, and what duplicates link to stays behind all others.
            if link.requisite > 0 || link.is_probed() {
                return link;
            }
            // Before the first seed has said the topic there are no words.
            let of_words = |topic: &Arc<Topic>| words.share(topic, &link.url);
            let words = topic.as_ref().map_or(0.0, of_words);
            let promise = witness.promise(words, &harvest);
            link.promising(promise)
        });
        promised.collect()
    }

    fn witness(self) -> PageWitness {
        let promise = self.found.promise().map(DiscoveredUrl::level_and_run);
        let before = promise.map_or(0, |(_, run)| run);
        let Some(judged) = self.judged else {
            return PageWitness {
                speaks: 0.5,
                run: before,
            };
        };
        let threshold = judged.threshold.share().max(LEAST_THRESHOLD);
        PageWitness {
            // A page at the threshold speaks half for its links.
            speaks: (judged.relevance.share() / (2.0 * threshold)).min(1.0),
            run: match judged.is_on_topic() {
                true => 0,
                false => (before + 1).min(LONGEST_RUN),
            },
        }
    }
}

/// The least threshold that a relevance is divided by.
const LEAST_THRESHOLD: f64 = 0.001;

/// The page's part in the promise of its links.
#[derive(Clone, Copy, Debug)]
struct PageWitness {
    /// The weight of its relevance for its links, 0 to 1.
    speaks: f64,
    /// The pages off topic in a row that end with it.
    run: u8,
}

impl PageWitness {
    /// Returns the promise of a link of this page. `words` is the share of the topic in the words
    /// of the link.
    fn promise(self, words: f64, harvest: &UrlHarvest) -> u8 {
        let host = expected(harvest.host, PRIOR);
        let score =
            OF_WORDS * words + OF_PAGE * self.speaks + OF_PATTERN * expected(harvest.pattern, host);
        level(score) * (LONGEST_RUN + 1) + self.run
    }
}

/// The words of a document's links, by URL.
struct LinkWords<'a>(HashMap<&'a PageUrl, &'a Link>);

impl<'a> LinkWords<'a> {
    fn of(document: Option<&'a Document>) -> Self {
        let links = document.into_iter().flat_map(|document| &document.links);
        Self(links.map(|link| (&link.url, link)).collect())
    }

    /// Returns the share of the topic in the words of the link with this URL, 0 to 1.
    fn share(&self, topic: &Topic, url: &PageUrl) -> f64 {
        let link = self.0.get(url);
        let context = link.and_then(|link| link.context.as_ref());
        topic.link_score(&LinkText {
            anchor: link.map_or("", |link| &link.anchor),
            around: context.map_or("", |context| &context.around),
            url,
        })
    }
}

/// Returns the level of a score from 0 to 1: 0 is the best.
fn level(score: f64) -> u8 {
    let mut least = STEP;
    for level in 0..DiscoveredUrl::LEVELS - 1 {
        if score >= least {
            return level;
        }
        least *= STEP;
    }
    DiscoveredUrl::LEVELS - 1
}

/// Returns the share of pages on topic that a harvest makes likely, where `prior` is assumed of one
/// without visits.
fn expected(harvest: Option<Harvest>, prior: f64) -> f64 {
    let harvest = harvest.unwrap_or_default();
    let visits = f64::from(harvest.judged) + PRIOR_VISITS;
    (f64::from(harvest.on_topic) + prior * PRIOR_VISITS) / visits
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: PageWitness = PageWitness {
        speaks: 1.0,
        run: 0,
    };
    const POOR: PageWitness = PageWitness {
        speaks: 0.0,
        run: 0,
    };

    #[test]
    fn a_link_is_better_the_more_its_witnesses_speak_for_it() {
        let none = UrlHarvest::default();
        let rich = Some(Harvest {
            judged: 100,
            on_topic: 100,
        });
        let good_place = UrlHarvest {
            pattern: rich,
            host: rich,
        };
        assert!(GOOD.promise(0.0, &none) < POOR.promise(0.0, &none));
        assert!(POOR.promise(1.0, &none) < POOR.promise(0.0, &none));
        assert!(POOR.promise(0.2, &good_place) < POOR.promise(0.2, &none));
        assert_eq!(GOOD.promise(1.0, &good_place), 0);
        let poor = Some(Harvest {
            judged: 1000,
            on_topic: 0,
        });
        let poor_place = UrlHarvest {
            pattern: poor,
            host: poor,
        };
        assert_eq!(POOR.promise(0.0, &poor_place), DiscoveredUrl::PROMISES - 4);
    }

    #[test]
    fn of_links_of_one_level_those_behind_fewer_pages_off_topic_go_first() {
        let after = |run| PageWitness { run, ..POOR }.promise(0.5, &UrlHarvest::default());
        for run in 0..LONGEST_RUN {
            assert!(after(run) < after(run + 1), "{run}");
        }
        let level_and_run = DiscoveredUrl::level_and_run(after(LONGEST_RUN));
        assert_eq!(level_and_run, (1, LONGEST_RUN));
    }

    #[test]
    fn scores_fall_into_eight_levels_each_six_tenths_of_the_one_before() {
        for (score, expected) in [
            (1.0, 0),
            (0.6, 0),
            (0.599, 1),
            (0.36, 1),
            (0.359, 2),
            (0.028, 6),
            (0.027, 7),
            (0.0, 7),
            (f64::NAN, 7),
        ] {
            assert_eq!(level(score), expected, "{score}");
        }
    }
}
