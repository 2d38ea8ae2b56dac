//! A shared crawl: its web, its database, and its nodes, each behind a network of its own.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use testkit::{Database, FaultyNetwork, Postgres, Reply, Request, Server, Site};

use super::pages::page;
use super::{CommandOutput, Crawl, Running};

/// The functions of the database, as nodes create them.
const MIGRATION: &str = include_str!("../../migrations/0001_shared_crawl.sql");
/// The delay between two requests of a host.
pub(crate) const DELAY: Duration = Duration::from_millis(150);
/// The length of a term.
pub(crate) const TERM: Duration = Duration::from_secs(2);

/// Consecutive hosts whose last pages have the same text.
const ALIKE: u64 = 3;

/// Hosts of a few pages in a chain. The first page of a host leads to those of two other hosts; the
/// last page of a host is the same as that of its neighbours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Web {
    pub(crate) hosts: u64,
    /// Pages of each host.
    pub(crate) pages: u64,
}

impl Web {
    pub(crate) fn host(number: u64) -> String {
        format!("h{number}.test")
    }

    /// Returns the answer to a request.
    pub(crate) fn reply(self, request: &Request) -> Reply {
        let host: u64 = request.host[1..].trim_end_matches(".test").parse().unwrap();
        let number: u64 = request.path()[1..].parse().unwrap_or_default();
        let port = request.port.unwrap_or_default();
        let mut links = vec![format!("/{}", (number + 1) % self.pages)];
        if number == 0 {
            for other in [2 * host + 1, 2 * host + 2] {
                links.push(format!(
                    "http://{}:{port}/0",
                    Self::host(other % self.hosts)
                ));
            }
        }
        let text = match number == self.pages - 1 {
            true => host / ALIKE * ALIKE,
            false => host,
        };
        page(text * self.pages + number, &links)
    }

    /// Returns the number of pages of all hosts.
    pub(crate) fn all_pages(self) -> u64 {
        self.hosts * self.pages
    }

    /// Asserts that the archives have each page once, and of like pages one.
    pub(crate) fn stands_once_in(self, archived: &BTreeMap<String, usize>) {
        for host in 0..self.hosts {
            for number in 0..self.pages - 1 {
                let path = format!("{}:/{number}", Self::host(host));
                assert_eq!(archived.get(&path), Some(&1), "{path}");
            }
        }
        for first in (0..self.hosts).step_by(ALIKE as usize) {
            let alike = first..(first + ALIKE).min(self.hosts);
            let copies = alike.map(|host| format!("{}:/{}", Self::host(host), self.pages - 1));
            let copies = copies.filter_map(|path| archived.get(&path));
            assert_eq!(copies.sum::<usize>(), 1, "the like pages from host {first}");
        }
    }
}

/// A shared crawl whose nodes have their directories in one.
pub(crate) struct SharedCrawl {
    pub(crate) crawl: Crawl,
    pub(crate) server: Server,
    pub(crate) store: Database,
    web: Web,
    postgres: SocketAddr,
    options: Vec<String>,
}

impl SharedCrawl {
    /// Returns a crawl of this web that has not begun.
    pub(crate) fn of(postgres: &Postgres, web: Web) -> Self {
        Self::of_site(postgres, web, Site::new(move |request| web.reply(request)))
    }

    /// Returns a crawl of the hosts of this web, which a site answers for.
    pub(crate) fn of_site(postgres: &Postgres, web: Web, site: Site) -> Self {
        let server = Server::spawn_thread(site);
        let hosts = (0..web.hosts).map(Web::host);
        let mut options = Vec::new();
        for host in hosts {
            options.extend(["--resolve".to_owned(), server.resolve(&host)]);
        }
        let delay = format!("{}ms", DELAY.as_millis());
        let term = format!("{}s", TERM.as_secs());
        let common = ["--allow-private", "--contact", "tests@example.org"];
        options.extend(common.map(str::to_owned));
        let pace = ["--delay", &delay, "--delay-factor", "0", "--term", &term];
        options.extend(pace.map(str::to_owned));
        let more = ["--scope", "any", "--summary", "json"];
        options.extend(more.map(str::to_owned));
        Self {
            crawl: Crawl::bare(),
            server,
            store: postgres.create_database(),
            web,
            postgres: SocketAddr::from((Ipv4Addr::LOCALHOST, postgres.port())),
            options,
        }
    }

    /// Sets options of all nodes, each with its value.
    pub(crate) fn with(mut self, options: &[&str]) -> Self {
        for option in options.chunks(2) {
            let place = self.options.iter().position(|given| given == option[0]);
            let place = place.unwrap_or_else(|| {
                self.options.extend([String::new(), String::new()]);
                self.options.len() - 2
            });
            self.options[place..place + 2].clone_from_slice(&[option[0].into(), option[1].into()]);
        }
        self
    }

    /// Returns a network that leads to the database, and the URL of the database through it.
    pub(crate) fn network(&self) -> (FaultyNetwork, String) {
        let network = FaultyNetwork::before(self.postgres);
        let (direct, through) = (self.postgres.to_string(), network.address().to_string());
        let url = self.store.replace(&direct, &through);
        (network, url)
    }

    /// Returns the arguments of a node whose crawl began with the first host.
    pub(crate) fn arguments(&self, node: &str, store: &str) -> Vec<String> {
        let own = ["node", "--store", store, "--name", node, "--out", node];
        let mut arguments: Vec<String> = own.map(str::to_owned).to_vec();
        arguments.extend(self.options.iter().cloned());
        arguments.push(self.server.url(&Web::host(0), "/0"));
        arguments
    }

    /// Starts a node.
    pub(crate) fn start(&self, node: &str) -> Running {
        self.start_through(node, &self.store)
    }

    /// Starts a node that reaches the database by this URL.
    pub(crate) fn start_through(&self, node: &str, store: &str) -> Running {
        self.crawl.start_command(&self.arguments(node, store))
    }

    /// Returns the row of a node in `crawler nodes`, if the store knows the node.
    pub(crate) fn node(&self, name: &str) -> Option<Value> {
        let run = self
            .crawl
            .run_command(&["nodes", "--store", &self.store, "--format", "json"]);
        let rows = run.output.lines().map(|line| {
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {run:?}"))
        });
        rows.into_iter().find(|row| row["node"] == name)
    }

    /// Runs `crawler nodes` until a node is in this state.
    pub(crate) fn wait_for(&self, node: &str, state: &str) {
        let mut found = Value::Null;
        while found != state {
            assert_ne!(found, "left", "{node} is to be {state}");
            found = self
                .node(node)
                .map_or(Value::Null, |row| row["state"].clone());
        }
    }

    /// Returns the number of the last term of a node.
    pub(crate) fn term_of(&self, node: &str) -> u64 {
        let row = self.node(node).unwrap();
        row["term"].as_u64().unwrap()
    }

    /// Waits until the server has answered so many requests.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        while self.server.log().len() < count {
            // A process of its own, so that the nodes get their time.
            self.node("");
        }
    }

    /// Asserts that the store is valid, and returns what `crawler verify` reports.
    pub(crate) fn verify(&self) -> Value {
        let run = self.crawl.run_command(&["verify", "--store", &self.store]);
        assert_eq!(run.code, Some(0), "{run:?}");
        run.json()
    }

    /// Asserts that the archive of a node agrees with the store.
    pub(crate) fn verify_archive(&self, node: &str) {
        let run = self
            .crawl
            .run_command(&["verify", node, "--store", &self.store]);
        assert_eq!(run.code, Some(0), "{run:?}");
    }

    /// Returns the directory of a node.
    pub(crate) fn directory(&self, node: &str) -> PathBuf {
        self.crawl.directory().join(node)
    }

    /// Returns the number of archived answers of each page, as `host:path`, in the archives of
    /// these nodes together.
    pub(crate) fn archived(&self, nodes: &[&str]) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for node in nodes {
            let index = self.directory(node).join("archive/index.cdxj");
            let text = std::fs::read_to_string(index).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('!'));
            for line in lines {
                let fields = line.splitn(3, ' ').nth(2).unwrap();
                let fields: Value = serde_json::from_str(fields).unwrap();
                let url = url::Url::parse(fields["url"].as_str().unwrap()).unwrap();
                if url.path() != "/robots.txt" && fields["mime"] != "warc/revisit" {
                    let path = format!("{}:{}", url.host_str().unwrap(), url.path());
                    *counts.entry(path).or_default() += 1;
                }
            }
        }
        counts
    }

    /// Asserts by the server's log that no host was asked twice at a time, nor sooner than the
    /// delay after its last answer.
    pub(crate) fn was_polite(&self) {
        let log = self.server.log();
        for host in (0..self.web.hosts).map(Web::host) {
            let hits: Vec<_> = log.of(&host).collect();
            for pair in hits.windows(2) {
                let rest = pair[1].at.checked_sub(pair[0].finished);
                let is_polite = rest.is_some_and(|rest| rest * 100 >= DELAY * 95);
                let (first, second) = (&pair[0].target, &pair[1].target);
                assert!(is_polite, "{host}: {second} {rest:?} after {first}");
            }
        }
    }

    /// Creates a function of the migration again, with a part of its text replaced.
    pub(crate) fn replace(&self, postgres: &Postgres, function: &str, part: &str, by: &str) {
        let begin = MIGRATION.find(&format!("CREATE FUNCTION {function}("));
        let definition = &MIGRATION[begin.unwrap()..];
        let end = definition.find("END $$;").unwrap() + "END $$;".len();
        let definition = &definition[..end];
        assert_eq!(definition.matches(part).count(), 1, "{part} in {function}");
        let changed = definition
            .replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
            .replace(part, by);
        postgres.query(&self.store, &changed);
    }
}

/// Asserts that a node has ended because nothing was left.
pub(crate) fn assert_exhausted(run: &CommandOutput) {
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.summary()["finished"], "exhausted", "{run:?}");
}
