//! `focus`: the order of visits of a focused crawl, by the rules of the literature and by ours.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use store::FrontierRules;
use topic::Topic;

use super::documents::{Documents, Given, Made, topic_of};
use super::engine::EngineCrawl;
use super::figures::{interval, mean};
use super::outcome::{AT, Outcome};
use super::relevance::write_relevance;
use super::simulator::{Formula, Judgement, Levels, Rule, distances, simulate};
use super::topics::FocusTopic;
use crate::report::Report;
use crate::threads;

/// The times for which a slot may stay empty rather than take a poor page, in milliseconds.
const PATIENCES: [(&str, u64); 4] = [
    ("0 s", 0),
    ("5 s", 5_000),
    ("60 s", 60_000),
    ("no end", u64::MAX / 4),
];

/// The visits of a crawl by the engine: beside the pages that count, examples, pages that fail, and
/// the page that names the titles.
const MOST: u64 = 4_200;

/// A formula with equal levels, and a decay for each page off topic in a row: the one that was
/// assumed before anything was measured.
pub(crate) const FORMULA: Formula = Formula {
    parent: 0.35,
    words: 0.45,
    directory: 0.12,
    host: 0.08,
    decay: 0.7,
    levels: Levels::Linear(8),
    learned: 0.0,
};

/// The formula of `crawl/src/steps/promise.rs`, by directory instead of pattern, as `focus-choose`
/// chose it: logarithmic levels, no decay, and mostly words.
const CHOSEN: Formula = Formula {
    parent: 1.0,
    words: 5.0,
    directory: 1.0,
    host: 0.0,
    decay: 1.0,
    levels: Levels::Logarithmic(8, 0.6),
    learned: 0.0,
};

/// The same with a model of links, learned while crawling.
const LEARNING: Formula = Formula {
    learned: 0.3,
    ..CHOSEN
};

/// The rules and their names in the tables.
const RULES: &[(&str, Rule)] = &[
    ("breadth-first", Rule::BreadthFirst),
    ("random", Rule::Random),
    ("parent's relevance (Nutch, QFirst)", Rule::FirstParent),
    ("lowest parent (QMin)", Rule::LowestParent),
    ("linear classifier in batches (ACHE)", Rule::Batches),
    ("online classifier, bandit (Anthelion)", Rule::Bandit),
    (
        "first formula: equal levels, decay 0.7",
        Rule::Formula(FORMULA),
    ),
    ("formula of `promise.rs`", Rule::Formula(CHOSEN)),
    ("the same, with learning", Rule::Formula(LEARNING)),
    ("oracle over known links", Rule::Oracle),
];

/// A topic with what all rules know of it.
struct Prepared<'a> {
    topic: &'a FocusTopic,
    given: Given,
    made: &'a Made,
    link_words: Vec<Vec<f64>>,
    distances: Vec<u32>,
}

impl Prepared<'_> {
    fn judgement(&self) -> Judgement<'_> {
        Judgement {
            relevance: &self.made.relevance,
            threshold: self.made.threshold,
            link_words: &self.link_words,
            distances: &self.distances,
        }
    }
}

fn prepare<'a>(documents: &'a Documents, chooses: bool) -> Vec<Prepared<'a>> {
    let mut prepared = Vec::new();
    for topic in documents
        .list
        .topics
        .iter()
        .filter(|topic| topic.chooses == chooses)
    {
        let distances = distances(documents, &topic.relevant);
        for given in [Given::Words, Given::Examples, Given::Both] {
            let made = documents.made(topic, given);
            prepared.push(Prepared {
                topic,
                given,
                link_words: made.link_words(documents),
                made,
                distances: distances.clone(),
            });
        }
    }
    prepared
}

/// Returns the area under recall of a rule for each prepared topic.
fn areas(documents: &Documents, topics: &[Prepared<'_>], rule: Rule, patience: u64) -> Vec<f64> {
    threads::each(topics.len(), |number| {
        let one = &topics[number];
        let visits = simulate(documents, &one.judgement(), rule, patience, 4_000);
        Outcome::of(&visits, one.topic).area
    })
}

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
    for patience in [PATIENCES[0], PATIENCES[1]] {
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

/// Measures all rows and reports them.
pub(crate) fn measure_orders(manuals: &Path) -> Result<Report, String> {
    let documents = Documents::read(manuals)?;
    let (choosing, reported) = (prepare(&documents, true), prepare(&documents, false));
    let mut report = Report::default();
    introduce(&mut report, &documents);
    report.heading(2, "Relevance alone");
    write_relevance(&mut report, &documents);
    report.heading(2, "The order of visits");
    report.paragraph(
        "Rows marked *engine* are crawls: the same `page.rs`, frontier and pacer as a crawl of the \
         web, in virtual time. The others are a simulator over the same links, with the same \
         delays and without failures and duplicates. *Patience* is the time for which a slot may \
         stay empty rather than take a poor page. The engine's is 5 s, the default of a crawl with \
         `--max-pages`, and beside it none. A simulated row has, of four, the one with the \
         greatest area under recall on the topics that choose. Figures are means over the topics \
         that are only reported, with 95 % bootstrap intervals for the area.",
    );
    let hosts = Arc::new(super::hosts::Hosts::find(manuals).map_err(|why| why.to_string())?);
    let titles = &documents.list.titles;
    let crawl = |topic: Option<&Topic>, patience| {
        let crawl = EngineCrawl {
            hosts: &hosts,
            titles,
            topic,
            patience,
            most: MOST,
        };
        crawl.visits()
    };
    let crawled = crawl(None, Duration::ZERO)?;
    for given in [Given::Words, Given::Examples, Given::Both] {
        let choosing: Vec<&Prepared<'_>> =
            choosing.iter().filter(|one| one.given == given).collect();
        let reported: Vec<&Prepared<'_>> =
            reported.iter().filter(|one| one.given == given).collect();
        report.heading(3, &format!("Topics by {}", given.as_str()));
        let base: Vec<Outcome> = reported
            .iter()
            .map(|one| Outcome::of(&crawled, one.topic))
            .collect();
        let with_patience = |patience| -> Result<Vec<Outcome>, String> {
            let crawls = threads::each(reported.len(), |number| {
                let topic = topic_of(&documents, reported[number].topic, given);
                let visits = crawl(Some(&topic), patience)?;
                Ok(Outcome::of(&visits, reported[number].topic))
            });
            crawls.into_iter().collect()
        };
        let impatient = with_patience(Duration::ZERO)?;
        let ours = with_patience(FrontierRules::PATIENCE)?;
        let rows = vec![
            row("breadth-first, *engine*", "0 s", &base),
            row("ours, *engine*", "0 s", &impatient),
            row("ours, *engine*", "5 s", &ours),
        ];
        let simulated = write_orders(&mut report, &documents, rows, (&choosing, &reported));
        let topics: Vec<&str> = reported.iter().map(|one| one.topic.name.as_str()).collect();
        write_goals(&mut report, &topics, (&base, &ours), &simulated);
    }
    write_misses(&mut report);
    Ok(report)
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
            "Order: without patience a host that is ready is asked for its best page, however \
             poor, so most visits of hosts without the topic are in vain. With 5 s a poor page \
             still has its turn when no better one is expected within this time: where all that \
             is known is poor, or the promise of a link is wrong.",
            "Measured with one set of seeds, the title pages. Patterns are directories in the \
             simulator. At an hour, a crawl by the engine has more pages than are measured.",
        ]
        .map(str::to_owned),
    );
}

/// Writes the goals beside the figures: of breadth-first, ours, the best other row and the ceiling.
fn write_goals(
    report: &mut Report,
    topics: &[&str],
    (breadth_first, ours): (&[Outcome], &[Outcome]),
    simulated: &[(&str, Rule, Vec<Outcome>)],
) {
    let areas = |outcomes: &[Outcome]| -> Vec<f64> {
        outcomes.iter().map(|outcome| outcome.area).collect()
    };
    let area = |outcomes: &[Outcome]| mean(&areas(outcomes));
    let is_other = |rule: Rule| !matches!(rule, Rule::Formula(_) | Rule::Oracle);
    let others = simulated.iter().filter(|(_, rule, _)| is_other(*rule));
    let best = others.max_by(|one, two| area(&one.2).total_cmp(&area(&two.2)));
    let ceiling = simulated.iter().find(|(_, rule, _)| *rule == Rule::Oracle);
    let (Some((best, _, best_outcomes)), Some((_, _, ceiling))) = (best, ceiling) else {
        return;
    };
    let harvest = |outcomes: &[Outcome]| {
        mean(
            &outcomes
                .iter()
                .map(|outcome| outcome.harvest[1])
                .collect::<Vec<_>>(),
        )
    };
    let ratios = areas(ours).into_iter().zip(areas(breadth_first));
    let worse = ratios
        .zip(topics)
        .filter(|((ours, base), _)| *ours < 0.9 * base);
    let worse: Vec<&str> = worse.map(|(_, name)| *name).collect();
    let ratio = |figure: f64, goal: f64| {
        let said = if figure >= goal {
            "reached"
        } else {
            "**missed**"
        };
        [format!("≥ {goal}"), format!("{figure:.2}"), said.to_owned()]
    };
    let mut rows = Vec::new();
    for (name, cells) in [
        (
            "area under recall ÷ breadth-first".to_owned(),
            ratio(area(ours) / area(breadth_first), 2.0),
        ),
        (
            format!("area under recall ÷ best other row ({best})"),
            ratio(area(ours) / area(best_outcomes), 1.15),
        ),
        (
            "harvest at 1,000 pages ÷ ceiling".to_owned(),
            ratio(harvest(ours) / harvest(ceiling), 0.6),
        ),
        (
            "topics more than a tenth worse than breadth-first".to_owned(),
            [
                "none".to_owned(),
                if worse.is_empty() {
                    "none".to_owned()
                } else {
                    worse.join(", ")
                },
                if worse.is_empty() {
                    "reached"
                } else {
                    "**missed**"
                }
                .to_owned(),
            ],
        ),
    ] {
        let mut row = vec![name];
        row.extend(cells);
        rows.push(row);
    }
    report.table(
        &[
            "figure of ours, *engine*, patience 5 s",
            "goal",
            "measured",
            "",
        ]
        .map(str::to_owned),
        &rows,
    );
}

fn introduce(report: &mut Report, documents: &Documents) {
    report.heading(1, "Focused crawls");
    report.paragraph(
        "Made by `cargo run --release -p evaluation -- focus --output docs/measurements/focus.md`, \
         after `evaluation/fetch-manuals.sh --hosts`; not to be edited by hand.",
    );
    report.paragraph(&format!(
        "Documents: {} pages of {} hosts, each a manual of a Debian package; a page names their \
         title pages, and every crawl begins there. The {} topics and their relevant pages stand \
         in `evaluation/topics.txt`: chapters of the manuals' own tables of contents, chosen \
         before anything was run. Half of the topics choose formulas and constants, half are only \
         reported. A topic's examples count neither as found nor as visited.",
        documents.pages.len(),
        documents.hosts.names.len(),
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

fn write_orders(
    report: &mut Report,
    documents: &Documents,
    mut rows: Vec<Vec<String>>,
    (choosing, reported): (&[&Prepared<'_>], &[&Prepared<'_>]),
) -> Vec<(&'static str, Rule, Vec<Outcome>)> {
    let simulated = threads::each(RULES.len(), |number| {
        let (name, rule) = RULES[number];
        let area = |patience| {
            let of_topic = |one: &&Prepared<'_>| {
                let visits = simulate(documents, &one.judgement(), rule, patience, 4_000);
                Outcome::of(&visits, one.topic).area
            };
            mean(&choosing.iter().map(of_topic).collect::<Vec<_>>())
        };
        let best = match rule {
            Rule::BreadthFirst | Rule::Random => PATIENCES[0],
            _ => {
                let areas = PATIENCES.map(|patience| (area(patience.1), patience));
                let best = areas.into_iter().max_by(|one, two| one.0.total_cmp(&two.0));
                best.map_or(PATIENCES[0], |(_, patience)| patience)
            }
        };
        let outcome = |one: &&Prepared<'_>| {
            let all = documents.pages.len();
            Outcome::of(
                &simulate(documents, &one.judgement(), rule, best.1, all),
                one.topic,
            )
        };
        (
            name,
            rule,
            best.0,
            reported.iter().map(outcome).collect::<Vec<_>>(),
        )
    });
    for (name, _, patience, outcomes) in &simulated {
        rows.push(row(name, patience, outcomes));
    }
    let mut head = vec!["row".to_owned(), "patience".to_owned()];
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
    report.table(&head, &rows);
    simulated
        .into_iter()
        .map(|(name, rule, _, outcomes)| (name, rule, outcomes))
        .collect()
}

fn row(name: &str, patience: &str, outcomes: &[Outcome]) -> Vec<String> {
    let of =
        |figure: &dyn Fn(&Outcome) -> f64| -> Vec<f64> { outcomes.iter().map(figure).collect() };
    let mut cells = vec![name.to_owned(), patience.to_owned()];
    for place in 0..AT.len() {
        cells.push(format!(
            "{:.3}",
            mean(&of(&|outcome| outcome.harvest[place]))
        ));
    }
    for place in 0..AT.len() {
        cells.push(format!(
            "{:.2}",
            mean(&of(&|outcome| outcome.recall[place]))
        ));
    }
    let hours: Vec<(f64, f64)> = outcomes
        .iter()
        .filter_map(|outcome| outcome.at_an_hour)
        .collect();
    cells.push(match hours.is_empty() {
        true => "–".to_owned(),
        false => {
            let harvest: Vec<f64> = hours.iter().map(|hour| hour.0).collect();
            let recall: Vec<f64> = hours.iter().map(|hour| hour.1).collect();
            format!("{:.3}, {:.2}", mean(&harvest), mean(&recall))
        }
    });
    let areas = of(&|outcome| outcome.area);
    let (low, high) = interval(&areas);
    cells.push(format!("{:.2} ({low:.2}–{high:.2})", mean(&areas)));
    let mut halves: Vec<usize> = outcomes
        .iter()
        .map(|outcome| outcome.until_half.unwrap_or(usize::MAX))
        .collect();
    halves.sort_unstable();
    let median = halves
        .get(halves.len() / 2)
        .copied()
        .filter(|pages| *pages < usize::MAX);
    cells.push(median.map_or("not reached".to_owned(), |pages| {
        format!("{pages} (median)")
    }));
    cells
}
