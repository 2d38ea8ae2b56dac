//! Pages that are too long, too short, or too many to be about a topic.

use testkit::{Reply, Server, Site};

use super::{LAND, SEA, TOPIC, focused, number_in, on_topic, page};
use crate::support::Crawl;
use crate::support::pages::{html, prose};

/// The most that is received of a page in these tests.
const CAP: usize = 12 << 20;

/// A million times the words of the topic, beyond the cap.
fn million() -> String {
    let words = "tidal power\n".repeat(1_100_000);
    assert!(words.len() > CAP);
    words
}

/// Relevance could be bought by repetition, and reading such a page takes the longest.
#[test]
fn a_page_of_the_topics_words_a_million_times_is_no_more_relevant_than_a_good_one() {
    let server = Server::spawn_thread(Site::new(|request| {
        let text = |text: String| Reply::html(html("", &format!("<p>{text}</p>")));
        let best = format!("{} {}", "Tidal power. ".repeat(40), prose(1, 300));
        match request.path() {
            "/robots.txt" => Reply::status(404),
            "/good" => text(best),
            "/alone" => text(million()),
            "/among" => text(format!("{} {}", prose(2, 40), million())),
            "/one-word" => text("tidal".to_owned()),
            "/letters" => text("a".repeat(CAP + 1)),
            _ => Reply::status(404),
        }
    }));
    let paths = ["/good", "/alone", "/among", "/one-word", "/letters"];
    let seeds = paths.map(|path| server.url(SEA, path));
    let most = CAP.to_string();
    let crawl = Crawl::of(&server, &[SEA])
        .with(&TOPIC)
        .seeds(&seeds)
        .with(&["--max-body", &most, "--no-index"]);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], 5, "{summary}");
    let [good, alone, among, one_word, letters] = paths.map(|path| {
        let visit = crawl.visit(&server.url(SEA, path));
        (
            visit["relevance"].as_f64().unwrap(),
            visit["verdict"].clone(),
        )
    });
    assert_eq!((good.0, &good.1), (1.0, &"unique".into()));
    assert!(among.0 <= good.0, "{among:?}");
    for (relevance, verdict) in [alone, one_word, letters] {
        assert!(relevance < 0.1, "{relevance}");
        assert_eq!(verdict, "off-topic");
    }
    let alone = crawl.visit(&server.url(SEA, "/alone"));
    assert_eq!(alone["bytes"].as_u64(), Some(CAP as u64), "{alone}");
}

#[test]
fn a_farm_of_pages_stuffed_with_the_topic_gets_less_than_a_tenth_of_the_visits() {
    let server = Server::spawn_thread(Site::new(|request| {
        if request.path() == "/robots.txt" {
            return Reply::text("User-agent: *\nAllow: /\n");
        }
        let number = number_in(request.path());
        let children = (1..=10).map(|child| 10 * number + child);
        let children = children.filter(|child| *child < 5_000);
        if request.host == LAND {
            // Doorway pages: one text for every town.
            let links = children.map(|child| (format!("/town/{child}"), "Tidal power"));
            let town = prose(number, 2);
            let text = format!(
                "Tidal power in {town}. {} Call us in {town}.",
                prose(7, 120)
            );
            let stuffed = "Tidal power, tidal plants, tides and power. ".repeat(12);
            return page(&format!("{text} {stuffed}"), &links.collect::<Vec<_>>());
        }
        let links = children.map(|child| (format!("/plant/{child}"), "Tidal power"));
        on_topic(number, &links.collect::<Vec<_>>())
    }));
    let summary = focused(&server, &[SEA, LAND])
        .with(&TOPIC)
        .with(&["--max-pages", "2000", "--concurrency", "8", "--no-index"])
        .complete();
    assert_eq!(summary["pages"], 2_000);
    let log = server.log();
    let of_farm = log.iter().filter(|hit| hit.host == LAND).count();
    assert!(of_farm < 200, "{of_farm} visits to the farm");
}
