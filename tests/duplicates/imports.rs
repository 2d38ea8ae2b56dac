//! A crawl that counts an archive of another program as seen: a WACZ, or an index.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use testkit::{Reply, Request, Server};

use crate::support::foreign_warc::gzip;
use crate::support::pages::{NONE, anchor, html, page, prose, serve_by_day, versioned};
use crate::support::{CommandOutput, Crawl};

const HOST: &str = "news.test";
const IDENTICAL: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

/// A site that changes each day: `/changing` is rewritten, `/moved` is the text of `/old` with a
/// word more, `/copy` has the bytes of `/same`.
fn site(day: u64, request: &Request) -> Reply {
    match request.path() {
        "/" => page(1, &["/old", "/changing", "/same", "/moved", "/copy"]),
        "/old" => page(2, &["/below"]),
        "/changing" => page(100 + day, NONE),
        "/same" => versioned(request, "\"same\"", page(4, NONE)),
        "/below" => page(5, NONE),
        "/copy" if day > 0 => page(4, NONE),
        "/moved" if day > 0 => {
            let link = anchor("/below");
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

fn text_of(path: &std::path::Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Packs a crawl; returns the path of the WACZ.
fn packed(crawl: &Crawl) -> PathBuf {
    let run = crawl.run_command(&["wacz", "crawl", "--output", "first.wacz"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    crawl.directory().join("first.wacz")
}

/// Returns a crawl of the first day that has ended, and the server on the second day.
fn first_day() -> (Server, Crawl) {
    let (server, day) = serve_by_day(site);
    let first = crawl(&server);
    assert_eq!(first.complete()["unique"], 5);
    day.store(1, Ordering::SeqCst);
    (server, first)
}

fn verdict_of(crawl: &Crawl, url: &str) -> (String, String) {
    let visit = crawl.visit(url);
    let text = |name: &str| visit[name].as_str().unwrap_or_default().to_owned();
    (text("verdict"), text("duplicate_of"))
}

/// Asserts the verdicts on all pages, of which `/moved` has this one.
fn assert_verdicts(server: &Server, crawl: &Crawl, moved: (&str, &str)) {
    for (path, verdict, of) in [
        ("/", "exact-duplicate", "/"),
        ("/old", "exact-duplicate", "/old"),
        ("/below", "exact-duplicate", "/below"),
        ("/changing", "changed", "/changing"),
        ("/copy", "exact-duplicate", "/same"),
        ("/moved", moved.0, moved.1),
    ] {
        let (found, original) = verdict_of(crawl, &server.url(HOST, path));
        assert_eq!(found, verdict, "{path}");
        if !of.is_empty() {
            assert_eq!(original, server.url(HOST, of), "{path}");
        }
    }
}

fn profile_of(crawl: &Crawl, url: &str) -> Option<String> {
    let records = crawl.records_about(url);
    let revisit = records.iter().find(|record| record.kind() == "revisit")?;
    revisit.field("WARC-Profile").map(str::to_owned)
}

#[test]
fn a_crawl_against_a_package_recognises_the_same_bytes_and_the_same_text() {
    let (server, first) = first_day();
    let package = text_of(&packed(&first));
    let second = crawl(&server).with(&["--against", &package]);
    let run = second.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.errors
            .contains("first.wacz: 5 captures of pages count as seen"),
        "{run:?}"
    );
    assert_verdicts(&server, &second, ("near-duplicate", "/old"));
    assert_eq!(
        second.archived(),
        [server.url(HOST, "/changing"),],
        "only what is new"
    );
    let old = server.url(HOST, "/old");
    let revisit = second.records_about(&old).remove(0);
    let original = first.records_about(&old).remove(0);
    assert_eq!(revisit.field("WARC-Profile"), Some(IDENTICAL));
    assert_eq!(
        revisit.field("WARC-Refers-To-Target-URI"),
        Some(old.as_str())
    );
    assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(original.date()));
    let why = second.run_command(&["why", "crawl", &old]).json();
    assert_eq!(why["original"]["url"], old, "{why}");
    second.is_sound();
}

#[test]
fn a_crawl_since_a_package_sends_the_validators_in_it() {
    let (server, first) = first_day();
    let package = text_of(&packed(&first));
    let from = server.log().len();
    let second = crawl(&server).with(&["--since", &package]);
    second.complete();
    let same = server.url(HOST, "/same");
    assert_eq!(profile_of(&second, &same).as_deref(), Some(NOT_MODIFIED));
    let log = server.log();
    let answers = log[from..].iter().filter(|hit| hit.target == "/same");
    let statuses: Vec<u16> = answers.map(|hit| hit.status).collect();
    assert_eq!(statuses, [304]);
    second.is_sound();
}

#[test]
fn a_crawl_against_an_index_recognises_the_same_bytes_under_any_url() {
    let (server, first) = first_day();
    let index = std::fs::read_to_string(first.out().join("archive/index.cdxj")).unwrap();
    first.write("packed.cdxj.gz", gzip(&index));
    first.write("columns.cdx", columns(&index));
    for name in ["crawl/archive/index.cdxj", "packed.cdxj.gz", "columns.cdx"] {
        let path = text_of(&first.directory().join(name));
        let second = crawl(&server).with(&["--against", &path]);
        let run = second.run();
        assert_eq!(run.code, Some(0), "{name}: {run:?}");
        assert!(
            run.errors.contains("5 captures of pages"),
            "{name}: {run:?}"
        );
        assert_verdicts(&server, &second, ("unique", ""));
        for (path, of) in [("/old", "/old"), ("/copy", "/same")] {
            let (url, of) = (server.url(HOST, path), server.url(HOST, of));
            let revisit = second.records_about(&url).remove(0);
            assert_eq!(revisit.field("WARC-Profile"), Some(IDENTICAL), "{name}");
            assert_eq!(revisit.field("WARC-Refers-To-Target-URI"), Some(&*of));
            let date = first.records_about(&of).remove(0).date()[..19].to_owned();
            let expected = format!("{date}.000Z");
            assert_eq!(revisit.field("WARC-Refers-To-Date"), Some(&*expected));
        }
        second.is_sound();
    }
}

/// Returns the lines of an index as CDX.
fn columns(index: &str) -> String {
    let mut lines = " CDX N b a m s k r M S V g\n".to_owned();
    for line in index.lines().filter(|line| !line.starts_with('!')) {
        let mut words = line.splitn(3, ' ');
        let (key, date) = (words.next().unwrap(), words.next().unwrap());
        let fields: serde_json::Value = serde_json::from_str(words.next().unwrap()).unwrap();
        let text = |name: &str| fields[name].as_str().unwrap_or("-").to_owned();
        let digest = text("digest").replace("sha1:", "");
        let (url, mime, status) = (text("url"), text("mime"), text("status"));
        lines.push_str(&format!(
            "{key} {date} {url} {mime} {status} {digest} - - 9 7 a.warc.gz\n"
        ));
    }
    lines
}

#[test]
fn an_archive_is_imported_once_and_a_crawl_continues_without_it() {
    let (server, first) = first_day();
    let package = packed(&first);
    let path = text_of(&package);
    let second = crawl(&server);
    let begun = second.run_with(&["--against", &path, "--max-pages", "2", "--fresh"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    let again = second.run_with(&["--against", &path, "--max-pages", "3"]);
    assert!(!again.errors.contains("count as seen"), "{again:?}");
    std::fs::remove_file(package).unwrap();
    let ended = second.run_with(&["--max-pages", "100"]);
    assert_eq!(ended.summary()["changed"], 1, "{ended:?}");
    assert_verdicts(&server, &second, ("near-duplicate", "/old"));
    second
        .run_with(&["--fresh"])
        .assert_error(2, "exists, and --fresh was given");
}

#[test]
fn crawls_with_random_keys_and_several_archives_are_compared() {
    let (server, first) = first_day();
    let (package, index) = (packed(&first), first.out().join("archive/index.cdxj"));
    let second = Crawl::keyless(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--delay=0", "--delay-factor=0", "--tries=1"])
        .with(&["--concurrency=1", "--against", &text_of(&package)])
        .with(&["--against", &text_of(&index)]);
    second.complete();
    assert_verdicts(&server, &second, ("near-duplicate", "/old"));
}

#[test]
fn an_interrupted_import_is_made_again() {
    let (server, first) = first_day();
    let package = text_of(&packed(&first));
    let second = crawl(&server).with(&["--against", &package]);
    second.run_with(&["--max-pages", "1"]);
    let imported = second.out().join("imported");
    let mut imports = std::fs::read_dir(&imported).unwrap();
    let import = imports.next().unwrap().unwrap().path();
    std::fs::remove_file(import.join("crawler.toml")).unwrap();
    let run = second.run_with(&["--max-pages", "100"]);
    assert!(run.errors.contains("5 captures of pages"), "{run:?}");
    assert_verdicts(&server, &second, ("near-duplicate", "/old"));
}

fn refused(crawl: &Crawl, option: &str, name: &str) -> CommandOutput {
    crawl.run_with(&[option, name, "http://unused.test/"])
}

#[test]
fn other_files_are_refused_with_the_reason_before_anything_is_requested() {
    let crawl = Crawl::bare().with(&["--contact", "me@example.org"]);
    crawl.write("broken.wacz", "no ZIP");
    crawl.write("prose.cdxj", "not an index\nat all, is it\n");
    crawl.write("page.html", "<p>");
    for (option, name, words) in [
        (
            "--against",
            "broken.wacz",
            "broken.wacz: it is not a readable ZIP file",
        ),
        (
            "--against",
            "prose.cdxj",
            "prose.cdxj is not an index of captures",
        ),
        (
            "--against",
            "page.html",
            "page.html is not a crawl, a WACZ or an index",
        ),
        (
            "--since",
            "prose.cdxj",
            "an index does not contain the validators",
        ),
        ("--against", "missing.wacz", "missing.wacz does not exist"),
    ] {
        refused(&crawl, option, name).assert_error(2, words);
    }
}

#[test]
fn digests_of_another_algorithm_are_told_once() {
    let (server, first) = first_day();
    let index = std::fs::read_to_string(first.out().join("archive/index.cdxj")).unwrap();
    let sha256 = "sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ====";
    let lines = index.lines().map(|line| match line.split_once("sha1:") {
        Some((before, after)) => format!("{before}{sha256}{}\n", &after[32..]),
        None => format!("{line}\n"),
    });
    let path = first.write("sha256.cdxj", lines.collect::<String>());
    let second = crawl(&server).with(&["--against", &text_of(&path)]);
    let run = second.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    let warning = "5 captures without a SHA-1 digest cannot be recognised by their bytes";
    assert_eq!(run.errors.matches(warning).count(), 1, "{run:?}");
    assert_eq!(run.summary()["exact_duplicates"], 1, "of this crawl: /copy");
}
