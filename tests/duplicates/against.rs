//! A crawl that counts the pages of an earlier one as seen: only what is new is archived.

use std::sync::atomic::Ordering;

use testkit::{Gate, Reply, Request, Server, Site};

use crate::support::pages::{NONE, anchor, html, page, prose, serve_by_day};
use crate::support::{Crawl, KEY};

const HOST: &str = "news.test";

/// A site that changes each day: its front page shows the date, `/changing` is rewritten, `/moved`
/// is the text of `/old`.
fn site(day: u64, request: &Request) -> Reply {
    match request.path() {
        "/" => {
            let links = ["/old", "/changing", "/same", "/moved"]
                .map(|link| format!("<a href=\"{link}\">{link}</a>"));
            let text = prose(1, 600);
            Reply::html(html(
                "",
                &format!("<p>{text}</p><p>Day {day}</p><p>{}</p>", links.join(" ")),
            ))
        }
        "/old" => page(2, &["/below"]),
        "/changing" => page(100 + day, NONE),
        "/same" => page(4, NONE),
        "/below" => page(5, NONE),
        "/moved" if day > 0 => {
            let link = anchor("/only-from-the-copy");
            Reply::html(html(
                "",
                &format!("<p>{} more</p><p>{link}</p>", prose(2, 150)),
            ))
        }
        _ => Reply::status(404),
    }
}

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1", "--concurrency", "1"])
}

fn path(crawl: &Crawl) -> String {
    crawl.out().to_str().unwrap().to_owned()
}

#[test]
fn a_second_crawl_requests_every_page_and_archives_the_changed_ones() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 5);
    day.store(1, Ordering::SeqCst);
    let second = crawl(&server).with(&["--against", &path(&first)]);
    let summary = second.complete();
    assert_eq!(
        (&summary["unique"], &summary["pages"]),
        (&0.into(), &6.into())
    );
    assert_eq!(summary["changed"], 2);
    assert_eq!(
        second.archived(),
        ["/", "/changing", "/only-from-the-copy"].map(|path| server.url(HOST, path)),
        "unseen links of a copy are probed, though the page is missing"
    );
    for path in ["/", "/old", "/changing", "/same", "/below"] {
        assert_eq!(server.log().count(HOST, path), 2, "{path}");
    }
    for (path, verdict, of, words, kinds) in [
        (
            "/",
            "changed",
            "/",
            "other bytes than an earlier crawl archived on ",
            &["response", "request", "metadata"][..],
        ),
        (
            "/old",
            "exact-duplicate",
            "/old",
            "it repeats itself",
            &["revisit", "request", "metadata"],
        ),
        (
            "/moved",
            "near-duplicate",
            "/old",
            "the original is in an earlier crawl",
            &["metadata"],
        ),
    ] {
        let url = server.url(HOST, path);
        let visit = second.visit(&url);
        assert_eq!(visit["verdict"], verdict, "{visit}");
        assert_eq!(visit["duplicate_of"], server.url(HOST, of), "{visit}");
        assert!(visit["reason"].as_str().unwrap().contains(words), "{visit}");
        let found: Vec<String> = second
            .records_about(&url)
            .iter()
            .map(|record| record.kind().to_owned())
            .collect();
        assert_eq!(found, kinds, "{path}");
    }
    let (url, of) = (
        server.url(HOST, "/same"),
        first.records_about(&server.url(HOST, "/same")),
    );
    let revisit = second.records_about(&url).remove(0);
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        Some(url.as_str())
    );
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(of[0].date()));
    let why = second
        .run_command(&["why", "crawl", &server.url(HOST, "/moved")])
        .json();
    assert_eq!(why["original"]["url"], server.url(HOST, "/old"));
    assert_eq!(
        why["original"]["warc_file"],
        first.visit(&server.url(HOST, "/old"))["warc_file"]
    );
    first.is_sound();
    second.is_sound();
}

#[test]
fn a_third_crawl_knows_the_pages_that_the_second_left_to_the_first() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    day.store(1, Ordering::SeqCst);
    let second = crawl(&server).with(&["--against", &path(&first)]);
    second.complete();
    let third = crawl(&server).with(&["--against", &path(&second)]);
    let summary = third.complete();
    assert_eq!(
        (&summary["unique"], &summary["pages"]),
        (&0.into(), &6.into())
    );
    assert_eq!(
        third.archived(),
        [server.url(HOST, "/only-from-the-copy")],
        "the missing page"
    );
    third.is_sound();
}

#[test]
fn a_crawl_takes_the_key_of_the_earlier_one_and_stays_against_it_when_continued() {
    let (server, _day) = serve_by_day(site);
    let keyless = || {
        Crawl::keyless(&server, &[HOST])
            .seeds(&[server.url(HOST, "/")])
            .with(&[
                "--delay=0",
                "--delay-factor=0",
                "--tries=1",
                "--concurrency=1",
            ])
    };
    let first = keyless();
    assert_eq!(first.complete()["unique"], 5);
    let second = keyless();
    let begun = second.run_with(&["--against", &path(&first), "--max-pages", "2"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    let run = second.run_command(&["--out", "crawl", "--max-pages", "99", "--summary", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = run.summary();
    assert_eq!(
        (&summary["unique"], &summary["exact_duplicates"]),
        (&0.into(), &5.into()),
        "{run:?}"
    );
    assert_eq!(
        second.archived(),
        [server.url(HOST, "/moved")],
        "the 404 answer"
    );
    second.is_sound();
}

#[test]
fn a_crawl_with_against_continues_after_a_kill() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    day.store(1, Ordering::SeqCst);
    for held in ["/", "/old", "/changing", "/same"] {
        let gate = Gate::new();
        let at = gate.clone();
        let held_server = Server::spawn_thread(Site::new(move |request| {
            let reply = site(1, request);
            if request.path() == held {
                reply.hold(&at)
            } else {
                reply
            }
        }));
        // The same pages from another server: URLs have its port, so no page repeats itself, but
        // each repeats one of the first crawl.
        let second =
            crawl(&held_server).with(&["--against", &path(&first), "--on-duplicate", "follow"]);
        let running = second.start();
        gate.arrivals_blocking(1);
        running.kill();
        gate.open();
        let summary = second.complete();
        // `/changing`; an answer "not found" is no page.
        assert_eq!(summary["unique"], 1, "killed at {held}: {summary}");
        second.is_sound();
    }
}

#[test]
fn retained_duplicates_of_an_earlier_crawl_are_not_archived_again() {
    let variant =
        |number: u64| Reply::html(html("", &format!("<p>{} {number}</p>", prose(3, 500))));
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => page(1, &["/1", "/2", "/3"]),
        "/1" => variant(1),
        "/2" => variant(2),
        "/3" => variant(3),
        _ => Reply::status(404),
    }));
    let twice = || crawl(&server).with(&["--per-cluster", "2"]);
    let first = twice();
    first.complete();
    assert_eq!(first.archived().len(), 3);
    let second = twice().with(&["--against", &path(&first)]);
    assert_eq!(second.complete()["pages"], 4);
    assert!(second.archived().is_empty());
    second.is_sound();
}

#[test]
fn unusable_earlier_crawls_are_refused_before_anything_is_written() {
    let (server, _day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    let good = path(&first);
    let refused = |against: &str, more: &[&str], words: &str| {
        let second = Crawl::keyless(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
        second.write("file.txt", "no crawl");
        let run = second.run_with(&[&["--against", against], more].concat());
        run.assert_error(2, words);
        assert!(
            !second.out().join("state").exists(),
            "a file was written for --against {against}"
        );
    };
    refused("missing", &[], "missing does not exist");
    refused(
        "file.txt",
        &[],
        "file.txt is not a crawl, a WACZ or an index",
    );
    refused(".", &[], ". does not contain a crawl");
    refused(
        &good,
        &["--hash-key", "00000000000000aa"],
        "cannot be compared",
    );
    refused(&good, &["--features", "char:5"], "--features word:1");
    refused(&good, &["--main-content", "off"], "--main-content on");
    first
        .run_with(&["--against", &good])
        .assert_error(2, "is the same crawl");

    // The process that has it open holds its lock.
    let lock = std::fs::File::open(first.out().join("state/lock")).unwrap();
    lock.lock().unwrap();
    refused(&good, &[], "is in use");
    drop(lock);

    let journal = std::fs::read_dir(first.out().join("state/journal"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes[100] ^= 1;
    std::fs::write(&journal, &bytes).unwrap();
    refused(&good, &[], "is damaged at byte");
    std::fs::remove_file(&journal).unwrap();
    refused(&good, &["--hash-key", KEY], "the crawl was never begun");
}
