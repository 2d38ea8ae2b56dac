//! Many hosts of one address, as its server sees them: four requests at a time, and a bounded rate.
//!
//! With default options, the owner of an address with 1,000 host names got 600 requests a second,
//! and 128 at a time while the server was slow: only names were paced.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use testkit::{Gate, Log, Reply, Server, Settings, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, page, tree};

const HONEST: &str = "honest.example";
const HONEST_PAGES: u64 = 12;

fn crowd(hosts: usize) -> Vec<String> {
    (0..hosts).map(|number| format!("h{number}.test")).collect()
}

/// Returns the URL of a page on each host, whose texts differ.
fn home_of_each(server: &Server, hosts: &[String]) -> Vec<String> {
    let numbered = hosts.iter().enumerate();
    numbered
        .map(|(number, host)| server.url(host, &format!("/{number}")))
        .collect()
}

fn names(hosts: &[String]) -> Vec<&str> {
    hosts.iter().map(String::as_str).collect()
}

/// Returns the largest number of requests that were answered at the same time, to any host.
fn max_at_a_time(log: &Log) -> usize {
    let in_flight = |at: Duration| {
        let begun = log.iter().filter(move |hit| hit.at <= at);
        begun.filter(|hit| hit.finished > at).count()
    };
    log.iter().map(|hit| in_flight(hit.at)).max().unwrap_or(0)
}

#[test]
fn a_silent_address_gets_four_requests_at_a_time_and_other_addresses_go_on() {
    let gate = Gate::new();
    let held = gate.clone();
    let silent = Server::spawn_thread(Site::new(move |request| {
        let reply = match request.path() {
            "/robots.txt" => Reply::text(""),
            target => page(number_of(target), &[] as &[&str]),
        };
        reply.hold(&held)
    }));
    let (opened, asked) = (gate.clone(), Arc::new(AtomicU64::new(0)));
    let site = Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text(""),
        target => {
            if asked.fetch_add(1, Ordering::Relaxed) + 1 == HONEST_PAGES {
                opened.open();
            }
            tree(number_of(target), HONEST_PAGES)
        }
    });
    let settings = Settings {
        address: SocketAddr::from(([127, 0, 0, 2], 0)),
        ..Settings::default()
    };
    let honest = Server::spawn_thread_with(site, settings).unwrap();
    let hosts = crowd(40);
    let mut seeds = home_of_each(&silent, &hosts);
    seeds.push(honest.url(HONEST, "/0"));
    let crawl = Crawl::polite(&silent, &names(&hosts), "100ms")
        .with(&["--resolve", &honest.resolve(HONEST)])
        .with(&["--delay-factor", "0", "--concurrency", "8", "--no-index"])
        .seeds(&seeds);

    let summary = crawl.complete();
    assert_eq!(summary["failed"], 0);
    assert_eq!(honest.log().len() as u64, 1 + HONEST_PAGES);
    let log = silent.log();
    assert_eq!(log.len(), 80, "robots.txt and one page of each host");
    assert_eq!(max_at_a_time(&log), 4);
    // A tenth of the delay lies between two beginnings; the network may shorten the whole a little.
    let began = log.iter().map(|hit| hit.at);
    let lasted = began.clone().max().unwrap() - began.min().unwrap();
    assert!(lasted > Duration::from_millis(79 * 10 - 50), "{lasted:?}");
    crawl.is_sound();
}

#[test]
fn an_address_is_not_bounded_if_the_user_says_so() {
    let hosts = crowd(12);
    for explicit in [
        &["--delay=1s", "--group-by=host"][..],
        &["--delay=1s", "--address-rate=1000/s"],
        &["--delay=0", "--delay-factor=5"],
    ] {
        let gate = Gate::new();
        let held = gate.clone();
        let server = Server::spawn_thread(Site::new(move |request| match request.path() {
            "/robots.txt" => Reply::text(""),
            target => page(number_of(target), &[] as &[&str]).hold(&held),
        }));
        let crawl = Crawl::keyless(&server, &names(&hosts))
            .with(explicit)
            .with(&["--no-index"])
            .seeds(&home_of_each(&server, &hosts));
        let running = crawl.start();
        // The gate opens only if all twelve are in flight at once.
        gate.arrivals_blocking(12);
        gate.open();
        assert_eq!(running.end().code, Some(0), "{explicit:?}");
    }
}
