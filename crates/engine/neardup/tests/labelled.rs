//! A thousand news articles of which ten pairs are known to be near duplicates
//! (chrisjmccormick/MinHash).
//!
//! The data lie beside the project, or where `CRAWLER_DATA` says; without them there is nothing to
//! check.

use std::collections::BTreeSet;
use std::path::PathBuf;

use neardup::{Features, HashKey, PageText, SignatureBuilder, SignatureIndex, Thresholds};

fn labelled(name: &str) -> Option<String> {
    let beside = || {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../../shared/data"
        ))
    };
    let path = std::env::var_os("CRAWLER_DATA")
        .map_or_else(beside, PathBuf::from)
        .join(name);
    let text = std::fs::read_to_string(&path);
    if text.is_err() {
        say(&format!(
            "skipped: no labelled data at {}; CRAWLER_DATA says where they are",
            path.display()
        ));
    }
    text.ok()
}

#[expect(
    clippy::print_stdout,
    reason = "a check that did not take place must say so"
)]
fn say(line: &str) {
    println!("{line}");
}

#[test]
fn ten_pairs_among_a_thousand_articles_are_found_and_nothing_else() {
    let (Some(articles), Some(truth)) = (
        labelled("articles_1000.train"),
        labelled("articles_1000.truth"),
    ) else {
        return;
    };
    let expected: BTreeSet<(&str, &str)> = truth
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(one, two)| ordered(one, two.trim()))
        .collect();
    let articles: Vec<(&str, &str)> = articles
        .lines()
        .filter_map(|line| line.split_once(' '))
        .collect();

    let signature_builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
    let mut signature_index = SignatureIndex::new(Thresholds::default());
    let mut found = BTreeSet::new();
    for (number, (name, text)) in (0_u64..).zip(&articles) {
        let signature = signature_builder.signature(number.into(), Some(PageText::of(text)));
        match signature_index.find(&signature) {
            Some(like) => drop(found.insert(ordered(name, articles[like.of as usize].0))),
            None => signature_index.insert(number, signature),
        }
    }
    assert_eq!(expected.len(), 10);
    assert_eq!(found, expected);
}

fn ordered<'a>(one: &'a str, two: &'a str) -> (&'a str, &'a str) {
    (one.min(two), one.max(two))
}
