//! The cost of a topic: what a focused crawl does for each page and each link on top of what every
//! crawl does.
//!
//! One thread makes the same calls as a crawl, on the pages of the crawl's benchmark, which have 20
//! links each. The best of the rounds counts for each page and step, so a busy machine gives nearly
//! the same figures as a quiet one.
//!
//! ```text
//! cargo run --release -p benches --bin bench-topic -- [--pages 200] [--rounds 9]
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use clap::Parser;
use journal::{DiscoveredUrl, Fate, FinishedVisit, Record, Relevance, SettledVisit, VisitRecord};
use neardup::{HashKey, HashedText, PageText};
use store::Patterns;
use testkit::Corpus;
use topic::{ExampleText, LinkText, Topic, TopicBuilder};
use web::{CanonicalForm, Document, Pace, PageUrl, ReadLimits, ResponseMetadata, Timestamp};

/// Measure the cost of a topic
#[derive(Clone, Debug, Parser)]
struct Options {
    /// Generated pages of each shape
    #[arg(long, default_value_t = 200)]
    pages: usize,
    /// Rounds, of which the best counts
    #[arg(long, default_value_t = 9)]
    rounds: usize,
}

/// Pages that are examples of the topic.
const EXAMPLES: usize = 10;

/// The steps for a page, all its links together.
#[derive(Clone, Copy, Default)]
struct Steps {
    words: usize,
    links: usize,
    plain_reading: Duration,
    reading: Duration,
    judging: Duration,
    scoring: Duration,
    harvests: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    println!(
        "µs a page                         words  links  contexts  judging | µs a link  harvest"
    );
    for (shape, corpus) in [
        ("plain", Corpus::plain(options.pages, 1)),
        ("real-shaped", Corpus::real_shaped(options.pages, 1)),
    ] {
        let pages: Vec<Vec<u8>> = (0..corpus.len())
            .map(|page| corpus.html(page, 80).to_vec())
            .collect();
        for (name, topic) in [("words", by_words()?), ("examples", by_examples(&pages)?)] {
            tell(
                &format!("{shape} by {name}"),
                &topic,
                &pages,
                options.rounds,
            )?;
        }
    }
    Ok(())
}

fn by_words() -> Result<Topic, Box<dyn Error>> {
    let topic = TopicBuilder::new(None).words("tidal power")?;
    Ok(topic.build()?.0)
}

/// Returns the topic of some of the pages.
fn by_examples(pages: &[Vec<u8>]) -> Result<Topic, Box<dyn Error>> {
    let (url, mut builder) = (url_of(0)?, TopicBuilder::new(None));
    for page in pages.iter().take(EXAMPLES) {
        let document = read(page, &url, true);
        let page = crawl_text(&document);
        builder.example(&ExampleText { name: "page", page })?;
    }
    Ok(builder.build()?.0)
}

fn url_of(page: usize) -> Result<PageUrl, Box<dyn Error>> {
    let url = format!("http://w00.corpus.test/p/{page:06}");
    Ok(PageUrl::parse(&url, &CanonicalForm::default())?)
}

fn tell(name: &str, topic: &Topic, pages: &[Vec<u8>], rounds: usize) -> Result<(), Box<dyn Error>> {
    let patterns = visited()?;
    let mut sum = Steps::default();
    for (number, page) in pages.iter().enumerate() {
        let steps = measure(page, &url_of(number)?, topic, &patterns, rounds);
        sum.words += steps.words;
        sum.links += steps.links;
        sum.plain_reading += steps.plain_reading;
        sum.reading += steps.reading;
        sum.judging += steps.judging;
        sum.scoring += steps.scoring;
        sum.harvests += steps.harvests;
    }
    let per = |time: Duration, count: usize| time.as_secs_f64() * 1e6 / count as f64;
    let count = pages.len();
    println!(
        "{name:<32} {:>6} {:>6.1} {:>9.2} {:>8.2} | {:>9.3} {:>8.3}",
        sum.words / count,
        sum.links as f64 / count as f64,
        per(sum.reading, count) - per(sum.plain_reading, count),
        per(sum.judging, count),
        per(sum.scoring, sum.links),
        per(sum.harvests, sum.links),
    );
    Ok(())
}

/// Returns the patterns of a host that has brought pages on topic.
fn visited() -> Result<Patterns, Box<dyn Error>> {
    let mut patterns = Patterns::default();
    for page in 0..64 {
        let found = DiscoveredUrl::new(url_of(page)?, 1, None);
        let mut visit = VisitRecord::new(found, Fate::Unique, Timestamp::default());
        visit.details.relevance = Some(Relevance::FULL);
        patterns.apply(&Record::Settled(SettledVisit {
            sequence: 0,
            priority: 0,
            first: 0,
            pace: Pace::default(),
            visit: FinishedVisit::new(visit),
        }));
    }
    Ok(patterns)
}

fn measure(page: &[u8], url: &PageUrl, topic: &Topic, patterns: &Patterns, rounds: usize) -> Steps {
    let mut best = Steps {
        words: 0,
        links: 0,
        plain_reading: Duration::MAX,
        reading: Duration::MAX,
        judging: Duration::MAX,
        scoring: Duration::MAX,
        harvests: Duration::MAX,
    };
    for _ in 0..rounds.max(1) {
        let (plain, took) = timed(|| read(black_box(page), url, false));
        best.plain_reading = best.plain_reading.min(took);
        let (document, took) = timed(|| read(black_box(page), url, true));
        best.reading = best.reading.min(took);
        let text = crawl_text(&document);
        best.words = text.text.split_whitespace().count();
        // The signature needs the hashes in any crawl.
        let hashed = HashedText::of(text.text, HashKey::ZERO);
        let judge = || topic.judge_hashed(black_box(&text), &hashed, Some(url));
        let (judged, took) = timed(judge);
        best.judging = best.judging.min(took);
        best.links = document.links.len();
        let (score, took) = timed(|| scores(topic, black_box(&document)));
        best.scoring = best.scoring.min(took);
        let found: Vec<DiscoveredUrl> = document
            .links
            .iter()
            .map(|link| DiscoveredUrl::new(link.url.clone(), 1, None))
            .collect();
        let (harvests, took) = timed(|| patterns.harvests(black_box(&found)));
        best.harvests = best.harvests.min(took);
        black_box((plain, judged, score, harvests));
    }
    best
}

/// Returns the sum of the scores of a page's links.
fn scores(topic: &Topic, document: &Document) -> f64 {
    let links = document.links.iter();
    let score = links.map(|link| {
        let context = link.context.as_ref();
        topic.link_score(&LinkText {
            anchor: &link.anchor,
            around: context.map_or("", |context| &context.around),
            url: &link.url,
        })
    });
    score.sum()
}

fn read(page: &[u8], url: &PageUrl, link_context: bool) -> Document {
    let limits = ReadLimits {
        link_context,
        ..ReadLimits::default()
    };
    let hints = ResponseMetadata {
        agent: "crawler",
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(url)
    };
    web::read(page, &hints, &CanonicalForm::default(), &limits)
}

fn crawl_text(document: &Document) -> PageText<'_> {
    PageText {
        title: document.title.as_deref(),
        ..PageText::of(document.compared_text())
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark is about time")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let done = work();
    (done, began.elapsed())
}
