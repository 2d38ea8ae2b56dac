//! The API of the dashboard, compared with `--format json` of the commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::browser::Browser;
use crate::support::pages::{NONE, page, prose, with_tail};

const HOST: &str = "site.test";

/// Asserts that the fields of an answer are those of a command, with the same values.
fn assert_same(answer: &Value, printed: &Value, except: &[&str]) {
    for (name, value) in answer.as_object().expect("an object") {
        if !except.contains(&&**name) {
            assert_eq!(*value, printed[name], "{name} of {answer} and {printed}");
        }
    }
}

#[test]
fn the_api_answers_what_the_commands_print() {
    let links = ["/article", "/nearly", "/other", "/missing"];
    let server = Server::spawn_thread(Site::pages([
        ("/", page(9, &links)),
        ("/article", Reply::html(with_tail(0))),
        ("/nearly", Reply::html(with_tail(5))),
        ("/other", page(5, NONE)),
    ]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let crawl = crawl.with(&["--concurrency=1", "--tries=1", "--duplicate-text=on"]);
    crawl.complete();
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let (browser, _) = Browser::without_token(&mut serving);
    let get = |target: &str| -> Value {
        let answer = browser.get(target);
        assert_eq!(answer.status, 200, "{target}: {answer:?}");
        serde_json::from_str(&answer.body).expect("JSON")
    };
    let print = |arguments: &[&str]| crawl.json_lines(arguments);
    let own = [
        "title",
        "state",
        "in_flight",
        "pages_per_minute",
        "bytes_per_second",
        "archive_bytes",
        "free_bytes",
        "memory_bytes",
        "problems",
        "damage",
        "kept_duplicates",
    ];
    assert_same(&get("/api/status"), &print(&["status", "crawl"])[0], &own);
    let hosts = print(&["status", "crawl", "--hosts"]);
    assert_same(&get("/api/hosts")["listed"][0], &hosts[0], &[]);
    let duplicates = print(&["duplicates", "crawl"]);
    assert_eq!(get("/api/duplicates")["listed"], Value::from(duplicates));
    let word = prose(5, 1);
    let hits = print(&["search", "crawl", word.trim()]);
    assert_eq!(
        get(&format!("/api/search?q={}", word.trim()))["listed"],
        Value::from(hits)
    );
    let url = |path: &str| server.url(HOST, path);
    for path in ["/article", "/missing", "/nowhere"] {
        let why = &print(&["why", "crawl", &url(path)])[0];
        let page = get(&format!("/api/page?url={}", url(path)));
        assert_same(&page, why, &["text", "next_from"]);
    }
    let like = print(&["similar", "crawl", &url("/article")]);
    let similar = get(&format!("/api/similar?url={}", url("/article")));
    assert_same(&similar["listed"][0], &like[0], &[]);
    let pair = &print(&["duplicates", "crawl", "--diff", &url("/nearly")])[0];
    let difference = get(&format!("/api/difference?url={}", url("/nearly")));
    assert_same(&difference, pair, &[]);
    assert_eq!(browser.get("/api/changes").status, 400, "no earlier crawl");
    serving.interrupt();
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn the_api_lists_the_changes_since_an_earlier_crawl() {
    let is_later = Arc::new(AtomicBool::new(false));
    let of_site = Arc::clone(&is_later);
    let server = Server::spawn_thread(Site::new(move |request| {
        match (request.path(), of_site.load(Ordering::Relaxed)) {
            ("/", _) => page(9, &["/kept", "/changed", "/other"]),
            ("/kept", _) => page(1, NONE),
            ("/changed", false) => page(2, NONE),
            ("/changed", true) => page(3, NONE),
            ("/other", false) => page(4, NONE),
            _ => Reply::status(404),
        }
    }));
    let crawl = || {
        let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        crawl.complete();
        crawl
    };
    let monday = crawl();
    is_later.store(true, Ordering::Relaxed);
    let tuesday = crawl();
    let (old, new) = (monday.out(), tuesday.out());
    let [old, new] = [&old, &new].map(|path| path.to_str().expect("UTF-8"));
    let mut serving = tuesday.start_command(&["serve", new, "--against", old]);
    let (browser, _) = Browser::without_token(&mut serving);
    let get = |target: &str| -> Value {
        let answer = browser.get(target);
        serde_json::from_str(&answer.body).expect("JSON")
    };
    let mut printed = tuesday.json_lines(&["changes", old, new]);
    printed.retain(|change| change["change"] != "unchanged");
    let answer = get("/api/changes");
    let counts = serde_json::json!({"changed": 1, "gone": 1, "unchanged": 2});
    assert_eq!(answer["counts"], counts);
    assert_eq!(answer["listed"], Value::from(printed));
    let gone = get("/api/changes?change=gone");
    assert_eq!(gone["listed"][0]["url"], server.url(HOST, "/other"));
    assert_eq!(gone["total"], 1);
    let wrong = get("/api/changes?change=lost");
    let reason = wrong["error"].as_str().unwrap_or_default();
    assert!(reason.contains("the kinds are new, changed"), "{reason}");
    serving.interrupt();
    assert_eq!(serving.end().code, Some(0));
}
