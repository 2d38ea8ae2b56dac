//! The quality of the verdicts: precision, recall and F1 on every labelled set, for features ×
//! distances × verifications, beside exact resemblance as the oracle.
//!
//! ```text
//! cargo run --release -p evaluation -- [--data DIR] [--manuals DIR] \
//!     [--output docs/measurements/quality.md] [SET…]
//! ```
//!
//! The labelled data lie beside the project (`../shared/data`), or where `--data` or `CRAWLER_DATA`
//! says; the manuals are where `evaluation/fetch-manuals.sh` has put them. Code 0: every goal is
//! reached; 1: one is not; 2: not all that was wished could be evaluated.

mod chapter;
mod choice;
mod configuration;
mod files;
mod judge;
mod kept;
mod measured;
mod minima;
mod oracle;
mod random;
mod report;
mod score;
mod sets;
mod threads;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use neardup::{BANDS, Features, HashKey, LEAST_WORDS, Thresholds, Width};

use chapter::Chapter;
use choice::Choice;
use report::Report;
use sets::CATALOGUE;
use sets::set::Places;

/// Measure how right the verdicts are, on labelled documents
#[derive(Debug, Parser)]
struct Wish {
    /// Directory of the labelled data [default: ../shared/data, from the project's root]
    #[arg(long, env = "CRAWLER_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Directory into which evaluation/fetch-manuals.sh put the manuals [default: target/manuals]
    #[arg(long, value_name = "DIR")]
    manuals: Option<PathBuf>,
    /// Write the report there instead of to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write all pairs that resemble each other there, with their measures, as tab-separated values
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
    /// The number of the hash key: estimates differ a little from key to key
    #[arg(long, default_value_t = 0)]
    key: u64,
    /// Sets to measure [default: all]
    #[arg(
        value_name = "SET",
        value_parser = CATALOGUE.iter().map(|(name, _)| *name).collect::<Vec<_>>()
    )]
    sets: Vec<String>,
}

fn main() -> ExitCode {
    let wish = Wish::parse();
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let places = Places {
        data: wish
            .data
            .clone()
            .unwrap_or_else(|| root.join("../shared/data")),
        manuals: wish
            .manuals
            .clone()
            .unwrap_or_else(|| root.join("target/manuals")),
    };
    let (features, key) = (measured::features(), HashKey::new(wish.key));
    let mut chapters = Vec::new();
    let mut absent = Vec::new();
    for (name, load) in CATALOGUE {
        if !wish.sets.is_empty() && !wish.sets.iter().any(|wished| wished == name) {
            continue;
        }
        say(&format!("{name} …"));
        match load(&places) {
            Ok(set) => chapters.push(Chapter::of(set, &features, key)),
            Err(why) => {
                say(&format!("{name} is not evaluated: {why}"));
                absent.push(*name);
            }
        }
    }
    if !absent.is_empty() {
        say(
            "--data DIR (or CRAWLER_DATA) says where the labelled data are, --manuals DIR what \
             evaluation/fetch-manuals.sh DIR has fetched",
        );
    }

    let mut report = Report::default();
    introduce(&mut report, &wish, &absent);
    let all_reached = write_goals(&mut report, &chapters);
    write_choice(&mut report, &chapters);
    for chapter in &chapters {
        chapter.write(&mut report);
    }
    if let Err(why) = deliver(&wish, &chapters, &report.into_text()) {
        say(&format!("the report cannot be written: {why}"));
        return ExitCode::from(2);
    }
    match (absent.is_empty(), all_reached) {
        (false, _) => ExitCode::from(2),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
}

fn introduce(report: &mut Report, wish: &Wish, absent: &[&str]) {
    let thresholds = Thresholds::default();
    let least = match thresholds.resemblance() {
        Some(least) => format!("{least:.2}"),
        None => format!(
            "{:.2} for texts of 100 words, {:.2} for 400, {:.2} for 1,600",
            thresholds.least_resemblance(100),
            thresholds.least_resemblance(400),
            thresholds.least_resemblance(1_600)
        ),
    };
    report.heading(1, "How right the verdicts are");
    report.paragraph(
        "Made by `cargo run --release -p evaluation -- --output docs/measurements/quality.md`, \
         after `evaluation/fetch-manuals.sh`; not to be edited by hand.",
    );
    report.paragraph(&format!(
        "Shipped defaults: features `{}`, k = {}, {BANDS} bands, sketches of word {}-shingles ≥ \
         {}, from {LEAST_WORDS} words on, main text. Hash key number {}. A cell tells precision / \
         recall / F1 over all pairs of a set's pages, or how many pages were taken for a \
         repetition of an earlier page that says something else. Shares are cut after four digits.",
        Features::default(),
        thresholds.distance(),
        Width::VERIFICATION.get(),
        least,
        wish.key,
    ));
    if !absent.is_empty() {
        report.paragraph(&format!(
            "**Not evaluated, because their data are absent: {}.**",
            absent.join(", ")
        ));
    }
}

/// A row for each goal; whether the shipped defaults reach all of them.
fn write_goals(report: &mut Report, chapters: &[Chapter]) -> bool {
    report.heading(2, "Goals");
    let mut all_reached = true;
    let mut rows = Vec::new();
    for chapter in chapters {
        for (question, score) in chapter.questions().iter().zip(chapter.shipped_scores()) {
            for &goal in &question.goals {
                let reached = score.reaches(goal);
                all_reached &= reached;
                let said = if reached { "reached" } else { "**missed**" };
                let cells = [
                    chapter.name(),
                    question.name,
                    &goal.to_string(),
                    &score.to_string(),
                    said,
                ];
                rows.push(cells.map(str::to_owned).to_vec());
            }
        }
    }
    report.table(
        &["set", "question", "goal", "shipped defaults", ""].map(str::to_owned),
        &rows,
    );
    all_reached
}

/// Writes the alternatives that could be shipped, and their results on every set.
fn write_choice(report: &mut Report, chapters: &[Chapter]) {
    report.heading(2, "The choice");
    report.paragraph(
        "Every verification on every question, with all pairs as candidates: F1, or merged pages. \
         What misses a goal of its question is **bold**, and the last column counts these.",
    );
    let mut head = vec!["verification".to_owned()];
    for chapter in chapters {
        head.extend(
            chapter
                .questions()
                .iter()
                .map(|question| format!("{}: {}", chapter.name(), question.name)),
        );
    }
    head.push("missed".to_owned());
    let rows: Vec<Vec<String>> = choice::choices()
        .into_iter()
        .map(|Choice { name, verification }| {
            let mut cells = vec![name];
            let mut missed = 0;
            for chapter in chapters {
                for (question, score) in chapter
                    .questions()
                    .iter()
                    .zip(chapter.scores_of(&verification))
                {
                    let misses = question.goals.iter().any(|&goal| !score.reaches(goal));
                    missed += usize::from(misses);
                    cells.push(if misses {
                        format!("**{}**", score.brief())
                    } else {
                        score.brief()
                    });
                }
            }
            cells.push(missed.to_string());
            cells
        })
        .collect();
    report.table(&head, &rows);
}

fn deliver(wish: &Wish, chapters: &[Chapter], text: &str) -> io::Result<()> {
    if let Some(file) = &wish.pairs {
        let lists: Vec<String> = chapters.iter().map(Chapter::pairs).collect();
        std::fs::write(file, format!("{}\n{}", Chapter::PAIRS_HEAD, lists.concat()))?;
    }
    match &wish.output {
        Some(file) => std::fs::write(file, kept::with_kept_section(text, &kept::read(file)?)),
        None => io::stdout().write_all(text.as_bytes()),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "what is under way, and what is absent, is told beside the report"
)]
fn say(line: &str) {
    eprintln!("{line}");
}
