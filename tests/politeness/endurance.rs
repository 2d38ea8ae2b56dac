//! Politeness over thousands of fetches, many hosts and restarts: by the log of the servers no
//! request comes too soon.
//!
//! `FETCHES` is the least number of fetches (by default 1,500), `HOSTS` and `RESTARTS` are the
//! numbers of hosts (30) and restarts (4); `just polite` runs 100,000 fetches over 200 hosts with
//! 20 restarts. Every other restart follows a kill, the others an interrupt.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use testkit::{Hit, Log, Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::barrier;
use crate::support::environment::of_environment;
use crate::support::pages::{NONE, number_of, page};

const DELAY: Duration = Duration::from_millis(50);
const CRAWL_DELAY: Duration = Duration::from_millis(80);
const LATENCY: Duration = Duration::from_millis(20);
/// The wait for a host, as a multiple of its response time.
const FACTOR: u32 = 3;
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The behaviour of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Its robots.txt asks for [`CRAWL_DELAY`].
    Asking,
    /// Its answers take [`LATENCY`].
    Slow,
    /// Every seventh of its pages is on another host.
    Moving,
    /// Every fortieth of its pages needs a second attempt, [`RETRY_AFTER`] later.
    Busy,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Plain,
        Self::Asking,
        Self::Slow,
        Self::Moving,
        Self::Busy,
    ];

    fn of(host: usize) -> Self {
        Self::ALL[host % Self::ALL.len()]
    }
}

/// The hosts, and how many pages each has.
struct Hosts {
    count: usize,
    pages: u64,
    /// Pages that were refused once.
    refused: Mutex<HashSet<(usize, u64)>>,
    counter: Counter,
}

/// Counts requests, and wakes a test that waits for a number of them.
#[derive(Default)]
struct Counter(Mutex<usize>, Condvar);

impl Counter {
    fn count(&self) {
        *self.0.lock().unwrap() += 1;
        self.1.notify_all();
    }

    fn wait_for(&self, number: usize) {
        let counted = self.0.lock().unwrap();
        drop(
            self.1
                .wait_while(counted, |counted| *counted < number)
                .unwrap(),
        );
    }
}

impl Hosts {
    fn name(host: usize) -> String {
        format!("h{host:03}.test")
    }

    fn names(&self) -> Vec<String> {
        (0..self.count).map(Self::name).collect()
    }

    fn answer(&self, request: &Request) -> Reply {
        let Some(host) = request
            .host
            .strip_prefix('h')
            .and_then(|rest| rest[..3].parse().ok())
        else {
            return Reply::text("");
        };
        self.counter.count();
        let kind = Kind::of(host);
        if request.target == "/robots.txt" {
            let asks = format!(
                "User-agent: *\nCrawl-delay: {}\n",
                CRAWL_DELAY.as_secs_f64()
            );
            return Reply::text(if kind == Kind::Asking {
                asks
            } else {
                String::new()
            });
        }
        if let Some(moved) = request.target.strip_prefix("/moved/") {
            return page(
                self.text(host, 500_000 + number_of(&format!("/{moved}"))),
                NONE,
            );
        }
        let number = number_of(&request.target);
        match kind {
            Kind::Busy
                if number % 40 == 39 && self.refused.lock().unwrap().insert((host, number)) =>
            {
                Reply::status(503).header("Retry-After", RETRY_AFTER.as_secs().to_string())
            }
            Kind::Slow => self.page(host, number).delay(LATENCY),
            Kind::Plain | Kind::Asking | Kind::Moving | Kind::Busy => self.page(host, number),
        }
    }

    /// A page that leads to two more, so that all are found from the first.
    fn page(&self, host: usize, number: u64) -> Reply {
        if number >= self.pages {
            return Reply::status(404);
        }
        let below = [2 * number + 1, 2 * number + 2];
        let links = below.iter().filter(|below| **below < self.pages);
        let mut links: Vec<String> = links.map(|below| format!("/{below}")).collect();
        if Kind::of(host) == Kind::Moving && number % 7 == 3 {
            links.push(format!("/away/{number}"));
        }
        page(self.text(host, number), &links)
    }

    fn text(&self, host: usize, number: u64) -> u64 {
        host as u64 * 1_000_000 + number
    }
}

/// Returns the wait that a host asks for with this answer, from the arrival of the request on.
fn wait_after(kind: Kind, (target, status): (&str, u16)) -> Duration {
    match kind {
        Kind::Asking => CRAWL_DELAY,
        Kind::Slow if target != "/robots.txt" => LATENCY + FACTOR * LATENCY,
        Kind::Busy if status == 503 => RETRY_AFTER,
        _ => DELAY,
    }
}

/// Returns the least time between the arrival of a request and that of the next one. `before` is
/// the request before `last`, and `cut` is true if the crawl was killed in between: the crawl still
/// knows the answer before the interrupted one, and its response time.
fn min_gap<'a>(
    kind: Kind,
    mut before: impl Iterator<Item = &'a str>,
    last: (&str, u16),
    cut: bool,
) -> Duration {
    match kind {
        Kind::Slow if cut && before.any(|target| target != "/robots.txt") => FACTOR * LATENCY,
        _ if cut => DELAY,
        kind => wait_after(kind, last),
    }
}

/// After a kill the log was compared with the delay alone, so requests that came too soon for a
/// slow host went unnoticed.
#[test]
fn the_response_time_counts_after_a_kill() {
    let slow = FACTOR * LATENCY;
    assert!(slow > DELAY, "no requests to compare");
    for (before, cut, expected) in [
        (&[][..], true, DELAY),
        (&["/robots.txt"], true, DELAY),
        (&["/robots.txt", "/0"], true, slow),
        (&["/robots.txt", "/0"], false, LATENCY + slow),
    ] {
        let before_it = before.iter().copied();
        assert_eq!(
            min_gap(Kind::Slow, before_it, ("/1", 200), cut),
            expected,
            "{before:?}"
        );
    }
    assert_eq!(
        min_gap(Kind::Plain, ["/0"].into_iter(), ("/1", 200), true),
        DELAY
    );
}

/// Returns a sentence for each request that came too soon after another.
///
/// Arrival times and the intended response times are compared: a request that is sent a given time
/// after an answer arrives at least that long after the answered request, whatever the load of the
/// machine. After a kill it is unknown how much of the answer the crawler had read. Then the delay
/// counts from the request, or the multiple of the response time if the host had answered before.
fn too_soon(log: &Log, hosts: &Hosts, kills: &[RangeInclusive<Duration>]) -> Vec<String> {
    let mut findings = Vec::new();
    for host in 0..hosts.count {
        let name = Hosts::name(host);
        let hits: Vec<&Hit> = log.of(&name).collect();
        for (place, two) in hits.windows(2).enumerate() {
            let [earlier, later] = two else { continue };
            let cut = kills
                .iter()
                .any(|kill| earlier.at <= *kill.end() && *kill.start() <= later.at);
            let before = hits[..place].iter().map(|hit| &*hit.target);
            let least = min_gap(
                Kind::of(host),
                before,
                (&earlier.target, earlier.status),
                cut,
            );
            let gap = later.at - earlier.at;
            if gap < least {
                findings.push(format!(
                    "{name}: {} came {gap:?} after {}, not {least:?} (killed in between: {cut})",
                    later.target, earlier.target
                ));
            }
        }
    }
    findings
}

fn size(name: &str, usual: u64) -> usize {
    usize::try_from(of_environment(name).unwrap_or(usual)).unwrap()
}

#[test]
fn no_host_is_requested_too_soon_in_a_crawl_that_is_often_interrupted_and_killed() {
    let (fetches, count, restarts) = (
        size("FETCHES", 1_500),
        size("HOSTS", 30),
        size("RESTARTS", 4),
    );
    let hosts = Arc::new(Hosts {
        count,
        pages: fetches.div_ceil(count) as u64,
        refused: Mutex::default(),
        counter: Counter::default(),
    });
    let answering = Arc::clone(&hosts);
    let server = Server::spawn_thread(Site::new(move |request| {
        let away = request.target.strip_prefix("/away/");
        match away.zip(request.host.strip_prefix('h')) {
            Some((number, rest)) => {
                answering.counter.count();
                let host: usize = rest[..3].parse().unwrap();
                let to = Hosts::name((host + 1) % answering.count);
                let port = request.port.expect("it is not the usual one");
                Reply::redirect(302, format!("http://{to}:{port}/moved/{number}"))
            }
            None => answering.answer(request),
        }
    }));
    let names = hosts.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let seeds: Vec<String> = names.iter().map(|name| server.url(name, "/0")).collect();
    let crawl = Crawl::polite(&server, &names, &format!("{}ms", DELAY.as_millis()))
        .seeds(&seeds)
        .with(&[
            &format!("--delay-factor={FACTOR}"),
            "--concurrency=256",
            "--traps=off",
        ]);

    let mut kills = Vec::new();
    for restart in 0..restarts {
        let mut session = crawl.start();
        hosts
            .counter
            .wait_for((restart + 1) * fetches / (restarts + 1));
        if restart % 2 == 0 {
            let at = server.elapsed();
            session.kill();
            // Everything that was sent before has been read when this is answered.
            barrier::wait(&server);
            kills.push(at..=server.elapsed());
        } else {
            session.wait_for_line("interrupt at any time");
            session.signal("INT");
            assert_eq!(session.end().code, Some(130));
        }
    }
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");

    let log = server.log();
    let asked = names.iter().map(|name| log.of(name).count()).sum::<usize>();
    assert!(asked >= fetches, "{asked} of {fetches} fetches");
    let findings = too_soon(&log, &hosts, &kills);
    eprintln!(
        "{asked} fetches over {count} hosts with {restarts} restarts: {} violations",
        findings.len()
    );
    assert_eq!(findings, [] as [String; 0]);
}
