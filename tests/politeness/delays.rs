//! Delays and the order of hosts, as the server sees them.
//!
//! Arrival times of requests are compared. A request that is sent a given time after an answer
//! arrives at least that long after the answered request, whatever the load of the machine.

use std::time::Duration;

use testkit::{Gate, Log, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, page, tree, tree_site};

const HOST: &str = "slow.test";

/// The times between the arrivals of requests to a host.
fn arrivals(log: &Log, host: &str) -> Vec<Duration> {
    let times: Vec<Duration> = log.of(host).map(|hit| hit.at).collect();
    times.windows(2).map(|two| two[1] - two[0]).collect()
}

fn at_least(gaps: &[Duration], millis: u64) {
    let least = Duration::from_millis(millis);
    assert!(gaps.iter().all(|gap| *gap >= least), "{gaps:?}");
}

#[test]
fn the_delay_is_kept_from_the_end_of_one_answer_to_the_next_request_and_robots_txt_counts() {
    let latency = Duration::from_millis(40);
    let server = Server::spawn_thread(Site::new(move |request| {
        tree(crate::support::pages::number_of(&request.target), 6).delay(latency)
    }));
    let crawl = Crawl::polite(&server, &[HOST], "80ms").with(&["--delay-factor", "0"]);
    let crawl = crawl.seeds(&[server.url(HOST, "/0")]);
    assert_eq!(crawl.complete()["pages"], 6);
    let log = server.log();
    assert_eq!(log.targets(HOST)[0], "/robots.txt");
    assert_eq!(log.len(), 7);
    at_least(&arrivals(&log, HOST), 120);
    assert_eq!(log.max_parallel(HOST), 1);
}

#[test]
fn a_slow_host_is_requested_slowly() {
    let latency = Duration::from_millis(50);
    let server = Server::spawn_thread(Site::new(move |request| {
        tree(crate::support::pages::number_of(&request.target), 3).delay(latency)
    }));
    let crawl = Crawl::polite(&server, &[HOST], "10ms").with(&["--delay-factor", "4"]);
    crawl.seeds(&[server.url(HOST, "/0")]).complete();
    at_least(&arrivals(&server.log(), HOST), 250);
}

#[test]
fn crawl_delay_is_kept_up_to_the_ceiling() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" if request.host == "asks.test" => {
            Reply::text("User-agent: *\nCrawl-delay: 0.3\n")
        }
        "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 86400\n"),
        target => tree(
            crate::support::pages::number_of(target) + u64::from(request.host == "asks.test") * 3,
            6,
        ),
    }));
    let hosts = ["asks.test", "asks-too-much.test"];
    let seeds = [
        server.url(hosts[0], "/0"),
        server.url(hosts[0], "/1"),
        server.url(hosts[1], "/0"),
    ];
    let crawl = Crawl::polite(&server, &hosts, "10ms").with(&[
        "--delay-factor=0",
        "--max-delay=400ms",
        "--max-depth=1",
    ]);
    crawl.seeds(&seeds).complete();
    let log = server.log();
    assert!(log.of("asks.test").count() >= 3 && log.of("asks-too-much.test").count() >= 3);
    at_least(&arrivals(&log, "asks.test"), 300);
    at_least(&arrivals(&log, "asks-too-much.test"), 400);
}

#[test]
fn retry_after_is_respected() {
    let server = Server::spawn_thread(Site::pages([
        ("busy.test/", Reply::status(503).header("Retry-After", "2")),
        ("full.test/", Reply::status(429).header("Retry-After", "2")),
        ("/next", page(1, NONE)),
    ]));
    let hosts = ["busy.test", "full.test"];
    let seeds = hosts
        .map(|host| [server.url(host, "/"), server.url(host, "/next")])
        .concat();
    let crawl =
        Crawl::polite(&server, &hosts, "10ms").with(&["--delay-factor", "0", "--tries", "1"]);
    let summary = crawl.seeds(&seeds).complete();
    assert_eq!(
        (&summary["failed"], &summary["pages"]),
        (&2.into(), &2.into())
    );
    for host in hosts {
        let log = server.log();
        assert_eq!(log.targets(host), ["/robots.txt", "/", "/next"]);
        at_least(&arrivals(&log, host)[1..], 2_000);
    }
}

#[test]
fn every_hop_of_a_redirect_waits_for_its_turn() {
    let server = Server::spawn_thread(Site::pages([
        ("/", Reply::redirect(302, "/1")),
        ("/1", Reply::redirect(302, "/2")),
        ("/2", page(1, NONE)),
    ]));
    let crawl = Crawl::polite(&server, &[HOST], "80ms").with(&["--delay-factor", "0"]);
    crawl.seeds(&[server.url(HOST, "/")]).complete();
    let log = server.log();
    assert_eq!(log.targets(HOST), ["/robots.txt", "/", "/1", "/2"]);
    at_least(&arrivals(&log, HOST), 80);
}

#[test]
fn hosts_are_requested_in_parallel_and_each_host_one_request_at_a_time() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(""),
        target => tree(
            crate::support::pages::number_of(target) + request.host.len() as u64 * 100,
            10_000,
        )
        .hold(&held),
    }));
    let hosts = ["a.test", "bb.test", "ccc.test"];
    let crawl =
        Crawl::polite(&server, &hosts, "20ms").with(&["--delay-factor", "0", "--max-depth", "0"]);
    let seeds = hosts
        .map(|host| [server.url(host, "/0"), server.url(host, "/1")])
        .concat();
    let running = crawl.seeds(&seeds);
    let running = running.start();
    // The gate opens only if all three are active at once.
    gate.arrivals_blocking(3);
    gate.open();
    assert_eq!(running.end().summary()["pages"], 6);
    for host in hosts {
        assert_eq!(server.log().max_parallel(host), 1);
    }
}

#[test]
fn without_a_delay_a_host_gets_parallel_requests() {
    let gate = Gate::new();
    let held = gate.clone();
    let server =
        Server::spawn_thread(Site::new(
            move |request| match crate::support::pages::number_of(&request.target) {
                number @ (1 | 2) => tree(number, 3).hold(&held),
                number => tree(number, 3),
            },
        ));
    let crawl = Crawl::of(&server, &[HOST]).seeds(&[server.url(HOST, "/0")]);
    let running = crawl.start();
    // The gate opens only if both links of the first page are active at once.
    gate.arrivals_blocking(2);
    gate.open();
    assert_eq!(running.end().summary()["pages"], 3);
}

#[test]
fn the_rate_limits_all_hosts_together() {
    let server = Server::spawn_thread(tree_site(6));
    let hosts = ["a.test", "b.test"];
    let crawl = Crawl::of(&server, &hosts).with(&["--rate", "20/s", "--on-duplicate", "follow"]);
    crawl
        .seeds(&hosts.map(|host| server.url(host, "/0")))
        .complete();
    let log = server.log();
    assert_eq!(log.len(), 14);
    let all = log.iter().map(|hit| hit.at);
    let took = all.clone().max().unwrap() - all.min().unwrap();
    // Thirteen waits of 50 ms; the first and the last request may have had different latencies.
    assert!(took >= Duration::from_millis(600), "{took:?}");
}
