//! A crawl that asks for the pages of an earlier one only if they were modified since.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::{Gate, Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{
    NONE, article, html, not_modified, page, prose, serve_by_day, versioned,
};

const HOST: &str = "news.test";
const SUNDAY: &str = "Sun, 01 Nov 2026 08:00:00 GMT";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// Returns a page that has a date and never changes.
fn dated(request: &Request, page: Reply) -> Reply {
    if request.header("if-modified-since") == Some(SUNDAY) {
        return not_modified();
    }
    page.header("Last-Modified", SUNDAY)
}

/// Returns a site as of a day. `/changing` differs from day to day, and links to a new page.
fn site(day: u64, request: &Request) -> Reply {
    match request.path() {
        "/" => versioned(
            request,
            "\"front\"",
            page(1, &["/weak", "/dated", "/changing", "/undated", "/moved"]),
        ),
        "/weak" => versioned(request, "W/\"weak; \u{fe}\"", page(2, &["/below"])),
        "/below" => versioned(request, "\"below\"", page(3, NONE)),
        "/dated" => dated(request, page(4, NONE)),
        "/changing" => versioned(
            request,
            &format!("\"{day}\""),
            page(100 + day, &[&format!("/new-{day}")]),
        ),
        "/undated" => page(5, NONE),
        "/moved" => Reply::redirect(301, "/target").header("ETag", "\"moved\""),
        "/target" => versioned(request, "\"target\"", page(6, NONE)),
        path if path == format!("/new-{day}") => page(200 + day, NONE),
        _ => Reply::status(404),
    }
}

fn crawl(server: &Server) -> Crawl {
    Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--tries", "1", "--concurrency", "1"])
}

fn since(server: &Server, earlier: &Crawl) -> Crawl {
    crawl(server).with(&["--since", earlier.out().to_str().unwrap()])
}

/// Returns the requests from the `from`th on: path, status, and the two conditions.
fn asked(server: &Server, from: usize) -> BTreeSet<(String, u16, Option<String>, Option<String>)> {
    let log = server.log();
    let hits = log[from..].iter().filter(|hit| hit.target != "/robots.txt");
    hits.map(|hit| {
        let head: String = hit
            .request_head
            .iter()
            .map(|byte| char::from(*byte))
            .collect();
        let field = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name));
            line.map(|value| value.trim_start_matches(": ").to_owned())
        };
        (
            hit.target.clone(),
            hit.status,
            field("if-none-match"),
            field("if-modified-since"),
        )
    })
    .collect()
}

fn profile_of(crawl: &Crawl, url: &str) -> Option<String> {
    let records = crawl.records_about(url);
    let revisit = records.iter().find(|record| record.kind() == "revisit")?;
    revisit.field("WARC-Profile").map(str::to_owned)
}

#[test]
fn unmodified_pages_are_not_sent_again_and_their_links_are_followed() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 8);
    let from = server.log().len();
    day.store(1, Ordering::SeqCst);
    let second = since(&server, &first);
    let summary = second.complete();
    assert_eq!(
        (
            &summary["pages"],
            &summary["unique"],
            &summary["changed"],
            &summary["exact_duplicates"]
        ),
        (&8.into(), &1.into(), &1.into(), &6.into())
    );
    let tag = |text: &str| Some(text.to_owned());
    assert_eq!(
        asked(&server, from),
        BTreeSet::from([
            ("/".to_owned(), 304, tag("\"front\""), None),
            (
                "/weak".to_owned(),
                304,
                tag("W/\"weak; \u{c3}\u{be}\""),
                None
            ),
            ("/below".to_owned(), 304, tag("\"below\""), None),
            ("/dated".to_owned(), 304, None, tag(SUNDAY)),
            ("/changing".to_owned(), 200, tag("\"0\""), None),
            ("/new-1".to_owned(), 200, None, None),
            ("/undated".to_owned(), 200, None, None),
            // The validator of the target says nothing about the redirect, and this crawl has not
            // requested the hop yet.
            ("/moved".to_owned(), 301, None, None),
            ("/target".to_owned(), 200, None, None),
        ])
    );
    let responses = ["/changing", "/new-1", "/moved"].map(|path| server.url(HOST, path));
    assert_eq!(
        BTreeSet::from_iter(second.archived()),
        BTreeSet::from(responses),
        "the redirect is archived whole"
    );
    let changed = second.visit(&server.url(HOST, "/changing"));
    for (name, value) in [
        ("verdict", serde_json::json!("changed")),
        ("duplicate_of", server.url(HOST, "/changing").into()),
    ] {
        assert_eq!(changed[name], value, "{changed}");
    }
    for (path, profile) in [
        ("/", NOT_MODIFIED),
        ("/weak", NOT_MODIFIED),
        ("/below", NOT_MODIFIED),
        ("/dated", NOT_MODIFIED),
        ("/undated", IDENTICAL),
        ("/target", IDENTICAL),
    ] {
        assert_eq!(
            profile_of(&second, &server.url(HOST, path)).unwrap(),
            profile,
            "{path}"
        );
    }
    first.is_sound();
    second.is_sound();
    assert!(!second.read_by_another().is_empty());
}

#[test]
fn the_revisit_of_an_unmodified_page_names_the_capture_and_contains_the_304_answer() {
    let (server, _day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    let second = since(&server, &first);
    second.complete();
    let url = server.url(HOST, "/weak");
    let original = first.records_about(&url).remove(0);
    let records = second.records_about(&url);
    let kinds: Vec<&str> = records.iter().map(sinks::warc::Record::kind).collect();
    assert_eq!(kinds, ["revisit", "request", "metadata"]);
    let revisit = &records[0];
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        Some(url.as_str())
    );
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(original.date()));
    assert_eq!(revisit.field("WARC-Profile"), Some(NOT_MODIFIED));
    assert_eq!(
        revisit.payload(),
        original.payload(),
        "the payload of the unmodified page"
    );
    assert_eq!(revisit.truncated(), None, "a 304 answer is not truncated");
    let block = String::from_utf8_lossy(&revisit.block);
    assert!(
        block.starts_with("HTTP/1.1 304 Not Modified\r\netag: W/"),
        "{block}"
    );
    assert!(block.ends_with("\r\n\r\n"), "{block}");
    let request = String::from_utf8_lossy(&records[1].block);
    assert!(request.contains("\r\nif-none-match: W/"), "{request}");

    let visit = second.visit(&url);
    for (name, value) in [
        ("status", serde_json::json!(304)),
        ("verdict", "exact-duplicate".into()),
        ("duplicate_of", url.clone().into()),
        ("bytes", 0.into()),
        ("content_type", "text/html".into()),
        ("title", "Page 2".into()),
        ("resemblance", 1.0.into()),
    ] {
        assert_eq!(visit[name], value, "{name} in {visit}");
    }
    assert_eq!(visit["fingerprint"], first.visit(&url)["fingerprint"]);
    let reason = format!(
        "not modified since {}; it repeats itself in an earlier crawl",
        original.date()
    );
    assert_eq!(visit["reason"], reason.as_str());
    let why = second.run_command(&["why", "crawl", &url]).json();
    assert_eq!(
        why["original"]["warc_offset"],
        first.visit(&url)["warc_offset"]
    );

    // A rebuild from the archive alone gives the same.
    let before = second.visits();
    let rebuilt = second.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(second.visits(), before);
}

#[test]
fn a_crawl_with_against_sends_no_conditional_requests() {
    let (server, _day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    let from = server.log().len();
    let second = crawl(&server).with(&["--against", first.out().to_str().unwrap()]);
    second.complete();
    let asked = asked(&server, from);
    assert!(
        asked
            .iter()
            .all(|(.., tag, date)| tag.is_none() && date.is_none()),
        "{asked:?}"
    );
}

#[test]
fn a_third_crawl_uses_the_validators_of_both_earlier_crawls() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    day.store(1, Ordering::SeqCst);
    let second = since(&server, &first);
    second.complete();
    let from = server.log().len();
    let third = since(&server, &second);
    let summary = third.complete();
    assert_eq!(
        (&summary["pages"], &summary["unique"]),
        (&8.into(), &0.into())
    );
    let asked = asked(&server, from);
    let tag_of = |path: &str| {
        let mut hits = asked.iter().filter(|(target, ..)| target == path);
        hits.next()
            .and_then(|(_, status, tag, _)| Some((*status, tag.clone()?)))
    };
    assert_eq!(
        tag_of("/"),
        Some((304, "\"front\"".to_owned())),
        "the first crawl has it"
    );
    assert_eq!(
        tag_of("/changing"),
        Some((304, "\"1\"".to_owned())),
        "the second crawl has the newer version"
    );
    for (path, archive) in [("/", &first), ("/changing", &second)] {
        let url = server.url(HOST, path);
        let revisit = third.records_about(&url).remove(0);
        let original = archive.records_about(&url).remove(0);
        assert_eq!(
            revisit.field("WARC-Refers-To-Date"),
            Some(original.date()),
            "{path}"
        );
    }
    third.is_sound();
}

#[test]
fn a_page_that_was_changed_back_is_fetched_once_more() {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    day.store(1, Ordering::SeqCst);
    let second = since(&server, &first);
    second.complete();
    day.store(0, Ordering::SeqCst);
    let third = since(&server, &second);
    third.complete();
    let visit = third.visit(&server.url(HOST, "/changing"));
    assert_eq!(
        (&visit["status"], &visit["verdict"]),
        (&200.into(), &"exact-duplicate".into())
    );
    third.is_sound();
}

#[test]
fn an_unrequested_304_is_a_failure() {
    let stubborn = |request: &Request, asked: &AtomicU64| match request.path() {
        "/" => page(1, &["/plain"]),
        "/plain" if asked.fetch_add(1, Ordering::SeqCst) > 0 => not_modified(),
        "/plain" => page(2, NONE),
        _ => Reply::status(404),
    };
    let asked = AtomicU64::new(0);
    let server = Server::spawn_thread(Site::new(move |request| stubborn(request, &asked)));
    let first = crawl(&server);
    first.complete();
    let second = since(&server, &first);
    second.complete();
    let visit = second.visit(&server.url(HOST, "/plain"));
    assert_eq!(
        (&visit["status"], &visit["verdict"]),
        (&304.into(), &"failed".into()),
        "{visit}"
    );
    assert_eq!(visit["reason"], "HTTP status 304");
    second.is_sound();
}

#[test]
fn a_precondition_failure_is_followed_by_an_unconditional_request() {
    let server = Server::spawn_thread(Site::new(|request| {
        if request.path() == "/robots.txt" {
            return Reply::status(404);
        }
        match request.header("if-none-match") {
            Some(_) => Reply::status(412),
            None => page(1, NONE).header("ETag", "\"1\""),
        }
    }));
    let first = crawl(&server);
    first.complete();
    let from = server.log().len();
    let second = since(&server, &first);
    assert_eq!(second.complete()["exact_duplicates"], 1);
    let statuses: Vec<u16> = server.log()[from..].iter().map(|hit| hit.status).collect();
    assert_eq!(statuses, [404, 412, 200]);
    second.is_sound();
}

#[test]
fn header_fields_of_the_304_answer_replace_the_archived_ones() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => versioned(request, "\"1\"", page(1, &["/quiet", "/secret"])),
        "/quiet" => versioned(request, "\"2\"", page(2, &["/below"]))
            .header("X-Robots-Tag", tag(request, "nofollow")),
        "/secret" => versioned(request, "\"3\"", page(3, NONE))
            .header("X-Robots-Tag", tag(request, "noarchive")),
        "/below" => page(4, NONE),
        _ => Reply::status(404),
    }));
    fn tag(request: &Request, now: &'static str) -> &'static str {
        if request.header("if-none-match").is_some() {
            now
        } else {
            "all"
        }
    }
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 4);
    let second = since(&server, &first);
    second.complete();
    let verdicts = second.verdicts();
    assert_eq!(verdicts[&server.url(HOST, "/secret")], "excluded");
    assert!(
        !verdicts.contains_key(&server.url(HOST, "/below")),
        "{verdicts:?}"
    );
    second.is_sound();
}

#[test]
fn a_crawl_that_was_killed_continues_with_conditional_requests() {
    for held in ["/", "/weak", "/changing", "/below"] {
        let (gate, day) = (Gate::new(), Arc::new(AtomicU64::new(0)));
        let (at, today) = (gate.clone(), Arc::clone(&day));
        let server = Server::spawn_thread(Site::new(move |request| {
            let day = today.load(Ordering::SeqCst);
            let reply = site(day, request);
            if day == 1 && request.path() == held {
                reply.hold(&at)
            } else {
                reply
            }
        }));
        let first = crawl(&server);
        first.complete();
        day.store(1, Ordering::SeqCst);
        let second = since(&server, &first);
        let running = second.start();
        gate.arrivals_blocking(1);
        running.kill();
        gate.open();
        let from = server.log().len();
        // Only the directory is given: the settings are in it.
        let run = second.run_command(&["--out", "crawl", "--summary", "json"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        let summary = run.summary();
        assert_eq!(
            (&summary["pages"], &summary["unique"], &summary["changed"]),
            (&8.into(), &1.into(), &1.into()),
            "killed at {held}: {summary}"
        );
        let asked = asked(&server, from);
        let held_again = asked.iter().find(|(target, ..)| target == held).unwrap();
        assert!(held_again.2.is_some(), "{asked:?}");
        second.is_sound();
    }
}

#[test]
fn a_page_whose_record_is_damaged_is_fetched_unconditionally() {
    let long = || Reply::html(html("", &format!("<p>{}</p>", prose(7, 40_000))));
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/" => versioned(request, "\"1\"", page(1, &["/head", "/body", "/whole"])),
        "/head" => versioned(request, "\"2\"", page(2, NONE)),
        "/body" => versioned(request, "\"3\"", long()),
        "/whole" => versioned(request, "\"4\"", page(4, NONE)),
        _ => Reply::status(404),
    }));
    let first = crawl(&server);
    first.complete();
    let file = first.archive_files().remove(0);
    let mut bytes = std::fs::read(&file).unwrap();
    let place = |path: &str| {
        let record = first.records_about(&server.url(HOST, path)).remove(0);
        (record.offset as usize, record.length as usize)
    };
    bytes[place("/head").0 + 20] ^= 0xff;
    let (offset, length) = place("/body");
    bytes[offset + length - 9] ^= 0xff;
    std::fs::write(&file, bytes).unwrap();

    let from = server.log().len();
    let second = since(&server, &first);
    assert_eq!(second.complete()["exact_duplicates"], 4);
    let log = server.log();
    let statuses = |path: &str| -> Vec<u16> {
        let hits = log[from..].iter().filter(|hit| hit.target == path);
        hits.map(|hit| hit.status).collect()
    };
    assert_eq!(statuses("/head"), [200], "no validators");
    assert_eq!(
        statuses("/body"),
        [304, 200],
        "an unmodified page could not be read"
    );
    assert_eq!(statuses("/whole"), [304]);
    let log = std::fs::read_to_string(second.out().join("crawl.log")).unwrap();
    assert_eq!(
        log.matches("an earlier archive cannot be read").count(),
        1,
        "{log}"
    );
    second.is_sound();
}

#[test]
fn a_missing_earlier_archive_is_reported_before_anything_is_written() {
    let (server, _day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    let file = first.archive_files().remove(0);
    let elsewhere = first.directory().join("elsewhere");
    std::fs::rename(&file, &elsewhere).unwrap();
    let second = since(&server, &first);
    let run = second.run();
    run.assert_error(2, file.file_name().unwrap().to_str().unwrap());
    assert!(
        run.errors.contains("--since") && run.errors.contains("--against"),
        "{run:?}"
    );
    assert!(!second.out().exists());
    // Without that archive a crawl can still exclude unchanged pages.
    let third = crawl(&server).with(&["--against", first.out().to_str().unwrap()]);
    third.complete();
    std::fs::rename(&elsewhere, &file).unwrap();
    second.complete();

    since(&server, &second)
        .run_with(&["--since", "nowhere"])
        .assert_error(2, "nowhere does not exist");
    second
        .run_with(&["--since", second.out().to_str().unwrap()])
        .assert_error(2, "--since");
}

/// Both are the same page to the crawl, so nothing is lost if a server sends the same bytes for any
/// request.
#[test]
fn the_same_bytes_from_a_server_that_ignores_validators_are_a_revisit() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/" => Reply::html(article(1, &["/below"])).header("ETag", "\"1\""),
        "/below" => page(2, NONE).header("ETag", "\"2\""),
        _ => Reply::status(404),
    }));
    let first = crawl(&server);
    first.complete();
    let from = server.log().len();
    let second = since(&server, &first);
    assert_eq!(second.complete()["exact_duplicates"], 2);
    assert!(
        asked(&server, from)
            .iter()
            .all(|(_, status, tag, _)| *status == 200 && tag.is_some())
    );
    for path in ["/", "/below"] {
        assert_eq!(
            profile_of(&second, &server.url(HOST, path)).unwrap(),
            IDENTICAL
        );
    }
    second.is_sound();
}

#[test]
fn the_summary_counts_unmodified_pages() {
    let (server, _day) = serve_by_day(site);
    let first = crawl(&server);
    first.complete();
    let home = server.url(HOST, "/");
    let second = Crawl::bare().with(&[
        "--allow-private",
        "--delay",
        "0",
        "--delay-factor",
        "0",
        &home,
    ]);
    let rule = server.resolve(HOST);
    let run = second.run_with(&["--resolve", &rule, "--since", first.out().to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.output
            .contains("  unchanged           5  not modified since the earlier crawl"),
        "{}",
        run.output
    );
}

/// Returns a page as gzip that is flushed at another place for each `turn`.
fn flushed(page: &str, turn: u64) -> Reply {
    let place = usize::try_from(17 + 31 * turn).unwrap() % page.len();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&page.as_bytes()[..place]).unwrap();
    gzip.flush().unwrap();
    gzip.write_all(&page.as_bytes()[place..]).unwrap();
    Reply::html(gzip.finish().unwrap()).header("Content-Encoding", "gzip")
}

/// A server that compresses as it sends flushes gzip at another place each time. Every page was
/// `changed` then: 92 of 102 of a recrawl, archived again in full.
#[test]
fn a_page_that_is_only_compressed_differently_is_unchanged() {
    let turn = AtomicU64::new(0);
    let server = Server::spawn_thread(Site::new(move |request| {
        let turn = turn.fetch_add(1, Ordering::SeqCst);
        match request.path() {
            "/" => flushed(&article(1, &["/one", "/two", "/plain"]), turn),
            "/one" => flushed(&article(2, &["/below"]), turn),
            // Other content, compressed at the same place as before or not.
            "/two" => flushed(&article(100 + turn, NONE), turn),
            "/below" => flushed(&article(3, NONE), turn),
            // Not compressed at the second visit.
            "/plain" if turn > 6 => page(4, NONE),
            "/plain" => flushed(&article(4, NONE), turn),
            _ => Reply::status(404),
        }
    }));
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 5);
    for option in ["--since", "--against"] {
        let second = crawl(&server).with(&[option, first.out().to_str().unwrap()]);
        let summary = second.complete();
        let counts = ["pages", "unique", "changed", "exact_duplicates"];
        assert_eq!(
            counts.map(|name| summary[name].as_u64().unwrap()),
            [5, 0, 1, 4]
        );
        assert_eq!(second.archived(), [server.url(HOST, "/two")], "{option}");
        let visit = second.visit(&server.url(HOST, "/one"));
        let reason =
            "the same bytes, compressed differently; it repeats itself in an earlier crawl";
        assert_eq!(visit["reason"], reason);
        // The payload of a record is compressed, and the digests differ: it is no revisit.
        assert_eq!(profile_of(&second, &server.url(HOST, "/one")), None);
        let (old, new) = (first.out(), second.out());
        let changes = ["changes", old.to_str().unwrap(), new.to_str().unwrap()];
        let changes = second.run_command(&[&changes[..], &["--format", "json"]].concat());
        let kinds = ["\"unchanged\"", "\"changed\"", "\"gone\""];
        let counts = kinds.map(|kind| changes.output.matches(kind).count());
        assert_eq!(counts, [4, 1, 0], "{changes:?}");

        let before = second.visits();
        let rebuilt = second.run_command(&["rebuild", "crawl", "--from-archive"]);
        assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
        assert_eq!(second.visits(), before);
        assert!(!rebuilt.errors.contains("links"), "{rebuilt:?}");
        second.is_sound();

        let third = since(&server, &second);
        assert_eq!(
            third.complete()["exact_duplicates"],
            4,
            "the first crawl has them"
        );
    }
}

/// A crawl of every week needed a script that knew the directory of the week before.
#[test]
fn a_crawl_of_a_series_is_named_by_date_and_follows_the_one_before() {
    let server = Server::spawn_thread(Site::new(|request| site(1, request)));
    let crawl = crawl(&server)
        .into_out("weekly/{date}")
        .with(&["--since", "latest"]);
    let first = crawl.run();
    assert_eq!(first.code, Some(0), "{first:?}");
    assert!(
        first.errors.contains("is the first crawl of its series"),
        "{first:?}"
    );
    let weekly = crawl.directory().join("weekly");
    let names = || -> Vec<String> {
        let items = std::fs::read_dir(&weekly).unwrap();
        let names = items.map(|item| item.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let [today] = names().try_into().unwrap();
    assert!(
        today.starts_with("20") && today.len() == "2026-11-30".len(),
        "{today}"
    );

    // Later names, directories without a crawl and the crawl itself are not the one before.
    std::fs::rename(weekly.join(&today), weekly.join("2000-01-01")).unwrap();
    std::fs::create_dir(weekly.join("2000-01-02")).unwrap();
    let second = crawl.run().summary();
    assert_eq!(second["pages"], first.summary()["pages"]);
    assert!(second["not_modified"].as_u64() > Some(0), "{second}");
    let third = crawl.run();
    assert_eq!(third.code, Some(0), "it continues: {third:?}");
    assert_eq!(names().len(), 3);
}
