//! Hosts that fail for a while, for good, or from the start: no page of theirs is lost, and each is
//! left alone meanwhile.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use testkit::{Log, Reply, Request, Server, Site};

use crate::support::pages::{NONE, number_of, page};
use crate::support::{Crawl, json_lines};

/// The pages of a host: page 0 leads to all of them.
const PAGES: u64 = 12;
/// The good answers of a host before its outage, and the requests that fail in it.
const GOOD: usize = 3;
const BAD: usize = 4;

/// A status that stands for a body that breaks off, and its response.
const HALF: u16 = 1;
const HALF_A_PAGE: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>Half a page";

/// Answers page 0 and the pages that it leads to.
fn index(request: &Request) -> Reply {
    match number_of(&request.target) {
        0 => {
            let links: Vec<String> = (1..PAGES).map(|number| format!("/{number}")).collect();
            page(0, &links)
        }
        number => page(number + request.host.len() as u64 * 1000, NONE),
    }
}

/// Returns a site whose hosts answer with `fault` for a while. Page 0 and robots.txt are well all
/// the time, as behind a cache.
fn outage(fault: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Site {
    let counts: Mutex<HashMap<String, usize>> = Mutex::default();
    Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::status(404),
        "/0" => index(request),
        _ => {
            let mut counts = counts.lock().unwrap();
            let count = counts.entry(request.host.to_string()).or_default();
            *count += 1;
            match (GOOD..GOOD + BAD).contains(&(*count - 1)) {
                true => fault(&request.host),
                false => index(request),
            }
        }
    })
}

fn failed(crawl: &Crawl) -> Vec<Value> {
    let visits = crawl.visits().into_iter();
    visits
        .filter(|visit| visit["verdict"] == "failed")
        .collect()
}

/// A server that answered 502 to everything for a minute was asked at full pace, and lost 51 of 60
/// pages; 520 was final at the first answer. 408 and 421 had no back-off, and of bodies that broke
/// off for a minute ten pages of 60 were kept as stumps.
#[test]
fn a_host_that_fails_for_a_while_rests_and_loses_no_page() {
    let faults = [
        ("s500.test", 500),
        ("s502.test", 502),
        ("s503.test", 503),
        ("s504.test", 504),
        ("s520.test", 520),
        ("s408.test", 408),
        ("s421.test", 421),
        ("s425.test", 425),
        ("reset.test", 0),
        ("half.test", HALF),
    ];
    let hosts = faults.map(|(host, _)| host);
    let server = Server::spawn_thread(outage(move |host| {
        let fault = faults.iter().find(|(name, _)| *name == host);
        match fault.map(|(_, status)| *status) {
            Some(0) | None => Reply::raw(""),
            Some(HALF) => Reply::raw(HALF_A_PAGE),
            Some(status) => Reply::status(status),
        }
    }));
    let seeds = hosts.map(|host| server.url(host, "/0"));
    let crawl = Crawl::of(&server, &hosts).seeds(&seeds);
    let run = crawl.run();
    assert_eq!(failed(&crawl), Vec::<Value>::new(), "{run:?}");
    let is_cut = |visit: &Value| visit["bytes"] == "<p>Half a page".len();
    assert!(!crawl.visits().iter().any(is_cut));
    let summary = run.summary();
    assert_eq!(summary["pages"], PAGES * hosts.len() as u64);
    assert_eq!(
        (&summary["queued"], &summary["failed"]),
        (&0.into(), &0.into())
    );
    for host in hosts {
        // robots.txt, the pages, the outage, and at most two checks of an answered page.
        let requests = server.log().of(host).count();
        let expected = 1 + usize::try_from(PAGES).unwrap() + BAD;
        assert!(
            (expected..expected + 3).contains(&requests),
            "{host}: {requests}"
        );
    }
    crawl.is_sound();
}

/// One connection of thousands was lost, at a robots.txt, and a crawl of two seconds took thirty.
#[test]
fn a_page_whose_connection_is_lost_once_is_requested_again_a_second_later() {
    let lost: Mutex<HashSet<String>> = Mutex::default();
    let server = Server::spawn_thread(Site::new(move |request| {
        let is_first = || lost.lock().unwrap().insert(request.host.clone());
        match (request.host.as_str(), request.path()) {
            ("robots.test", "/robots.txt") if is_first() => Reply::raw(""),
            ("page.test", "/3") if is_first() => Reply::raw(HALF_A_PAGE),
            (_, "/robots.txt") => Reply::status(404),
            _ => index(request),
        }
    }));
    let hosts = ["robots.test", "page.test"];
    let seeds = hosts.map(|host| server.url(host, "/0"));
    let crawl = Crawl::of(&server, &hosts).seeds(&seeds);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], 2 * PAGES);
    assert_eq!(summary["retries"], 2);
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    let lines = json_lines(&log).into_iter();
    let postponed = lines.filter(|line| line["message"] == "will be tried again");
    let waits: Vec<Value> = postponed.map(|line| line["wait"].clone()).collect();
    assert_eq!(waits, ["1s", "1s"]);
    crawl.is_sound();
}

/// Broken pages among good ones must not slow their host down, nor be asked for ever.
#[test]
fn a_page_that_always_fails_is_given_up_while_its_host_is_well() {
    const HOST: &str = "mixed.test";
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::status(404),
        path if path != "/0" && number_of(path) % 2 == 1 => Reply::status(500),
        _ => index(request),
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--tries", "2", "--concurrency", "1"])
        .seeds(&[server.url(HOST, "/0")]);
    let run = crawl.run();
    let summary = run.summary();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&6.into(), &6.into()),
        "{run:?}"
    );
    assert_eq!(summary["unreachable"], 0);
    let log = server.log();
    for number in [1, 3, 5, 7, 9, 11] {
        let target = format!("/{number}");
        let asked = log
            .targets(HOST)
            .iter()
            .filter(|asked| **asked == target)
            .count();
        assert_eq!(asked, 2, "{target}");
    }
}

/// A crawl whose host was down at the start said "Complete: 0 pages", and the same command asked
/// nothing, for ever.
#[test]
fn a_host_that_is_down_is_set_aside_and_the_same_command_asks_it_again() {
    let is_up = Arc::new(AtomicUsize::new(0));
    let state = Arc::clone(&is_up);
    let server = Server::spawn_thread(Site::new(move |request| {
        match (state.load(Ordering::SeqCst), request.path()) {
            (0, _) => Reply::raw(""),
            (_, "/robots.txt") => Reply::status(404),
            (_, path) => page(number_of(path), NONE),
        }
    }));
    let seeds: Vec<String> = (1..6)
        .map(|number| server.url("down.test", &format!("/{number}")))
        .collect();
    let crawl = Crawl::of(&server, &["down.test"])
        .with(&["--ignore-robots"])
        .seeds(&seeds);
    let run = crawl.run();
    let summary = run.summary();
    assert_eq!(summary["finished"], "exhausted");
    let counts = ["pages", "failed", "queued", "unreachable"].map(|name| summary[name].as_u64());
    assert_eq!(counts, [0, 0, 5, 5].map(Some), "{run:?}");
    let reason = &summary["unreachable_hosts"]["down.test"];
    assert_eq!(reason, "the connection was closed early");
    let status = crawl
        .run_command(&["status", "crawl", "--format", "json"])
        .json();
    assert_eq!(status["unreachable"], 5);
    let cause = status["unreachable_hosts"]["down.test"].as_str().unwrap();
    let waits = format!("still queued, and its host is down ({cause}); the next run requests it");
    let skipped = crawl.json_lines(&["skipped", "crawl", "--format", "json"]);
    assert_eq!(skipped.len(), 5, "{skipped:?}");
    for line in skipped {
        assert_eq!(line["why"], "other", "{line}");
        assert_eq!(line["reason"], waits.as_str(), "{line}");
    }
    for seed in &seeds {
        let why = crawl.run_command(&["why", "crawl", seed]).json();
        let reason = why["reason"].as_str().unwrap();
        assert!(reason.starts_with(&waits), "{why}");
    }

    is_up.store(1, Ordering::SeqCst);
    let again = crawl.run();
    let summary = again.summary();
    let counts = ["pages", "failed", "queued", "unreachable"].map(|name| summary[name].as_u64());
    assert_eq!(counts, [5, 0, 0, 0].map(Some), "{again:?}");
    crawl.is_sound();
}

fn requests(log: &Log, host: &str, target: &str) -> usize {
    log.targets(host)
        .iter()
        .filter(|asked| **asked == target)
        .count()
}

/// Failed pages of a finished crawl could never be asked again.
#[test]
fn failed_pages_are_queued_again_by_retry() {
    const HOST: &str = "site.test";
    let is_up = Arc::new(AtomicUsize::new(0));
    let state = Arc::clone(&is_up);
    let server = Server::spawn_thread(Site::new(move |request| {
        match (state.load(Ordering::SeqCst), request.path()) {
            (_, "/robots.txt") => Reply::status(404),
            (_, "/0") => page(0, &["/1".to_owned(), "/2".to_owned(), "/3".to_owned()]),
            (0, "/1") => Reply::status(404),
            (0, "/2") => Reply::status(503),
            (0, "/3") => Reply::status(410),
            (_, path) => page(number_of(path), NONE),
        }
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--tries", "1"])
        .seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.run().summary()["failed"], 3);
    is_up.store(1, Ordering::SeqCst);

    // The same command does not: their failures were final, or they are no seeds.
    assert_eq!(crawl.run().summary()["failed"], 3);
    let retry = |arguments: &[&str]| {
        let run = crawl.run_command(&[&["retry", "crawl"], arguments].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        run.errors
    };
    let said = retry(&["--host", "other.test"]);
    assert!(said.contains("no failed page to retry"), "{said}");
    let said = retry(&[]);
    let expected = "1 failed page queued again; `crawler --out crawl` requests them";
    assert!(said.contains(expected), "{said}");
    let summary = crawl.run().summary();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&2.into(), &2.into())
    );

    let said = retry(&["--status", "404"]);
    assert!(said.contains("1 failed page queued"), "{said}");
    crawl.write("crawl/control.toml", "retry = [\"status=410\"]");
    let summary = crawl.run().summary();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&4.into(), &0.into())
    );
    let log = server.log();
    for (target, expected) in [("/0", 1), ("/1", 2), ("/2", 2), ("/3", 2)] {
        assert_eq!(requests(&log, HOST, target), expected, "{target}");
    }
    crawl.is_sound();
}

#[test]
fn a_failed_url_is_requested_again_if_it_is_given_as_a_seed() {
    const HOST: &str = "site.test";
    let is_up = Arc::new(AtomicUsize::new(0));
    let state = Arc::clone(&is_up);
    let server = Server::spawn_thread(Site::new(move |request| {
        match (state.load(Ordering::SeqCst), request.path()) {
            (_, "/robots.txt") => Reply::status(404),
            (_, "/0") => page(0, &["/1".to_owned()]),
            (0, "/1") => Reply::status(404),
            (_, path) => page(number_of(path), NONE),
        }
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.run().summary()["failed"], 1);
    is_up.store(1, Ordering::SeqCst);
    let crawl = crawl.seeds(&[server.url(HOST, "/0"), server.url(HOST, "/1")]);
    let summary = crawl.run().summary();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&2.into(), &0.into())
    );
}

#[test]
fn a_wrong_selection_is_named_with_what_would_be_right() {
    let crawl = Crawl::bare();
    for (argument, value, words) in [
        (
            "--status",
            "5x",
            "\"5x\" is not a status, such as 404 or 5xx",
        ),
        (
            "--host",
            "a/b",
            "\"a/b\" is not a host, such as example.org",
        ),
    ] {
        let run = crawl.run_command(&["retry", "crawl", argument, value]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.errors.contains(words), "{run:?}");
    }
}

/// The command that `retry` printed read another directory when it was pasted.
#[test]
fn a_directory_with_a_space_is_quoted_in_the_command_of_retry() {
    const HOST: &str = "site.test";
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/0" => page(0, &["/1"]),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[HOST])
        .with(&["--tries", "1"])
        .seeds(&[server.url(HOST, "/0")]);
    crawl.complete();
    let spaced = crawl.directory().join("my crawl");
    std::fs::rename(crawl.out(), &spaced).unwrap();
    let run = crawl.run_command(&["retry", "my crawl", "--host", "other.test"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors.contains("`crawler export 'my crawl'`"),
        "{run:?}"
    );
}
