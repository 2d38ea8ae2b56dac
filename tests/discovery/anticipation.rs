//! `--anticipation`: slots that stay empty rather than take a page with a low link score.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const SEA: &str = "sea.test";
const LAND: &str = "land.test";

/// `sea.test` is a chain of ten pages about tidal power; the front page of `land.test` names forty
/// pages off topic.
fn a_good_host_and_a_poor_one() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let path = request.path();
        let digits: String = path.chars().filter(char::is_ascii_digit).collect();
        let number: u64 = digits.parse().unwrap_or(0);
        let text = |topic: &str, number| format!("<p>{topic} {}</p>", prose(number, 60));
        match (&*request.host, path) {
            (_, "/robots.txt") => Reply::text("User-agent: *\nAllow: /\n"),
            (SEA, _) if number < 10 => {
                let sentence = "Tidal power is the power of the tides.";
                let next = format!("<a href=\"/plant/{}\">Tidal power</a>", number + 1);
                let page = format!("{}{next}", text(sentence, number));
                Reply::html(html("<title>Tidal power</title>", &page))
            }
            (LAND, "/") => {
                let links = (1..=40).map(|n| format!("<a href=\"/recipe/{n}\">A recipe</a> "));
                let page = format!("{}{}", text("Recipes.", 100), links.collect::<String>());
                Reply::html(html("<title>Recipes</title>", &page))
            }
            (LAND, _) => Reply::html(html(
                "<title>A recipe</title>",
                &text("Bread.", 100 + number),
            )),
            _ => Reply::status(404),
        }
    }))
}

/// Returns the pages on topic among twelve pages.
fn on_topic_of_twelve(anticipation: &[&str]) -> u64 {
    let server = a_good_host_and_a_poor_one();
    let seeds = [SEA, LAND].map(|host| server.url(host, "/"));
    let summary = Crawl::of(&server, &[SEA, LAND])
        .seeds(&seeds)
        .with(&["--topic", "tidal power", "--max-pages", "12", "--no-index"])
        .with(&["--delay", "100ms", "--delay-factor", "0"])
        .with(anticipation)
        .complete();
    assert_eq!(summary["pages"], 12);
    summary["unique"].as_u64().unwrap()
}

/// A host that is ready was asked for its best page, however poor. The good host has one page at a
/// time, whose link to the next one is not known before it was read.
#[test]
fn a_slot_stays_empty_rather_than_take_a_poor_page_where_pages_are_limited() {
    assert_eq!(on_topic_of_twelve(&[]), 10);
    let without = on_topic_of_twelve(&["--anticipation", "0"]);
    assert!(without < 10, "{without} on topic without anticipation");
}

/// The good host rests for longer than the anticipation, so the poor one is asked meanwhile.
#[test]
fn a_host_that_rests_for_longer_than_the_patience_is_not_waited_for() {
    let on_topic = on_topic_of_twelve(&["--anticipation", "1ms"]);
    assert!(on_topic < 10, "{on_topic} on topic");
}
