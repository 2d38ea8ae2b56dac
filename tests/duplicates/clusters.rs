//! The number of pages that are kept of a cluster, and the commands that list clusters.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, anchor, html, page, prose};

const HOST: &str = "kinds.test";
const VARIANTS: u64 = 6;

/// A front page, six near-duplicates, and below each of them a unique page.
fn reply(path: &str) -> Reply {
    let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
    if let Some(variant) = number("/variant/") {
        let own = anchor(&format!("/below/{variant}"));
        return Reply::html(html(
            "",
            &format!(
                "<p>{}</p><p>{own}</p><p>Read {}.</p>",
                prose(7, 800),
                // Words, since a number that differs keeps both pages.
                [
                    "never", "once", "twice", "thrice", "often", "always", "by all"
                ][variant as usize]
            ),
        ));
    }
    if let Some(below) = number("/below/") {
        return page(100 + below, NONE);
    }
    match path {
        "/" => {
            let variants: Vec<String> = (0..VARIANTS)
                .map(|number| format!("/variant/{number}"))
                .collect();
            page(1, &[variants, vec!["/copy".to_owned()]].concat())
        }
        // The same bytes as the second retained page.
        "/copy" => reply("/variant/1"),
        _ => Reply::status(404),
    }
}

fn crawl(server: &Server, per_cluster: &str) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--per-cluster", per_cluster])
}

/// Returns the visit records of the variants by their numbers.
fn variants(server: &Server, crawl: &Crawl) -> Vec<Value> {
    (0..VARIANTS)
        .map(|number| crawl.visit(&server.url(HOST, &format!("/variant/{number}"))))
        .collect()
}

#[test]
fn per_cluster_pages_of_a_cluster_are_kept_and_all_links_are_followed() {
    let server = Server::spawn_thread(Site::new(|request| reply(request.path())));
    let crawl = crawl(&server, "3").with(&["--concurrency", "1"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["unique"], &summary["pages"]),
        (&8.into(), &14.into())
    );
    let visits = variants(&server, &crawl);
    let original = server.url(HOST, "/variant/0");
    assert_eq!(visits[0]["verdict"], "unique");
    for (visit, seat) in visits[1..].iter().zip([Some(2), Some(3), None, None, None]) {
        let url = visit["url"].as_str().unwrap();
        assert_eq!(visit["verdict"], "near-duplicate");
        assert_eq!(visit["duplicate_of"], original);
        let words = seat.map(|seat| format!("let through: {seat} of 3 of its kind"));
        let reason = visit["reason"].as_str().unwrap();
        assert_eq!(words.is_some(), reason.contains("let through"), "{reason}");
        assert!(
            words.is_none_or(|words| reason.ends_with(&words)),
            "{reason}"
        );
        let notes = crawl.notes_about(url);
        let rank = notes.get("cluster-rank").map(String::as_str);
        assert_eq!(rank, seat.map(|seat| seat.to_string()).as_deref());
        assert_eq!(notes["matched-by"], "resemblance");
        let kinds: Vec<String> = crawl
            .records_about(url)
            .iter()
            .map(|record| record.kind().to_owned())
            .collect();
        let expected: &[&str] = if seat.is_some() {
            &["response", "request", "metadata"]
        } else {
            &["metadata"]
        };
        assert_eq!(kinds, expected, "{url}");
        let below = url.replace("variant", "below");
        // Links of unarchived pages are followed, too, behind everything else.
        assert!(crawl.verdicts().contains_key(&below), "{below}");
    }
    let copy = server.url(HOST, "/copy");
    let records = crawl.records_about(&copy);
    assert_eq!(records[0].kind(), "revisit");
    let second = server.url(HOST, "/variant/1");
    assert_eq!(
        records[0].field("WARC-Refers-To-Target-URI"),
        Some(second.as_str()),
        "the page with the same bytes"
    );
    assert_eq!(
        crawl.visit(&copy)["duplicate_of"],
        original,
        "an original is never a duplicate"
    );
    crawl.is_sound();
}

#[test]
fn per_cluster_holds_under_concurrency_and_kills() {
    for requests in [3, 4, 5, 6] {
        let gate = Gate::new();
        let left = Arc::new(Mutex::new(requests));
        let (at, quota) = (gate.clone(), Arc::clone(&left));
        let server = Server::spawn_thread(Site::new(move |request| {
            let answer = reply(request.path());
            let mut left = quota.lock().unwrap();
            if *left == 0 {
                return answer.hold(&at);
            }
            *left -= 1;
            answer
        }));
        let crawl = crawl(&server, "3");
        let running = crawl.start();
        gate.arrivals_blocking(1);
        running.kill();
        *left.lock().unwrap() = usize::MAX;
        gate.open();
        crawl.complete();
        let visits = variants(&server, &crawl);
        let kept = visits.iter().filter(|visit| {
            let reason = visit["reason"].as_str().unwrap_or_default();
            visit["verdict"] == "unique" || reason.contains("let through")
        });
        assert_eq!(
            kept.count(),
            3,
            "killed after {requests} requests: {visits:?}"
        );
        crawl.is_sound();
    }
}

#[test]
fn duplicates_lists_not_archived_pages_with_their_originals() {
    let server = Server::spawn_thread(Site::new(|request| reply(request.path())));
    let crawl = crawl(&server, "2").with(&["--concurrency", "1"]);
    crawl.complete();
    let lines = crawl.json_lines(&["duplicates", "crawl"]);
    assert_eq!(lines.len(), 6, "{lines:?}");
    for line in &lines {
        let visit = crawl.visit(line["url"].as_str().unwrap());
        for name in [
            "verdict",
            "duplicate_of",
            "distance",
            "resemblance",
            "reason",
        ] {
            assert_eq!(line[name], visit[name]);
        }
        let let_through = visit["reason"].as_str().unwrap().contains("let through");
        assert_eq!(line["kept"], let_through, "{line}");
    }
    let clusters = crawl.run_command(&["duplicates", "crawl", "--clusters", "--format", "json"]);
    let members: Vec<String> = clusters.json()["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|url| url.as_str().unwrap().to_owned())
        .collect();
    let expected = lines
        .iter()
        .map(|line| line["url"].as_str().unwrap().to_owned());
    let expected: Vec<String> = [server.url(HOST, "/variant/0")]
        .into_iter()
        .chain(expected)
        .collect();
    assert_eq!(members, expected);
    for options in [
        &["--format", "table"][..],
        &["--clusters", "--format=table"],
    ] {
        let table = crawl.run_command(&[&["duplicates", "crawl"], options].concat());
        assert_eq!(table.code, Some(0), "{table:?}");
        assert!(
            table.output.contains(&server.url(HOST, "/variant/5")),
            "{table:?}"
        );
    }
}

#[test]
fn duplicates_can_be_listed_while_the_crawl_runs() {
    let gate = Gate::new();
    let at = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/copy" => reply("/copy").hold(&at),
        other => reply(other),
    }));
    let crawl = crawl(&server, "1").with(&["--concurrency", "1"]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let run = crawl.run_command(&["duplicates", "crawl"]);
    assert_eq!(
        (run.code, run.output.lines().count()),
        (Some(0), 5),
        "{run:?}"
    );
    gate.open();
    assert_eq!(running.end().code, Some(0));
    let run = crawl.run_command(&["duplicates", "crawl"]);
    assert_eq!(run.output.lines().count(), 6, "{run:?}");
}

#[test]
fn a_crawl_without_duplicates_lists_none() {
    let server = Server::spawn_thread(Site::pages([("/", page(1, NONE))]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    crawl.complete();
    for options in [&[][..], &["--clusters"]] {
        let run = crawl.run_command(&[&["duplicates", "crawl"], options].concat());
        assert_eq!((run.code, run.output.as_str()), (Some(0), ""), "{run:?}");
    }
    crawl
        .run_command(&["duplicates", "nowhere"])
        .assert_error(2, "nowhere does not exist");
}
