//! `crawler status DIR --hosts`: the requests of each host, the delay in force, and the reason for
//! it.

use std::collections::BTreeMap;

use serde_json::Value;
use testkit::{Gate, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{number_of, tree};

const HOSTS: [&str; 4] = ["asks.test", "busy.test", "dead.test", "plain.test"];

/// One host of each kind: `asks.test` has a Crawl-delay, `busy.test` a Retry-After, `dead.test`
/// does not answer.
fn site() -> Site {
    Site::new(|request| match (&*request.host, request.path()) {
        ("asks.test", "/robots.txt") => Reply::text("User-agent: *\nCrawl-delay: 0.5\n"),
        ("busy.test", "/0") => Reply::status(429).header("Retry-After", "7200"),
        ("dead.test", "/0") => Reply::text("gone").break_after(0),
        (_, "/robots.txt") => Reply::text(""),
        ("plain.test", target) => tree(number_of(target), 3),
        (host, target) => tree(number_of(target) + host.len() as u64 * 100, 10_000),
    })
}

fn crawl(server: &Server) -> Crawl {
    Crawl::polite(server, &HOSTS, "20ms")
        .with(&[
            "--delay-factor=0",
            "--tries=1",
            "--max-depth=1",
            "--max-delay=300ms",
        ])
        .seeds(&HOSTS.map(|host| server.url(host, "/0")))
}

/// The lines of the report, and the hosts in their order.
fn report(crawl: &Crawl) -> (BTreeMap<String, Value>, Vec<String>) {
    let lines = crawl.json_lines(&["status", "crawl", "--hosts", "--format", "json"]);
    let name = |line: &Value| line["host"].as_str().unwrap().to_owned();
    let order = lines.iter().map(name).collect();
    (
        lines
            .iter()
            .map(|line| (name(line), line.clone()))
            .collect(),
        order,
    )
}

#[test]
fn each_host_is_listed_with_its_requests_and_the_reason_for_its_delay() {
    let server = Server::spawn_thread(site());
    let crawl = crawl(&server);
    assert_eq!(crawl.complete()["failed"], 2);
    let (hosts, order) = report(&crawl);
    assert_eq!(
        order,
        ["asks.test", "plain.test", "busy.test", "dead.test"],
        "hosts with most pages come first"
    );

    let assert_reported = |host: &str, fields: &[(&str, Value)]| {
        for (field, expected) in fields {
            assert_eq!(hosts[host][*field], *expected, "{field} of {}", hosts[host]);
        }
    };
    assert_reported(
        "plain.test",
        &[
            ("pages", 3.into()),
            ("waiting", 0.into()),
            ("failures", 0.into()),
            ("crawl_delay", Value::Null),
            ("retry_after", Value::Null),
            ("delay", 0.02.into()),
            ("why", "delay".into()),
            ("last_failure", Value::Null),
        ],
    );
    assert_reported(
        "asks.test",
        &[
            ("crawl_delay", 0.5.into()),
            ("crawl_delay_obeyed", 0.3.into()),
            ("delay", 0.3.into()),
            ("why", "crawl-delay".into()),
        ],
    );
    assert_reported(
        "busy.test",
        &[
            ("pages", 0.into()),
            ("failures", 1.into()),
            ("retry_after", 7200.0.into()),
            ("delay", 3600.0.into()),
            ("why", "retry-after".into()),
            ("last_failure", "HTTP status 429".into()),
        ],
    );
    assert_reported(
        "dead.test",
        &[("failures", 1.into()), ("why", "failures".into())],
    );
    let delay = hosts["dead.test"]["delay"].as_f64().unwrap();
    assert!(
        (1.0..=1.25).contains(&delay),
        "one second plus a random quarter at most: {delay}"
    );
    for host in HOSTS {
        let moment = |field: &str| {
            hosts[host][field]
                .as_str()
                .unwrap()
                .parse::<web::Timestamp>()
                .unwrap()
        };
        let rests = moment("ready_at")
            .since(moment("answered_at"))
            .as_secs_f64();
        let delay = hosts[host]["delay"].as_f64().unwrap();
        // Times are printed to the millisecond.
        assert!(
            rests + 0.002 >= delay,
            "{host} waits for {rests} s of {delay} s"
        );
    }

    let table = crawl.run_command(&["status", "crawl", "--hosts", "--format", "table"]);
    let lines: Vec<&str> = table.output.lines().collect();
    assert_eq!(lines.len(), 5, "{table:?}");
    assert!(lines[0].trim_start().starts_with("PAGES"), "{table:?}");
    assert!(
        lines[1].ends_with("asks.test, Crawl-delay 500ms (obeyed: 300ms)"),
        "{table:?}"
    );
    let busy = "busy.test, failures in a row: 1, Retry-After 2h, last failure: HTTP status 429";
    assert!(lines[3].ends_with(busy), "{table:?}");
}

#[test]
fn hosts_are_listed_while_the_crawl_runs_and_their_pace_outlasts_a_kill() {
    let gate = Gate::new();
    let held = gate.clone();
    let server = Server::spawn_thread(Site::new(move |request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nCrawl-delay: 120\n"),
        "/1" => tree(1, 3).hold(&held),
        target => tree(number_of(target), 3),
    }));
    let seeds = [server.url("asks.test", "/0"), server.url("asks.test", "/1")];
    let crawl = Crawl::polite(&server, &["asks.test"], "20ms")
        .with(&["--delay-factor=0", "--max-depth=0", "--max-delay=1s"])
        .seeds(&seeds);
    let running = crawl.start();
    // The second page is active, so the first one is settled.
    gate.arrivals_blocking(1);
    let (hosts, _) = report(&crawl);
    let host = &hosts["asks.test"];
    assert_eq!(
        (&host["crawl_delay"], &host["why"]),
        (&120.0.into(), &"crawl-delay".into())
    );
    assert_eq!((&host["pages"], &host["waiting"]), (&1.into(), &1.into()));
    running.kill();
    let (hosts, _) = report(&crawl);
    assert_eq!(hosts["asks.test"]["crawl_delay"], 120.0);
    gate.open();
    assert_eq!(crawl.complete()["pages"], 2);
    let (hosts, _) = report(&crawl);
    assert_eq!(
        (&hosts["asks.test"]["pages"], &hosts["asks.test"]["waiting"]),
        (&2.into(), &0.into())
    );
}
