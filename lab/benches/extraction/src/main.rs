//! A comparison of extractors of main content: ours and its peers, on the same labelled pages, in
//! one run.
//!
//! ```text
//! cd lab/benches/extraction
//! cargo run --release              # the table of docs/measurements/extraction.md
//! cargo run --release -- pages     # ours page by page, worst first
//! cargo run --release -- cost      # the cost of reading, for two kinds of pages
//! ```
//!
//! A *half* is every second page in the order of names. The rules were read off the worst pages of
//! both halves, so the halves show how much the figures depend on the pages, not how unseen pages
//! would do.

mod corpus;
mod cost;
mod measure;
mod methods;

use std::io;
use std::time::{Duration, Instant};

use corpus::LabelledPage;
use measure::{Overlap, Score};
use methods::{METHODS, Method};

/// The kinds of pages of WCXB.
const KINDS: &[&str] = &[
    "article",
    "documentation",
    "service",
    "forum",
    "listing",
    "collection",
    "product",
];

fn main() -> io::Result<()> {
    let mode = std::env::args().nth(1).unwrap_or_default();
    let directory = corpus::directory();
    if !directory.join("wcxb-dev.tar.zst").exists() {
        println!(
            "no labelled data at {}; CRAWLER_DATA says where they are",
            directory.display()
        );
        return Ok(());
    }
    if mode == "cost" {
        return cost::print(&directory);
    }
    let articles = Set {
        name: "article-extraction",
        pages: corpus::articles(&directory)?,
        compare: measure::shingles,
        mean: measure::mean_of_shingles,
    };
    let wcxb = Set {
        name: "WCXB-dev",
        pages: corpus::wcxb(&directory)?,
        compare: measure::words,
        mean: measure::mean_of_words,
    };
    for set in [articles, wcxb] {
        if mode == "pages" {
            set.print_pages();
        } else {
            set.print_table();
        }
    }
    Ok(())
}

/// Labelled pages and their measure.
struct Set {
    name: &'static str,
    pages: Vec<LabelledPage>,
    compare: fn(&str, &str) -> Overlap,
    mean: fn(&[Overlap]) -> Score,
}

impl Set {
    fn print_table(&self) {
        let kinds = if self.pages.iter().all(|page| page.kind == "article") {
            &[]
        } else {
            KINDS
        };
        println!("\n{}, {} pages\n", self.name, self.pages.len());
        println!(
            "| | F1 | precision | recall | halves |{} ms a page |",
            kinds
                .iter()
                .map(|kind| format!(" {kind} |"))
                .collect::<String>()
        );
        println!("|---|--:|--:|--:|--:|{}--:|", "--:|".repeat(kinds.len()));
        for method in METHODS {
            let (overlaps, took) = self.run(method);
            let Score {
                f1,
                precision,
                recall,
            } = (self.mean)(&overlaps);
            let part = |chosen: &dyn Fn(usize) -> bool| {
                let part: Vec<_> = (0..overlaps.len())
                    .filter(|&at| chosen(at))
                    .map(|at| overlaps[at])
                    .collect();
                (self.mean)(&part).f1
            };
            let by_kind = kinds
                .iter()
                .map(|kind| format!(" {:.3} |", part(&|at| self.pages[at].kind == *kind)));
            println!(
                "| {} | {f1:.4} | {precision:.3} | {recall:.3} | {:.3}, {:.3} |{} {:.2} |",
                method.name,
                part(&|at| at % 2 == 0),
                part(&|at| at % 2 == 1),
                by_kind.collect::<String>(),
                took.as_secs_f64() * 1e3 / self.pages.len() as f64,
            );
        }
    }

    fn run(&self, method: &Method) -> (Vec<Overlap>, Duration) {
        let mut took = Duration::ZERO;
        let overlaps = self.pages.iter().map(|page| {
            let start = Instant::now();
            let text = (method.extract)(page);
            took += start.elapsed();
            (self.compare)(&text, &page.gold)
        });
        (overlaps.collect(), took)
    }

    fn print_pages(&self) {
        let (overlaps, _) = self.run(&METHODS[0]);
        let mut pages: Vec<_> = self.pages.iter().zip(overlaps).collect();
        pages.sort_by(|(_, one), (_, other)| one.score().f1.total_cmp(&other.score().f1));
        for (page, overlap) in pages {
            let Score {
                f1,
                precision,
                recall,
            } = overlap.score();
            println!(
                "{f1:.3} P {precision:.3} R {recall:.3} {} {} {}",
                page.kind, page.name, page.url
            );
        }
    }
}
