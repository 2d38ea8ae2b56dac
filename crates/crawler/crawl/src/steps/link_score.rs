//! The score of a link: which links of a focused crawl are visited first.
//!
//! Three signals make up the score of a link: the topic's words in its anchor, next to it and in
//! its URL (Hersovici et al. 1998, "The shark-search algorithm"), the relevance of the page that
//! contains it (Cho, Garcia-Molina and Page 1998), and the harvest of its URL pattern so far, with
//! its host's harvest as the prior. Their weighted mean falls into one of eight levels, each 0.6 of
//! the level before: most scores are small, and equal steps would lose their order. Within a level,
//! links behind fewer pages off topic in a row go first. A seed always counts like a page that is
//! all about the topic: a user chose it for them.
//!
//! The weights were chosen on half of the topics of `docs/measurements/focus.md`.

use journal::{DiscoveredUrl, Fate, Harvest, Relevance, UrlHarvest, VisitRecord};
use store::Patterns;
use topic::{LinkText, Topic};
use web::{Document, Link, PageUrl};

use crate::context::CrawlContext;
use crate::runtime::focus::JudgedPage;

/// The shares of the three signals; their sum is 1.
const OF_WORDS: f64 = 5.0 / 7.0;
const OF_PAGE: f64 = 1.0 / 7.0;
const OF_PATTERN: f64 = 1.0 / 7.0;

/// Lower bound of a level's score, as a share of the previous level's bound.
const STEP: f64 = 0.6;

/// The longest run of pages off topic that is counted; longer runs count as this one.
const LONGEST_RUN: u8 = 3;

/// The share of pages on topic that is assumed of a host without visits, and the number of visits
/// that an assumption is worth.
const PRIOR: f64 = 0.1;
const PRIOR_VISITS: f64 = 2.0;

/// Minimum threshold that a relevance is divided by.
const MIN_THRESHOLD: f64 = 0.001;

/// The topic of a focused crawl and what it has brought so far, for links without a frontier.
#[derive(Clone, Copy, Debug)]
pub struct LinkScores<'a> {
    /// The topic with its present weights.
    pub topic: &'a Topic,
    /// The harvests of URL patterns and hosts.
    pub patterns: &'a Patterns,
}

/// A page's part in the score of its links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageScore {
    /// The links from a seed to it.
    depth: u32,
    /// The weight of its relevance for its links, 0 to 1.
    weight: f64,
    /// The pages off topic in a row that end with it.
    run: u8,
}

impl PageScore {
    /// Returns the score of a page that was queued as `found` and judged as this. A listing or a
    /// file is not judged: it passes on the run of pages off topic before it.
    pub(crate) fn of(found: &DiscoveredUrl, judged: Option<&JudgedPage>) -> Self {
        match judged {
            None => Self::unjudged(found),
            Some(page) => {
                let is_on_topic = page.is_on_topic();
                Self::judged(found, page.relevance, page.threshold, is_on_topic)
            }
        }
    }

    /// Returns the score of a visit from its record. The recorded verdict counts, even if the
    /// `threshold` of the topic has changed.
    pub(crate) fn recorded(
        found: &DiscoveredUrl,
        visit: &VisitRecord,
        threshold: Relevance,
    ) -> Self {
        match visit.details.relevance {
            None => Self::unjudged(found),
            Some(relevance) => {
                let is_on_topic = visit.fate != Fate::OffTopic;
                Self::judged(found, relevance, threshold, is_on_topic)
            }
        }
    }

    fn unjudged(found: &DiscoveredUrl) -> Self {
        let score = found.link_score().map(DiscoveredUrl::level_and_run);
        Self {
            depth: found.depth,
            weight: 0.5,
            run: score.map_or(0, |(_, run)| run),
        }
    }

    fn judged(
        found: &DiscoveredUrl,
        relevance: Relevance,
        threshold: Relevance,
        is_on_topic: bool,
    ) -> Self {
        let before = Self::unjudged(found);
        if found.depth == 0 && found.via.is_none() {
            // The user chose it, and it may be no more than a list of links.
            return Self {
                weight: 1.0,
                ..before
            };
        }
        let threshold = threshold.share().max(MIN_THRESHOLD);
        Self {
            // A page at the threshold has half the weight.
            weight: (relevance.share() / (2.0 * threshold)).min(1.0),
            run: match is_on_topic {
                true => 0,
                false => (before.run + 1).min(LONGEST_RUN),
            },
            ..before
        }
    }

    /// Gives each page among the links of this one its score, in a crawl with a topic.
    /// `document` has their words.
    pub(crate) fn score_links(
        self,
        context: &CrawlContext,
        document: Option<&Document>,
        links: Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let Some(focus) = &context.focus else {
            return links;
        };
        let harvests = context.frontier.harvests(&links);
        self.score_links_by(focus.topic().as_deref(), &harvests, document, links)
    }

    /// Gives each page among the links of this one its score by this topic, as a crawl does.
    pub(crate) fn rescore_links(
        self,
        link_scores: Option<LinkScores<'_>>,
        document: Option<&Document>,
        links: Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let Some(LinkScores { topic, patterns }) = link_scores else {
            return links;
        };
        self.score_links_by(Some(topic), &patterns.harvests(&links), document, links)
    }

    /// `topic` is `None` until the first seed of a topic of the seeds is read: then no words count.
    fn score_links_by(
        self,
        topic: Option<&Topic>,
        harvests: &[UrlHarvest],
        document: Option<&Document>,
        links: Vec<DiscoveredUrl>,
    ) -> Vec<DiscoveredUrl> {
        let mut words = LinkWords::of(document);
        let scored = links.into_iter().zip(harvests).map(|(link, harvest)| {
            // Requisites have no topic, and neither have sitemaps, which have the depth of their
            // index. What duplicates link to stays behind all others.
            if link.requisite > 0 || link.depth <= self.depth || link.is_probed() {
                return link;
            }
            let words = topic.map_or(0.0, |topic| words.share(topic, &link.url));
            link.with_link_score(self.score_link(words, harvest))
        });
        scored.collect()
    }

    /// Returns the score of a link of this page. `words` is the share of the topic in the words
    /// of the link.
    fn score_link(self, words: f64, harvest: &UrlHarvest) -> u8 {
        let host = expected(harvest.host, PRIOR);
        let score =
            OF_WORDS * words + OF_PAGE * self.weight + OF_PATTERN * expected(harvest.pattern, host);
        level(score) * (LONGEST_RUN + 1) + self.run
    }
}

/// The words of a document's links, in the order of the document.
struct LinkWords<'a> {
    links: &'a [Link],
    /// The place behind the link that was looked up last.
    next: usize,
}

impl<'a> LinkWords<'a> {
    fn of(document: Option<&'a Document>) -> Self {
        Self {
            links: document.map_or(&[][..], |document| &document.links),
            next: 0,
        }
    }

    /// Returns the share of the topic in the words of the link with this URL, 0 to 1.
    fn share(&mut self, topic: &Topic, url: &PageUrl) -> f64 {
        let link = self.find(url);
        let context = link.and_then(|link| link.context.as_ref());
        topic.link_score(&LinkText {
            anchor: link.map_or("", |link| &link.anchor),
            around: context.map_or("", |context| &context.around),
            url,
        })
    }

    /// Finds the link with this URL. Links are queued in the order of the document, except for the
    /// canonical page, which comes first: so a search from the last place on finds nearly all at
    /// once.
    fn find(&mut self, url: &PageUrl) -> Option<&'a Link> {
        let (before, behind) = self.links.split_at(self.next);
        let is_it = |link: &Link| link.url == *url;
        let place = match behind.iter().position(is_it) {
            Some(place) => self.next + place,
            None => before.iter().position(is_it)?,
        };
        self.next = place + 1;
        self.links.get(place)
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
    use web::{CanonicalForm, ReadLimits, ResponseMetadata};

    use super::*;

    const GOOD: PageScore = PageScore {
        depth: 0,
        weight: 1.0,
        run: 0,
    };
    const POOR: PageScore = PageScore {
        depth: 0,
        weight: 0.0,
        run: 0,
    };

    #[test]
    fn a_link_scores_better_with_better_words_page_and_pattern() {
        let none = UrlHarvest::default();
        let rich = Some(Harvest {
            judged: 100,
            on_topic: 100,
        });
        let good_place = UrlHarvest {
            pattern: rich,
            host: rich,
        };
        assert!(GOOD.score_link(0.0, &none) < POOR.score_link(0.0, &none));
        assert!(POOR.score_link(1.0, &none) < POOR.score_link(0.0, &none));
        assert!(POOR.score_link(0.2, &good_place) < POOR.score_link(0.2, &none));
        assert_eq!(GOOD.score_link(1.0, &good_place), 0);
        let poor = Some(Harvest {
            judged: 1000,
            on_topic: 0,
        });
        let poor_place = UrlHarvest {
            pattern: poor,
            host: poor,
        };
        assert_eq!(
            POOR.score_link(0.0, &poor_place),
            DiscoveredUrl::LINK_SCORES - 4
        );
    }

    /// A page that only names hosts is off topic, and its links waited behind all others.
    #[test]
    fn a_seed_speaks_for_its_links_like_a_page_all_about_the_topic_and_other_pages_do_not() {
        let form = CanonicalForm::default();
        let url = PageUrl::parse("http://a.test/", &form).unwrap();
        let off_topic = JudgedPage {
            relevance: Relevance::NONE,
            threshold: Relevance::from_thousandths(300),
            words: Vec::new(),
        };
        let of = |via| PageScore::of(&DiscoveredUrl::new(url.clone(), 0, via), Some(&off_topic));
        let score = |page: PageScore| page.score_link(0.0, &UrlHarvest::default());
        assert_eq!(score(of(None)), score(GOOD));
        let redirected = of(Some(url.clone()));
        assert_eq!(score(redirected), score(POOR) + 1, "one page off topic");
    }

    #[test]
    fn of_links_of_one_level_those_behind_fewer_pages_off_topic_go_first() {
        let after = |run| PageScore { run, ..POOR }.score_link(0.5, &UrlHarvest::default());
        for run in 0..LONGEST_RUN {
            assert!(after(run) < after(run + 1), "{run}");
        }
        let level_and_run = DiscoveredUrl::level_and_run(after(LONGEST_RUN));
        assert_eq!(level_and_run, (1, LONGEST_RUN));
    }

    #[test]
    fn each_link_has_its_own_words_also_where_the_canonical_page_comes_first() {
        let form = CanonicalForm::default();
        let at = PageUrl::parse("http://a.test/", &form).unwrap();
        let page = "<a href=/1>one</a><a href=/2>two</a><a href=/3>three</a><a href=/4>four</a>";
        let hints = ResponseMetadata {
            content_type: Some("text/html"),
            ..ResponseMetadata::of(&at)
        };
        let document = web::read(page.as_bytes(), &hints, &form, &ReadLimits::default());
        let mut words = LinkWords::of(Some(&document));
        let mut found = |path: &str| words.find(&at.join(path, &form).unwrap());
        let mut anchor = |path: &str| found(path).map(|link| link.anchor.as_str());
        // The second one is left out, and the last one is on another page.
        for (path, expected) in [
            ("/3", Some("three")),
            ("/1", Some("one")),
            ("/4", Some("four")),
            ("/5", None),
        ] {
            assert_eq!(anchor(path), expected, "{path}");
        }
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
