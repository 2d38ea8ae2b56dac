//! A page that compares crawls of the same site over time.
//!
//! Like a report, the page contains neither scripts nor links to crawled pages (see
//! [`crate::report`]). Its lists are cut at [`caps::CHANGES`], and the page names the command that
//! lists everything.

mod words;

use std::io;

use askama::Template;
use web::Timestamp;

use self::words::ChangedPiece;
pub use self::words::ChangedWords;
use crate::charts::{Column, Part, Plot, columns, part};
use crate::format::{self, cut};
use crate::report::Style;
use crate::{caps, filters};

/// Crawls of the same site, and the changes from each one to the next.
#[derive(Clone, Debug, Default)]
pub struct SeriesReport {
    /// The seeds' hosts, in words.
    pub title: String,
    /// The crawls, oldest first.
    pub crawls: Vec<ComparedCrawl>,
}

/// A crawl of a series.
#[derive(Clone, Debug, Default)]
pub struct ComparedCrawl {
    /// Its directory, as the user named it.
    pub directory: String,
    /// Its beginning; `None` if it has not begun.
    pub begun_at: Option<Timestamp>,
    /// Number of pages.
    pub pages: u64,
    /// Number of URLs that could not be fetched.
    pub failed: u64,
    /// Changes since the crawl before it; `None` for the first crawl.
    pub changes: Option<CrawlChanges>,
}

/// The changes from one crawl to the next.
#[derive(Clone, Debug, Default)]
pub struct CrawlChanges {
    /// Command that lists the changes.
    pub command: String,
    /// Pages that only the later crawl has.
    pub new: ChangeList,
    /// Pages with other bytes.
    pub changed: ChangeList,
    /// Pages with another URL.
    pub moved: ChangeList,
    /// Pages that only the earlier crawl has.
    pub gone: ChangeList,
    /// Number of pages with the same bytes.
    pub unchanged: u64,
    /// Number of pages that cannot be compared, for example because they are still queued.
    pub unknown: u64,
}

/// Changes of one kind: their number, and the first ones.
#[derive(Clone, Debug, Default)]
pub struct ChangeList {
    total: u64,
    listed: Vec<ListedChange>,
}

/// A change of a page.
#[derive(Clone, Debug, Default)]
pub struct ListedChange {
    /// URL of the page.
    pub url: String,
    /// Its earlier URL, if it moved.
    pub from: Option<String>,
    /// Resemblance of its two texts, 0 to 1.
    pub resemblance: Option<f64>,
    /// Reason in words.
    pub reason: Option<String>,
    /// Words that changed.
    pub words: Option<ChangedWords>,
}

impl ChangeList {
    /// Counts a change, and lists it if it is one of the first.
    pub fn add(&mut self, change: impl FnOnce() -> ListedChange) {
        self.total += 1;
        if self.listed.len() < caps::CHANGES {
            let change = change();
            let text = |text: Option<String>| text.map(|text| cut(&text, caps::TEXT));
            self.listed.push(ListedChange {
                url: cut(&change.url, caps::URL),
                from: change.from.map(|from| cut(&from, caps::URL)),
                reason: text(change.reason),
                ..change
            });
        }
    }

    /// Returns true if not all changes are listed.
    fn is_cut(&self) -> bool {
        self.total > self.listed.len() as u64
    }
}

impl ListedChange {
    /// Formats the resemblance: `0.97`.
    fn resemblance(&self) -> String {
        let share = self.resemblance.map(|share| format!("{share:.2}"));
        share.unwrap_or_default()
    }
}

impl ComparedCrawl {
    /// Returns the time of its beginning: `2026-11-23 09:50`.
    fn date(&self) -> String {
        self.begun_at
            .map_or_else(|| "not begun".to_owned(), format::minute)
    }
}

impl CrawlChanges {
    /// Returns the lists, each with the word of its kind and its name for people.
    fn lists(&self) -> [(&'static str, &'static str, &ChangeList); 4] {
        [
            ("new", "New pages", &self.new),
            ("changed", "Changed pages", &self.changed),
            ("moved", "Moved pages", &self.moved),
            ("gone", "Gone pages", &self.gone),
        ]
    }

    /// Returns the numbers in the order of [`PARTS`].
    fn numbers(&self) -> Vec<u64> {
        self.lists().map(|(_, _, list)| list.total).to_vec()
    }
}

/// A crawl and the crawl before it.
struct Pair<'a> {
    /// Place of the crawl in the series, from 1 for the second crawl.
    number: usize,
    crawl: &'a ComparedCrawl,
    before: &'a ComparedCrawl,
    changes: &'a CrawlChanges,
}

const PARTS: [Part; 4] = [
    part("s-unique", "new"),
    part("s-changed", "changed"),
    part("s-exact", "moved"),
    part("s-failed", "gone"),
];
const PAGES: [Part; 1] = [part("s-excluded", "pages")];
/// Maximum number of labels of the horizontal scale, for which the narrowest screen has room.
const LABELS: usize = 4;

const STYLE: &str = concat!(
    include_str!("../templates/report.css"),
    include_str!("../templates/series.css")
);

#[derive(Template)]
#[template(path = "series.html")]
struct SeriesPage<'a> {
    style: Style,
    title: &'a str,
    /// Newest first.
    crawls: Vec<&'a ComparedCrawl>,
    /// Newest first.
    pairs: Vec<Pair<'a>>,
    changes_plot: Plot,
    pages_plot: Plot,
    has_unknown: bool,
}

impl SeriesReport {
    /// Writes the page.
    ///
    /// # Errors
    /// The writer's own.
    pub fn write_html(&self, out: &mut impl io::Write) -> io::Result<()> {
        let mut pairs = self.pairs();
        pairs.reverse();
        let page = SeriesPage {
            style: Style(STYLE),
            title: &self.title,
            crawls: self.crawls.iter().rev().collect(),
            has_unknown: pairs.iter().any(|pair| pair.changes.unknown > 0),
            pairs,
            changes_plot: self.plot(
                "Changes from crawl to crawl",
                "One column per crawl: new, changed, moved and gone pages, stacked. The table of \
                 crawls contains the numbers.",
                &PARTS,
                |crawl| {
                    crawl
                        .changes
                        .as_ref()
                        .map(CrawlChanges::numbers)
                        .unwrap_or_default()
                },
            ),
            pages_plot: self.plot(
                "Pages per crawl",
                "One column per crawl: its pages. The table of crawls contains the numbers.",
                &PAGES,
                |crawl| vec![crawl.pages],
            ),
        };
        page.write_into(out)
    }

    /// Returns each crawl with the crawl before it, oldest first.
    fn pairs(&self) -> Vec<Pair<'_>> {
        let pairs = self.crawls.windows(2).enumerate();
        let pairs = pairs.filter_map(|(place, pair)| {
            Some(Pair {
                number: place + 1,
                before: &pair[0],
                crawl: &pair[1],
                changes: pair[1].changes.as_ref()?,
            })
        });
        pairs.collect()
    }

    /// Draws a column per crawl, with at most [`LABELS`] dates below.
    fn plot(
        &self,
        title: &str,
        description: &str,
        parts: &[Part],
        values: impl Fn(&ComparedCrawl) -> Vec<u64>,
    ) -> Plot {
        let crawls = self.crawls.iter();
        let drawn = crawls.map(|crawl| Column {
            label: crawl.date(),
            values: values(crawl),
        });
        let drawn: Vec<Column> = drawn.collect();
        let every = drawn.len().div_ceil(LABELS);
        columns(title, description, parts, &drawn, every)
    }
}

/// Shortens the dates of a scale to month and day: `11-23`.
fn days(plot: &Plot) -> Vec<&str> {
    let labels = plot.labels().iter();
    labels
        .map(|label| label.get(5..10).unwrap_or_default())
        .collect()
}
