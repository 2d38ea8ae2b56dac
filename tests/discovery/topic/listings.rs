//! What is not judged by a topic: sitemaps, feeds, robots.txt, requisites, and files. Entries of
//! sitemaps are scored by the words of their addresses.

use serde_json::Value;
use sinks::warc::Record;
use testkit::{Reply, Server, Site};

use super::{LEAF, SEA, TOPIC, focused, number_in, off_topic, on_topic};
use crate::support::pages::{html, prose};

/// Eight addresses that say nothing, before four that say the topic.
fn sitemap(host: &str, port: u16) -> String {
    let poor = (0..8).map(|number| format!("/recipe/{number}"));
    let good = (0..4).map(|number| format!("/tidal-power/{number}"));
    let entry = |path| format!("<url><loc>http://{host}:{port}{path}</loc></url>");
    let entries: String = poor.chain(good).map(entry).collect();
    format!("<?xml version=\"1.0\"?>\n<urlset>{entries}</urlset>")
}

const FEED: &str = "<rss version=\"2.0\"><channel><title>Bread</title><item>\
    <title>Bread</title><link>/recipe/100</link></item></channel></rss>";

/// A site whose front page says the topic and needs resources, one of them a page off topic.
fn site() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let (path, port) = (request.path(), request.port.unwrap());
        let number = number_in(path);
        match path {
            "/robots.txt" => Reply::text(format!(
                "User-agent: *\nAllow: /\nSitemap: http://{SEA}:{port}/map.xml\n"
            )),
            "/map.xml" => Reply::document("application/xml", sitemap(SEA, port)),
            "/feed.xml" => Reply::document("application/rss+xml", FEED),
            "/style.css" => Reply::document("text/css", "p { color: navy }"),
            "/frame" => Reply::html(html("", &format!("<p>{}</p>", prose(77, 80)))),
            "/data.csv" => Reply::document("text/csv", "bread,butter\n1,2\n"),
            "/" => {
                let head = "<title>Tidal power</title><link rel=\"stylesheet\" \
                    href=\"/style.css\"><link rel=\"alternate\" type=\"application/rss+xml\" \
                    href=\"/feed.xml\">";
                let text = "Tidal power is the power of the tides. ".repeat(4);
                let main = format!(
                    "<p>{text} {}</p><iframe src=\"/frame\"></iframe><a href=\"/data.csv\">x</a>",
                    prose(9, 60)
                );
                Reply::html(html(head, &main))
            }
            path if path.starts_with("/tidal-power/") => on_topic(number, LEAF),
            path if path.starts_with("/recipe/") => off_topic(number, LEAF),
            _ => Reply::status(404),
        }
    }))
}

#[test]
fn entries_of_a_sitemap_are_visited_in_the_order_of_what_their_addresses_score() {
    let server = site();
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    crawl.complete();
    let paths = server.log().visits();
    let place = |wanted: &str| paths.iter().position(|path| path == wanted).unwrap();
    let good = (0..4).map(|number| place(&format!("/tidal-power/{number}")));
    let poor = (0..8).map(|number| place(&format!("/recipe/{number}")));
    assert!(good.max() < poor.min(), "{paths:?}");
}

#[test]
fn the_score_of_an_entry_and_its_words_are_told_while_it_waits() {
    let server = site();
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    // The front page, the sitemap, and one entry.
    crawl.run_with(&["--max-pages", "3"]);
    let why = |path: &str| {
        let url = server.url(SEA, path);
        let answer = crawl.run_command(&["why", "crawl", &url, "--format", "json"]);
        answer.json()["topic"].clone()
    };
    let (good, poor) = (why("/tidal-power/3"), why("/recipe/3"));
    assert!(
        good["level"].as_u64() < poor["level"].as_u64(),
        "{good} {poor}"
    );
    assert_eq!(good["words"].as_array().unwrap().len(), 2, "{good}");
}

#[test]
fn listings_requisites_and_files_are_not_judged_and_are_archived() {
    let server = site();
    let crawl = focused(&server, &[SEA])
        .with(&TOPIC)
        .with(&["--page-requisites=scope"]);
    let summary = crawl.complete();
    for path in ["/map.xml", "/feed.xml", "/style.css", "/frame", "/data.csv"] {
        let visit = crawl.visit(&server.url(SEA, path));
        assert_eq!(
            (&visit["verdict"], &visit["relevance"]),
            (&"unique".into(), &Value::Null),
            "{path}"
        );
        let notes = crawl.notes_about(&server.url(SEA, path));
        assert!(!notes.contains_key("relevance"), "{path}: {notes:?}");
    }
    // The front page and four others are on topic, and nine recipes, one of them from the feed,
    // are not.
    assert_eq!(
        (&summary["off_topic"], &summary["harvest"]),
        (&9.into(), &0.357.into())
    );
    let robots = crawl.records_about(&server.url(SEA, "/robots.txt"));
    assert!(!robots.is_empty());
    let is_noted = |record: &Record| String::from_utf8_lossy(&record.block).contains("relevance");
    assert!(!robots.iter().any(is_noted), "{robots:?}");
    crawl.is_sound();
}
