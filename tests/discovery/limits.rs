//! Limits that end a crawl before it is complete.

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::pages::{page, tree_site};
use crate::support::{CommandOutput, Crawl};

fn ended_by(run: &CommandOutput, limit: &str) -> Value {
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = run.summary();
    assert_eq!(summary["finished"], limit, "{run:?}");
    summary
}

fn crawl_of_a_tree(pages: u64) -> (Server, Crawl) {
    let server = Server::spawn_thread(tree_site(pages));
    let crawl = Crawl::of(&server, &["tree.test"]).seeds(&[server.url("tree.test", "/0")]);
    (server, crawl)
}

#[test]
fn max_pages_is_never_exceeded_and_can_be_raised() {
    let (server, crawl) = crawl_of_a_tree(30);
    for limit in [1, 7, 8] {
        let run = crawl.run_with(&["--max-pages", &limit.to_string()]);
        assert_eq!(ended_by(&run, "max-pages")["pages"], limit);
    }
    assert_eq!(
        ended_by(&crawl.run_with(&["--max-pages", "100"]), "exhausted")["pages"],
        30
    );
    let log = server.log();
    for page in 0..30 {
        assert_eq!(log.count("tree.test", &format!("/{page}")), 1);
    }
    crawl.is_sound();
}

#[test]
fn max_pages_0_visits_nothing() {
    let (server, crawl) = crawl_of_a_tree(3);
    assert_eq!(
        ended_by(&crawl.run_with(&["--max-pages", "0"]), "max-pages")["pages"],
        0
    );
    assert!(server.log().is_empty());
}

#[test]
fn max_depth_counts_links_from_a_seed() {
    for (depth, pages) in [("0", 1), ("1", 3), ("2", 7), ("9", 15)] {
        let (_server, crawl) = crawl_of_a_tree(15);
        assert_eq!(
            ended_by(&crawl.run_with(&["--max-depth", depth]), "exhausted")["pages"],
            pages
        );
    }
}

#[test]
fn max_pages_per_host_leaves_the_others_queued() {
    let hosts = ["one.test", "two.test"];
    let server = Server::spawn_thread(Site::new(|request| match crate::support::pages::number_of(
        &request.target,
    ) {
        number @ 0..10 if request.host == "one.test" => {
            page(number, &["/1", "/2", "/3", "/4", "/5"])
        }
        number @ 0..2 => page(number + 50, &["/1"]),
        _ => Reply::status(404),
    }));
    let seeds = hosts.map(|host| server.url(host, "/0"));
    let crawl = Crawl::of(&server, &hosts).seeds(&seeds);
    ended_by(&crawl.run_with(&["--max-pages-per-host", "3"]), "exhausted");
    let log = server.log();
    let pages = |host: &str| log.pages_of(host).len();
    assert_eq!((pages("one.test"), pages("two.test")), (3, 2));
    assert_eq!(crawl.run_command(&["status", "crawl"]).json()["queued"], 3);
    assert_eq!(
        ended_by(
            &crawl.run_with(&["--max-pages-per-host", "100"]),
            "exhausted"
        )["pages"],
        8
    );
}

/// The summary said "Complete" with URLs in the queue, and to continue by a command that visits
/// nothing.
#[test]
fn a_crawl_that_ends_at_the_pages_of_a_host_names_the_limit() {
    let server = Server::spawn_thread(tree_site(9));
    let crawl = Crawl::of(&server, &["tree.test"])
        .with(&["--concurrency", "1"])
        .seeds(&[server.url("tree.test", "/0")]);
    let run = crawl.run_with(&["--summary", "text", "--max-pages-per-host", "3"]);
    let queued = crawl.run_command(&["status", "crawl"]).json()["queued"].clone();
    let first = format!("Complete up to --max-pages-per-host 3; {queued} URLs are still queued\n");
    assert!(run.output.starts_with(&first), "{run:?}");
    let next = "Continue with a higher limit: crawler --out crawl --max-pages-per-host N\n";
    assert!(run.output.ends_with(next), "{run:?}");
    let rest = crawl.run_with(&["--summary", "text", "--max-pages-per-host", "9"]);
    assert!(rest.output.starts_with("Complete\n"), "{rest:?}");
}

#[test]
fn max_size_ends_the_crawl_once_that_many_bytes_were_received() {
    let (_server, crawl) = crawl_of_a_tree(10);
    let small = ["--max-size", "1B", "--concurrency", "1"];
    assert_eq!(ended_by(&crawl.run_with(&small), "max-size")["pages"], 1);
    assert_eq!(
        ended_by(&crawl.run_with(&["--max-size", "1GiB"]), "exhausted")["pages"],
        10
    );
}

#[test]
fn max_time_ends_the_session_and_the_next_one_continues() {
    let (_server, crawl) = crawl_of_a_tree(4);
    assert_eq!(
        ended_by(&crawl.run_with(&["--max-time", "0"]), "max-time")["pages"],
        0
    );
    assert_eq!(
        ended_by(&crawl.run_with(&["--max-time", "1h"]), "exhausted")["pages"],
        4
    );
}

/// The depth of the first way to a page stayed: `/y`, two links from the second seed, was lost when
/// that seed was slow, and `skipped` said that it was three links from a seed.
#[test]
fn a_page_that_is_found_by_a_long_way_first_counts_by_the_shortest() {
    let (late, visited) = (Gate::new(), Gate::new());
    let (held, next) = (late.clone(), visited.clone());
    let site = Site::new(move |request| {
        let port = request.port.unwrap_or_default();
        match (&*request.host, request.path()) {
            ("near.test", "/") => page(1, &["/1"]),
            // The host has one visit at a time, so /w is asked for when /x is settled.
            ("near.test", "/1") => page(2, &["/x", "/w"]),
            ("near.test", "/x") => page(3, &["/y"]),
            ("near.test", "/w") => page(4, &["/"]).hold(&next),
            ("near.test", "/y") => page(5, &["/z"]),
            ("near.test", "/z") => page(6, &["/"]),
            ("late.test", "/") => page(7, &[format!("http://near.test:{port}/x")]).hold(&held),
            _ => Reply::status(404),
        }
    });
    let hosts = ["near.test", "late.test"];
    let server = Server::spawn_thread(site);
    let crawl = Crawl::of(&server, &hosts)
        .seeds(&hosts.map(|host| server.url(host, "/")))
        .with(&["--max-depth", "2"]);
    let running = crawl.start();
    visited.arrivals_blocking(1);
    late.open();
    visited.open();
    assert_eq!(running.end().code, Some(0));
    let near = server.url("near.test", "/");
    let urls = crawl.verdicts().into_keys();
    let paths: Vec<String> = urls
        .filter_map(|url| url.strip_prefix(&near).map(str::to_owned))
        .collect();
    assert_eq!(paths, ["", "1", "w", "x", "y"]);
    crawl.is_sound();
}
