use super::super::formula::{BEST_WITNESS, CHOSEN};
use super::super::hosts::Hosts;
use super::super::link_graph::{GraphLink, ReadPage};
use super::super::seeds::SeedSet;
use super::super::topics::{FocusTopic, TopicList};
use super::*;

/// Two hosts: the topic is on the second one. `/poor` is linked to without a word by its title
/// page, and with good words by `/rich`.
fn documents() -> Documents {
    let title = "<a href=/rich>x</a> <a href=/fair>x</a> <a href=/poor>x</a>";
    let hosts = Hosts::of_pages(&[
        ("a", &[("/index.html", "<p>Bread.")]),
        (
            "b",
            &[
                ("/index.html", title),
                ("/fair", "<p>Tides."),
                ("/poor", "<p>Tides."),
                ("/rich", "<a href=/poor>x</a>"),
            ],
        ),
    ]);
    let topic = FocusTopic {
        number: 0,
        name: "tides".to_owned(),
        chooses: true,
        words: "tides".to_owned(),
        examples: vec![4],
        relevant: [2, 3].into(),
    };
    let list = TopicList {
        titles: vec![0, 1],
        topics: vec![topic],
    };
    Documents::of(hosts, list).unwrap()
}

/// Checks the order of visits by a rule.
fn check(documents: &Documents, seeds: SeedSet, rule: Rule, expected: &[u32]) {
    let words = |(page, number): (&ReadPage, u32)| {
        let links = page.links.iter();
        let of_link = |link: &GraphLink| match (number, link.target) {
            (1, 4) => 0.9,
            (1, 2) => 0.3,
            (4, 3) => 0.6,
            _ => 0.0,
        };
        links.map(of_link).collect()
    };
    let judgement = Judgement {
        relevance: &[0.0, 0.0, 0.5, 0.5, 0.5],
        threshold: 0.5,
        link_words: &documents
            .pages
            .iter()
            .zip(0..)
            .map(words)
            .collect::<Vec<_>>(),
        distances: &[9; 8],
    };
    let seeds = documents.hubs.seeds(seeds, &documents.list.topics[0]);
    let visits = simulate(documents, &judgement, &seeds, rule, u64::MAX / 4, 100);
    let pages: Vec<u32> = visits.iter().map(|visit| visit.page).collect();
    assert_eq!(pages, expected, "{rule:?}");
}

#[test]
fn a_better_witness_takes_a_page_forward_only_by_the_rule_of_the_best_one() {
    let documents = documents();
    for (formula, expected) in [(CHOSEN, [0, 1, 4, 2, 3]), (BEST_WITNESS, [0, 1, 4, 3, 2])] {
        let rule = Rule::Formula(formula);
        check(&documents, SeedSet::Titles, rule, &expected);
    }
}

#[test]
fn examples_are_seeds_and_nearer_than_the_title_pages() {
    check(
        &documents(),
        SeedSet::Examples,
        Rule::BreadthFirst,
        &[4, 0, 1, 3, 2],
    );
}

#[test]
fn from_elsewhere_the_topic_is_behind_the_second_hub_which_is_no_visit() {
    check(
        &documents(),
        SeedSet::Elsewhere,
        Rule::BreadthFirst,
        &[0, 1, 4, 2, 3],
    );
}
