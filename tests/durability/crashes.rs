//! Crashes: a crawl that is killed at any moment continues as if nothing had happened.

use std::collections::BTreeSet;

use crate::support::Crawl;
use crate::support::request_quota::{HOST, PAGES, RequestQuota};

/// Kills a crawl after these numbers of requests, one per session, and then completes it.
fn survives(kills: &[usize], options: &[&str]) {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/0")])
        .with(options);
    for (round, requests) in kills.iter().enumerate() {
        let gate = quota.set(*requests);
        let running = crawl.start();
        gate.arrivals_blocking(1);
        running.kill();
        if round % 3 == 0 {
            crawl.is_sound();
        }
    }
    quota.set(usize::MAX);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["finished"], &summary["pages"]),
        (&"exhausted".into(), &PAGES.into()),
        "{kills:?}"
    );
    let all: BTreeSet<String> = (0..PAGES)
        .map(|page| server.url(HOST, &format!("/{page}")))
        .collect();
    crawl.has_exactly_once(&all);
    let log = server.log();
    for page in 0..PAGES {
        let times = log.count(HOST, &format!("/{page}"));
        assert!(
            (1..=kills.len() + 1).contains(&times),
            "page {page} was requested {times} times"
        );
    }
}

#[test]
fn a_crawl_that_is_killed_ten_times_archives_every_page_exactly_once() {
    survives(&[3, 5, 2, 9, 4, 7, 1, 12, 6, 8], &[]);
}

#[test]
fn a_crawl_that_is_killed_before_its_first_page_starts_over() {
    survives(&[0, 1, 0, 1, 2], &[]);
}

#[test]
fn a_crawl_with_many_archive_files_continues_after_kills() {
    survives(&[10, 20, 5], &["--warc-max-size", "4KiB"]);
}

#[test]
fn a_crawl_of_one_page_at_a_time_continues_after_kills_between_pages() {
    survives(&[2, 3, 4, 5, 6], &["--concurrency", "1"]);
}

#[test]
fn lost_tables_are_rebuilt_from_the_journal_when_the_crawl_continues() {
    let (quota, server) = RequestQuota::server();
    quota.set(usize::MAX);
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    assert_eq!(
        crawl.run_with(&["--max-pages", "20"]).summary()["pages"],
        20
    );
    let sled = crawl.out().join("state/sled");
    std::fs::remove_dir_all(&sled).unwrap();
    assert_eq!(
        crawl.run_with(&["--max-pages", "40"]).summary()["pages"],
        40
    );
    // The directory exists, but has no tables.
    for item in std::fs::read_dir(&sled).unwrap() {
        let path = item.unwrap().path();
        if path.is_file() {
            std::fs::write(path, b"these are no tables").unwrap();
        }
    }
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["pages"],
        PAGES
    );
    let all: BTreeSet<String> = (0..PAGES)
        .map(|page| server.url(HOST, &format!("/{page}")))
        .collect();
    crawl.has_exactly_once(&all);
}

#[test]
fn a_page_with_which_two_sessions_died_is_isolated_reported_and_archived_at_the_end() {
    let (quota, server) = RequestQuota::server();
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    for aside in [0, 1] {
        // robots.txt is answered, the page never.
        let gate = quota.set(usize::from(aside == 0));
        let running = crawl.start();
        gate.arrivals_blocking(1);
        running.kill();
        assert_eq!(crawl.run_command(&["status", "crawl"]).json()["queued"], 1);
    }
    // The next session notes the second death.
    let gate = quota.set(0);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    assert_eq!(
        crawl.run_command(&["status", "crawl"]).json()["quarantined"],
        1
    );
    let answer = crawl
        .run_command(&["why", "crawl", &server.url(HOST, "/0"), "--format", "json"])
        .json();
    let reason = answer["reason"].as_str().unwrap();
    assert!(
        reason.contains("quarantined, because 2 runs crashed"),
        "{reason}"
    );
    running.kill();
    quota.set(usize::MAX);
    assert_eq!(crawl.complete()["pages"], PAGES);
    assert_eq!(
        crawl.run_command(&["status", "crawl"]).json()["quarantined"],
        0
    );
    crawl.is_sound();
}
