//! Nodes of a shared crawl that die, hang and come back.
//!
//! Where PostgreSQL is not installed the tests pass, and a line says so.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use testkit::{Postgres, Server, Site};

use crate::support::pages::page;
use crate::support::{Crawl, Running};

const HOSTS: u64 = 24;
const PAGES: u64 = 6;
const DELAY: Duration = Duration::from_millis(200);

fn host(number: u64) -> String {
    format!("h{number}.test")
}

/// Hosts of a few pages in a chain; the first page of each leads to two other hosts.
fn site() -> (Vec<String>, Server) {
    let site = Site::new(|request| {
        let of: u64 = request.host[1..].trim_end_matches(".test").parse().unwrap();
        let number: u64 = request.path()[1..].parse().unwrap_or_default();
        let port = request.port.unwrap_or_default();
        let mut links = vec![format!("/{}", (number + 1) % PAGES)];
        if number == 0 {
            for other in [2 * of + 1, 2 * of + 2] {
                links.push(format!("http://{}:{port}/0", host(other % HOSTS)));
            }
        }
        page(of * PAGES + number, &links)
    });
    ((0..HOSTS).map(host).collect(), Server::spawn_thread(site))
}

/// A shared crawl, all nodes of which have their directories in one.
struct SharedCrawl {
    crawl: Crawl,
    server: Server,
    hosts: Vec<String>,
    store: String,
}

impl SharedCrawl {
    fn begin(postgres: &Postgres) -> Self {
        let (hosts, server) = site();
        Self {
            crawl: Crawl::bare(),
            server,
            hosts,
            store: postgres.create_database(),
        }
    }

    fn start(&self, node: &str) -> Running {
        let delay = format!("{}ms", DELAY.as_millis());
        let mut arguments = vec![
            "node",
            "--store",
            &self.store,
            "--name",
            node,
            "--out",
            node,
        ];
        arguments.extend(["--term", "2s", "--delay", &delay, "--delay-factor", "0"]);
        arguments.extend(["--allow-private", "--contact", "tests@example.org"]);
        arguments.extend(["--summary", "json", "--scope", "any"]);
        let rules: Vec<String> = self
            .hosts
            .iter()
            .map(|host| self.server.resolve(host))
            .collect();
        for rule in &rules {
            arguments.extend(["--resolve", rule]);
        }
        let seed = self.server.url("h0.test", "/0");
        arguments.push(&seed);
        self.crawl.start_command(&arguments)
    }

    /// Runs `crawler nodes` until a node of this name has this state.
    fn wait_for(&self, node: &str, state: &str) {
        loop {
            let run = self.crawl.run_command(&["nodes", "--store", &self.store]);
            let is_so = |line: &str| {
                let found: Value = serde_json::from_str(line).unwrap();
                found["node"] == node && found["state"] == state
            };
            if run.output.lines().any(is_so) {
                return;
            }
        }
    }

    /// Waits until the server has answered so many requests.
    fn wait_for_requests(&self, count: usize) {
        while self.server.log().len() < count {
            std::thread::yield_now();
        }
    }

    fn verify(&self) -> Value {
        let run = self.crawl.run_command(&["verify", "--store", &self.store]);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.json()
    }

    /// Returns the number of archived answers of each page, over the archives of all nodes.
    fn archived(&self, nodes: &[&str]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for node in nodes {
            let index = self.crawl.run_command(&["cdxj", node]);
            assert_eq!(index.code, Some(0), "{index:?}");
            let archive = self.crawl.directory().join(node).join("archive/index.cdxj");
            for line in std::fs::read_to_string(archive).unwrap().lines() {
                let Some(fields) = line.splitn(3, ' ').nth(2) else {
                    continue;
                };
                let Ok(fields) = serde_json::from_str::<Value>(fields) else {
                    continue;
                };
                let url = fields["url"].as_str().unwrap_or_default();
                if !url.ends_with("/robots.txt") {
                    *counts.entry(url.to_owned()).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Asserts that no host was asked sooner than the delay after its last answer.
    fn was_polite(&self) {
        let log = self.server.log();
        for host in &self.hosts {
            let hits: Vec<_> = log.of(host).collect();
            for pair in hits.windows(2) {
                let rest = pair[1].at.saturating_sub(pair[0].finished);
                // A stopped process leaves an answer unread, so it may finish late.
                let rest = rest.max(pair[1].at.saturating_sub(pair[0].at));
                assert!(
                    rest * 100 >= DELAY * 95,
                    "{host}: {rest:?} before {}",
                    pair[1].target
                );
            }
        }
    }
}

#[test]
fn nodes_that_are_killed_or_stopped_lose_no_page_and_ask_no_host_too_soon() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let shared = SharedCrawl::begin(postgres);
    let first = shared.start("n1");
    shared.wait_for("n1", "live");
    let (second, third) = (shared.start("n2"), shared.start("n3"));
    shared.wait_for("n2", "live");
    shared.wait_for("n3", "live");
    shared.wait_for_requests(30);
    first.signal("STOP");
    shared.wait_for("n1", "lapsed");
    first.signal("CONT");
    second.kill();
    shared.wait_for("n2", "lapsed");
    // A dead one's name is taken again.
    let again = shared.start("n2");
    for running in [first, again, third] {
        let run = running.end();
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let verified = shared.verify();
    assert_eq!(verified["pages"], HOSTS * PAGES, "{verified}");
    let archived = shared.archived(&["n1", "n2", "n3"]);
    let expected: BTreeMap<String, usize> = (0..HOSTS)
        .flat_map(|of| (0..PAGES).map(move |number| (of, number)))
        .map(|(of, number)| (shared.server.url(&host(of), &format!("/{number}")), 1))
        .collect();
    assert_eq!(archived, expected);
    shared.was_polite();
}

#[test]
fn a_node_with_other_settings_is_refused_by_name() {
    let Some(postgres) = Postgres::shared() else {
        return;
    };
    let shared = SharedCrawl::begin(postgres);
    let first = shared.start("n1");
    shared.wait_for("n1", "live");
    let run = shared.crawl.run_command(&[
        "node",
        "--store",
        &shared.store,
        "--name",
        "n2",
        "--out",
        "n2",
        "--delay",
        "9s",
    ]);
    run.assert_error(2, "--delay");
    drop(first);
}
