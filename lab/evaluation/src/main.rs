//! The quality of the verdicts: precision, recall and F1 on every labelled set, for features ×
//! distances × verifications, with exact resemblance as the oracle.
//!
//! ```text
//! cargo run --release -p evaluation -- [--data DIR] [--manuals DIR] \
//!     [--output docs/measurements/quality.md] [SET…]
//! ```
//!
//! The labelled data are beside the project (`../shared/data`), or in the directory of `--data` or
//! `CRAWLER_DATA`; `lab/evaluation/fetch-manuals.sh` fetches the manuals. `-- focus` and
//! `-- focus-relevance` measure focused crawls over these manuals instead, `-- language` the
//! language of pages (`fetch-manuals.sh --languages`), `-- dynamic-sites` whole crawls of generated
//! sites. The exit code is 0 if every goal is reached,
//! 1 if one is not, and 2 if a set could not be evaluated.

mod chapter;
mod choice;
mod configuration;
mod dynamic_sites;
mod files;
mod focus;
mod judge;
mod kept;
mod language;
mod measured;
mod minima;
mod oracle;
mod random;
mod report;
mod score;
mod sets;
mod shipped;
mod threads;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use neardup::{BANDS, Features, HashKey, MIN_WORDS, Thresholds, Width};

use chapter::Chapter;
use choice::Choice;
use report::Report;
use sets::CATALOGUE;
use sets::set::Places;

/// Measure the quality of the verdicts on labelled documents
#[derive(Debug, Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Options {
    #[command(subcommand)]
    measurement: Option<Measurement>,
    /// Directory of the labelled data [default: ../shared/data, from the project's root]
    #[arg(long, env = "CRAWLER_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// Directory into which lab/evaluation/fetch-manuals.sh put the manuals [default:
    /// target/manuals]
    #[arg(long, value_name = "DIR")]
    manuals: Option<PathBuf>,
    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write all pairs that resemble each other to this file, with their measures, as tab-separated
    /// values
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

/// An evaluation of something else than verdicts.
#[derive(Debug, Subcommand)]
enum Measurement {
    /// Measure the relevance of single pages to the topics
    FocusRelevance(MeasurementOptions),
    /// Compare formulas for the order of visits, on the topics that choose
    FocusChoose(MeasurementOptions),
    /// Measure the order of visits of focused crawls
    Focus(MeasurementOptions),
    /// Measure the language of pages on translated manuals
    Language(MeasurementOptions),
    /// Measure what crawls of a generated blog, shop and wiki lose and keep twice
    DynamicSites {
        /// Replace the section of this report instead of writing to standard output
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct MeasurementOptions {
    /// Directory into which lab/evaluation/fetch-manuals.sh put the manuals [default:
    /// target/manuals]
    #[arg(long, value_name = "DIR")]
    manuals: Option<PathBuf>,
    /// Write the report to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(measurement) = &options.measurement {
        return evaluate_measurement(measurement);
    }
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let places = Places {
        data: options
            .data
            .clone()
            .unwrap_or_else(|| root.join("../shared/data")),
        manuals: options
            .manuals
            .clone()
            .unwrap_or_else(|| root.join("target/manuals")),
    };
    let (features, key) = (measured::features(), HashKey::new(options.key));
    let mut chapters = Vec::new();
    let mut absent = Vec::new();
    for (name, load) in CATALOGUE {
        if !options.sets.is_empty() && !options.sets.iter().any(|given| given == name) {
            continue;
        }
        say(&format!("{name} …"));
        match load(&places).and_then(|set| Chapter::of(set, &features, key)) {
            Ok(chapter) => chapters.push(chapter),
            Err(why) => {
                say(&format!("{name} is not evaluated: {why}"));
                absent.push(*name);
            }
        }
    }
    if !absent.is_empty() {
        say(
            "--data DIR (or CRAWLER_DATA) says where the labelled data are, --manuals DIR what \
             lab/evaluation/fetch-manuals.sh DIR has fetched",
        );
    }

    let mut report = Report::default();
    introduce(&mut report, &options, &absent);
    let all_reached = write_goals(&mut report, &chapters);
    write_choice(&mut report, &chapters);
    for chapter in &chapters {
        chapter.write(&mut report);
    }
    if let Err(why) = deliver(&options, &chapters, &report.into_text()) {
        say(&format!("the report cannot be written: {why}"));
        return ExitCode::from(2);
    }
    match (absent.is_empty(), all_reached) {
        (false, _) => ExitCode::from(2),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    }
}

fn evaluate_measurement(measurement: &Measurement) -> ExitCode {
    type Measure = fn(&Path) -> Result<Report, String>;
    let (options, measure): (_, Measure) = match measurement {
        Measurement::FocusRelevance(options) => (options, focus::measure_relevance),
        Measurement::FocusChoose(options) => (options, focus::choose),
        Measurement::Focus(options) => (options, focus::measure_orders),
        Measurement::Language(options) => (options, language::measure),
        Measurement::DynamicSites { output } => return evaluate_dynamic_sites(output.as_deref()),
    };
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let fetched = || root.join("target/manuals");
    let manuals = options.manuals.clone().unwrap_or_else(fetched);
    let written = measure(&manuals).and_then(|report| {
        let text = report.into_text();
        let written = match &options.output {
            Some(file) => std::fs::write(file, text),
            None => io::stdout().write_all(text.as_bytes()),
        };
        written.map_err(|why| format!("the report cannot be written: {why}"))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            say(&why);
            ExitCode::from(2)
        }
    }
}

fn evaluate_dynamic_sites(output: Option<&Path>) -> ExitCode {
    let written = dynamic_sites::measure().and_then(|(report, all_reached)| {
        let text = report.into_text();
        let written = match output {
            Some(file) => kept::read(file).and_then(|earlier| {
                let report = kept::with_section(&earlier, kept::DYNAMIC_SITES, &text);
                std::fs::write(file, report)
            }),
            None => io::stdout().write_all(text.as_bytes()),
        };
        let written = written.map_err(|why| format!("the report cannot be written: {why}"));
        written.map(|()| all_reached)
    });
    match written {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            say(&why);
            ExitCode::from(2)
        }
    }
}

fn introduce(report: &mut Report, options: &Options, absent: &[&str]) {
    let thresholds = Thresholds::default();
    let least = [40, 75, 200, 400].map(|words| {
        let least = thresholds.min_resemblance(words);
        format!("{least:.2} for texts of {words} words")
    });
    report.heading(1, "How right the verdicts are");
    report.paragraph(
        "Made by `cargo run --release -p evaluation -- --output docs/measurements/quality.md`, \
         after `lab/evaluation/fetch-manuals.sh`; not to be edited by hand.",
    );
    report.paragraph(
        "Shipped defaults are those of `dedup`, with each page as a file: signatures find \
         candidates, and the texts of both decide before the signatures do ([ADR \
         29](../adr/0029-the-texts-decide.md)). Pairs are those of `dedup --pairs`, merged pages \
         those that `dedup` leaves out. A crawl also knows the frame of a host, which no set has: \
         the last sections are of crawls. All other verifications and the tables of features are \
         of signatures alone.",
    );
    report.paragraph(&format!(
        "Signatures: features `{}`, k = {}, {BANDS} bands, sketches of word {}-shingles ≥ {}, from \
         {MIN_WORDS} words on, main text. Hash key number {}. A cell tells precision / recall / \
         F1 over all pairs of a set's pages, or how many pages were taken for a repetition of an \
         earlier page that says something else. Shares are cut after four digits. `crawler dedup \
         --labels` measures a collection of your own.",
        Features::default(),
        thresholds.distance(),
        Width::VERIFICATION.get(),
        least.join(", "),
        options.key,
    ));
    if !absent.is_empty() {
        report.paragraph(&format!(
            "**Not evaluated, because their data are absent: {}.**",
            absent.join(", ")
        ));
    }
}

/// Writes a row for each goal; returns true if the shipped defaults reach all of them.
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
        "Every verification by signatures alone on every question, with all pairs as candidates: \
         F1, or merged pages. What misses a goal of its question is **bold**, and the last column \
         counts these.",
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

fn deliver(options: &Options, chapters: &[Chapter], text: &str) -> io::Result<()> {
    if let Some(file) = &options.pairs {
        let lists: Vec<String> = chapters.iter().map(Chapter::pairs).collect();
        std::fs::write(file, format!("{}\n{}", Chapter::PAIRS_HEAD, lists.concat()))?;
    }
    match &options.output {
        Some(file) => std::fs::write(file, kept::with_kept_sections(text, &kept::read(file)?)),
        None => io::stdout().write_all(text.as_bytes()),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "progress and absent data are reported beside the report"
)]
fn say(line: &str) {
    eprintln!("{line}");
}
