//! The search index of a crawl, through the real binary: its results, and its agreement with the
//! archive.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use testkit::{Server, Site, ToyWeb};

use crate::support::kill_points::RequestLimiter;
use crate::support::pages::BEHIND_COPIES;
use crate::support::{CommandOutput, Crawl};

/// A query that matches every page.
const ALL: &str = "-nosuchwordatall";

struct Searched {
    crawl: Crawl,
    _server: Server,
}

fn searched(options: &[&str]) -> Searched {
    let toy = ToyWeb::new();
    let server = Server::spawn_thread(toy.site());
    let hosts = toy.hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    // One page at a time, so that the same one of two like pages is always the original.
    let crawl = Crawl::of(&server, &hosts)
        .seeds(&toy.seeds(server.port()))
        .with(&["--concurrency", "1", "--exclude", BEHIND_COPIES])
        .with(options);
    Searched {
        crawl,
        _server: server,
    }
}

impl Crawl {
    fn search(&self, query: &str, more: &[&str]) -> CommandOutput {
        let command = [&["search", "crawl", query, "--format", "json"], more].concat();
        self.run_command(&command)
    }

    /// Returns the hits of a query, best first.
    pub(crate) fn hits(&self, query: &str, more: &[&str]) -> Vec<Value> {
        self.search(query, more).json_lines()
    }

    /// Returns the number of times that each place of the archive is found.
    fn places_found(&self) -> BTreeMap<(String, u64), u64> {
        let mut places = BTreeMap::new();
        for hit in self.hits(ALL, &["--limit", "100000", "--snippets", "off"]) {
            *places.entry(place(&hit)).or_insert(0) += 1;
        }
        places
    }

    /// Asserts that each unique page with text is found exactly once, nothing else is, and `verify`
    /// agrees.
    pub(crate) fn finds_each_page_once(&self) {
        let visits = self.visits();
        let texts = visits
            .iter()
            .filter(|visit| visit["verdict"] == "unique" && visit["charset"].is_string());
        let expected: BTreeMap<_, _> = texts.map(|visit| (place(visit), 1)).collect();
        assert!(expected.len() >= 8, "{visits:?}");
        assert_eq!(self.places_found(), expected);
        self.is_sound();
    }
}

fn place(visit: &Value) -> (String, u64) {
    let file = visit["warc_file"].as_str().unwrap().to_owned();
    (file, visit["warc_offset"].as_u64().unwrap())
}

#[test]
fn unique_pages_are_found_by_their_words_each_once() {
    let Searched { crawl, _server } = searched(&[]);
    crawl.complete();
    crawl.finds_each_page_once();
    let visits = crawl.visits();
    let titled = visits
        .iter()
        .filter(|visit| visit["verdict"] == "unique" && visit["title"].is_string());
    for visit in titled.take(5) {
        let title = visit["title"].as_str().unwrap();
        let hits = crawl.hits(&format!("title:\"{title}\""), &["--limit", "1000"]);
        let own = hits.iter().find(|hit| place(hit) == place(visit));
        let own = own.unwrap_or_else(|| panic!("{title} is not found: {hits:?}"));
        assert_eq!(
            (&own["title"], &own["language"]),
            (&visit["title"], &visit["language"])
        );
        assert!(
            own["snippet"].is_string() && own["highlights"].is_array(),
            "{own}"
        );
    }
    let hosts = crawl.hits("host:toy.test", &["--limit", "1000", "--snippets", "off"]);
    assert!(
        hosts.iter().all(|hit| hit.get("snippet").is_none()),
        "{hosts:?}"
    );
    assert_eq!(crawl.hits("nosuchwordatall", &[]), [] as [Value; 0]);
    assert_eq!(
        crawl.hits(&format!("{ALL} before:2000"), &[]),
        [] as [Value; 0]
    );
}

#[test]
fn duplicates_of_a_hit_are_listed_on_request() {
    let Searched { crawl, _server } = searched(&[]);
    crawl.complete();
    let visits = crawl.visits();
    let repeats: Vec<&Value> = visits
        .iter()
        .filter(|visit| visit["duplicate_of"].is_string())
        .collect();
    assert!(!repeats.is_empty());
    let hits = crawl.hits(
        ALL,
        &["--limit", "100000", "--snippets", "off", "--duplicates"],
    );
    let duplicates: Vec<&str> = hits
        .iter()
        .flat_map(|hit| hit["duplicates"].as_array().unwrap())
        .map(|duplicate| duplicate["url"].as_str().unwrap())
        .collect();
    for visit in repeats {
        let original = visits
            .iter()
            .find(|other| other["url"] == visit["duplicate_of"])
            .unwrap();
        let is_text = original["charset"].is_string();
        assert_eq!(
            duplicates.contains(&visit["url"].as_str().unwrap()),
            is_text,
            "{visit}"
        );
    }
}

#[test]
fn an_invalid_query_is_quoted_in_the_error() {
    let Searched { crawl, _server } = searched(&["--max-pages", "3"]);
    crawl.complete();
    for (query, words) in [
        (
            "\"open",
            "a phrase is not closed: \"\\\"open\" at character 1",
        ),
        ("colour:red", "unknown field: \"colour:red\" at character 1"),
        ("a OR", "nothing follows: \"OR\" at character 3"),
        (
            "after:soon",
            "this is not a date: \"after:soon\" at character 1",
        ),
        ("", "the query is empty"),
    ] {
        crawl.search(query, &[]).assert_error(2, words);
    }
    crawl
        .search("a", &["--limit", "100001"])
        .assert_error(2, "--limit 100001 plus --offset 0 exceeds");
}

#[test]
fn the_index_can_be_omitted_and_built_later() {
    let Searched { crawl, _server } = searched(&["--no-index"]);
    crawl.complete();
    assert!(!crawl.out().join("search").exists());
    crawl.is_sound();
    crawl
        .search("a", &[])
        .assert_error(2, "does not contain a search index");
    assert_eq!(crawl.run_command(&["reindex", "crawl"]).code, Some(0));
    crawl.finds_each_page_once();
}

#[test]
fn a_rebuilt_index_finds_the_same_in_the_same_order() {
    for options in [
        &[][..],
        &["--main-content", "off"],
        &["--index", "kept", "--on-duplicate", "keep"],
    ] {
        let Searched { crawl, _server } = searched(options);
        crawl.complete();
        let all = |crawl: &Crawl| {
            let queries = ["the", "page", "lang:en", "a OR of", ALL];
            queries.map(|query| {
                let mut hits = crawl.hits(query, &["--limit", "1000"]);
                // Hits of equal score come in the order in which they were indexed.
                hits.sort_by_key(|hit| (hit["score"].to_string(), place(hit)));
                hits
            })
        };
        let before = all(&crawl);
        assert!(before.iter().any(|hits| hits.len() > 10), "{options:?}");
        assert_eq!(crawl.run_command(&["reindex", "crawl"]).code, Some(0));
        assert_eq!(all(&crawl), before, "{options:?}");
        crawl.is_sound();
    }
}

#[test]
fn a_damaged_index_is_quarantined_and_rebuilt_when_the_crawl_continues() {
    let Searched { crawl, _server } = searched(&[]);
    crawl.run_with(&["--max-pages", "30"]);
    crawl.finds_each_page_once();
    let meta = crawl.out().join("search/meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, &text[..text.len() / 2]).unwrap();
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors.contains("it is rebuilt from the archive"),
        "{run:?}"
    );
    crawl.finds_each_page_once();
}

#[test]
fn pages_that_were_visited_without_the_index_are_added_later() {
    let Searched { crawl, _server } = searched(&[]);
    crawl.run_with(&["--max-pages", "15"]);
    crawl.run_with(&["--max-pages", "30", "--no-index"]);
    crawl.is_sound();
    crawl.run_with(&["--no-index=false"]);
    crawl.finds_each_page_once();
}

#[test]
fn after_many_kills_the_index_finds_each_page_once() {
    let toy = ToyWeb::new();
    let site = toy.site();
    let limiter = RequestLimiter::default();
    let counting = limiter.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        counting.limit(site.answer(request))
    }));
    let hosts = toy.hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let crawl = Crawl::of(&server, &hosts)
        .seeds(&toy.seeds(server.port()))
        .with(&["--tries=2", "--warc-max-size=8KiB"]);
    for requests in [1, 4, 9, 2, 15, 7, 30] {
        limiter.kill_after(requests, || crawl.start());
        crawl.is_sound();
    }
    limiter.open();
    crawl.complete();
    crawl.finds_each_page_once();
}
