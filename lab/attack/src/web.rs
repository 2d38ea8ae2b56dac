//! The honest web: trees of pages with different texts, and the log of their requests.

use std::time::Duration;

use testkit::{Random, Reply, Request, Server, Site};

/// A host with a tree of pages: each links to two more.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) host: String,
    pub(crate) pages: u64,
    /// Its response time.
    pub(crate) latency: Duration,
    /// Incompressible bytes in each page.
    pub(crate) ballast: usize,
}

impl Tree {
    pub(crate) fn new(host: &str, pages: u64) -> Self {
        Self {
            host: host.to_owned(),
            pages,
            latency: Duration::ZERO,
            ballast: 0,
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        let number = request
            .path()
            .strip_prefix('/')
            .and_then(|number| number.parse().ok());
        let Some(number) = number.filter(|number| *number < self.pages) else {
            return Reply::status(404);
        };
        Reply::html(self.page(number)).delay(self.latency)
    }

    fn page(&self, number: u64) -> String {
        // Hosts have different texts, which would otherwise be dropped as duplicates.
        let seed = self.host.bytes().fold(self.pages, |seed, byte| {
            seed << 7 ^ seed >> 3 ^ u64::from(byte)
        });
        let mut random = Random::of(seed, number);
        let words: Vec<String> = (0..150).map(|_| word(&mut random)).collect();
        let links = [2 * number + 1, 2 * number + 2];
        let links = links.iter().filter(|link| **link < self.pages);
        let links: String = links
            .map(|link| format!("<a href=\"/{link}\">{link}</a> "))
            .collect();
        let ballast: String = (0..self.ballast / 16)
            .map(|_| format!("{:016x}", random.next()))
            .collect();
        let title = format!("{} {number}", self.host);
        format!(
            "<!DOCTYPE html>\
             <html><head><title>{title}</title></head><body><main><p>{}</p>{links}</main>\
             <script>\"{ballast}\"</script></body></html>",
            words.join(" ")
        )
    }

    /// Returns the URLs of all its pages.
    pub(crate) fn urls(&self, server: &Server) -> Vec<String> {
        let url = |number| server.url(&self.host, &format!("/{number}"));
        (0..self.pages).map(url).collect()
    }
}

fn word(random: &mut Random) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu",
        "we",
    ];
    (0..3).map(|_| random.pick(&SYLLABLES)).collect()
}

/// Serves trees.
pub(crate) fn serve(trees: &[Tree]) -> Server {
    let trees = trees.to_vec();
    Server::spawn_thread(Site::new(move |request| {
        let tree = trees.iter().find(|tree| tree.host == request.host);
        match tree {
            Some(tree) if request.target != "/robots.txt" => tree.answer(request),
            // As slow as the pages, because the pause after it is measured, too.
            Some(tree) => Reply::status(404).delay(tree.latency),
            None => Reply::status(404),
        }
    }))
}

/// Returns arguments for a crawl of these trees from their roots.
pub(crate) fn arguments(server: &Server, trees: &[Tree], more: &[&str]) -> Vec<String> {
    let mut arguments = basics();
    for tree in trees {
        arguments.push(server.url(&tree.host, "/0"));
        arguments.extend(["--resolve".to_owned(), server.resolve(&tree.host)]);
    }
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    arguments
}

/// Returns arguments for every crawl.
pub(crate) fn basics() -> Vec<String> {
    let basics = [
        "--out",
        "crawl",
        "--allow-private",
        "--contact",
        "attack@example.org",
    ];
    basics.map(str::to_owned).into()
}

/// Counts requests to a host that came sooner than `least` after the one before.
pub(crate) fn too_soon(server: &Server, host: &str, least: Duration) -> u64 {
    let log = server.log();
    let times: Vec<Duration> = log.of(host).map(|hit| hit.at).collect();
    let soon = times
        .windows(2)
        .filter(|two| two[1].saturating_sub(two[0]) < least);
    soon.count() as u64
}

/// Returns pages a second of a host, between its first request and its last.
pub(crate) fn pace(server: &Server, host: &str) -> f64 {
    let log = server.log();
    let times: Vec<Duration> = log.of(host).map(|hit| hit.at).collect();
    match (times.first(), times.last()) {
        (Some(first), Some(last)) if times.len() > 1 => {
            (times.len() - 1) as f64 / last.saturating_sub(*first).as_secs_f64().max(0.001)
        }
        _ => 0.0,
    }
}

/// Counts requests to a host for pages.
pub(crate) fn requests(server: &Server, host: &str) -> u64 {
    let log = server.log();
    log.of(host)
        .filter(|hit| hit.target != "/robots.txt")
        .count() as u64
}

pub(crate) fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
