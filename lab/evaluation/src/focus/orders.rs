//! `focus`: the order of visits of a focused crawl, by the rules of the literature and by ours.

use std::path::Path;
use std::time::Duration;

use store::FrontierRules;

use super::documents::{Documents, Given};
use super::goals::{Compared, write_goals};
use super::outcome::AT;
use super::prepared::{Prepared, prepare};
use super::relevance::write_relevance;
use super::rows::{Row, by_engine, by_simulator, write_rows};
use super::seeds::SeedSet;
use super::topics::FocusTopic;
use crate::report::Report;
use crate::say;

/// Measures all rows and reports them.
pub(crate) fn measure_orders(manuals: &Path) -> Result<Report, String> {
    let documents = Documents::read(manuals)?;
    let prepared = Parts {
        choosing: prepare(&documents, true),
        reported: prepare(&documents, false),
    };
    let mut report = Report::default();
    introduce(&mut report, &documents);
    report.heading(2, "Relevance alone");
    write_relevance(&mut report, &documents);
    introduce_orders(&mut report);
    let mut goals = Vec::new();
    for seeds in SeedSet::ALL {
        report.heading(2, &format!("The order of visits from {}", seeds.as_str()));
        write_orders(&mut report, &documents, &prepared, seeds, &mut goals)?;
    }
    write_goals(&mut report, &goals);
    write_misses(&mut report);
    Ok(report)
}

/// The topics of both parts, in each of the ways in which they are given.
struct Parts<'a> {
    choosing: Vec<Prepared<'a>>,
    reported: Vec<Prepared<'a>>,
}

/// Writes the tables of one set of seeds, and adds its rows to those of the goals.
fn write_orders(
    report: &mut Report,
    documents: &Documents,
    parts: &Parts<'_>,
    seeds: SeedSet,
    goals: &mut Vec<Vec<String>>,
) -> Result<(), String> {
    let topics = documents.list.topics.iter();
    let topics: Vec<&FocusTopic> = topics.filter(|topic| !topic.chooses).collect();
    let breadth_first = by_engine(documents, &topics, seeds, None, Duration::ZERO)?;
    for given in Given::ALL {
        let name = format!("From {}, topics by {}", seeds.as_str(), given.as_str());
        say(&format!("{name} …"));
        let by_engine = |time| by_engine(documents, &topics, seeds, Some(given), time);
        let without = by_engine(Duration::ZERO)?;
        let ours = by_engine(FrontierRules::ANTICIPATION)?;
        let simulated = simulate(documents, parts, seeds, given);
        let mut rows = vec![&breadth_first, &without, &ours];
        rows.extend(&simulated);
        report.heading(3, &name);
        write_rows(report, &rows, &topics);
        let mut row = vec![seeds.as_str().to_owned(), given.as_str().to_owned()];
        row.extend(Compared::of(&breadth_first, &ours, &simulated).cells(&topics));
        goals.push(row);
    }
    Ok(())
}

/// Returns the rows of the simulator: from titles to the last page, from other seeds as long as
/// pages count.
fn simulate(documents: &Documents, parts: &Parts<'_>, seeds: SeedSet, given: Given) -> Vec<Row> {
    let most = match seeds {
        SeedSet::Titles => documents.pages.len(),
        // Beside the pages that count, examples and hubs.
        SeedSet::Examples | SeedSet::Elsewhere => AT[AT.len() - 1] + 100,
    };
    let choosing = given_by(&parts.choosing, given);
    let reported = given_by(&parts.reported, given);
    by_simulator(documents, (&choosing, &reported), seeds, most)
}

fn given_by<'a, 'b>(all: &'a [Prepared<'b>], given: Given) -> Vec<&'a Prepared<'b>> {
    all.iter().filter(|one| one.given == given).collect()
}

fn introduce(report: &mut Report, documents: &Documents) {
    report.heading(1, "Focused crawls");
    report.paragraph(
        "Made by `cargo run --release -p evaluation -- focus --output docs/measurements/focus.md`, \
         after `lab/evaluation/fetch-manuals.sh --hosts`; not to be edited by hand.",
    );
    report.paragraph(&format!(
        "Documents: {} pages of {} hosts, each a manual of a Debian package. The {} topics and \
         their relevant pages stand in `lab/evaluation/topics.txt`: chapters of the manuals' own \
         tables of contents, chosen before anything was run. Half of the topics choose formulas \
         and constants, half are only reported. A topic's examples count neither as found nor as \
         visited.",
        documents.hosts.manual_pages,
        documents.hosts.versions.len(),
        documents.list.topics.len()
    ));
    let rows: Vec<Vec<String>> = documents
        .hosts
        .versions
        .iter()
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect();
    report.table(&["host", "package", "version"].map(str::to_owned), &rows);
}

fn introduce_orders(report: &mut Report) {
    report.heading(2, "How orders of visits are measured");
    report.paragraph(
        "Rows marked *engine* are crawls: the same `page.rs`, frontier and pacer as a crawl of the \
         web, in virtual time. The others are a simulator over the same links, with the same \
         delays and without failures and duplicates. *Anticipation* is the time for which a slot \
         may stay empty rather than take a page with a low score. The engine's is 5 s, the default \
         of a crawl with `--max-pages`, and beside it none. A simulated row has, of both, the one \
         with the greater area under recall on the topics that choose; its hosts rest for 1.1 s, \
         so a longer anticipation would change nothing. Figures are means over the topics that are \
         only reported, with 95 % bootstrap intervals for the area. A figure at an hour is missing \
         where a crawl about one of the topics ended before: crawls by the engine end after 4,200 \
         pages, and those of the simulator after 4,100 but for the first seeds.",
    );
    report.paragraph(
        "Crawls begin with three sets of seeds, by rules that were written before any crawl began \
         with them:",
    );
    report.list(SeedSet::ALL.map(|seeds| seeds.rule().to_owned()));
    report.paragraph(
        "Pages that name title pages count neither as found nor as visited. Where such a page is a \
         seed it speaks for its links like a page on topic, since a user chose it; a further one \
         is a page off topic.",
    );
    report.paragraph(
        "A URL keeps the score of the first page that linked to it, in the crawl and in the \
         simulator. The row *by the best witness* is the same formula where a link with a better \
         score takes its URL forward.",
    );
}

/// Writes the causes of what is missed.
fn write_misses(report: &mut Report) {
    report.heading(2, "Misses and their causes");
    report.list(
        [
            "Relevance alone: relevance is by chapters, and most pages of a chapter describe one \
             function or class and hardly have the topic's words. No measure of single texts in \
             the table reaches the goals, which were estimates.",
            "Topics by words: the default threshold is 0.3, the best mean F1 over the topics that \
             choose, and more for topics of fewer than five words.",
            "Order: a URL keeps its first score. Where the best witness counts instead, as in \
             the row of this name, the area is greater by up to 0.09. A queue that is on disk \
             would need the place of each waiting URL for that.",
            "Order, from examples: every rule knows pages on topic at once, so the others gain \
             more from these seeds than ours.",
            "The engine's crawls are a little poorer than the simulator's by the same formula: it \
             leaves out duplicates, learns the inverse document frequency of words on its way, and \
             counts harvests by URL pattern, which are directories in the simulator.",
        ]
        .map(str::to_owned),
    );
}
