//! `focus-choose`: formulas for the order of visits, compared on the topics that choose.

use std::path::Path;

use super::documents::Documents;
use super::figures::mean;
use super::formula::{Formula, Levels, Witness};
use super::prepared::{Prepared, SimulatedCrawl, prepare};
use super::rows::PATIENCES;
use super::rules::Rule;
use super::seeds::SeedSet;
use crate::report::Report;
use crate::threads;

/// Prints the areas under recall of formulas on the topics that choose, the best first.
pub(crate) fn choose(manuals: &Path) -> Result<Report, String> {
    let documents = Documents::read(manuals)?;
    let topics = prepare(&documents, true);
    let mut rows = Vec::new();
    let levels = [
        Levels::Exact,
        Levels::Linear(8),
        Levels::Logarithmic(8, 0.6),
        Levels::Logarithmic(32, 0.9),
        Levels::Logarithmic(32, 0.85),
    ];
    for patience in PATIENCES {
        for (parent, words) in [(1.0, 1.0), (1.0, 3.0), (1.0, 5.0)] {
            for directory in [0.0, 1.0, 2.0] {
                for levels in levels {
                    for (decay, learned) in [(1.0, 0.0), (0.7, 0.0), (1.0, 0.3), (1.0, 0.6)] {
                        let formula = Formula {
                            parent,
                            words,
                            directory,
                            host: 0.0,
                            decay,
                            levels,
                            learned,
                            witness: Witness::First,
                        };
                        let rule = Rule::Formula(formula);
                        let area = mean(&areas(&documents, &topics, rule, patience.1));
                        rows.push((area, patience.0, formula));
                    }
                }
            }
        }
    }
    rows.sort_by(|one, two| two.0.total_cmp(&one.0));
    let mut report = Report::default();
    let written = rows.iter().map(|(area, patience, formula)| {
        vec![
            format!("{area:.3}"),
            (*patience).to_owned(),
            format!("{formula:?}"),
        ]
    });
    let head = ["area under recall", "patience", "formula"].map(str::to_owned);
    report.table(&head, &written.collect::<Vec<_>>());
    Ok(report)
}

/// Returns the area under recall of a rule for each prepared topic.
fn areas(documents: &Documents, topics: &[Prepared<'_>], rule: Rule, patience: u64) -> Vec<f64> {
    let crawl = SimulatedCrawl {
        seeds: SeedSet::Titles,
        rule,
        patience,
        most: 4_000,
    };
    threads::each(topics.len(), |number| {
        topics[number].outcome(documents, crawl).area
    })
}
