//! A small web without a network, and the expected results of its crawl.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use fetch::{Fetch, FetchFailure};
use http::HeaderMap;
use testkit::{Random, Reply, Request};
use web::{CanonicalForm, Exchange, PageUrl, Protocol, Timestamp, Validators};

const HOSTS: [&str; 3] = ["a.test", "b.test", "c.test"];
const HUBS: u64 = 7;

/// Answers for the hosts, each of them a chain of hubs that lead to a page, to two that are nearly
/// the same, to one that all hosts have, to a redirect, and to one that is gone.
pub(crate) struct Site {
    /// Pages that were durably settled, as far as the test knows.
    settled: Mutex<HashSet<PageUrl>>,
    /// The settled pages that were requested again.
    again: Mutex<Vec<PageUrl>>,
}

/// The expected result of a complete crawl.
pub(crate) struct Truth {
    pub(crate) verdicts: BTreeMap<String, &'static str>,
    /// One of each group is unique, the others repeat it.
    pub(crate) alike: Vec<BTreeSet<String>>,
    /// URLs that are archived without being unique pages.
    pub(crate) also_archived: Vec<String>,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self {
            settled: Mutex::default(),
            again: Mutex::default(),
        }
    }

    pub(crate) fn seeds() -> Vec<PageUrl> {
        let parse =
            |host| PageUrl::parse(&format!("http://{host}/hub/0"), &CanonicalForm::default());
        HOSTS.iter().map(|host| parse(host).unwrap()).collect()
    }

    /// Records pages that must not be requested again.
    pub(crate) fn settle(&self, pages: impl IntoIterator<Item = PageUrl>) {
        self.settled.lock().unwrap().extend(pages);
    }

    /// Returns the settled pages that were requested again.
    pub(crate) fn asked_again(&self) -> Vec<PageUrl> {
        self.again.lock().unwrap().clone()
    }

    fn reply(request: &Request) -> Reply {
        let mut parts = request.target[1..].split('/');
        let (kind, hub) = (parts.next().unwrap(), parts.next().unwrap_or_default());
        let host = HOSTS.iter().position(|host| *host == request.host).unwrap() as u64;
        let text = |kind: u64, words: usize, tail: &str| {
            let number = 10 * (host * 100 + hub.parse::<u64>().unwrap()) + kind;
            page(&format!("{} {tail}", prose(number, words)))
        };
        match kind {
            "robots.txt" => Reply::text("User-agent: *\nDisallow: /private/\n"),
            "hub" => text(0, 60, &links(hub.parse().unwrap())),
            "leaf" => text(1, 60, ""),
            "twin" => text(2, 300, parts.next().unwrap()),
            "copy" => page(&prose(7 + 10 * hub.parse::<u64>().unwrap(), 60)),
            "moved" => Reply::redirect(302, format!("/target/{hub}")),
            "target" => text(3, 60, ""),
            _ => Reply::status(404),
        }
    }

    pub(crate) fn truth() -> Truth {
        let mut truth = Truth {
            verdicts: BTreeMap::new(),
            alike: Vec::new(),
            also_archived: Vec::new(),
        };
        for hub in 0..HUBS {
            for host in HOSTS {
                let url = |path: &str| format!("http://{host}/{path}/{hub}");
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
                let twins = ["first", "second"].map(|which| format!("{}/{which}", url("twin")));
                truth.alike.push(BTreeSet::from(twins));
            }
            let copies = HOSTS.map(|host| format!("http://{host}/copy/{hub}"));
            truth.alike.push(BTreeSet::from(copies));
        }
        truth
    }
}

fn links(hub: u64) -> String {
    let mut paths: Vec<String> = ["leaf", "copy", "moved", "gone", "private"]
        .iter()
        .map(|kind| format!("/{kind}/{hub}"))
        .collect();
    paths.extend(["first", "second"].map(|which| format!("/twin/{hub}/{which}")));
    if hub + 1 < HUBS {
        paths.push(format!("/hub/{}", hub + 1));
    }
    let anchors = paths
        .iter()
        .map(|path| format!("<a href=\"{path}\">{path}</a> "));
    anchors.collect()
}

fn page(main: &str) -> Reply {
    Reply::html(format!(
        "<!DOCTYPE html><html><body><main><p>{main}</p></main></body></html>"
    ))
}

fn prose(number: u64, words: usize) -> String {
    const SYLLABLES: [&str; 8] = ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki"];
    let mut random = Random::of(number, 5);
    let mut text = String::new();
    for _ in 0..words {
        for _ in 0..4 {
            text.push_str(random.pick(&SYLLABLES));
        }
        text.push(' ');
    }
    text
}

#[async_trait]
impl Fetch for Site {
    async fn request(&self, url: &PageUrl, _known: &Validators) -> Result<Exchange, FetchFailure> {
        if self.settled.lock().unwrap().contains(url) {
            self.again.lock().unwrap().push(url.clone());
        }
        // Long enough for other visits to run meanwhile.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let reply = Self::reply(&Request::get(url.as_str()));
        let mut headers = HeaderMap::new();
        for name in ["content-type", "location"] {
            if let Some(value) = reply.header_value(name) {
                headers.insert(name, value.parse().unwrap());
            }
        }
        Ok(Exchange {
            url: url.clone(),
            request_head: format!("GET {url} HTTP/1.1\r\n\r\n").into_bytes(),
            status: reply.code(),
            headers,
            body: reply.body().clone().into(),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: Timestamp::from_millis(7),
            elapsed: Duration::from_millis(100),
        })
    }
}
