//! URLs that were seen and not visited: `crawler skipped`, the summary and `why` agree.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, article, html, page, prose};

fn listed(crawl: &Crawl, arguments: &[&str]) -> Vec<Value> {
    crawl.json_lines(&[&["skipped", "crawl"], arguments].concat())
}

/// Path and host of each URL, by kind.
fn by_kind(lines: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut kinds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in lines {
        let url = line["url"].as_str().unwrap();
        let after_scheme = url.split_once("://").unwrap().1;
        let (authority, path) = after_scheme.split_once('/').unwrap();
        let host = authority.split(':').next().unwrap();
        let why = line["why"].as_str().unwrap().to_owned();
        kinds.entry(why).or_default().push(format!("{host}/{path}"));
    }
    for urls in kinds.values_mut() {
        urls.sort();
    }
    kinds
}

fn kinds(pairs: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
    let owned = |urls: &[&str]| urls.iter().map(|&url| url.to_owned()).collect();
    pairs
        .iter()
        .map(|(kind, urls)| ((*kind).to_owned(), owned(urls)))
        .collect()
}

/// A site with a link for each reason not to follow it; the twin repeats the front page, and links
/// to a page that only it has.
fn site() -> Site {
    let links = [
        "/1",
        "/2",
        "/twin",
        "/hidden",
        "/private",
        "/img/img/img/1",
        "http://other.test/a",
    ];
    Site::pages([
        ("/0", page(0, &links)),
        (
            "/1",
            page(
                1,
                &[
                    "/0",
                    "/deep",
                    "http://other.test/a",
                    "http://other.test/b",
                    "/img/img/img/1",
                ],
            ),
        ),
        (
            "/2",
            Reply::html(article(2, &["/unwanted"]).replace("<a ", "<a rel=nofollow ")),
        ),
        ("/twin", twin("/only-here")),
        ("/0b", twin("/0")),
        (
            "/hidden",
            Reply::html(html("<meta name=robots content=noarchive>", &prose(7, 150))),
        ),
        ("/deep", page(8, &["/deeper"])),
        ("/deeper", page(9, NONE)),
        ("/only-here", page(10, NONE)),
        (
            "/robots.txt",
            Reply::text("User-agent: *\nDisallow: /private\n"),
        ),
    ])
}

/// Pages of one text whose links differ.
fn twin(link: &str) -> Reply {
    Reply::html(html(
        "",
        &format!("<p>{}</p><p><a href=\"{link}\">on</a></p>", prose(5, 200)),
    ))
}

#[test]
fn each_url_that_was_seen_and_not_visited_is_listed_once_and_counted_in_the_summary() {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &["site.test"])
        .with(&[
            "--max-depth",
            "2",
            "--concurrency",
            "1",
            "--duplicate-links",
            "none",
        ])
        .seeds(&[
            server.url("site.test", "/0"),
            server.url("site.test", "/0b"),
        ]);
    let summary = crawl.complete();
    let lines = listed(&crawl, &[]);
    let expected = kinds(&[
        ("duplicate-links", &["site.test/only-here"]),
        ("limit", &["site.test/deeper"]),
        ("page", &["site.test/hidden", "site.test/unwanted"]),
        ("robots", &["site.test/private"]),
        ("scope", &["other.test/a", "other.test/b"]),
        ("trap", &["site.test/img/img/img/1"]),
    ]);
    assert_eq!(by_kind(&lines), expected, "{lines:?}");
    // Nofollow links may be followed from another page, so they are not counted as URLs.
    let counts = json!({
        "duplicate-links": 1, "pattern": 0, "scope": 2, "limit": 1, "robots": 1, "trap": 1,
        "page": 1, "other": 0,
    });
    assert_eq!(summary["skipped"], counts, "{summary}");

    let of_scope = listed(&crawl, &["--why", "scope"]);
    assert_eq!(of_scope.len(), 2);
    assert_eq!(
        of_scope[0]["via"],
        server.url("site.test", "/0"),
        "{of_scope:?}"
    );
    assert_eq!(
        of_scope[0]["reason"],
        "its host is not the host of a seed (scope host)"
    );
    let of_page = listed(&crawl, &["--why", "page"]);
    let reasons = of_page.iter().filter_map(|line| line["reason"].as_str());
    let reasons: Vec<&str> = reasons.collect();
    assert!(
        reasons.contains(&"its page asks not to follow this link (rel=nofollow)"),
        "{reasons:?}"
    );
    let table = crawl.run_command(&["skipped", "crawl", "--why", "robots", "--format", "table"]);
    assert!(table.output.contains("/private  robots.txt: "), "{table:?}");
    assert!(table.errors.contains("1  robots"), "{table:?}");
    crawl
        .run_command(&["skipped", "crawl", "--why", "boredom"])
        .assert_error(2, "boredom");

    let twin = server.url("site.test", "/twin");
    let why = crawl
        .run_command(&["why", "crawl", &server.url("site.test", "/only-here")])
        .json();
    let reason = why["reason"].as_str().unwrap();
    assert!(
        reason.contains(&format!(
            "linked from {twin}, a duplicate that was not archived"
        )),
        "{why}"
    );
    crawl.is_sound();
}

#[test]
fn a_crawl_is_complete_only_if_no_url_was_skipped_by_its_own_rules() {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::bare()
        .with(&[
            "--allow-private",
            "--contact",
            "tests@example.org",
            "--concurrency",
            "1",
        ])
        .with(&[
            "--delay",
            "0",
            "--delay-factor",
            "0",
            "--resolve",
            &server.resolve("site.test"),
        ])
        .seeds(&[
            server.url("site.test", "/2"),
            server.url("site.test", "/hidden"),
        ]);
    let ended = crawl.run();
    assert!(
        ended.output.starts_with("Complete\n  1 page from 1 host"),
        "{ended:?}"
    );
    let ended = crawl.run_with(&[server.url("site.test", "/1")]);
    assert!(
        ended
            .output
            .starts_with("Complete, but 1 URL was not visited\n"),
        "{ended:?}"
    );
    assert!(
        ended
            .output
            .contains("  not visited         1  shape of a trap\n")
            && ended
                .output
                .contains("List them: crawler skipped crawl --why trap\n"),
        "{ended:?}"
    );
}

#[test]
fn urls_behind_a_limit_are_listed_with_their_referring_page() {
    let server = Server::spawn_thread(site());
    let crawl = Crawl::of(&server, &["site.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[server.url("site.test", "/0")]);
    let summary = crawl.run_with(&["--max-pages", "1"]).summary();
    assert_eq!(summary["finished"], "max-pages");
    let lines = listed(&crawl, &["--why", "limit"]);
    let waiting = ["1", "2", "hidden", "private", "twin"].map(|path| format!("site.test/{path}"));
    assert_eq!(by_kind(&lines)["limit"], waiting, "{lines:?}");
    assert_eq!(summary["skipped"]["limit"], 5, "{summary}");
    for line in &lines {
        assert_eq!(line["via"], server.url("site.test", "/0"), "{line}");
    }
    let why = crawl
        .run_command(&["why", "crawl", &server.url("site.test", "/1")])
        .json();
    let found_on = format!("found on {}", server.url("site.test", "/0"));
    assert!(why["reason"].as_str().unwrap().contains(&found_on), "{why}");
    let summary = crawl.run_with(&["--max-pages", "100"]).summary();
    assert_eq!(summary["skipped"]["limit"], 0, "{summary}");
    assert!(listed(&crawl, &["--why", "limit"]).is_empty());
}

#[test]
fn urls_of_a_closed_pattern_are_listed_and_counted() {
    let server = Server::spawn_thread(Site::new(|request| {
        let links: Vec<String> = (0..480)
            .map(|item| format!("/item/{}", 10_000 + item))
            .collect();
        match request.path() {
            "/robots.txt" => Reply::status(404),
            "/0" => page(0, &links),
            _ => Reply::html(html(
                "<title>Item</title>",
                &format!("<p>{}</p>", prose(1, 300)),
            )),
        }
    }));
    let crawl = Crawl::of(&server, &["shop.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[server.url("shop.test", "/0")]);
    let summary = crawl.complete();
    let lines = listed(&crawl, &["--why", "pattern"]);
    assert!(!lines.is_empty());
    assert_eq!(summary["skipped"]["pattern"], lines.len(), "{summary}");
    assert_eq!(summary["excluded"], lines.len());
    for line in &lines {
        assert!(
            line["reason"]
                .as_str()
                .unwrap()
                .starts_with("pattern closed: "),
            "{line}"
        );
    }
}

#[test]
fn skipped_urls_can_be_listed_while_the_crawl_runs() {
    let gate = testkit::Gate::new();
    let held = gate.clone();
    let known = site();
    let server = Server::spawn_thread(Site::new(move |request| {
        let reply = known.answer(request);
        match request.path() {
            "/2" => reply.hold(&held),
            _ => reply,
        }
    }));
    let crawl = Crawl::of(&server, &["site.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[server.url("site.test", "/0")]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let lines = listed(&crawl, &["--why", "limit"]);
    assert!(
        by_kind(&lines)["limit"].contains(&"site.test/2".to_owned()),
        "{lines:?}"
    );
    gate.open();
    assert_eq!(running.end().code, Some(0));
}
