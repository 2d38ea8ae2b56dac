//! A restart is as polite as what was before it, however the session before ended: as the server
//! saw it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use testkit::{Gate, Log, Reply, Server, Site};

use crate::support::pages::{NONE, number_of, page, tree};
use crate::support::{Crawl, Running};

const HOST: &str = "slow.test";

/// Asserts these requests to a host, each at least that many milliseconds after the one before.
fn paced(log: &Log, host: &str, expected: &[(&str, u64)]) {
    let targets: Vec<&str> = expected.iter().map(|(target, _)| *target).collect();
    assert_eq!(log.targets(host), targets);
    let times: Vec<Duration> = log.of(host).map(|hit| hit.at).collect();
    for (two, (target, millis)) in times.windows(2).zip(&expected[1..]) {
        let pause = two[1] - two[0];
        assert!(
            pause >= Duration::from_millis(*millis),
            "{target} came {pause:?} after the one before"
        );
    }
}

/// A server whose requests are counted.
fn counted(answer: impl Fn(&str, &str) -> Reply + Send + Sync + 'static) -> (Server, Gate) {
    let gate = Gate::new();
    gate.open();
    let passing = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        answer(&request.host, request.path()).hold(&passing)
    }));
    (server, gate)
}

/// Interrupts a session that waits for its turn. On a slow machine it may have come to its end by
/// itself, or it may not have begun to listen for the signal: then it ends as well.
fn interrupt(running: Running) {
    running.interrupt();
    let ran = running.end();
    assert!(matches!(ran.code, Some(130 | 0) | None), "{ran:?}");
}

#[test]
fn the_pause_between_two_requests_is_kept_when_the_crawl_is_killed_in_it() {
    let (server, gate) = counted(|_host, path| match path {
        "/robots.txt" => Reply::text(""),
        path => tree(number_of(path), 6),
    });
    let crawl = Crawl::polite(&server, &[HOST], "500ms").with(&["--delay-factor", "0"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    for requests in [1, 3, 5] {
        let running = crawl.start();
        gate.arrivals_blocking(requests);
        running.kill();
    }
    assert_eq!(crawl.complete()["pages"], 6);
    let log = server.log();
    let times: Vec<Duration> = log.of(HOST).map(|hit| hit.at).collect();
    let pauses: Vec<Duration> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        pauses
            .iter()
            .all(|pause| *pause >= Duration::from_millis(500)),
        "{pauses:?}"
    );
}

/// A host that answers slowly is left alone for a multiple of its response time. Of that nothing
/// was known to the session after a kill: it kept the delay alone, and asked 0.8 to 1.8 s later
/// where 2 s were due (30 of 5,091 gaps of an attack).
#[test]
fn a_slow_host_is_left_alone_as_long_as_before_when_the_crawl_is_killed_while_it_answers() {
    let latency = Duration::from_millis(100);
    let (server, gate) = counted(move |_host, path| {
        let reply = match path {
            "/robots.txt" => Reply::text(""),
            path => tree(number_of(path), 6),
        };
        reply.delay(latency)
    });
    let crawl = Crawl::polite(&server, &[HOST], "10ms").with(&["--delay-factor", "6"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    // Each is killed while a page is asked for: nothing but the answer before tells how slow the
    // host is.
    for requests in 2..=5 {
        let running = crawl.start();
        gate.arrivals_blocking(requests);
        running.kill();
    }
    assert_eq!(crawl.complete()["pages"], 6);
    let log = server.log();
    let times: Vec<Duration> = log.of(HOST).map(|hit| hit.at).collect();
    let pauses: Vec<Duration> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        pauses.iter().all(|pause| *pause >= 6 * latency),
        "{pauses:?}"
    );
    crawl.is_sound();
}

#[test]
fn crawl_delay_is_kept_over_restarts_and_robots_txt_is_asked_for_once() {
    let (server, gate) = counted(|_host, path| match path {
        "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 0.6\nDisallow: /2\n"),
        path => tree(number_of(path), 6),
    });
    let crawl = Crawl::polite(&server, &[HOST], "10ms").with(&["--delay-factor", "0"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.run_with(&["--max-pages", "1"]).summary()["pages"], 1);
    let running = crawl.start_with(&["--max-pages", "100"]);
    gate.arrivals_blocking(3);
    running.kill();
    assert_eq!(
        crawl.run_with(&["--max-pages", "100"]).summary()["excluded"],
        1
    );
    let log = server.log();
    assert_eq!(
        (log.count(HOST, "/robots.txt"), log.count(HOST, "/2")),
        (1, 0)
    );
    let times: Vec<Duration> = log.of(HOST).map(|hit| hit.at).collect();
    let pauses: Vec<Duration> = times.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(
        pauses
            .iter()
            .all(|pause| *pause >= Duration::from_millis(600)),
        "{pauses:?}"
    );
}

#[test]
fn a_robots_txt_that_is_missing_is_not_asked_for_again_either() {
    let (server, _gate) = counted(|_host, path| match path {
        "/robots.txt" => Reply::status(404),
        path => tree(number_of(path), 3),
    });
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    for pages in ["1", "2", "3"] {
        crawl.run_with(&["--max-pages", pages]);
    }
    let mut asked = server
        .log()
        .targets(HOST)
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>();
    asked.sort();
    assert_eq!(asked, ["/0", "/1", "/2", "/robots.txt"]);
}

#[test]
fn what_a_host_asked_for_and_its_failures_in_a_row_are_remembered() {
    let (server, gate) = counted(|_host, path| match path {
        "/robots.txt" => Reply::text(""),
        "/0" | "/1" => Reply::status(503),
        "/2" => Reply::status(503).header("Retry-After", "3"),
        _ => page(9, NONE),
    });
    let crawl =
        Crawl::polite(&server, &[HOST], "10ms").with(&["--delay-factor", "0", "--tries", "1"]);
    let crawl = crawl.seeds(&["/0", "/1", "/2", "/3"].map(|path| server.url(HOST, path)));
    for requests in [2, 3, 4] {
        let running = crawl.start();
        gate.arrivals_blocking(requests);
        interrupt(running);
    }
    assert_eq!(crawl.complete()["pages"], 1);
    let expected = [
        ("/robots.txt", 0),
        ("/0", 10),
        // The back-off is a second, and doubles.
        ("/1", 1000),
        ("/2", 2000),
        ("/3", 3000),
    ];
    paced(&server.log(), HOST, &expected);
}

#[test]
fn a_redirect_to_a_host_that_asked_for_patience_in_an_earlier_session_waits() {
    // Hosts share the server's port, which the redirect must name.
    let target_url = Arc::new(OnceLock::<String>::new());
    let known = Arc::clone(&target_url);
    let (server, _gate) = counted(move |host, path| match (host, path) {
        (_, "/robots.txt") => Reply::text(""),
        ("busy.test", "/busy") => Reply::status(503).header("Retry-After", "2"),
        ("busy.test", _) => page(1, NONE),
        _ => Reply::redirect(302, known.get().unwrap()),
    });
    let hosts = ["busy.test", "leads.test"];
    target_url.set(server.url("busy.test", "/here")).unwrap();
    let crawl =
        Crawl::polite(&server, &hosts, "10ms").with(&["--delay-factor", "0", "--tries", "1"]);
    let crawl = crawl.seeds(&[server.url("busy.test", "/busy")]);
    assert_eq!(crawl.complete()["failed"], 1);
    let leads = server.url("leads.test", "/");
    assert_eq!(
        crawl.run_with(&["--scope", "any", &leads]).summary()["pages"],
        1
    );
    let expected = [("/robots.txt", 0), ("/busy", 10), ("/here", 2000)];
    paced(&server.log(), "busy.test", &expected);
}

#[test]
fn a_page_that_the_crawler_dies_of_again_and_again_is_given_up_unasked() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(""),
        "/1" => tree(1, 3).hold(&held),
        path => tree(number_of(path), 3),
    }));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    for deaths in 1..=8 {
        let running = crawl.start();
        gate.arrivals_blocking(deaths);
        running.kill();
    }
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["failed"]),
        (&2.into(), &1.into())
    );
    let row = crawl.row(&server.url(HOST, "/1"));
    assert_eq!(
        row["reason"],
        "the crawler died 8 times while it visited this page"
    );
    assert_eq!(
        server.log().count(HOST, "/1"),
        0,
        "no answer of it ever came through"
    );
    assert_eq!(crawl.complete()["pages"], 2);
    crawl.is_sound();
}
