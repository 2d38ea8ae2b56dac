//! `focus-choose`: formulas for the order of visits, compared on the topics that choose.

use std::path::Path;

use super::documents::Documents;
use super::figures::mean;
use super::formula::{CHOSEN, Formula, InVain, Levels, Witness};
use super::prepared::{Prepared, SimulatedCrawl, prepare};
use super::rows::ANTICIPATIONS;
use super::rules::Rule;
use super::seeds::SeedSet;
use crate::report::Report;
use crate::threads;

/// Prints the areas under recall of formulas on the topics that choose, from each set of seeds, the
/// best mean first.
pub(crate) fn choose(manuals: &Path) -> Result<Report, String> {
    let documents = Documents::read(manuals)?;
    let topics = prepare(&documents, true);
    let mut rows = Vec::new();
    for anticipation in ANTICIPATIONS {
        for formula in formulas() {
            let area = |seeds| {
                let rule = Rule::Formula(formula);
                mean(&areas(&documents, &topics, rule, anticipation.1, seeds))
            };
            rows.push((SeedSet::ALL.map(area), anticipation.0, formula));
        }
    }
    rows.sort_by(|one, two| mean(&two.0).total_cmp(&mean(&one.0)));
    let mut report = Report::default();
    let written = rows.iter().map(|(areas, anticipation, formula)| {
        let mut row = vec![format!("{:.3}", mean(areas))];
        row.extend(areas.iter().map(|area| format!("{area:.3}")));
        row.extend([(*anticipation).to_owned(), format!("{formula:?}")]);
        row
    });
    let mut head = vec!["area under recall".to_owned()];
    head.extend(SeedSet::ALL.map(|seeds| format!("from {}", seeds.as_str())));
    head.extend(["anticipation", "formula"].map(str::to_owned));
    report.table(&head, &written.collect::<Vec<_>>());
    Ok(report)
}

/// Returns the formulas that are compared: for each effect of pages off topic the chosen
/// coefficients, and those that differ from them in one.
fn formulas() -> Vec<Formula> {
    let mut formulas = Vec::new();
    for in_vain in [InVain::Nothing, InVain::Runs, InVain::RunsAndStreaks] {
        let chosen = Formula { in_vain, ..CHOSEN };
        formulas.push(chosen);
        for words in [1.0, 3.0, 10.0] {
            formulas.push(Formula { words, ..chosen });
        }
        for parent in [0.0, 2.0] {
            formulas.push(Formula { parent, ..chosen });
        }
        for directory in [0.0, 2.0] {
            formulas.push(Formula {
                directory,
                ..chosen
            });
        }
        for levels in [
            Levels::Exact,
            Levels::Linear(8),
            Levels::Logarithmic(8, 0.5),
            Levels::Logarithmic(8, 0.7),
        ] {
            formulas.push(Formula { levels, ..chosen });
        }
        for learned in [0.3, 0.6] {
            formulas.push(Formula { learned, ..chosen });
        }
        formulas.push(Formula {
            decay: 0.7,
            ..chosen
        });
        formulas.push(Formula {
            host: 1.0,
            ..chosen
        });
        formulas.push(Formula {
            witness: Witness::Best,
            ..chosen
        });
    }
    formulas
}

/// Returns the area under recall of a rule for each prepared topic.
fn areas(
    documents: &Documents,
    topics: &[Prepared<'_>],
    rule: Rule,
    anticipation: u64,
    seeds: SeedSet,
) -> Vec<f64> {
    let crawl = SimulatedCrawl {
        seeds,
        rule,
        anticipation,
        most: 4_000,
    };
    threads::each(topics.len(), |number| {
        topics[number].outcome(documents, crawl).area
    })
}
