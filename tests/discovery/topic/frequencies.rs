//! `--frequencies` with a topic: words that many documents have say less.

use testkit::{Reply, Server, Site};

use super::{LEAF, SEA, TOPIC, focused, on_topic, page, tunnel};
use crate::support::Crawl;
use crate::support::pages::prose;

/// Frequencies by which every document has *power*, and none *tidal*.
const COMMON_POWER: &str = "documents\t100\tword:1\npower\t100\n";

/// A page of one of the topic's words, whose link leads to one with both.
fn site() -> Site {
    Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/" => {
            let text = format!("{} {}", "Power, and power. ".repeat(6), prose(1, 60));
            page(&text, &[("/plant".to_owned(), "next")])
        }
        "/plant" => on_topic(2, LEAF),
        _ => Reply::status(404),
    })
}

/// A crawl with a topic and frequencies was refused, because fingerprints have no use for these
/// unless they are weighted by tf-idf.
#[test]
fn a_word_that_all_documents_have_says_next_to_nothing_in_a_crawl() {
    let server = Server::spawn_thread(site());
    let relevance = |options: &[&str]| {
        let crawl = focused(&server, &[SEA]).with(&TOPIC).with(options);
        crawl.write("words.txt", COMMON_POWER);
        crawl.complete();
        let visit = |path: &str| crawl.visit(&server.url(SEA, path))["relevance"].as_f64();
        (visit("/").unwrap(), visit("/plant").unwrap())
    };
    let (power, both) = relevance(&[]);
    assert!(power > 0.3, "{power}");
    for options in [
        &["--frequencies", "words.txt"][..],
        &["--frequencies", "words.txt", "--features", "word:1+tf-idf"],
    ] {
        let (rare_power, rare_both) = relevance(options);
        assert!(rare_power < 0.05, "{rare_power}");
        assert!(rare_both > 0.3 && both > 0.3, "{rare_both} {both}");
    }
}

#[test]
fn a_crawl_keeps_the_weights_of_given_frequencies_without_their_file() {
    let server = Server::spawn_thread(site());
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let file = crawl.write("words.txt", COMMON_POWER);
    let crawl = crawl.with(&["--frequencies", "words.txt"]);
    assert_eq!(crawl.run_with(&["--max-pages", "1"]).code, Some(0));
    std::fs::remove_file(file).unwrap();
    let rest = crawl.run_with(&["--max-pages", "9"]);
    assert_eq!(rest.summary()["finished"], "exhausted", "{rest:?}");
    let plant = crawl.visit(&server.url(SEA, "/plant"));
    assert_eq!(plant["verdict"], "unique", "{plant}");
}

#[test]
fn a_topic_that_still_grows_by_its_seeds_needs_the_file_until_the_last_seed() {
    let server = Server::spawn_thread(site());
    let crawl =
        Crawl::of(&server, &[SEA]).seeds(&[server.url(SEA, "/"), server.url(SEA, "/plant")]);
    let file = crawl.write("words.txt", COMMON_POWER);
    let crawl = crawl.with(&["--topic-of-seeds", "--frequencies", "words.txt"]);
    assert_eq!(crawl.run_with(&["--max-pages", "1"]).code, Some(0));
    std::fs::remove_file(&file).unwrap();
    let gone = crawl.run_with(&["--max-pages", "9"]);
    gone.assert_error(2, "words.txt");
    crawl.write("words.txt", COMMON_POWER);
    assert_eq!(crawl.run_with(&["--max-pages", "9"]).code, Some(0));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(crawl.run_with(&["--max-pages", "99"]).code, Some(0));
    // Both seeds have the word, and so has every other document: it is none of the topic's.
    let stored = std::fs::read_to_string(crawl.out().join("state/topic-seeds.json")).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let words = stored["topic"]["words"].to_string();
    assert!(!words.contains("\"power\""), "{words}");
    assert_eq!(stored["topic"]["learns"], false);
}

#[test]
fn frequencies_that_are_no_use_for_a_topic_are_refused_before_anything_is_written() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]);
    crawl.write("pairs.txt", "documents\t3\tword:2\na b\t2\n");
    crawl.write("other.txt", "not frequencies");
    for (topic, file, words) in [
        (&TOPIC[..], "pairs.txt", "a topic needs word frequencies"),
        (
            &["--topic-of-seeds"],
            "pairs.txt",
            "a topic needs word frequencies",
        ),
        (&TOPIC, "other.txt", "other.txt"),
        (&TOPIC, "missing.txt", "missing.txt"),
    ] {
        let refused = crawl.run_with(&[topic, &["--frequencies", file]].concat());
        refused.assert_error(2, words);
        assert!(!crawl.out().exists(), "{topic:?} {file}");
    }
}
