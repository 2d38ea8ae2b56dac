//! A web whose hosts have a page for each way to settle a visit, and the expected results.
//!
//! Each host is a chain of hubs; a hub leads to the next, and to one of each kind: a page, two
//! pages that are nearly the same, one that two hosts have to the byte, a redirect to a page that
//! nothing else leads to, one that is gone, and one that `robots.txt` forbids. Both of two like
//! pages are linked at once, so their order is random; everything else is determined.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use sinks::cdxj::DUPLICATE;
use testkit::{Reply, Request, Server, Site};

use crate::support::Crawl;
use crate::support::barrier::BARRIER_HOST;
use crate::support::cdxj::{index_of, of_files};
use crate::support::kill_points::RequestLimiter;
use crate::support::pages::{NONE, anchor, html, page, prose};

/// Hosts with hubs in a large web.
const HOSTS: u64 = 32;
/// Requests for a hub and all its links.
const REQUESTS_A_HUB: u64 = 8;
/// The latency of the answers of leaves.
const LATENCY: Duration = Duration::from_millis(15);

/// Hosts whose only page is answered badly: at first, and with half an answer. (A host that is down
/// is in tests/politeness/outages.rs: its last chance takes a minute.)
const FLAKY: &str = "flaky.test";
const BROKEN: &str = "broken.test";

/// The web; `hubs` on each host.
pub(crate) struct Web {
    /// An even number, since pairs of hosts share pages of equal bytes.
    hosts: u64,
    hubs: u64,
    /// True if there are hosts that answer badly: it takes a while to give them up.
    troubled: bool,
    /// True once the flaky page was requested.
    asked: Mutex<bool>,
}

/// The result that a complete crawl must have.
#[derive(Default)]
struct Truth {
    /// By URL.
    verdicts: BTreeMap<String, &'static str>,
    /// Pairs of which one is unique and the other repeats it with this verdict.
    pairs: Vec<([String; 2], &'static str)>,
    /// URLs whose answers are archived although they are no unique pages.
    also_archived: BTreeSet<String>,
}

impl Web {
    /// Returns a web that this many requests do not exhaust.
    pub(crate) fn of_requests(requests: u64) -> Self {
        Self {
            hosts: HOSTS,
            hubs: requests.div_ceil(HOSTS * REQUESTS_A_HUB) + 1,
            troubled: true,
            asked: Mutex::new(false),
        }
    }

    /// Returns a web of two hosts with `hubs` hubs each.
    pub(crate) fn of_hubs(hubs: u64) -> Self {
        Self {
            hosts: 2,
            hubs,
            troubled: false,
            asked: Mutex::new(false),
        }
    }

    /// Serves the web. The limiter counts requests and holds them until it is opened.
    pub(crate) fn serve(self) -> (Arc<Self>, RequestLimiter, Server) {
        let (web, limiter) = (Arc::new(self), RequestLimiter::default());
        let (answering, counting) = (Arc::clone(&web), limiter.clone());
        let server = Server::spawn_thread(Site::new(move |request| {
            if request.host == BARRIER_HOST {
                return Reply::text("");
            }
            counting.limit(answering.answer(request))
        }));
        (web, limiter, server)
    }

    /// All host names.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let mut hosts: Vec<String> = (0..self.hosts).map(host).collect();
        if self.troubled {
            hosts.extend([FLAKY, BROKEN].map(str::to_owned));
        }
        hosts
    }

    /// A page of each host.
    pub(crate) fn seeds(&self, server: &Server) -> Vec<String> {
        let first = |host: &String| server.url(host, "/hub/0");
        self.hosts().iter().map(first).collect()
    }

    /// Returns the latency of the answer to this target.
    pub(crate) fn latency(target: &str) -> Duration {
        if target.starts_with("/leaf/") {
            return LATENCY;
        }
        Duration::ZERO
    }

    pub(crate) fn answer(&self, request: &Request) -> Reply {
        match request.host.as_str() {
            _ if request.target == "/robots.txt" => {
                Reply::text("User-agent: *\nDisallow: /private/\n")
            }
            BROKEN => page(1, NONE).break_after(100),
            FLAKY => {
                if std::mem::replace(&mut *self.asked.lock().unwrap(), true) {
                    return page(2, NONE);
                }
                Reply::status(503)
            }
            name => self.of_host(name[1..3].parse().unwrap(), &request.target),
        }
    }

    fn of_host(&self, host: u64, target: &str) -> Reply {
        let mut parts = target[1..].split('/');
        let kind = parts.next().unwrap();
        let Some(hub) = parts.next().and_then(|hub| hub.parse::<u64>().ok()) else {
            return Reply::status(404);
        };
        let number = |kind: u64| 100 + (host * 1_000 + hub) * 10 + kind;
        match kind {
            "hub" => page(number(0), &self.links(hub)),
            "leaf" => page(number(1), NONE).delay(LATENCY),
            "twin" => twin(number(2), parts.next().unwrap()),
            "copy" => page(100 + ((host / 2) * 1_000 + hub) * 10 + 3, NONE),
            "moved" => Reply::redirect(302, format!("/target/{hub}")),
            "target" => page(number(4), NONE),
            _ => Reply::status(404),
        }
    }

    fn links(&self, hub: u64) -> Vec<String> {
        let kinds = ["leaf", "twin", "copy", "moved", "gone", "private"];
        let mut links: Vec<String> = kinds
            .iter()
            .flat_map(|kind| match *kind {
                "twin" => vec![format!("/twin/{hub}/a"), format!("/twin/{hub}/b")],
                kind => vec![format!("/{kind}/{hub}")],
            })
            .collect();
        if hub + 1 < self.hubs {
            links.push(format!("/hub/{}", hub + 1));
        }
        links
    }

    fn truth(&self, server: &Server) -> Truth {
        let mut truth = Truth::default();
        for number in 0..self.hosts {
            for hub in 0..self.hubs {
                let url = |path: &str| server.url(&host(number), &format!("/{path}/{hub}"));
                for (kind, verdict) in [
                    ("hub", "unique"),
                    ("leaf", "unique"),
                    ("moved", "unique"),
                    ("gone", "failed"),
                    ("private", "excluded"),
                ] {
                    truth.verdicts.insert(url(kind), verdict);
                }
                truth.also_archived.extend([url("target"), url("gone")]);
                let twins = ["a", "b"].map(|twin| format!("{}/{twin}", url("twin")));
                truth.pairs.push((twins, "near-duplicate"));
                if number % 2 == 0 {
                    let other = server.url(&host(number + 1), &format!("/copy/{hub}"));
                    truth.pairs.push(([url("copy"), other], "exact-duplicate"));
                }
            }
        }
        if !self.troubled {
            return truth;
        }
        // What came of a body that breaks off is the page, after the last try.
        for name in [FLAKY, BROKEN] {
            truth.verdicts.insert(server.url(name, "/hub/0"), "unique");
        }
        truth
    }

    /// Asserts that the complete crawl has the expected verdicts, and that archive, index and
    /// search each have every page exactly once.
    pub(crate) fn is_archived_exactly_once(&self, server: &Server, crawl: &Crawl, summary: &Value) {
        let truth = self.truth(server);
        let mut verdicts = crawl.verdicts();
        let originals = originals(&crawl.visits());
        let mut expected: Vec<String> = truth.also_archived.iter().cloned().collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (pair, match_kind) in &truth.pairs {
            let unique = |url: &&String| verdicts.get(*url).map(String::as_str) == Some("unique");
            let kept: Vec<&String> = pair.iter().filter(unique).collect();
            let [kept] = kept[..] else {
                panic!("not exactly one of {pair:?} is unique: {kept:?}");
            };
            let other = pair.iter().find(|url| *url != kept).unwrap();
            assert_eq!(
                verdicts.get(other).map(String::as_str),
                Some(*match_kind),
                "{other}"
            );
            assert_eq!(originals.get(other), Some(kept), "{other}");
            expected.push(kept.clone());
            *counts.entry("unique").or_default() += 1;
            *counts.entry(match_kind).or_default() += 1;
        }
        verdicts.retain(|url, _| !truth.pairs.iter().any(|(pair, _)| pair.contains(url)));
        for (url, verdict) in &truth.verdicts {
            assert_eq!(verdicts.remove(url).as_deref(), Some(*verdict), "{url}");
            *counts.entry(verdict).or_default() += 1;
            if *verdict == "unique" {
                expected.push(url.clone());
            }
        }
        assert_eq!(verdicts, BTreeMap::new(), "unexpected URLs");
        for (name, verdict) in [
            ("unique", "unique"),
            ("exact_duplicates", "exact-duplicate"),
            ("near_duplicates", "near-duplicate"),
            ("failed", "failed"),
            ("excluded", "excluded"),
        ] {
            let count = counts.get(verdict).copied().unwrap_or_default();
            assert_eq!(summary[name], count, "{name} in {summary}");
        }
        let mut archived = crawl.archived();
        archived.sort();
        expected.sort();
        assert_eq!(archived, expected);
        assert_eq!(crawl.read_by_another().len(), crawl.records().len());
        let index = index_of(crawl);
        assert_eq!(indexed(&index), expected);
        assert!(index == of_files(crawl), "the index of the files differs");
        crawl.finds_each_page_once();
    }
}

/// Returns the URLs of the pages in an index, in order.
fn indexed(index: &str) -> Vec<String> {
    let captures = index.lines().filter(|line| !line.starts_with(DUPLICATE));
    let captures =
        captures.map(|line| serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap());
    let pages = captures.filter(|line: &Value| line["mime"] != "warc/revisit");
    let urls = pages.map(|line| line["url"].as_str().unwrap().to_owned());
    let mut urls: Vec<String> = urls.filter(|url| !url.ends_with("/robots.txt")).collect();
    urls.sort();
    urls
}

fn host(number: u64) -> String {
    format!("h{number:02}.test")
}

/// Returns a page with its date of printing, the only difference between two twins.
fn twin(number: u64, which: &str) -> Reply {
    let text = prose(number, 400);
    let date = if which == "a" {
        "a Tuesday in May"
    } else {
        "a Friday in June"
    };
    Reply::html(html(
        "",
        &format!(
            "<p>{text}</p><p>Printed on {date}. {}</p>",
            anchor("/hub/0")
        ),
    ))
}

/// Returns the original of each duplicate.
fn originals(visits: &[Value]) -> BTreeMap<String, String> {
    let of = |visit: &Value, name: &str| visit[name].as_str().map(str::to_owned);
    visits
        .iter()
        .filter_map(|visit| Some((of(visit, "url")?, of(visit, "duplicate_of")?)))
        .collect()
}
