//! `focus-relevance`: average precision of relevance alone, without a crawl.

use std::path::Path;

use super::figures::{average_precision, interval, mean};
use super::hosts::Hosts;
use super::judged::{Bag, Bags};
use super::link_graph::{self, ReadPage};
use super::topics::{FocusTopic, TopicList};
use crate::report::Report;

/// The documents of the evaluation, read.
pub(crate) struct Documents {
    pub(crate) hosts: Hosts,
    pub(crate) pages: Vec<ReadPage>,
    pub(crate) bags: Bags,
    pub(crate) list: TopicList,
}

impl Documents {
    pub(crate) fn read(manuals: &Path) -> Result<Self, String> {
        let hosts = Hosts::find(manuals).map_err(|why| why.to_string())?;
        let list = TopicList::read(&hosts)?;
        let pages = link_graph::read_all(&hosts).map_err(|why| why.to_string())?;
        let bags = Bags::of(&pages);
        Ok(Self {
            hosts,
            pages,
            bags,
            list,
        })
    }
}

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
    report.table(&head, &rows);
}
