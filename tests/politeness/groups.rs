//! Hosts that share a pace, as the server sees them: never two requests at a time, never less than
//! the delay apart.
//!
//! Arrival times of requests are compared, as in `delays.rs`; only lower bounds are asserted.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use testkit::{Gate, Hit, Log, Reply, Server, Site};

use crate::support::pages::{number_of, tree};
use crate::support::{Crawl, Running};

const SUBDOMAINS: [&str; 3] = ["a.site.test", "b.site.test", "site.test"];

/// Returns the requests to any of these hosts, in the order of arrival.
fn hits<'log>(log: &'log Log, hosts: &[&str]) -> Vec<&'log Hit> {
    log.iter()
        .filter(|hit| hosts.contains(&&*hit.host))
        .collect()
}

/// Asserts that requests to these hosts are as far apart as if they were one host.
fn apart(log: &Log, hosts: &[&str], millis: u64) {
    for two in hits(log, hosts).windows(2) {
        let gap = two[1].at - two[0].at;
        let url = |hit: &Hit| format!("{}{}", hit.host, hit.target);
        assert!(
            gap >= Duration::from_millis(millis),
            "{} came {gap:?} after {}",
            url(two[1]),
            url(two[0])
        );
    }
}

/// Returns a site of `pages` pages on each host, whose texts differ from host to host, and whose
/// requests are counted.
fn sites(pages: u64) -> (Server, Gate) {
    let gate = Gate::new();
    gate.open();
    let passing = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let host: u64 = request.host.bytes().map(u64::from).sum();
        let reply = match request.path() {
            "/robots.txt" => Reply::text(""),
            target => tree(number_of(target) + host * 1000, host * 1000 + pages),
        };
        reply.hold(&passing)
    }));
    (server, gate)
}

/// A crawl of two pages on each host.
fn two_pages_each(server: &Server, hosts: &[&str], delay: &str) -> Crawl {
    let seeds = hosts
        .iter()
        .flat_map(|host| ["/0", "/1"].map(|path| server.url(host, path)));
    Crawl::polite(server, hosts, delay)
        .with(&["--delay-factor", "0", "--max-depth", "0"])
        .seeds(&seeds.collect::<Vec<_>>())
}

fn pages(crawl: &Crawl) -> u64 {
    crawl.complete()["pages"].as_u64().unwrap()
}

#[test]
fn hosts_of_one_domain_share_one_pace() {
    let (server, _gate) = sites(10);
    let hosts = ["a.site.test", "b.site.test", "site.test", "other.test"];
    let crawl = two_pages_each(&server, &hosts, "80ms").with(&["--group-by", "domain"]);
    assert_eq!(pages(&crawl), 8);
    let log = server.log();
    assert_eq!(log.len(), 12, "robots.txt and two pages of each host");
    apart(&log, &SUBDOMAINS, 80);
    apart(&log, &["other.test"], 80);
    crawl.is_sound();
}

#[test]
fn hosts_of_one_address_share_one_pace() {
    let (server, _gate) = sites(10);
    let hosts = ["one.test", "two.example", "three.example"];
    let crawl = two_pages_each(&server, &hosts, "80ms").with(&["--group-by", "address"]);
    assert_eq!(pages(&crawl), 6);
    let log = server.log();
    assert_eq!(log.len(), 9);
    apart(&log, &hosts, 80);
    crawl.is_sound();
}

#[test]
fn without_grouping_hosts_of_one_domain_are_requested_in_parallel() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(""),
        target => tree(number_of(target), 1).hold(&held),
    }));
    let seeds = SUBDOMAINS.map(|host| server.url(host, "/0"));
    let crawl = Crawl::polite(&server, &SUBDOMAINS, "20ms").seeds(&seeds);
    let running = crawl.start();
    // The gate opens only if all three are active at once.
    gate.arrivals_blocking(3);
    gate.open();
    assert_eq!(running.end().code, Some(0));
}

#[test]
fn redirects_and_robots_txt_of_other_hosts_keep_the_pace_of_the_group() {
    // Hosts share the server's port, which redirects must name.
    let known = Arc::new(OnceLock::<u16>::new());
    let port = Arc::clone(&known);
    let server = Server::spawn_thread(Site::new(move |request| {
        let to = |host: &str, path: &str| {
            Reply::redirect(302, format!("http://{host}:{}{path}", port.get().unwrap()))
        };
        match (&*request.host, request.path()) {
            ("a.site.test", "/robots.txt") => to("b.site.test", "/rules"),
            ("b.site.test", "/rules") | (_, "/robots.txt") => Reply::text(""),
            ("a.site.test", "/") => to("site.test", "/here"),
            ("site.test", "/here") => to("b.site.test", "/1"),
            (_, target) => tree(number_of(target), 2),
        }
    }));
    known.set(server.port()).unwrap();
    let crawl = Crawl::polite(&server, &SUBDOMAINS, "80ms")
        .with(&["--delay-factor=0", "--group-by=domain", "--scope=domain"])
        .seeds(&[
            server.url("a.site.test", "/"),
            server.url("b.site.test", "/0"),
        ]);
    assert_eq!(pages(&crawl), 2);
    let log = server.log();
    assert_eq!(log.len(), 8, "{:?}", hits(&log, &SUBDOMAINS));
    apart(&log, &SUBDOMAINS, 80);
}

#[test]
fn retry_after_holds_for_the_whole_domain_and_outlasts_a_restart() {
    let gate = Gate::new();
    gate.open();
    let passing = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let reply = match (&*request.host, request.path()) {
            (_, "/robots.txt") => Reply::text(""),
            ("a.site.test", _) => Reply::status(503).header("Retry-After", "3"),
            (_, target) => tree(number_of(target), 1),
        };
        reply.hold(&passing)
    }));
    let crawl = Crawl::polite(&server, &SUBDOMAINS, "10ms").with(&[
        "--delay-factor=0",
        "--group-by=domain",
        "--scope=any",
        "--tries=1",
    ]);
    let first = [server.url("a.site.test", "/")];
    assert_eq!(crawl.run_with(&first).summary()["failed"], 1);
    let others = [server.url("b.site.test", "/0")];
    assert_eq!(crawl.run_with(&others).summary()["pages"], 1);
    let log = server.log();
    let hits = hits(&log, &SUBDOMAINS);
    assert_eq!(hits[1].status, 503);
    assert!(
        hits[2].at - hits[1].at >= Duration::from_secs(3),
        "{hits:?}"
    );
}

#[test]
fn the_pace_of_a_group_is_kept_when_the_crawl_is_interrupted_or_killed_in_it() {
    for group_by in ["domain", "address"] {
        let (server, gate) = sites(10);
        let crawl = two_pages_each(&server, &SUBDOMAINS, "400ms").with(&["--group-by", group_by]);
        let end: [(u64, fn(Running)); 4] = [
            (1, |running| drop(running.kill())),
            (3, |running| {
                running.interrupt();
                assert_eq!(running.end().code, Some(130));
            }),
            (5, |running| drop(running.kill())),
            (6, |running| {
                running.interrupt();
                assert_eq!(running.end().code, Some(130));
            }),
        ];
        for (requests, end) in end {
            let running = crawl.start();
            gate.arrivals_blocking(requests.try_into().unwrap());
            end(running);
        }
        assert_eq!(pages(&crawl), 6, "{group_by}");
        apart(&server.log(), &SUBDOMAINS, 400);
        crawl.is_sound();
    }
}

#[test]
fn forty_subdomains_share_four_slots_fairly() {
    let (server, _gate) = sites(10);
    let many: Vec<String> = (0..40)
        .map(|number| format!("h{number}.site.test"))
        .collect();
    let mut hosts: Vec<&str> = many.iter().map(String::as_str).collect();
    hosts.push("other.test");
    let mut seeds: Vec<String> = many.iter().map(|host| server.url(host, "/0")).collect();
    seeds.extend(["/0", "/1", "/2", "/3"].map(|path| server.url("other.test", path)));
    let crawl = Crawl::polite(&server, &hosts, "20ms")
        .with(&[
            "--delay-factor=0",
            "--max-depth=0",
            "--group-by=domain",
            "--concurrency=4",
        ])
        .seeds(&seeds);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["failed"], &summary["excluded"]),
        (&0.into(), &0.into())
    );
    let log = server.log();
    assert_eq!(log.len(), 40 * 2 + 5);
    apart(&log, &hosts[..40], 20);
    apart(&log, &["other.test"], 20);
    crawl.is_sound();
}
