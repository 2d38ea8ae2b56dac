//! A plain scan of all pages for some queries, while they pass: the prose is ASCII, so a word is a run of letters and digits, in small letters.

use std::collections::HashSet;

use sinks::IndexText;
use testkit::Random;
use web::{Exchange, Timestamp};

/// Words of the first pages, from which queries are made.
const SPOKEN: usize = 60_000;
/// Pages that pass before the queries are made; they are looked at again then.
const FIRST: usize = 300;

/// What is looked for.
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

/// A page on its way.
struct Page {
    words: Vec<Vec<String>>,
    has: HashSet<String>,
    host: String,
    at: u64,
}

/// Where a page is: its file, its offset.
type Place = (String, u64);

/// Some queries, and the pages that they find.
pub(crate) struct Scan {
    count: usize,
    asked: Vec<Asked>,
    found: Vec<Vec<usize>>,
    spoken: Vec<String>,
    hosts: Vec<String>,
    times: Vec<u64>,
    first: Vec<Page>,
    places: Vec<Place>,
}

impl Scan {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            count,
            asked: Vec::new(),
            found: vec![Vec::new(); count],
            spoken: Vec::new(),
            hosts: Vec::new(),
            times: Vec::new(),
            first: Vec::new(),
            places: Vec::new(),
        }
    }

    /// The next page.
    pub(crate) fn add(&mut self, exchange: &Exchange, text: &IndexText, seed: u64) {
        let words = |text: &str| -> Vec<String> {
            let runs = text.split(|c: char| !c.is_ascii_alphanumeric());
            runs.filter(|run| !run.is_empty())
                .map(str::to_ascii_lowercase)
                .collect()
        };
        let words = vec![
            words(text.title.as_deref().unwrap_or_default()),
            words(&text.text),
        ];
        let page = Page {
            has: words.iter().flatten().cloned().collect(),
            host: exchange.url.as_url().host_str().unwrap_or_default().to_owned(),
            at: exchange.started.as_millis(),
            words,
        };
        if self.spoken.len() < SPOKEN {
            self.spoken.extend(page.words[1].iter().cloned());
        }
        self.hosts.push(page.host.clone());
        self.times.push(page.at);
        if !self.asked.is_empty() {
            let number = self.places.len();
            self.look_at(number, &page);
            return;
        }
        self.first.push(page);
        if self.first.len() == FIRST {
            self.ask(seed);
        }
    }

    fn ask(&mut self, seed: u64) {
        let random = &mut Random::of(seed, 99);
        self.asked = (0..self.count).map(|_| self.any_query(random)).collect();
        for (number, page) in std::mem::take(&mut self.first).into_iter().enumerate() {
            self.look_at(number, &page);
        }
    }

    fn look_at(&mut self, number: usize, page: &Page) {
        for (asked, found) in self.asked.iter().zip(&mut self.found) {
            if asked.fits(page) {
                found.push(number);
            }
        }
    }

    /// Where the page that was added last is.
    pub(crate) fn place(&mut self, file: String, offset: u64) {
        self.places.push((file, offset));
    }

    /// The queries with the places of what they find.
    pub(crate) fn results(mut self) -> Vec<(Asked, Vec<Place>)> {
        if self.asked.is_empty() {
            self.ask(1);
        }
        let places = &self.places;
        let found = self
            .found
            .iter()
            .map(|found| found.iter().map(|&number| places[number].clone()).collect());
        self.asked.into_iter().zip(found.collect::<Vec<_>>()).collect()
    }

    /// A query of any kind about words that stand in some page.
    pub(crate) fn any_query(&self, random: &mut Random) -> Asked {
        let one =
            |random: &mut Random| Asked::Words(vec![self.spoken[random.below(self.spoken.len())].clone()]);
        let phrase = |random: &mut Random, length: usize| {
            let start = random.below(self.spoken.len() - length);
            Asked::Words(self.spoken[start..start + length].to_vec())
        };
        let some = random.below(self.hosts.len());
        match random.below(10) {
            0 | 1 => one(random),
            2 => phrase(random, 2),
            3 => phrase(random, 3),
            4 => Asked::All(vec![one(random), one(random)]),
            5 => Asked::All(vec![one(random), one(random), one(random), phrase(random, 2)]),
            6 => Asked::Any(vec![one(random), phrase(random, 2)]),
            7 => Asked::All(vec![one(random), Asked::Not(Box::new(one(random)))]),
            8 => Asked::All(vec![one(random), Asked::Host(self.hosts[some].clone())]),
            _ => Asked::All(vec![
                one(random),
                Asked::After(self.times[some]),
                Asked::Before(self.times[some] + 24 * 3_600_000),
            ]),
        }
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

    /// As somebody would type it.
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
