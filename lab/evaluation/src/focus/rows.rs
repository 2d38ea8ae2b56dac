//! Rows of the tables: the outcomes of one way of crawling, for each topic that is only reported.

use std::sync::Arc;
use std::time::Duration;

use super::documents::{Documents, Given, topic_of};
use super::engine::EngineCrawl;
use super::figures::{interval, mean};
use super::outcome::{AT, Outcome};
use super::prepared::{Prepared, SimulatedCrawl};
use super::rules::{RULES, Rule};
use super::seeds::SeedSet;
use super::topics::FocusTopic;
use crate::report::Report;
use crate::threads;

/// The times for which a slot may stay empty rather than take a page with a low score, in
/// milliseconds. A host of the simulator rests for 1.1 s, so longer ones would change nothing.
pub(crate) const ANTICIPATIONS: [(&str, u64); 2] = [("0 s", 0), ("5 s", 5_000)];

/// The visits of a crawl by the engine: more than the pages that count, because of examples, hubs
/// and pages that fail.
const MOST: u64 = 4_200;

/// The outcomes of one way of crawling.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    anticipation: String,
    /// The rule of the simulator; none for the engine.
    pub(crate) rule: Option<Rule>,
    pub(crate) outcomes: Vec<Outcome>,
}

impl Row {
    /// Returns the areas under recall of the topics.
    pub(crate) fn areas(&self) -> Vec<f64> {
        self.of(|outcome| outcome.area)
    }

    /// Returns a figure of each topic.
    fn of(&self, figure: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        self.outcomes.iter().map(figure).collect()
    }

    /// Returns the mean of a figure over the topics.
    pub(crate) fn mean(&self, figure: impl Fn(&Outcome) -> f64) -> f64 {
        mean(&self.of(figure))
    }

    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.name.to_owned(), self.anticipation.clone()];
        for place in 0..AT.len() {
            cells.push(format!(
                "{:.3}",
                self.mean(|outcome| outcome.harvest[place])
            ));
        }
        for place in 0..AT.len() {
            cells.push(format!("{:.2}", self.mean(|outcome| outcome.recall[place])));
        }
        cells.push(self.at_an_hour());
        let areas = self.areas();
        let (low, high) = interval(&areas);
        cells.push(format!("{:.2} ({low:.2}–{high:.2})", mean(&areas)));
        cells.push(self.until_half());
        cells
    }

    /// Returns harvest and recall at an hour, if the crawls about all topics went on for so long.
    fn at_an_hour(&self) -> String {
        let hours = self.outcomes.iter().map(|outcome| outcome.at_an_hour);
        let Some(hours) = hours.collect::<Option<Vec<(f64, f64)>>>() else {
            return "–".to_owned();
        };
        let (harvest, recall): (Vec<f64>, Vec<f64>) = hours.into_iter().unzip();
        format!("{:.3}, {:.2}", mean(&harvest), mean(&recall))
    }

    fn until_half(&self) -> String {
        let pages = |outcome: &Outcome| outcome.until_half.unwrap_or(usize::MAX);
        let mut halves: Vec<usize> = self.outcomes.iter().map(pages).collect();
        halves.sort_unstable();
        match halves.get(halves.len() / 2) {
            Some(&pages) if pages < usize::MAX => format!("{pages} (median)"),
            _ => "not reached".to_owned(),
        }
    }
}

/// Writes a table, and names the crawls that ended before the last figure.
pub(crate) fn write_rows(report: &mut Report, rows: &[&Row], topics: &[&FocusTopic]) {
    let mut head = vec!["row".to_owned(), "anticipation".to_owned()];
    head.extend(AT.map(|at| format!("harvest at {at}")));
    head.extend(AT.map(|at| format!("recall at {at}")));
    head.extend(
        [
            "harvest, recall at an hour",
            "area under recall",
            "pages until half",
        ]
        .map(str::to_owned),
    );
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells()).collect();
    report.table(&head, &cells);
    let mut ended = Vec::new();
    for row in rows {
        for (outcome, topic) in row.outcomes.iter().zip(topics) {
            if outcome.pages < AT[AT.len() - 1] {
                let (name, pages) = (row.name, outcome.pages);
                ended.push(format!("{name}, {}: {pages} pages", topic.name));
            }
        }
    }
    if !ended.is_empty() {
        report.paragraph(&format!("Ended early: {}.", ended.join("; ")));
    }
}

/// Returns a row of crawls by the engine: about topics as they are given, or without topics.
pub(crate) fn by_engine(
    documents: &Documents,
    topics: &[&FocusTopic],
    seeds: SeedSet,
    given: Option<Given>,
    anticipation: Duration,
) -> Result<Row, String> {
    let crawls = threads::each(topics.len(), |number| {
        let topic = given.map(|given| topic_of(documents, topics[number], given));
        let crawl = EngineCrawl {
            hosts: Arc::clone(&documents.hosts),
            seeds: &documents.hubs.seeds(seeds, topics[number]),
            topic: topic.as_ref(),
            anticipation,
            most: MOST,
        };
        Ok(Outcome::of(&crawl.visits()?, topics[number]))
    });
    Ok(Row {
        name: match given {
            Some(_) => "ours, *engine*",
            None => "breadth-first, *engine*",
        },
        anticipation: format!("{} s", anticipation.as_secs()),
        rule: None,
        outcomes: crawls.into_iter().collect::<Result<_, String>>()?,
    })
}

/// Returns a row for each rule, with the anticipation that is best for the topics that choose.
pub(crate) fn by_simulator(
    documents: &Documents,
    (choosing, reported): (&[&Prepared<'_>], &[&Prepared<'_>]),
    seeds: SeedSet,
    most: usize,
) -> Vec<Row> {
    threads::each(RULES.len(), |number| {
        let (name, rule) = RULES[number];
        let crawl = SimulatedCrawl {
            seeds,
            rule,
            anticipation: 0,
            most,
        };
        let (anticipation_name, anticipation) = best_anticipation(documents, choosing, crawl);
        let crawl = SimulatedCrawl {
            anticipation,
            ..crawl
        };
        let outcomes = reported.iter().map(|one| one.outcome(documents, crawl));
        Row {
            name,
            anticipation: anticipation_name.to_owned(),
            rule: Some(rule),
            outcomes: outcomes.collect(),
        }
    })
}

/// Returns the anticipation with the greatest area under recall over some topics.
fn best_anticipation(
    documents: &Documents,
    topics: &[&Prepared<'_>],
    crawl: SimulatedCrawl,
) -> (&'static str, u64) {
    // Neither prefers pages about the topic, so there is nothing to wait for.
    if matches!(crawl.rule, Rule::BreadthFirst | Rule::Random) {
        return ANTICIPATIONS[0];
    }
    let area = |anticipation| {
        let crawl = SimulatedCrawl {
            anticipation,
            most: AT[AT.len() - 1],
            ..crawl
        };
        let of_topic = |one: &&Prepared<'_>| one.outcome(documents, crawl).area;
        mean(&topics.iter().map(of_topic).collect::<Vec<_>>())
    };
    let areas = ANTICIPATIONS.map(|anticipation| (area(anticipation.1), anticipation));
    let best = areas.into_iter().max_by(|one, two| one.0.total_cmp(&two.0));
    best.map_or(ANTICIPATIONS[0], |(_, anticipation)| anticipation)
}
