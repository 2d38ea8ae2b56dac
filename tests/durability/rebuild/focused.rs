//! Rebuild of focused crawls: the order of visits, and the links of pages off topic.

use std::collections::HashSet;
use std::fs;

use serde_json::Value;
use testkit::{Reply, Server, Site};

use super::rebuild;
use crate::support::Crawl;
use crate::support::pages::{html, prose};

const HOST: &str = "site.test";

/// The pages of the web.
const PAGES: u64 = 120;
/// The pages of the first session.
const HALF: &str = "50";

/// A web in which every page names eight more. Half of them are on topic, as their links say; the
/// others lead to pages on topic, too.
fn web() -> Server {
    Server::spawn_thread(Site::new(|request| {
        if request.path() == "/robots.txt" {
            return Reply::text("User-agent: *\nAllow: /\n");
        }
        let digits = request.path().rsplit('/').next().unwrap_or_default();
        let number: u64 = digits.parse().unwrap_or(0);
        let links: String = (8 * number + 1..=8 * number + 8)
            .filter(|child| *child < PAGES)
            .map(|child| match child % 4 {
                0 => format!("<p><a href=\"/plant/{child}\">Tidal power</a></p>"),
                1 => format!("<p><a href=\"/tide/{child}\">The tidal range</a></p>"),
                _ => format!("<p><a href=\"/recipe/{child}\">A recipe</a></p>"),
            })
            .collect();
        let is_on_topic =
            request.path().starts_with("/plant/") || request.path().starts_with("/tide/");
        let sentence = match is_on_topic {
            true => "Tidal power is the power of the tides, and tidal plants use that power.",
            false => "Knead the dough.",
        };
        let text = format!("<p>{sentence} {} {sentence}</p>{links}", prose(number, 60));
        Reply::html(html("<title>A page</title>", &text))
    }))
}

fn crawl(server: &Server, topic: &[&str]) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency", "1"])
        .with(topic)
}

const BY_WORDS: [&str; 2] = ["--topic", "tidal power"];
const BY_EXAMPLES: [&str; 2] = ["--topic-file", "examples"];

/// Writes the examples of [`BY_EXAMPLES`].
fn write_examples(crawl: &Crawl) {
    fs::create_dir(crawl.directory().join("examples")).unwrap();
    let example = "Tidal power plants turn the power of the tides into electric power. The tidal \
                   range decides how much power a plant in a bay or in a strait can give.";
    for (name, more) in [
        ("a", "Barrages dam a bay."),
        ("b", "Turbines stand in a strait."),
        ("c", "Neap tides are low."),
    ] {
        crawl.write(&format!("examples/{name}"), format!("{example} {more}"));
    }
}

/// Returns the order of visits of a crawl that nothing happens to.
fn undisturbed(topic: &[&str]) -> Vec<String> {
    let server = web();
    let whole = crawl(&server, topic);
    write_examples(&whole);
    assert_eq!(whole.complete()["pages"], PAGES);
    server.log().visits()
}

/// A focused crawl that was ended half way.
fn half(server: &Server, topic: &[&str]) -> Crawl {
    let crawl = crawl(server, topic);
    write_examples(&crawl);
    let begun = crawl.run_with(&["--max-pages", HALF]);
    assert_eq!(begun.summary()["finished"], "max-pages", "{begun:?}");
    crawl
}

/// Completes the crawl.
fn go_on(crawl: &Crawl) -> Value {
    let summary = crawl.run_with(&["--max-pages", "100000"]).summary();
    assert_eq!(summary["finished"], "exhausted");
    crawl.is_sound();
    summary
}

/// Returns the yield of the URL patterns and the counts of the crawl so far.
fn figures(crawl: &Crawl) -> (String, Value) {
    let patterns = crawl.run_command(&["patterns", "crawl", "--format", "json"]);
    assert_eq!(patterns.code, Some(0), "{patterns:?}");
    let status = crawl.run_command(&["status", "crawl", "--format", "json"]);
    let status = status.json();
    let counts = ["pages", "unique", "off_topic", "harvest", "queued"];
    let counts = counts.map(|name| status[name].clone());
    (patterns.output, counts.to_vec().into())
}

/// The archive had nothing of a page off topic but its verdict, and a rebuild gave no link a
/// score. So most of the web was lost, and what was left was visited in the order of its links.
#[test]
fn a_focused_crawl_that_is_rebuilt_from_its_archive_goes_on_as_if_nothing_had_happened() {
    let expected = undisturbed(&BY_WORDS);
    let server = web();
    let crawl = half(&server, &BY_WORDS);
    let (visits, before) = (crawl.visits(), figures(&crawl));
    fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let (report, errors) = rebuild(&crawl);
    assert_eq!(report["from"], "archive", "{errors}");
    assert_eq!(report["links_omitted"], 0);
    assert_eq!(figures(&crawl), before);
    assert_eq!(crawl.visits(), visits);
    crawl.is_sound();
    let summary = go_on(&crawl);
    assert_eq!(summary["pages"], PAGES);
    let order = server.log().visits();
    let different: HashSet<&String> = order.iter().collect();
    assert_eq!((order.len() as u64, different.len()), (PAGES, order.len()));
    assert_eq!(order, expected);
}

/// A rebuild made a state without a topic, and a crawl by examples could not be continued without
/// these, although it had read them once.
#[test]
fn a_crawl_by_examples_whose_journal_is_damaged_keeps_its_topic() {
    let expected = undisturbed(&BY_EXAMPLES);
    let server = web();
    let crawl = half(&server, &BY_EXAMPLES);
    fs::remove_dir_all(crawl.directory().join("examples")).unwrap();
    fs::remove_file(crawl.journal()).unwrap();
    let (report, errors) = rebuild(&crawl);
    assert_eq!(report["from"], "archive", "{errors}");
    assert!(!errors.contains("without its topic"), "{errors}");
    assert_eq!(go_on(&crawl)["pages"], PAGES);
    assert_eq!(server.log().visits(), expected);
}

#[test]
fn without_any_topic_a_rebuild_warns_and_loses_no_page() {
    let server = web();
    let crawl = half(&server, &BY_EXAMPLES);
    let examples = crawl.directory().join("examples");
    let aside = crawl.directory().join("aside");
    fs::rename(&examples, &aside).unwrap();
    fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let (_report, errors) = rebuild(&crawl);
    assert_eq!(errors.matches("without its topic").count(), 1, "{errors}");
    fs::rename(&aside, &examples).unwrap();
    assert_eq!(go_on(&crawl)["pages"], PAGES);
    assert_eq!(server.log().visits().len() as u64, PAGES);
}

#[test]
fn only_pages_off_topic_that_are_not_archived_name_their_links() {
    let server = web();
    let crawl = half(&server, &BY_WORDS);
    for visit in crawl.visits() {
        let url = visit["url"].as_str().unwrap();
        let notes = crawl.notes_about(url);
        let is_off_topic = visit["verdict"] == "off-topic";
        let has_links = url.rsplit('/').next().unwrap().parse().unwrap_or(0) < PAGES / 8;
        assert_eq!(
            notes.contains_key("queued-link"),
            is_off_topic && has_links,
            "{notes:?}"
        );
    }
    let kept = half(&server, &["--topic", "tidal power", "--off-topic", "keep"]);
    let names_links = |record: &Value| record.to_string().contains("queued-link");
    assert!(!kept.visits().iter().any(names_links));
    for visit in kept.visits() {
        let notes = kept.notes_about(visit["url"].as_str().unwrap());
        assert!(!notes.contains_key("queued-link"), "{notes:?}");
    }
}
