//! Options of the archive, and the records beside the pages.

use std::fs;

use sinks::warc::{Record, WarcStream};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, article, page};
use crate::support::request_quota::{HOST, PAGES, RequestQuota};

const ROBOTS: &str = "User-agent: *\nDisallow: /closed\n";

/// Three pages, of which one repeats another, and a forbidden one.
fn site() -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::pages([
        ("/robots.txt", Reply::text(ROBOTS)),
        (
            "/",
            page(0, &["/a", "/b", "/closed", "http://elsewhere.test/"]),
        ),
        ("/a", page(1, NONE)),
        ("/b", page(1, NONE)),
    ]));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency=1"]);
    (server, crawl)
}

fn kinds(records: &[Record]) -> Vec<&str> {
    records.iter().map(Record::kind).collect()
}

#[test]
fn a_robots_txt_is_archived_once_as_it_was_read() {
    let (server, crawl) = site();
    crawl.complete();
    let records = crawl.records_about(&server.url(HOST, "/robots.txt"));
    assert_eq!(kinds(&records), ["resource"]);
    let robots = &records[0];
    assert_eq!(robots.block, ROBOTS.as_bytes());
    assert_eq!(
        robots.payload(),
        Some(sinks::PayloadDigest::of(ROBOTS.as_bytes()))
    );
    assert!(
        robots
            .field("Content-Type")
            .unwrap()
            .starts_with("text/plain")
    );
    assert_eq!(robots.field("WARC-IP-Address"), Some("127.0.0.1"));
    assert_eq!(
        kinds(&crawl.records())[..3],
        ["warcinfo", "resource", "response"]
    );
    crawl.is_sound();
}

#[test]
fn a_missing_robots_txt_leaves_no_record() {
    let server = Server::spawn_thread(Site::pages([("/", page(0, NONE))]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    crawl.complete();
    assert_eq!(
        kinds(&crawl.records()),
        ["warcinfo", "response", "request", "metadata"]
    );
    crawl.is_sound();
}

#[test]
fn every_page_has_a_metadata_record_with_its_verdict_and_its_path() {
    let (server, crawl) = site();
    crawl.complete();
    let home = server.url(HOST, "/");
    let notes = crawl.notes_about(&home);
    assert_eq!(
        (notes["verdict"].as_str(), notes["hopsFromSeed"].as_str()),
        ("unique", "0")
    );
    assert!(notes["fetchTimeMs"].parse::<u64>().is_ok());
    assert!(!notes.contains_key("via") && !notes.contains_key("outlink"));
    let notes = crawl.notes_about(&server.url(HOST, "/a"));
    assert_eq!(
        (notes["via"].as_str(), notes["hopsFromSeed"].as_str()),
        (&*home, "1")
    );
    let notes = crawl.notes_about(&server.url(HOST, "/b"));
    assert_eq!(notes["verdict"], "exact-duplicate");
    let notes = crawl.notes_about(&server.url(HOST, "/closed"));
    assert_eq!(notes["verdict"], "excluded");
    assert!(!notes.contains_key("fetchTimeMs"), "nothing was fetched");
    let records = crawl.records_about(&home);
    assert_eq!(kinds(&records), ["response", "request", "metadata"]);
    assert_eq!(
        records[2].field("WARC-Concurrent-To"),
        Some(records[0].id())
    );
}

#[test]
fn outlinks_are_recorded_as_heritrix_does_on_request() {
    let (server, crawl) = site();
    let crawl = crawl.with(&["--outlinks", "on"]);
    crawl.complete();
    let records = crawl.records_about(&server.url(HOST, "/"));
    let metadata = String::from_utf8(records[2].block.clone()).unwrap();
    let outlinks: Vec<&str> = metadata
        .lines()
        .filter_map(|line| line.strip_prefix("outlink: "))
        .collect();
    let mut expected: Vec<String> = ["/a", "/b", "/closed"]
        .map(|path| server.url(HOST, path))
        .into();
    expected.push("http://elsewhere.test/".to_owned());
    let expected: Vec<String> = expected
        .iter()
        .map(|url| format!("{url} L =NAVLINK_MISC"))
        .collect();
    assert_eq!(outlinks, expected, "links out of scope are recorded, too");
    crawl.is_sound();
}

#[test]
fn digests_follow_the_option_and_equal_bytes_are_recognized() {
    let (server, crawl) = site();
    let crawl = crawl.with(&["--digest", "sha256"]);
    crawl.complete();
    for record in crawl.records() {
        for name in ["WARC-Block-Digest", "WARC-Payload-Digest"] {
            let digest = record.field(name).unwrap_or("sha256:");
            assert!(digest.starts_with("sha256:"), "{name}: {digest}");
        }
    }
    let records = crawl.records_about(&server.url(HOST, "/b"));
    assert_eq!(records[0].kind(), "revisit");
    assert_eq!(
        records[0].payload(),
        crawl.records_about(&server.url(HOST, "/a"))[0].payload()
    );
    crawl.is_sound();
}

#[test]
fn files_are_named_by_the_option_and_are_open_until_they_are_complete() {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(&["--warc-prefix=my-site"]);
    let gate = quota.set(5);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    running.kill();
    let name = |at: usize| crawl.archive_files()[at].to_string_lossy().into_owned();
    assert!(
        name(0).contains("/my-site-") && name(0).ends_with("-00001.warc.gz.open"),
        "{}",
        name(0)
    );
    crawl.is_sound();
    quota.set(usize::MAX);
    assert_eq!(crawl.complete()["pages"], PAGES);
    assert!(name(0).ends_with("-00001.warc.gz"), "{}", name(0));
    assert_eq!(
        crawl.archive_files().len(),
        1,
        "the same file was continued"
    );
    crawl.is_sound();
}

#[test]
fn a_changed_compression_applies_from_the_next_file_on() {
    let (quota, server) = RequestQuota::server();
    quota.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.run_with(&["--max-pages=10"]).summary()["pages"], 10);
    let summary = crawl
        .run_with(&["--max-pages=1000", "--compression=none"])
        .summary();
    assert_eq!(summary["pages"], PAGES);
    let files = crawl.archive_files();
    assert_eq!(files.len(), 2);
    assert!(
        files[1].to_string_lossy().ends_with("-00002.warc"),
        "{files:?}"
    );
    assert!(fs::read(&files[1]).unwrap().starts_with(b"WARC/1.1\r\n"));
    let mut stream = WarcStream::open(&files[1]).unwrap();
    while let Some(record) = stream.next_record(0).unwrap() {
        assert!(record.digests_hold(), "{record:?}");
    }
}

#[test]
fn incompatible_options_are_refused_before_anything_is_written() {
    let server = Server::spawn_thread(Site::pages([("/", Reply::html(article(0, NONE)))]));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/")]);
    let no_dictionary = crawl.write("pages.dict", "no dictionary");
    let no_dictionary = format!("--zstd-dictionary={}", no_dictionary.display());
    for (options, words) in [
        (vec!["--compression=brotli"], "brotli"),
        (
            vec!["--compression-level=13"],
            "13 is not valid with --compression gzip",
        ),
        (
            vec!["--compression=zstd", "--compression-level=20"],
            "20 is not valid with --compression zstd",
        ),
        (
            vec!["--compression=none", "--compression-level=1"],
            "not valid with --compression none",
        ),
        (
            vec!["--zstd-dictionary=pages.dict"],
            "not valid with --compression gzip",
        ),
        (vec!["--compression=zstd", &no_dictionary], "zstd --train"),
        (
            vec!["--compression=zstd", "--zstd-dictionary=missing"],
            "missing",
        ),
        (vec!["--digest=md5"], "md5"),
        (vec!["--warc-prefix=../up"], "--warc-prefix"),
        (vec!["--warc-prefix="], "--warc-prefix"),
        (vec!["--warc-max-time=0"], "--warc-max-time"),
    ] {
        crawl.run_with(&options).assert_error(2, words);
        assert!(!crawl.out().exists(), "{options:?}");
    }
}
