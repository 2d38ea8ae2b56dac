//! Sitemaps, feeds and pages of any size, from several hosts at a time.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use testkit::{Reply, Request, Server, Site};

use crate::archive;
use crate::failure::Failure;
use crate::section::Attack;
use crate::table::{Row, Table};
use crate::web::{self, Tree, mebibytes};

const TIME: Duration = Duration::from_secs(10);
const LIMIT: Duration = Duration::from_secs(60);
const HOSTS: u64 = 4;
const MORE: f64 = 64.0;
/// MiB that the hosts may leave in the state in that time.
const STATE: f64 = 100.0;
/// URLs of a packed sitemap, the most that the protocol allows.
const URLS: u64 = 50_000;

/// The answers of a host of an attack.
type Answer = fn(&Request, &str) -> Reply;

const ATTACKS: [(&str, Answer); 4] = [
    ("an index of packed sitemaps", packed_sitemaps),
    ("sitemaps without end", endless_sitemaps),
    ("pages without end", endless_pages),
    ("a JSON feed of 16 MiB", json_feed),
];

pub(crate) fn attack(attack: &Attack<'_>, table: &mut Table) -> Result<(), Failure> {
    let time = TIME.min(attack.budget / 6).max(Duration::from_secs(4));
    let alone = crawl(attack, None, 0, time)?;
    for (name, answer) in ATTACKS {
        let beside = crawl(attack, Some(answer), HOSTS, time)?;
        let more = mebibytes(beside.peak) - mebibytes(alone.peak);
        let state = mebibytes(beside.state);
        let row = Row::new(format!("{HOSTS} hosts: {name}")).tried(HOSTS);
        let figure = format!(
            "{more:.0} MiB more, {state:.0} MiB of state in {} s",
            time.as_secs()
        );
        let fits = more <= MORE && state <= STATE;
        table.add(
            row.figure(figure)
                .goal(format!("≤ {MORE} MiB, ≤ {STATE} MiB of state"))
                .is(fits),
        );
    }
    Ok(())
}

struct Crawled {
    peak: u64,
    state: u64,
}

fn crawl(
    attack: &Attack<'_>,
    answer: Option<Answer>,
    hosts: u64,
    time: Duration,
) -> Result<Crawled, Failure> {
    let trees = [Tree::new("honest.test", 100_000)];
    let honest = web::serve(&trees);
    let hostile = serve(answer);
    let options = [
        "--delay",
        "20ms",
        "--delay-factor",
        "0",
        "--tries",
        "1",
        "--timeout",
        "10s",
    ];
    let mut arguments = web::arguments(&honest, &trees, &options);
    for number in 0..hosts {
        let host = format!("greedy{number}.test");
        arguments.push(hostile.url(&host, "/"));
        arguments.extend(["--resolve".to_owned(), hostile.resolve(&host)]);
    }
    let crawl = attack.crawler.crawl(arguments)?;
    let mut running = crawl.start(&[])?;
    running.ends_within(time)?;
    let state = archive::bytes(&crawl.out().join("state"));
    running.interrupt()?;
    Ok(Crawled {
        peak: running.end(LIMIT)?.peak,
        state,
    })
}

fn serve(answer: Option<Answer>) -> Server {
    Server::spawn_thread_with(
        Site::new(move |request| {
            let origin = format!("http://{}:{}", request.host, request.port.unwrap_or(80));
            answer.map_or_else(|| Reply::status(404), |answer| answer(request, &origin))
        }),
        testkit::Settings {
            keep_log: false,
            ..testkit::Settings::default()
        },
    )
    .expect("loopback has a free port")
}

fn robots(origin: &str) -> Reply {
    Reply::text(format!(
        "User-agent: *\nAllow: /\nSitemap: {origin}/sitemap.xml\n"
    ))
}

fn packed_sitemaps(request: &Request, origin: &str) -> Reply {
    let target = request.target.as_str();
    match target {
        "/robots.txt" => robots(origin),
        "/sitemap.xml" => {
            let named = (0..1000)
                .map(|number| format!("<sitemap><loc>{origin}/{number}.xml.gz</loc></sitemap>"));
            Reply::document("application/xml", index(&named.collect::<String>()))
        }
        _ => match target[1..].strip_suffix(".xml.gz") {
            Some(number) => {
                let mut urls = String::new();
                for url in 0..URLS {
                    // The same suffix in each: it compresses well, and is long in the queue.
                    let _infallible = write!(
                        urls,
                        "<url><loc>{origin}/{number}/{url}/{}</loc></url>",
                        "x".repeat(150)
                    );
                }
                Reply::document("application/gzip", packed(urlset(&urls).as_bytes()))
            }
            None => page("greedy"),
        },
    }
}

fn endless_sitemaps(request: &Request, origin: &str) -> Reply {
    match request.target.as_str() {
        "/robots.txt" => robots(origin),
        "/" => page("greedy"),
        target => {
            let number: u64 = target[1..]
                .trim_end_matches(".xml")
                .parse()
                .unwrap_or_default();
            let mut text = String::new();
            for next in 0..10 {
                let _infallible = write!(
                    text,
                    "<sitemap><loc>{origin}/{}.xml</loc></sitemap>",
                    number * 10 + next + 1
                );
            }
            // Longer than any reader accepts.
            let filling = "<!-- and more -->".repeat(1 << 20);
            Reply::document("application/xml", index(&(text + &filling)))
        }
    }
}

fn endless_pages(request: &Request, _origin: &str) -> Reply {
    if request.target == "/robots.txt" {
        return Reply::status(404);
    }
    let number: u64 = request.target[1..].parse().unwrap_or_default();
    let links = format!(
        "<a href=/{}>a</a><a href=/{}>b</a>",
        2 * number + 1,
        2 * number + 2
    );
    let mut text = format!("<html><title>{number}</title><body>{links}");
    while text.len() < 48 << 20 {
        let _infallible = write!(text, "<p>word {} and word {number}</p>", text.len());
    }
    Reply::html(text)
}

fn json_feed(request: &Request, origin: &str) -> Reply {
    match request.target.as_str() {
        "/robots.txt" => Reply::status(404),
        "/" => Reply::html(
            "<html><head><link rel=alternate type=application/feed+json \
             href=/feed.json></head><body>a feed</body></html>",
        ),
        "/feed.json" => {
            let mut items = String::new();
            let mut number = 0;
            while items.len() < 16_000_000 {
                let _infallible = write!(
                    items,
                    "{{\"id\":\"{number}\",\"url\":\"{origin}/{number}\",\"title\":\"t\"}},"
                );
                number += 1;
            }
            items.pop();
            let text = format!(
                "{{\"version\":\"https://jsonfeed.org/version/1.1\",\"title\":\"t\",\
                 \"items\":[{items}]}}"
            );
            Reply::document("application/feed+json", text)
        }
        _ => page("an item"),
    }
}

fn page(text: &str) -> Reply {
    Reply::html(format!(
        "<html><title>{text}</title><body><p>{text}</p></body></html>"
    ))
}

fn index(named: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\
         <sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{named}</sitemapindex>"
    )
}

fn urlset(urls: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\
         <urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{urls}</urlset>"
    )
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory cannot fail")
}
