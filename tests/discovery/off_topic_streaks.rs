//! Off-topic streaks: hosts that bring nothing about the topic are asked later than hosts that were
//! hardly tried.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const HUB: &str = "hub.test";
const SEA: &str = "sea.test";
const LANDS: [&str; 3] = ["land-1.test", "land-2.test", "land-3.test"];

/// `hub.test` names all hosts. The front pages of the lands name forty pages off topic each; pages
/// on topic are behind three pages of `sea.test`. No link says where it leads.
fn a_hub_and_its_hosts() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let digits: String = request
            .path()
            .chars()
            .filter(char::is_ascii_digit)
            .collect();
        let number: u64 = digits.parse().unwrap_or(0);
        let page = |topic: &str, links: &[String]| {
            let links: String = links
                .iter()
                .map(|to| format!("<p><a href=\"{to}\">next</a></p>"))
                .collect();
            let host = request.host.bytes().map(u64::from).sum::<u64>();
            let text = prose(1_000 * host + number, 60);
            Reply::html(html(
                "<title>A page</title>",
                &format!("<p>{topic} {text}</p>{links}"),
            ))
        };
        let port = request.port.unwrap_or(80);
        match (&*request.host, request.path()) {
            (_, "/robots.txt") => Reply::text("User-agent: *\nAllow: /\n"),
            (HUB, _) => {
                let hosts = LANDS.iter().chain([&SEA]);
                let fronts: Vec<String> =
                    hosts.map(|host| format!("http://{host}:{port}/")).collect();
                page("Hosts.", &fronts)
            }
            (SEA, _) if number < 3 => page("Welcome.", &[format!("/{}", number + 1)]),
            (SEA, _) if number < 10 => page(
                "Tidal power is the power of the tides.",
                &[format!("/{}", number + 1)],
            ),
            (SEA, _) => Reply::status(404),
            (_, "/") => page(
                "Recipes.",
                &(1..=40).map(|n| format!("/{n}")).collect::<Vec<_>>(),
            ),
            _ => page("Bread.", &[]),
        }
    }))
}

/// Links of equal score went first that are behind fewer pages off topic in a row: all pages of
/// the lands. So a crawl of 40 pages found none on topic.
#[test]
fn a_host_that_brings_nothing_waits_behind_one_that_was_hardly_tried() {
    let server = a_hub_and_its_hosts();
    let crawl = Crawl::of(&server, &[&[HUB, SEA][..], &LANDS].concat())
        .seeds(&[server.url(HUB, "/")])
        .with(&["--scope", "any", "--topic", "tidal power", "--no-index"])
        .with(&[
            "--max-pages",
            "40",
            "--delay",
            "50ms",
            "--delay-factor",
            "0",
        ]);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["unique"]),
        (&40.into(), &7.into())
    );
    let asked = |host: &str| server.log().pages_of(host).len();
    for land in LANDS {
        assert!((4..20).contains(&asked(land)), "{land}: {}", asked(land));
    }
}
