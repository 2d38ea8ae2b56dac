//! A plain scan of all pages for some queries, as the pages are generated. The prose is ASCII, so a
//! word is a run of letters and digits, in lower case.

use std::collections::HashSet;

use sinks::IndexText;
use testkit::Random;
use web::{Exchange, Timestamp};

/// Words of the first pages, from which queries are made.
const SPOKEN: usize = 60_000;

/// The object of a query.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Words(Vec<String>),
    Host(String),
    After(u64),
    Before(u64),
    All(Vec<Asked>),
    Any(Vec<Asked>),
    Not(Box<Asked>),
}

/// A generated page.
struct Page {
    words: Vec<Vec<String>>,
    has: HashSet<String>,
    host: String,
    at: u64,
}

/// The place of a page: its file and offset.
type Place = (String, u64);

/// The kinds of queries, and the number of each in ten queries.
pub(crate) const KINDS: [(&str, usize); 9] = [
    ("a word", 2),
    ("two in a row", 1),
    ("three in a row", 1),
    ("two words", 1),
    ("three words and two in a row", 1),
    ("a word or two in a row", 1),
    ("a word, another not", 1),
    ("a word, of a host", 1),
    ("a word, of a day", 1),
];

/// The words, sites and dates from which queries are made.
pub(crate) struct Topics {
    spoken: Vec<String>,
    hosts: Vec<String>,
    times: Vec<u64>,
}

/// Queries, and the pages that they find.
pub(crate) struct Scan {
    asked: Vec<Asked>,
    found: Vec<Vec<usize>>,
    places: Vec<Place>,
}

impl Topics {
    /// Returns the topics of this many pages, in order, with the words of the first of them.
    pub(crate) fn of(
        pages: usize,
        mut page: impl FnMut(usize) -> (String, u64),
        mut text: impl FnMut(usize) -> String,
    ) -> Self {
        let mut spoken = Vec::new();
        for number in 0..pages {
            if spoken.len() >= SPOKEN {
                break;
            }
            spoken.extend(words(&text(number)));
        }
        let (hosts, times) = (0..pages).map(&mut page).unzip();
        Self {
            spoken,
            hosts,
            times,
        }
    }

    /// Returns a query of any kind with words of some page, and the number of its kind.
    pub(crate) fn query(&self, random: &mut Random) -> (usize, Asked) {
        let one = |random: &mut Random| {
            Asked::Words(vec![self.spoken[random.below(self.spoken.len())].clone()])
        };
        let phrase = |random: &mut Random, length: usize| {
            let start = random.below(self.spoken.len() - length);
            Asked::Words(self.spoken[start..start + length].to_vec())
        };
        let some = random.below(self.hosts.len());
        let kinds = KINDS.iter().enumerate();
        let kinds: Vec<usize> = kinds
            .flat_map(|(kind, (_, often))| vec![kind; *often])
            .collect();
        let kind = kinds[random.below(kinds.len())];
        let asked = match kind {
            0 => one(random),
            1 => phrase(random, 2),
            2 => phrase(random, 3),
            3 => Asked::All(vec![one(random), one(random)]),
            4 => Asked::All(vec![
                one(random),
                one(random),
                one(random),
                phrase(random, 2),
            ]),
            5 => Asked::Any(vec![one(random), phrase(random, 2)]),
            6 => Asked::All(vec![one(random), Asked::Not(Box::new(one(random)))]),
            7 => Asked::All(vec![one(random), Asked::Host(self.hosts[some].clone())]),
            _ => Asked::All(vec![
                one(random),
                Asked::After(self.times[some]),
                Asked::Before(self.times[some] + 24 * 3_600_000),
            ]),
        };
        (kind, asked)
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
    runs.filter(|run| !run.is_empty())
        .map(str::to_ascii_lowercase)
}

impl Scan {
    /// Creates this number of queries.
    pub(crate) fn new(topics: &Topics, count: usize, seed: u64) -> Self {
        let random = &mut Random::of(seed, 99);
        Self {
            asked: (0..count).map(|_| topics.query(random).1).collect(),
            found: vec![Vec::new(); count],
            places: Vec::new(),
        }
    }

    /// Scans the next page.
    pub(crate) fn add(&mut self, exchange: &Exchange, text: &IndexText) {
        let words: Vec<Vec<String>> = vec![
            words(text.title.as_deref().unwrap_or_default()).collect(),
            words(&text.text).collect(),
        ];
        let page = Page {
            has: words.iter().flatten().cloned().collect(),
            host: exchange
                .url
                .as_url()
                .host_str()
                .unwrap_or_default()
                .to_owned(),
            at: exchange.started.as_millis(),
            words,
        };
        for (asked, found) in self.asked.iter().zip(&mut self.found) {
            if asked.fits(&page) {
                found.push(self.places.len());
            }
        }
    }

    /// Records the place of the page that was added last.
    pub(crate) fn place(&mut self, file: String, offset: u64) {
        self.places.push((file, offset));
    }

    /// Returns the queries with the places of their hits.
    pub(crate) fn results(self) -> Vec<(Asked, Vec<Place>)> {
        let places = &self.places;
        let found = self
            .found
            .iter()
            .map(|found| found.iter().map(|&number| places[number].clone()).collect());
        self.asked
            .into_iter()
            .zip(found.collect::<Vec<_>>())
            .collect()
    }
}

impl Asked {
    fn fits(&self, page: &Page) -> bool {
        match self {
            Self::Words(words) => {
                words.iter().all(|word| page.has.contains(word))
                    && page
                        .words
                        .iter()
                        .any(|part| part.windows(words.len()).any(|some| some == words))
            }
            Self::Host(host) => page.host == *host,
            Self::After(time) => page.at >= *time,
            Self::Before(time) => page.at < *time,
            Self::All(all) => all.iter().all(|one| one.fits(page)),
            Self::Any(any) => any.iter().any(|one| one.fits(page)),
            Self::Not(not) => !not.fits(page),
        }
    }

    /// Returns the query as a user would type it.
    pub(crate) fn typed(&self) -> String {
        let list = |all: &[Self], joint: &str| {
            let typed: Vec<String> = all.iter().map(Self::typed).collect();
            format!("({})", typed.join(joint))
        };
        match self {
            Self::Words(words) => format!("\"{}\"", words.join(" ")),
            Self::Host(host) => format!("host:{host}"),
            Self::After(time) => format!("after:{}", Timestamp::from_millis(*time)),
            Self::Before(time) => format!("before:{}", Timestamp::from_millis(*time)),
            Self::All(all) => list(all, " "),
            Self::Any(any) => list(any, " OR "),
            Self::Not(not) => format!("-{}", not.typed()),
        }
    }
}
