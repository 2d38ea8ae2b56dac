//! Checks of links over several sessions: later, after a kill or an interrupt, at a limit, and
//! where they are refused.

use serde_json::{Value, json};
use testkit::{Gate, Reply};

use super::{FAR, HOME, HOSTS, checks, crawl_of, requests, serve};
use crate::support::Crawl;

#[test]
fn a_finished_crawl_is_checked_later_and_no_link_twice() {
    const LINKS: &[&str] = &["http://far.test/gone", "http://far.test/fine"];
    let server = serve(LINKS, |request| match request.path() {
        "/fine" => Reply::text("fine"),
        _ => Reply::status(404),
    });
    let crawl = crawl_of(&server);
    assert_eq!(crawl.complete()["links"], Value::Null);
    assert_eq!(requests(&server, FAR), [""; 0]);

    let run = crawl.run_with(&["--check-links"]);
    assert_eq!(
        (run.code, &run.summary()["links"]["checked"]),
        (Some(0), &json!(2)),
        "{run:?}"
    );
    let mut first = requests(&server, FAR);
    first.sort();
    assert_eq!(first, ["GET /gone", "HEAD /fine", "HEAD /gone"]);
    let run = crawl.run_with(&["--check-links"]);
    assert_eq!(
        (run.code, &run.summary()["links"]["checked"]),
        (Some(0), &json!(2)),
        "{run:?}"
    );
    assert_eq!(requests(&server, FAR).len(), 3);
}

#[test]
fn a_killed_check_repeats_the_link_in_flight_only_and_cuts_a_torn_line() {
    const LINKS: &[&str] = &[
        "http://far-1.test/x",
        "http://far-2.test/x",
        "http://far-3.test/x",
    ];
    let gate = Gate::new();
    let held = gate.clone();
    let server = serve(LINKS, move |request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ if request.host == "far-3.test" => Reply::text("fine").hold(&held),
        _ => Reply::text("fine"),
    });
    let crawl = crawl_of(&server).with(&["--check-links"]);
    let running = crawl.start();
    gate.arrivals_blocking(1);
    let file = crawl.out().join("link-checks.jsonl");
    let lines = || std::fs::read_to_string(&file).map_or(0, |text| text.lines().count());
    while lines() < 2 {
        std::thread::yield_now();
    }
    drop(running.kill());
    let text = std::fs::read_to_string(&file).expect("two links are checked");
    let torn = format!("{text}{{\"url\":\"http://far-3.te");
    std::fs::write(&file, torn).expect("the file can be written");
    gate.open();

    assert_eq!(crawl.complete()["links"]["ok"], 3);
    assert_eq!(checks(&crawl, &server).len(), 3);
    for (host, times) in [("far-1.test", 1), ("far-2.test", 1), ("far-3.test", 2)] {
        assert_eq!(requests(&server, host), vec!["HEAD /x"; times], "{host}");
    }
}

#[test]
fn an_interrupt_finishes_the_checks_in_flight_and_the_same_command_continues() {
    const LINKS: &[&str] = &["http://far-1.test/x", "http://far-2.test/x"];
    let gate = Gate::new();
    let held = gate.clone();
    let server = serve(LINKS, move |request| match request.path() {
        "/robots.txt" => Reply::status(404),
        _ => Reply::text("fine").hold(&held),
    });
    let crawl = crawl_of(&server).with(&["--check-links", "--concurrency=1"]);
    let mut running = crawl.start_with(&["--summary", "text"]);
    gate.arrivals_blocking(1);
    running.interrupt();
    running.wait_for_line("finishing pages");
    gate.open();
    let run = running.end();
    assert_eq!(run.code, Some(130), "{run:?}");
    let next = "1 of 2 links are checked. Continue: the same command";
    assert!(run.output.contains(next), "{run:?}");
    assert_eq!(crawl.complete()["links"]["ok"], 2);
    let all: usize = HOSTS[2..]
        .iter()
        .map(|host| requests(&server, host).len())
        .sum();
    assert_eq!(all, 2);
}

#[test]
fn a_line_that_is_not_a_check_is_an_error_that_names_the_file() {
    let server = serve(&["http://far.test/x"], |_| Reply::text("fine"));
    let crawl = crawl_of(&server);
    crawl.complete();
    crawl.write("crawl/link-checks.jsonl", "nonsense\n");
    let run = crawl.run_with(&["--check-links", "--quiet"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.errors.contains("crawl/link-checks.jsonl"), "{run:?}");
    assert!(run.errors.contains("remove the file"), "{run:?}");
}

#[test]
fn max_time_ends_the_check_too() {
    const LINKS: &[&str] = &["http://far.test/1", "http://far.test/2"];
    let server = serve(LINKS, |_| Reply::text("fine"));
    let crawl = Crawl::polite(&server, &HOSTS, "1h").seeds(&[server.url(HOME, "/")]);
    let crawl = crawl
        .with(&["--check-links", "--ignore-robots", "--max-time=8s"])
        .with(&["--group-by=host"]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["finished"], &summary["links"]["checked"]),
        (&json!("max-time"), &json!(1))
    );
}

#[test]
fn a_crawl_by_several_nodes_refuses_to_check_links() {
    let server = serve(&["http://far.test/x"], |_| Reply::text("fine"));
    let crawl = crawl_of(&server).with(&["--check-links"]);
    crawl.complete();
    let import = ["import", "crawl", "--store", "postgres://localhost/crawl"];
    let imported = crawl.run_command(&import);
    imported.assert_error(2, "a shared crawl does not support --check-links");
}
