//! `focus-relevance`: average precision of relevance alone, without a crawl.

use std::path::Path;

use super::documents::{Documents, Given};
use super::figures::{average_precision, interval, mean};
use super::judged::Bag;
use super::topics::FocusTopic;
use crate::report::Report;
use crate::threads;

/// A measure of relevance: the relevance of each page to a topic.
type Measure = fn(&Documents, &FocusTopic) -> Vec<f64>;

const MEASURES: &[(&str, Measure)] = &[
    ("BM25, words", |documents, topic| {
        documents.bags.bm25(&documents.bags.bag_of(&topic.words))
    }),
    ("cosine, words", |documents, topic| {
        documents
            .bags
            .cosines(&[&documents.bags.bag_of(&topic.words)])
    }),
    ("cosine, examples", |documents, topic| {
        let bag = |page: &u32| &documents.bags.pages[*page as usize];
        let examples: Vec<&Bag> = topic.examples.iter().map(bag).collect();
        documents.bags.cosines(&examples)
    }),
    ("ours, words", |documents, topic| {
        documents.made(topic, Given::Words).relevance.clone()
    }),
    ("ours, examples", |documents, topic| {
        documents.made(topic, Given::Examples).relevance.clone()
    }),
    ("ours, both", |documents, topic| {
        documents.made(topic, Given::Both).relevance.clone()
    }),
    ("cosine, both", |documents, topic| {
        let bag = |page: &u32| &documents.bags.pages[*page as usize];
        let words = documents.bags.bag_of(&topic.words);
        let mut examples: Vec<&Bag> = topic.examples.iter().map(bag).collect();
        examples.push(&words);
        documents.bags.cosines(&examples)
    }),
];

/// Returns the pages in the order of their relevance, without the examples of the topic.
pub(crate) fn ranking(topic: &FocusTopic, relevance: &[f64]) -> Vec<u32> {
    let mut pages: Vec<u32> = (0..relevance.len() as u32)
        .filter(|page| !topic.examples.contains(page))
        .collect();
    let of = |page: u32| relevance[page as usize];
    pages.sort_by(|one, two| of(*two).total_cmp(&of(*one)));
    pages
}

/// Measures the relevance of all pages to all topics, and reports the average precisions.
pub(crate) fn measure_relevance(manuals: &Path) -> Result<Report, String> {
    let documents = Documents::read(manuals)?;
    let mut report = Report::default();
    write_relevance(&mut report, &documents);
    Ok(report)
}

/// Writes a table with a row for each topic and a column for each measure.
pub(crate) fn write_relevance(report: &mut Report, documents: &Documents) {
    let mut head = vec!["topic".to_owned(), "relevant".to_owned()];
    head.extend(MEASURES.iter().map(|(name, _)| (*name).to_owned()));
    let mut rows = Vec::new();
    let mut figures: Vec<(bool, Vec<f64>)> = Vec::new();
    for topic in &documents.list.topics {
        let precisions: Vec<f64> = MEASURES
            .iter()
            .map(|(_, measure)| {
                average_precision(&ranking(topic, &measure(documents, topic)), &topic.relevant)
            })
            .collect();
        let mut row = vec![topic.name.clone(), topic.relevant.len().to_string()];
        row.extend(precisions.iter().map(|figure| format!("{figure:.2}")));
        rows.push(row);
        figures.push((topic.chooses, precisions));
    }
    for (name, chooses) in [
        ("mean of those that choose", true),
        ("mean of the others", false),
    ] {
        let mut row = vec![name.to_owned(), String::new()];
        for column in 0..MEASURES.len() {
            let of_part = figures.iter().filter(|(part, _)| *part == chooses);
            let numbers: Vec<f64> = of_part.map(|(_, figures)| figures[column]).collect();
            let (low, high) = interval(&numbers);
            row.push(format!("{:.2} ({low:.2}–{high:.2})", mean(&numbers)));
        }
        rows.push(row);
    }
    report.paragraph(
        "Average precision of all pages, ranked by relevance. Goals, which were estimates: by \
         words 0.65, by examples 0.80. Relevance is by chapters, and many pages of a chapter \
         describe one function or class and hardly have the topic's words: no measure of single \
         texts finds these.",
    );
    report.table(&head, &rows);
    report.paragraph(
        "Pages at or above the default threshold: threshold, pages, precision / recall.",
    );
    write_thresholds(report, documents);
    write_choice_of_threshold(report, documents);
    write_without_urls(report, documents);
    write_densities(report, documents);
}

/// The topics that choose, and the others.
const PARTS: [(&str, bool); 2] = [("that choose", true), ("only reported", false)];

/// Returns the mean of a figure over the topics of a part.
fn mean_over(documents: &Documents, chooses: bool, figure: impl Fn(&FocusTopic) -> f64) -> f64 {
    let topics = documents.list.topics.iter();
    let of_part = topics.filter(|topic| topic.chooses == chooses);
    mean(&of_part.map(figure).collect::<Vec<_>>())
}

/// Returns the F1 of the pages at or above a threshold.
fn f1(documents: &Documents, topic: &FocusTopic, given: Given, least: f64) -> f64 {
    let relevance = &documents.made(topic, given).relevance;
    let is_on_topic =
        |page: &u32| relevance[*page as usize] >= least && !topic.examples.contains(page);
    let on_topic: Vec<u32> = (0..relevance.len() as u32).filter(is_on_topic).collect();
    let right = on_topic
        .iter()
        .filter(|page| topic.relevant.contains(page))
        .count();
    2.0 * right as f64 / (on_topic.len() + topic.relevant.len()) as f64
}

/// Writes, for each topic, the precision and the recall of the pages at the default threshold.
fn write_thresholds(report: &mut Report, documents: &Documents) {
    let mut rows = Vec::new();
    for topic in &documents.list.topics {
        let mut row = vec![topic.name.clone()];
        for given in Given::ALL {
            let made = documents.made(topic, given);
            let ranked = ranking(topic, &made.relevance);
            let is_on_topic = |page: &&u32| made.relevance[**page as usize] >= made.threshold;
            let on_topic: Vec<u32> = ranked.iter().filter(is_on_topic).copied().collect();
            let right = on_topic
                .iter()
                .filter(|page| topic.relevant.contains(page))
                .count();
            row.push(format!(
                "{:.2}: {} pages, {:.2} / {:.2}",
                made.threshold,
                on_topic.len(),
                right as f64 / on_topic.len().max(1) as f64,
                right as f64 / topic.relevant.len().max(1) as f64
            ));
        }
        rows.push(row);
    }
    let head = ["topic", "words", "examples", "both"].map(str::to_owned);
    report.table(&head, &rows);
}

/// Writes the mean F1 of the pages at the default threshold and at several others.
fn write_choice_of_threshold(report: &mut Report, documents: &Documents) {
    report.paragraph(
        "Mean F1 of the pages at a threshold; at others than the default, over the topics that \
         choose.",
    );
    let mut rows = Vec::new();
    for (name, chooses) in PARTS {
        let mut row = vec![format!("default, topics {name}")];
        row.extend(Given::ALL.map(|given| {
            let at_default = |topic: &FocusTopic| {
                f1(
                    documents,
                    topic,
                    given,
                    documents.made(topic, given).threshold,
                )
            };
            format!("{:.3}", mean_over(documents, chooses, at_default))
        }));
        rows.push(row);
    }
    for twentieths in 2..15 {
        let least = f64::from(twentieths) * 0.05;
        let mut row = vec![format!("{least:.2}")];
        row.extend(Given::ALL.map(|given| {
            let at_least = |topic: &FocusTopic| f1(documents, topic, given, least);
            format!("{:.3}", mean_over(documents, true, at_least))
        }));
        rows.push(row);
    }
    let head = ["threshold", "words", "examples", "both"].map(str::to_owned);
    report.table(&head, &rows);
}

/// Writes the average precision without the words of URLs.
fn write_without_urls(report: &mut Report, documents: &Documents) {
    report.paragraph(
        "Average precision without the words of URLs. Relevant pages are named by their paths, so \
         this evaluation favours these words.",
    );
    let of_topic = |topic: &FocusTopic, given: Given| {
        let made = documents.made(topic, given);
        let judge = |page: usize| {
            let judged = made.topic.judge(&documents.pages[page].page_text(), None);
            judged.relevance.share()
        };
        let relevance = threads::each(documents.hosts.manual_pages, judge);
        average_precision(&ranking(topic, &relevance), &topic.relevant)
    };
    let rows: Vec<Vec<String>> = PARTS
        .iter()
        .map(|(name, chooses)| {
            let mut row = vec![format!("mean of those {name}")];
            row.extend(Given::ALL.map(|given| {
                let figure = mean_over(documents, *chooses, |topic| of_topic(topic, given));
                format!("{figure:.2}")
            }));
            row
        })
        .collect();
    let head = ["topics", "words", "examples", "both"].map(str::to_owned);
    report.table(&head, &rows);
}

/// Writes the share of the topic's words among those of relevant pages. A page with more is
/// stuffed.
fn write_densities(report: &mut Report, documents: &Documents) {
    report.paragraph(
        "Share of the topic's words among the words of relevant pages (of fewer than 100 words: of \
         100), over the topics that choose. A page beyond 0.25 (topics of at most 16 words) or \
         0.40 counts as stuffed.",
    );
    let mut rows = Vec::new();
    for given in Given::ALL {
        let mut densities: Vec<f64> = Vec::new();
        for topic in documents.list.topics.iter().filter(|topic| topic.chooses) {
            let made = documents.made(topic, given);
            let density = |page: &u32| {
                let text = documents.pages[*page as usize].page_text();
                made.topic.keyword_density(&text)
            };
            densities.extend(topic.relevant.iter().map(density));
        }
        densities.sort_by(f64::total_cmp);
        let quantile = |thousandths: usize| {
            let place = densities.len().saturating_sub(1) * thousandths / 1_000;
            densities
                .get(place)
                .map_or("–".to_owned(), |density| format!("{density:.2}"))
        };
        let mut row = vec![given.as_str().to_owned(), densities.len().to_string()];
        row.extend([500, 900, 990, 999, 1_000].map(quantile));
        rows.push(row);
    }
    let head = [
        "topics by",
        "pages",
        "half",
        "90 %",
        "99 %",
        "99.9 %",
        "all",
    ];
    report.table(&head.map(str::to_owned), &rows);
}
