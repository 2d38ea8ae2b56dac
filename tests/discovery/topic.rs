//! Focused crawls: the order of visits, and what is archived.

mod bounds; // pages that are too long, too short, or too many
mod figures; // relevance and harvest, where they are shown
mod frequencies; // `--frequencies` with a topic
mod input; // topics that cannot be
mod listings; // sitemaps, requisites and what else is not judged
mod seeds; // `--topic-of-seeds`
mod webs; // generated webs, whose pages are known

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{html, prose};

const SEA: &str = "sea.test";
const LAND: &str = "land.test";

/// The words of the topic.
const TOPIC: [&str; 2] = ["--topic", "tidal power"];

/// Returns a page about tidal power; `number` makes it unlike others.
fn on_topic(number: u64, links: &[(String, impl AsRef<str>)]) -> Reply {
    let sentence = "Tidal power is the power of the tides, and tidal plants turn it into power.";
    page(
        &format!("{sentence} {} {sentence}", prose(number, 60)),
        links,
    )
}

/// Returns a page about nothing in particular.
fn off_topic(number: u64, links: &[(String, impl AsRef<str>)]) -> Reply {
    page(&prose(1_000_000 + number, 80), links)
}

fn page(text: &str, links: &[(String, impl AsRef<str>)]) -> Reply {
    let link = |(target, anchor): &(String, _)| {
        let anchor: &str = AsRef::as_ref(anchor);
        format!("<p><a href=\"{target}\">{anchor}</a></p>")
    };
    let links: String = links.iter().map(link).collect();
    let body = html("<title>A page</title>", &format!("<p>{text}</p>{links}"));
    Reply::html(body)
}

/// No links.
const LEAF: &[(String, &str)] = &[];

fn number_in(path: &str) -> u64 {
    let digits: String = path.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Two hosts. The front page of each names eight pages off topic before four on topic.
fn two_hosts() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let path = request.path();
        let number = number_in(path) + 100 * u64::from(request.host == LAND);
        match path {
            "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
            "/" => {
                let poor = (0..8).map(|number| (format!("/recipe/{number}"), "A recipe"));
                let good = (0..4).map(|number| (format!("/plant/{number}"), "Tidal power"));
                off_topic(number, &poor.chain(good).collect::<Vec<_>>())
            }
            path if path.starts_with("/plant/") => on_topic(number, LEAF),
            path if path.starts_with("/recipe/") => off_topic(number, LEAF),
            _ => Reply::status(404),
        }
    }))
}

fn focused(server: &Server, hosts: &[&str]) -> Crawl {
    let seeds: Vec<String> = hosts.iter().map(|host| server.url(host, "/")).collect();
    Crawl::of(server, hosts)
        .seeds(&seeds)
        .with(&["--concurrency", "1"])
}

#[test]
fn pages_on_topic_are_visited_before_others_of_their_host_and_of_other_hosts() {
    let server = two_hosts();
    let summary = focused(&server, &[SEA, LAND]).with(&TOPIC).complete();
    let paths = server.log().visits();
    let is_seed = |path: &&String| *path == "/";
    let after_seeds: Vec<&String> = paths.iter().filter(|path| !is_seed(path)).collect();
    let (first, last) = after_seeds.split_at(8);
    assert!(
        first.iter().all(|path| path.starts_with("/plant/")),
        "{paths:?}"
    );
    assert!(
        last.iter().all(|path| path.starts_with("/recipe/")),
        "{paths:?}"
    );
    assert_eq!(
        (&summary["unique"], &summary["off_topic"]),
        (&10.into(), &16.into()),
        "the front pages name four pages on topic, so they are on topic"
    );
    assert_eq!(summary["harvest"], 0.385);
}

#[test]
fn without_a_topic_pages_are_visited_in_the_order_of_their_links() {
    let server = two_hosts();
    let crawl = focused(&server, &[SEA]);
    let summary = crawl.complete();
    let recipes = (0..8).map(|number| format!("/recipe/{number}"));
    let plants = (0..4).map(|number| format!("/plant/{number}"));
    let expected: Vec<String> = std::iter::once("/".to_owned())
        .chain(recipes)
        .chain(plants)
        .collect();
    assert_eq!(server.log().visits(), expected);
    assert_eq!(
        (summary.get("off_topic"), summary.get("harvest")),
        (None, None)
    );
    assert_eq!(crawl.visit(&server.url(SEA, "/"))["relevance"], Value::Null);
}

/// Pages of a directory about the topic often speak of its parts only.
#[test]
fn the_words_of_a_urls_path_make_its_page_more_relevant() {
    let server = Server::spawn_thread(Site::new(|request| {
        let text = |number: u64| format!("Tidal power. {}", prose(number, 120));
        match request.path() {
            "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
            "/" => {
                let paths = ["/tidal-power/1", "/other/2"];
                on_topic(9, &paths.map(|path| (path.to_owned(), "next")))
            }
            path => page(&text(number_in(path)), LEAF),
        }
    }));
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["unique"], &summary["off_topic"]),
        (&2.into(), &1.into())
    );
    let verdict = |path: &str| crawl.visit(&server.url(SEA, path))["verdict"].clone();
    assert_eq!(verdict("/tidal-power/1"), "unique");
    assert_eq!(verdict("/other/2"), "off-topic");
}

/// A page on topic behind three pages that are not, and whose links say nothing.
fn tunnel() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let to = |path: &str| vec![(path.to_owned(), "next")];
        match request.path() {
            "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
            "/" => off_topic(1, &to("/a")),
            "/a" => off_topic(2, &to("/b")),
            "/b" => off_topic(3, &to("/c")),
            "/c" => on_topic(4, LEAF),
            _ => Reply::status(404),
        }
    }))
}

#[test]
fn a_page_behind_three_others_is_found_and_these_are_not_archived() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let summary = crawl.complete();
    assert_eq!(
        (&summary["pages"], &summary["unique"], &summary["off_topic"]),
        (&4.into(), &1.into(), &3.into())
    );
    for (path, verdict) in [("/", "off-topic"), ("/b", "off-topic"), ("/c", "unique")] {
        let visit = crawl.visit(&server.url(SEA, path));
        assert_eq!(visit["verdict"], verdict, "{path}");
        assert!(visit["relevance"].is_number(), "{visit}");
        let notes = crawl.notes_about(&server.url(SEA, path));
        assert!(notes.contains_key("relevance"), "{notes:?}");
    }
    assert_eq!(crawl.archived(), [server.url(SEA, "/c")]);
    let why = crawl.run_command(&["why", "crawl", &server.url(SEA, "/b")]);
    assert!(why.output.contains("off topic: relevance 0"), "{why:?}");
    crawl.is_sound();
}

#[test]
fn pages_off_topic_are_archived_and_marked_where_they_are_kept() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA])
        .with(&TOPIC)
        .with(&["--off-topic", "keep"]);
    let summary = crawl.complete();
    assert_eq!(summary["off_topic"], 3);
    assert_eq!(crawl.archived().len(), 4);
    crawl.is_sound();
    // The journal that is made again from the archive has the same verdicts.
    let before = crawl.visit(&server.url(SEA, "/b"));
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let rebuilt = crawl.run_command(&["rebuild", "crawl"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    let after = crawl.visit(&server.url(SEA, "/b"));
    for column in ["verdict", "relevance", "reason"] {
        assert_eq!(after[column], before[column], "{column}");
    }
    crawl.is_sound();
}

#[test]
fn near_duplicates_of_pages_on_topic_are_excluded_as_ever() {
    let server = Server::spawn_thread(Site::new(|request| {
        let to = |path: &str| vec![(path.to_owned(), "next")];
        match request.path() {
            "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
            "/" => on_topic(1, &to("/copy")),
            "/copy" => on_topic(1, &to("/other")),
            "/other" => on_topic(2, LEAF),
            _ => Reply::status(404),
        }
    }));
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let summary = crawl.complete();
    let duplicates = summary["exact_duplicates"].as_u64().unwrap()
        + summary["near_duplicates"].as_u64().unwrap();
    assert_eq!((duplicates, &summary["unique"]), (1, &2.into()));
    // A page that repeats another on topic is on topic.
    assert_eq!(summary["harvest"], 1.0);
    assert!(crawl.visit(&server.url(SEA, "/copy"))["relevance"].is_number());
}

/// A web in which every page names eight more; one in four is on topic, as its link says.
fn growing_web() -> Server {
    Server::spawn_thread(Site::new(|request| {
        if request.path() == "/robots.txt" {
            return Reply::text("User-agent: *\nAllow: /\n");
        }
        let number = number_in(request.path());
        let links: Vec<(String, &str)> = (1..=8)
            .map(|child| 8 * number + child)
            .filter(|child| *child < 400)
            .map(|child| match child % 4 {
                0 => (format!("/plant/{child}"), "Tidal power"),
                1 => (format!("/tide/{child}"), "The tidal range"),
                _ => (format!("/recipe/{child}"), "A recipe"),
            })
            .collect();
        match request.path().starts_with("/recipe/") {
            true => off_topic(number, &links),
            false => on_topic(number, &links),
        }
    }))
}

#[test]
fn a_crawl_that_is_killed_and_continued_visits_in_the_order_that_it_would_have_had() {
    let whole = growing_web();
    focused(&whole, &[SEA]).with(&TOPIC).complete();
    let expected = whole.log().visits();
    let (server, mut order) = (growing_web(), Vec::new());
    let crawl = focused(&server, &[SEA]).with(&TOPIC).with(&["-v"]);
    for _ in 0..3 {
        let mut running = crawl.start();
        for _ in 0..40 {
            running.wait_for_line("visited");
        }
        running.kill();
        // The page that was in flight is visited again.
        order = server.log().visits();
    }
    crawl.complete();
    assert!(
        order.len() < expected.len(),
        "it ended before it was killed"
    );
    let mut continued = server.log().visits();
    let mut seen = std::collections::HashSet::new();
    continued.retain(|path| seen.insert(path.clone()));
    let late = expected
        .iter()
        .zip(&continued)
        .filter(|(one, other)| one != other);
    assert!(late.count() <= 3, "{expected:?}\n{continued:?}");
}

#[test]
fn a_crawl_by_examples_continues_without_these() {
    let server = two_hosts();
    let example = "Tidal power plants turn the power of the tides into electric power. The tidal \
                   range decides how much power a plant in a bay or in a strait can give.";
    let crawl = focused(&server, &[SEA]).with(&["--topic-file", "examples"]);
    let examples = crawl.directory().join("examples");
    std::fs::create_dir(&examples).unwrap();
    for (name, more) in [
        ("a", "Barrages dam a bay."),
        ("b", "Turbines stand in a strait."),
        ("c", "Neap tides are low."),
    ] {
        std::fs::write(examples.join(name), format!("{example} {more}")).unwrap();
    }
    let first = crawl.run_with(&["--max-pages", "3"]);
    assert_eq!(first.summary()["finished"], "max-pages", "{first:?}");
    std::fs::remove_dir_all(&examples).unwrap();
    let rest = crawl.run_with(&["--max-pages", "100"]);
    assert_eq!(rest.summary()["finished"], "exhausted", "{rest:?}");
    // The front page names four pages on topic, so it is on topic, too.
    assert_eq!(rest.summary()["unique"], 5, "{:?}", crawl.visits());
    let paths = server.log().visits();
    assert!(
        paths[1..5].iter().all(|path| path.starts_with("/plant/")),
        "{paths:?}"
    );
}

#[test]
fn a_crawl_ends_when_the_last_500_pages_brought_too_little() {
    let server = Server::spawn_thread(Site::new(|request| {
        if request.path() == "/robots.txt" {
            return Reply::text("User-agent: *\nAllow: /\n");
        }
        let number = number_in(request.path());
        let links: Vec<(String, &str)> = match request.path() {
            "/" => (1..700).map(|page| (format!("/{page}"), "next")).collect(),
            _ => Vec::new(),
        };
        match number <= 10 {
            true => on_topic(number, &links),
            false => off_topic(number, &links),
        }
    }));
    let crawl =
        focused(&server, &[SEA])
            .with(&TOPIC)
            .with(&["--min-harvest", "1%", "--traps", "off"]);
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "min-harvest");
    // Eleven pages on topic, then others: of the last 500, four remain.
    assert_eq!(
        (&summary["pages"], &summary["recent_harvest"]),
        (&507.into(), &0.008.into())
    );
    let again = crawl.run_with(&["--min-harvest", "0"]);
    assert_eq!(again.summary()["finished"], "exhausted");
}
