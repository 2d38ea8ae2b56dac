//! The guard of private networks: neither seeds nor links nor redirects lead there, robots.txt
//! included.
//!
//! The guard is on in all of these. Pages that may be requested have a public address, which a
//! proxy on loopback maps to the test's server.

use std::net::TcpListener;

use testkit::{Proxy, Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::html;

/// Spellings of loopback, of every kind; `crates/crawler/fetch/tests/fetch/forgery.rs` has them
/// all. `{}` is a port.
const SPELLINGS: [&str; 24] = [
    "http://127.0.0.1:{}/",
    "http://127.0.0.1.:{}/",
    "http://127.1:{}/",
    "http://2130706433:{}/",
    "http://0x7f000001:{}/",
    "http://0177.0.0.1:{}/",
    "http://127.0.0.0x1:{}/",
    "http://0:{}/",
    "http://0.0.0.0:{}/",
    "http://１２７.０.０.１:{}/",
    "http://127。0。0。1:{}/",
    "http://%31%32%37.0.0.1:{}/",
    "http://127%2E0%2E0%2E1:{}/",
    "http://public.test@127.0.0.1:{}/",
    "http:\\\\127.0.0.1:{}\\",
    "http://[::1]:{}/",
    "http://[::]:{}/",
    "http://[::ffff:127.0.0.1]:{}/",
    "http://[::127.0.0.1]:{}/",
    "http://[64:ff9b::7f00:1]:{}/",
    "http://[2002:7f00:1::]:{}/",
    "http://localhost:{}/",
    "http://LOCALHOST.:{}/",
    "http://ⓛocalhost:{}/",
];

/// Listens on every address of this machine. The system queues connections until they are accepted.
struct Canary(TcpListener);

impl Canary {
    fn new() -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn spellings(&self) -> Vec<String> {
        let port = self.0.local_addr().unwrap().port().to_string();
        SPELLINGS
            .iter()
            .map(|spelling| spelling.replace("{}", &port))
            .collect()
    }

    fn was_never_connected_to(&self) {
        let stderr = self.0.accept();
        assert!(stderr.is_err(), "{stderr:?}");
    }
}

fn crawl() -> Crawl {
    Crawl::bare().with(&[
        "--contact=tests@example.org",
        "--summary=json",
        "--delay=0",
        "--delay-factor=0",
        "--tries=1",
        "--scope=any",
    ])
}

#[test]
fn seeds_that_spell_a_loopback_address_are_not_requested() {
    let canary = Canary::new();
    let crawl = crawl()
        .seeds(&canary.spellings())
        .with(&["--ignore-robots"]);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], 0);
    let visits = crawl.visits();
    assert!(
        visits.len() >= 9,
        "several spellings are one URL: {}",
        visits.len()
    );
    for visit in visits {
        let reason = visit["reason"].as_str().unwrap();
        assert!(reason.ends_with(" address"), "{visit}");
    }
    canary.was_never_connected_to();
}

#[test]
fn a_private_address_is_given_up_at_once_and_the_summary_names_the_option() {
    // A user who tried the crawler on their own server waited a minute and a half for the name of
    // an option.
    let canary = Canary::new();
    let crawl = Crawl::bare().seeds(&canary.spellings()[..1]);
    let run = crawl.run();
    assert_eq!(run.code, Some(3), "{run:?}");
    assert!(
        run.errors.contains("(allow it with --allow-private)"),
        "{run:?}"
    );
    let log = std::fs::read_to_string(crawl.out().join("crawl.log")).unwrap();
    assert!(
        log.contains("is a loopback address") && !log.contains("tried again"),
        "{log}"
    );
    canary.was_never_connected_to();
}

#[test]
fn links_and_redirects_to_private_addresses_are_not_followed() {
    let canary = Canary::new();
    let targets = canary.spellings();
    let anchors = targets
        .iter()
        .map(|target| format!("<a href=\"{target}\">there</a>"));
    let hops = (0..targets.len()).map(|number| format!("<a href=\"/hop/{number}\">then there</a>"));
    let start = html("", &anchors.chain(hops).collect::<String>());
    let locations = targets.clone();
    let server = Server::spawn_thread(Site::new(move |request| {
        let hop = request
            .path()
            .strip_prefix("/hop/")
            .and_then(|number| number.parse::<usize>().ok());
        match (hop, request.path(), request.host.as_str()) {
            (Some(number), ..) => Reply::redirect(302, &locations[number]),
            // A robots.txt at a private address is unavailable.
            (None, "/robots.txt", "robots.test") => Reply::redirect(301, &locations[0]),
            (None, "/robots.txt", _) => Reply::status(404),
            (None, ..) => Reply::html(start.clone()),
        }
    }));
    for kind in ["http", "socks5"] {
        let proxy = Proxy::before(server.address(), None);
        let crawl = crawl()
            .seeds(&["http://public.test/", "http://robots.test/"])
            .with(&[
                "--resolve=public.test:80:93.184.216.34",
                "--resolve=robots.test:80:93.184.216.34",
            ])
            .with(&[format!("--proxy={kind}://{}", proxy.address())]);
        assert_eq!(
            crawl.complete()["pages"],
            1,
            "{kind}: only the linking page is a page"
        );
        let asked = proxy.asked();
        let visits = crawl.visits();
        let hop = |url: &str| url.starts_with("http://public.test/hop/");
        let hops = visits
            .iter()
            .filter(|visit| hop(visit["url"].as_str().unwrap()));
        // The robots.txt of a private host is not requested either; a Location is ASCII.
        let refused = |reason: &str| {
            reason.contains(": robots.txt is unavailable") || reason == "HTTP status 302"
        };
        let hops: Vec<_> = hops
            .map(|visit| visit["reason"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(hops.len(), targets.len(), "{visits:#?}");
        assert!(hops.iter().all(|reason| refused(reason)), "{hops:?}");
        for asked in asked {
            let public = asked == "SOCKS 93.184.216.34:80"
                || asked.starts_with("GET http://public.test/")
                || asked == "GET http://robots.test/robots.txt";
            assert!(public, "{asked}");
        }
    }
    canary.was_never_connected_to();
}
