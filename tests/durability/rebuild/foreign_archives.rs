//! Archives of other crawlers become a crawl that continues.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use super::half;
use crate::support::foreign_warc;
use crate::support::pages::{NONE, article, page, prose};
use crate::support::{Crawl, KEY};

const OLD: &str = "old.test";

/// A file name in the style of Common Crawl, which is ours, too.
const COMMON: &str = "CC-MAIN-20240101000000-20240101030000-00007.warc.gz";

/// Returns an archived visit of this URL as wget writes it: the request first, and no verdict.
fn old(server: &Server, path: &str, head: &str, body: &str) -> Vec<u8> {
    let target = server.url(OLD, path);
    let media = "application/http;msgtype=request";
    let asked = foreign_warc::record(
        "request",
        &format!("<{target}>"),
        media,
        "GET / HTTP/1.1\r\n\r\n",
    );
    let page = foreign_warc::page(&format!("<{target}>"), head, body);
    [asked, page]
        .iter()
        .flat_map(|record| foreign_warc::gzip(record.as_bytes()))
        .collect()
}

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html";

/// A page in a chunk.
fn chunked(body: &str) -> String {
    format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
}

/// Archives of other crawlers, with every kind of record.
fn put_old_archives(crawl: &Crawl, server: &Server) {
    let archive = crawl.out().join("archive");
    fs::create_dir_all(&archive).unwrap();
    let one = article(1, &["/two", "/fresh", "/moved"]);
    let in_chunks = format!("{OK}\r\nTransfer-Encoding: chunked");
    let mut broken = old(server, "/broken", OK, "broken");
    let middle = broken.len() - 20;
    broken[middle] ^= 0xff;
    let common = [
        foreign_warc::gzip(
            foreign_warc::record(
                "warcinfo",
                "",
                "application/warc-fields",
                "software: Nutch 1.19\r\n",
            )
            .as_bytes(),
        ),
        old(
            server,
            "/robots.txt",
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain",
            "User-agent: *",
        ),
        old(server, "/one", OK, &one),
        old(server, "/copy", OK, &one),
        broken,
        old(server, "/two", &in_chunks, &chunked(&article(2, NONE))),
        old(
            server,
            "/gone",
            "HTTP/1.1 404 Not Found\r\nContent-Type: text/html",
            "gone",
        ),
        old(
            server,
            "/flaky",
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html",
            "later",
        ),
        old(
            server,
            "/moved",
            "HTTP/1.1 301 Moved Permanently\r\nLocation: /target",
            "",
        ),
        old(server, "/target", OK, &article(3, NONE)),
        old(server, "/one", OK, &article(4, NONE)),
    ];
    fs::write(archive.join(COMMON), common.concat()).unwrap();
    let packed = foreign_warc::page(&server.url(OLD, "/packed"), OK, &article(5, NONE));
    let packed = [
        packed,
        foreign_warc::record("resource", "urn:pageinfo:a", "application/json", "{}"),
    ];
    fs::write(
        archive.join("all.warc.gz"),
        foreign_warc::gzip(packed.concat().as_bytes()),
    )
    .unwrap();
    let plain = foreign_warc::record(
        "resource",
        &server.url(OLD, "/plain"),
        "text/html",
        &article(6, NONE),
    );
    fs::write(archive.join("plain.warc"), plain).unwrap();
}

fn files_of_others(crawl: &Crawl) -> Vec<Vec<u8>> {
    let archive = crawl.out().join("archive");
    let names = [COMMON, "all.warc.gz", "plain.warc"];
    names
        .iter()
        .map(|name| fs::read(archive.join(name)).unwrap())
        .collect()
}

#[test]
fn archives_of_other_crawlers_become_a_crawl_that_continues_behind_them() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/fresh" => page(9, NONE),
        _ => Reply::status(404),
    }));
    let crawl = Crawl::of(&server, &[OLD]).seeds(&[server.url(OLD, "/one")]);
    put_old_archives(&crawl, &server);
    let before = files_of_others(&crawl);
    crawl.run().assert_error(
        2,
        "crawl/archive contains an archive, but its state is missing",
    );

    let run = crawl.run_command(&[
        "rebuild",
        "crawl",
        "--from-archive",
        "--seeds",
        "seeds.txt",
        "--hash-key",
        KEY,
        "--format",
        "json",
    ]);
    // `/broken` is lost, and a script must not take the rest for all: it was code 0.
    assert_eq!(run.code, Some(1), "{run:?}");
    let report = run.json();
    for (what, count) in [
        ("foreign_visits", 7),
        ("without_place", 1),
        ("captured_again", 1),
        ("left", 1),
        ("damaged_places", 1),
        // The page that is gone is no link target.
        ("pages", 6),
        ("queued", 1),
    ] {
        assert_eq!(report[what], count, "{what}: {report}");
    }
    crawl.is_sound();

    // `/broken` is lost, `/flaky` may be better by now, and nothing leads to either.
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");
    let asked: Vec<String> = server.log().iter().map(|hit| hit.target.clone()).collect();
    assert_eq!(asked, ["/robots.txt", "/fresh"]);
    assert_eq!(files_of_others(&crawl), before);
    crawl.is_sound();
    let verdicts: BTreeMap<String, String> = crawl
        .visits()
        .iter()
        .map(|visit| {
            let path = visit["url"].as_str().unwrap().rsplit('/').next().unwrap();
            (
                path.to_owned(),
                visit["verdict"].as_str().unwrap().to_owned(),
            )
        })
        .collect();
    let expected = [
        ("copy", "exact-duplicate"),
        ("fresh", "unique"),
        ("gone", "failed"),
        ("moved", "unique"),
        ("one", "unique"),
        ("packed", "unique"),
        ("plain", "unique"),
        ("two", "unique"),
    ];
    let expected = expected.map(|(page, verdict)| (page.to_owned(), verdict.to_owned()));
    assert_eq!(verdicts, BTreeMap::from(expected));

    // The pages that they link to can be fetched.
    let word = prose(2, 1);
    for _ in 0..2 {
        let found = crawl.run_command(&["search", "crawl", word.trim(), "--format", "json"]);
        assert!(found.output.contains("/two\""), "{found:?}");
        assert!(found.output.contains(COMMON), "{found:?}");
        let again = crawl.run_command(&["reindex", "crawl", "--format", "json"]);
        // Unique pages with a location in the archive.
        assert_eq!(
            (again.code, &again.json()["pages"]),
            (Some(0), &5.into()),
            "{again:?}"
        );
    }
    let index = fs::read_to_string(crawl.out().join("archive/index.cdxj")).unwrap();
    let lines = |name: &str| index.lines().filter(|line| line.contains(name)).count();
    assert_eq!(
        (lines(COMMON), lines("plain.warc"), lines("all.warc.gz")),
        (9, 1, 0),
        "{index}"
    );

    let links = crawl.run_command(&["export", "crawl", "--links"]);
    assert_eq!(links.code, Some(0), "{links:?}");
    assert!(links.output.contains("/fresh"), "{links:?}");

    // And once more, from all of it.
    let verdicts = crawl.verdicts();
    fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let run = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--hash-key", KEY]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(crawl.verdicts(), verdicts);
    crawl.is_sound();
    assert_eq!(files_of_others(&crawl), before);
}

/// A record that says that these bytes, or these headers, are archived elsewhere.
fn revisit(
    server: &Server,
    path: &str,
    profile: &str,
    of: &str,
    date: &str,
    head: &str,
) -> Vec<u8> {
    let fields = format!(
        "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/{profile}\r\n\
         WARC-Refers-To-Target-URI: <{of}>\r\nWARC-Refers-To-Date: {date}\r\nWARC-Date"
    );
    let media = "application/http;msgtype=response";
    let head = if head.is_empty() {
        String::new()
    } else {
        format!("{head}\r\n\r\n")
    };
    let record = foreign_warc::record("revisit", &server.url(OLD, path), media, &head);
    foreign_warc::gzip(record.replacen("WARC-Date", &fields, 1).as_bytes())
}

/// Such records were ignored: pages that other crawlers had archived by reference counted as never
/// visited, and were requested again.
#[test]
fn a_revisit_record_of_another_crawler_repeats_the_page_that_it_refers_to() {
    let server = Server::spawn_thread(Site::new(|_request| Reply::status(404)));
    let crawl = Crawl::of(&server, &[OLD]).seeds(&[server.url(OLD, "/one")]);
    let archive = crawl.out().join("archive");
    fs::create_dir_all(&archive).unwrap();
    let url = |path: &str| server.url(OLD, path);
    let same =
        |path: &str, of: &str| revisit(&server, path, SAME, &url(of), foreign_warc::DATE, OK);
    let unmodified = |path: &str| {
        let head = "HTTP/1.1 304 Not Modified\r\nETag: \"1\"";
        revisit(
            &server,
            path,
            "server-not-modified",
            &url(path),
            foreign_warc::DATE,
            head,
        )
    };
    const SAME: &str = "identical-payload-digest";
    const GONE: &str = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html";
    const MOVED: &str = "HTTP/1.1 301 Moved Permanently\r\nLocation: /there";
    let one = article(1, &["/elsewhere"]);
    // The referenced record comes in a later file.
    fs::write(archive.join("a.warc.gz"), same("/early", "/one")).unwrap();
    let rest = [
        old(&server, "/one", OK, &one),
        old(&server, "/copy", OK, &one),
        same("/again", "/one"),
        same("/of-copy", "/copy"),
        revisit(&server, "/bare", SAME, &url("/one"), foreign_warc::DATE, ""),
        revisit(
            &server,
            "/moved",
            SAME,
            &url("/moved"),
            foreign_warc::DATE,
            MOVED,
        ),
        same("/there", "/one"),
        revisit(
            &server,
            "/gone",
            SAME,
            &url("/gone"),
            foreign_warc::DATE,
            GONE,
        ),
        unmodified("/one"),
        same("/copy", "/one"),
        unmodified("/elsewhere"),
        same("/lost", "/nowhere"),
        revisit(
            &server,
            "/changed",
            SAME,
            &url("/one"),
            "2020-01-01T00:00:00Z",
            OK,
        ),
        revisit(
            &server,
            "/odd",
            "by-hearsay",
            &url("/one"),
            foreign_warc::DATE,
            OK,
        ),
        foreign_warc::gzip(
            foreign_warc::record("conversion", &url("/text"), "text/plain", "text").as_bytes(),
        ),
    ];
    fs::write(archive.join("b.warc.gz"), rest.concat()).unwrap();

    let command = [
        "rebuild",
        "crawl",
        "--from-archive",
        "--seeds",
        "seeds.txt",
        "--hash-key",
        KEY,
    ];
    let run = crawl.run_command(&[&command[..], &["--format", "json"]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let report = run.json();
    for (what, count) in [
        ("foreign_visits", 8),
        ("captured_again", 2),
        ("without_original", 4),
        ("conversions", 1),
        ("queued", 1),
    ] {
        assert_eq!(report[what], count, "{what}: {report}");
    }
    crawl.is_sound();
    let line_of = |visit: &Value| {
        let text = |name: &str| {
            visit[name]
                .as_str()
                .unwrap_or_default()
                .replace(&url(""), "")
        };
        let status = visit["status"].to_string();
        [
            text("url"),
            text("verdict"),
            text("duplicate_of"),
            text("reason"),
            status,
        ]
        .join(" | ")
    };
    let mut lines: Vec<String> = crawl.visits().iter().map(line_of).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "/again | exact-duplicate | /one | the same bytes | 200",
            "/bare | exact-duplicate | /one | the same bytes | null",
            "/copy | exact-duplicate | /one | the same bytes | 200",
            "/early | exact-duplicate | /one | the same bytes | 200",
            "/gone | failed |  | HTTP status 404 | 404",
            "/moved | exact-duplicate | /one | the same bytes | 200",
            "/of-copy | exact-duplicate | /one | the same bytes; they are those of /copy | 200",
            "/one | unique |  |  | 200",
        ]
    );
    let visit = crawl.visit(&url("/again"));
    assert_eq!(
        visit["fingerprint"],
        crawl.visit(&url("/one"))["fingerprint"]
    );
    let why = crawl.run_command(&["why", "crawl", &url("/again")]);
    assert_eq!(why.json()["original"]["url"], url("/one"));
    let index = fs::read_to_string(archive.join("index.cdxj")).unwrap();
    assert!(index.contains("\"mime\": \"warc/revisit\""), "{index}");

    let in_words = crawl.run_command(&[&command[..], &["--format", "table"]].concat());
    assert!(
        in_words
            .output
            .contains("4 visits refer to content that is not in these files"),
        "{in_words:?}"
    );
    assert!(
        in_words.output.contains("1 text was skipped"),
        "{in_words:?}"
    );
    crawl.complete();
    let asked: Vec<String> = server.log().iter().map(|hit| hit.target.clone()).collect();
    assert_eq!(asked, ["/robots.txt", "/elsewhere"]);
    crawl.is_sound();
}

/// Our own archive is then the beginning of one file, and the journal has none of our own visits.
#[test]
fn a_crawl_behind_foreign_archives_that_is_killed_before_its_first_settlement_continues() {
    let from_archive = ["--from-archive", "--hash-key", KEY];
    for again in [None, Some(&[][..]), Some(&from_archive[..])] {
        let gate = Gate::new();
        let held = gate.clone();
        let server = Server::spawn_thread(Site::new(move |request| match request.path() {
            "/fresh" => page(9, NONE).hold(&held),
            _ => Reply::status(404),
        }));
        let crawl = Crawl::of(&server, &[OLD]).seeds(&[server.url(OLD, "/one")]);
        put_old_archives(&crawl, &server);
        let archives = files_of_others(&crawl);
        let rebuild = |more: &[&str]| {
            let run =
                crawl.run_command(&[&["rebuild", "crawl", "--format", "json"], more].concat());
            let report = run.json();
            let code = i32::from(report["damaged_places"] != 0);
            assert_eq!(run.code, Some(code), "{run:?}");
            (
                report["pages"].clone(),
                report["queued"].clone(),
                crawl.visits(),
            )
        };
        let first = rebuild(&[&from_archive[..], &["--seeds", "seeds.txt"]].concat());
        assert_eq!(first.1, 1);

        let running = crawl.start();
        gate.arrivals_blocking(1);
        running.kill();
        gate.open();
        crawl.is_sound();
        assert_eq!(crawl.visits(), first.2);
        if let Some(again) = again {
            assert_eq!(rebuild(again), first, "{again:?}");
            crawl.is_sound();
        }
        crawl.complete();
        assert_eq!(crawl.verdicts().len(), first.2.len() + 1);
        assert_eq!(crawl.visit(&server.url(OLD, "/fresh"))["verdict"], "unique");
        assert_eq!(files_of_others(&crawl), archives);
        assert_eq!(
            crawl.archive_files().len(),
            archives.len() + 1,
            "one file of ours"
        );
        crawl.is_sound();
    }
}

#[test]
fn without_seeds_and_settings_the_first_page_of_each_host_is_a_seed() {
    let server = Server::spawn_thread(Site::new(|_request| Reply::status(404)));
    let crawl = Crawl::of(&server, &[OLD]);
    put_old_archives(&crawl, &server);
    crawl
        .run_command(&["rebuild", "crawl"])
        .assert_error(2, "crawl does not contain crawler.toml");
    let run = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    let settings = fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    let seed = format!("\"{}\"", server.url(OLD, "/packed"));
    assert!(settings.contains(&seed), "{settings}");
    crawl.is_sound();
}

#[test]
fn a_foreign_file_whose_name_sorts_behind_ours_is_refused() {
    let half = half(&[]);
    let archive = half.crawl.out().join("archive");
    let page = foreign_warc::page("http://old.test/", OK, "old");
    fs::write(archive.join("wget-00009.warc"), page).unwrap();
    half.crawl
        .run_command(&["rebuild", "crawl", "--from-archive"])
        .assert_error(2, "wget-00009.warc is from another crawler");
}

/// A directory of archives under names that are not read became an empty crawl, with code 0.
#[test]
fn what_rebuild_does_not_read_is_named_and_nothing_to_read_is_an_error() {
    let server = Server::spawn_thread(Site::new(|_request| Reply::status(404)));
    let crawl = Crawl::bare();
    let archive = crawl.directory().join("old/archive");
    fs::create_dir_all(&archive).unwrap();
    let rebuild = || crawl.run_command(&["rebuild", "old", "--from-archive"]);
    let nothing = rebuild();
    nothing.assert_error(2, "does not contain an archive");
    fs::write(archive.join("x.WARC.GZ"), old(&server, "/one", OK, "one")).unwrap();
    fs::write(archive.join("x.arc.gz"), "").unwrap();
    let run = rebuild();
    assert_eq!(run.code, Some(2), "{run:?}");
    fs::write(archive.join("y.warc.gz"), old(&server, "/one", OK, "one")).unwrap();
    let run = rebuild();
    assert_eq!(run.code, Some(1), "{run:?}");
    for name in [
        "x.WARC.GZ is skipped",
        "x.arc.gz is skipped: it is an ARC file",
    ] {
        assert!(run.errors.contains(name), "{run:?}");
    }
}

/// The answer to HEAD counted as the page, which was never visited then; a date to the day, and
/// bytes of a target that are not UTF-8, lost the page without a word.
#[test]
fn captures_that_are_no_page_dates_to_the_day_and_odd_targets_lose_nothing() {
    let server = Server::spawn_thread(Site::new(|_request| Reply::status(404)));
    let crawl = Crawl::bare();
    let archive = crawl.directory().join("crawl/archive");
    fs::create_dir_all(&archive).unwrap();
    let head = {
        let pair = |method: &str| {
            let media = "application/http;msgtype=request";
            let block = format!("{method} / HTTP/1.1\r\n\r\n");
            foreign_warc::record("request", "http://old.test/", media, &block)
        };
        pair("HEAD") + &foreign_warc::page("http://old.test/", OK, "")
    };
    let day = |record: String| record.replace(foreign_warc::DATE, "2026-11-22");
    let later = day(foreign_warc::page(
        "http://old.test/",
        OK,
        &article(1, NONE),
    ));
    let mut bytes = [head, later].concat().into_bytes();
    for (letter, number) in [(0xe9, 2), (0xe8, 3)] {
        let record = foreign_warc::page("http://old.test/caf?", OK, &article(number, NONE));
        let mut record = record.into_bytes();
        let place = record.windows(4).position(|four| four == b"caf?").unwrap();
        record[place + 3] = letter;
        bytes.extend(record);
    }
    fs::write(archive.join("a.warc"), bytes).unwrap();
    drop(server);
    let run = crawl.run_command(&["rebuild", "crawl", "--from-archive", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let report: Value = serde_json::from_str(&run.output).unwrap();
    assert_eq!(
        (&report["foreign_visits"], &report["not_pages"]),
        (&3.into(), &1.into())
    );
    let page = crawl.visit("http://old.test/");
    assert_eq!(
        page["fetched_at"].as_str().unwrap().get(..10),
        Some("2026-11-22"),
        "{page}"
    );
    for name in ["caf%C3%A9", "caf%C3%A8"] {
        crawl.visit(&format!("http://old.test/{name}"));
    }
}
