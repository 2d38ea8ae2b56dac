//! Relevance and harvest, where they are shown: `why`, warnings, `status`, the report, the
//! dashboard, `patterns`.

use std::ops::Range;

use scraper::{ElementRef, Html, Selector};
use serde_json::Value;
use testkit::{Reply, Server, Site};

use super::{LAND, SEA, TOPIC, focused, number_in, off_topic, tunnel, two_hosts};
use crate::support::Crawl;
use crate::support::browser::Browser;
use crate::support::pages::prose;

#[test]
fn why_names_the_words_that_spoke_for_a_page_and_for_a_link_that_waits() {
    let server = two_hosts();
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let begun = crawl.run_with(&["--max-pages", "2"]);
    assert_eq!(begun.code, Some(0), "{begun:?}");
    let why = |path: &str| -> Value {
        let url = server.url(SEA, path);
        let answer = crawl.run_command(&["why", "crawl", &url, "--format", "json"]);
        serde_json::from_str(&answer.output).unwrap()
    };
    let page = why("/plant/0");
    assert_eq!(page["verdict"], "unique");
    assert!(page["topic"]["relevance"].as_f64().unwrap() > 0.6, "{page}");
    let words = page["topic"]["words"].as_array().unwrap();
    assert!(words.contains(&"tidal".into()) && words.contains(&"power".into()));
    let (good, poor) = (why("/plant/1"), why("/recipe/1"));
    assert_eq!(good["verdict"], "queued");
    assert_eq!(
        good["topic"]["words"].as_array().unwrap().len(),
        2,
        "{good}"
    );
    assert_eq!(good["topic"]["off_topic_before"], 0);
    assert!(good["topic"]["level"].as_u64() < poor["topic"]["level"].as_u64());
    let url = server.url(SEA, "/plant/1");
    let table = crawl.run_command(&["why", "crawl", &url, "--format", "table"]);
    assert!(table.output.contains("link score  level "), "{table:?}");
}

#[test]
fn seeds_that_are_all_off_topic_are_warned_of_with_their_relevance() {
    let server = tunnel();
    let seeds = [server.url(SEA, "/"), server.url(SEA, "/a")];
    let crawl = Crawl::of(&server, &[SEA]).seeds(&seeds).with(&TOPIC);
    let run = crawl.run();
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(
        run.errors.matches("all seeds are off topic").count(),
        1,
        "{run:?}"
    );
    let on_topic = Crawl::of(&server, &[SEA])
        .seeds(&[seeds[0].clone(), server.url(SEA, "/c")])
        .with(&TOPIC);
    assert!(!on_topic.run().errors.contains("off topic;"));
}

/// Returns the text of the elements that a selector finds, without the white space around it.
fn texts(page: &str, selector: &str) -> Vec<String> {
    let (document, selector) = (
        Html::parse_document(page),
        Selector::parse(selector).unwrap(),
    );
    let text = |element: ElementRef<'_>| element.text().collect::<String>().trim().to_owned();
    document.select(&selector).map(text).collect()
}

/// Asserts that a page has the figures of [`two_hosts`]: 16 of 26 pages are off topic.
fn assert_figures(page: &str) {
    let fates = texts(page, "#summary tbody tr");
    let off_topic = fates.iter().find(|row| row.contains("off topic"));
    let off_topic = off_topic.unwrap_or_else(|| panic!("{fates:?}"));
    assert!(
        off_topic.contains("16") && off_topic.contains("61.5 %"),
        "{off_topic}"
    );
    let facts = texts(page, "#summary .facts div");
    let harvest = facts.iter().find(|fact| fact.starts_with("Harvest rate"));
    assert!(
        harvest.is_some_and(|fact| fact.ends_with("38.5 %")),
        "{facts:?}"
    );
}

#[test]
fn the_report_and_the_dashboard_have_the_harvest_and_the_pages_off_topic() {
    let server = two_hosts();
    let crawl = focused(&server, &[SEA, LAND]).with(&TOPIC);
    crawl.complete();
    let written = crawl.run_command(&["report", "crawl"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert_figures(&std::fs::read_to_string(crawl.out().join("report.html")).unwrap());
    let report = crawl.run_command(&["report", "crawl", "--format", "json"]);
    let counts = &report.json()["summary"];
    assert_eq!(
        (&counts["judged"], &counts["off_topic"]),
        (&26.into(), &16.into())
    );
    let mut serving = crawl.start_command(&["serve", "crawl"]);
    let browser = Browser::at(&mut serving);
    assert_figures(&browser.get("/").body);
    let metrics = browser.get("/metrics").body;
    assert!(
        metrics.contains("{verdict=\"off-topic\"} 16\n"),
        "{metrics}"
    );
    serving.interrupt();
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn without_a_topic_no_page_of_figures_speaks_of_one() {
    let server = tunnel();
    let crawl = focused(&server, &[SEA]);
    crawl.complete();
    crawl.run_command(&["report", "crawl"]);
    let report = std::fs::read_to_string(crawl.out().join("report.html")).unwrap();
    let status = crawl.run_command(&["status", "crawl", "--format", "table"]);
    for text in [report.as_str(), &status.output] {
        let text = text.to_lowercase();
        assert!(
            !text.contains("off topic") && !text.contains("harvest"),
            "{text}"
        );
    }
}

/// A front page that names 17 recipes. The last of them names four more, and then five other
/// pages. None is about the topic.
fn recipes() -> Server {
    Server::spawn_thread(Site::new(|request| {
        let links = |name: &'static str, numbers: Range<u64>| {
            numbers.map(move |number| (format!("/{name}/{number}"), prose(number, 1)))
        };
        let links: Vec<(String, String)> = match request.path() {
            "/robots.txt" => return Reply::status(404),
            "/" => links("recipe", 0..17).collect(),
            "/recipe/16" => links("recipe", 17..21)
                .chain(links("other", 0..5))
                .collect(),
            _ => Vec::new(),
        };
        let path = request.path();
        off_topic(number_in(path) + 50 * path.len() as u64, &links)
    }))
}

#[test]
fn a_pattern_of_pages_off_topic_is_put_behind_and_shown_as_such_and_not_closed() {
    let server = recipes();
    let crawl = focused(&server, &[SEA]).with(&TOPIC);
    let summary = crawl.complete();
    assert_eq!(summary["off_topic"], 27, "no page is excluded: {summary}");
    let paths = server.log().visits();
    let others: Vec<usize> = (0..paths.len())
        .filter(|place| paths[*place].starts_with("/other/"))
        .collect();
    assert_eq!(
        others,
        [18, 19, 20, 21, 22],
        "before the last recipes: {paths:?}"
    );
    let patterns = crawl.json_lines(&["patterns", "crawl", "--format", "json"]);
    let of_recipes = patterns
        .iter()
        .find(|pattern| pattern["pattern"].as_str().unwrap().contains("/recipe/"));
    let of_recipes = of_recipes.unwrap_or_else(|| panic!("{patterns:?}"));
    assert_eq!(
        (
            &of_recipes["state"],
            &of_recipes["off_topic"],
            &of_recipes["excluded"]
        ),
        (&"poor".into(), &21.into(), &0.into())
    );
    let table = crawl.run_command(&["patterns", "crawl", "--format", "table"]);
    assert!(table.output.contains("21 visited, "), "{table:?}");
    assert!(table.output.contains(", 21 off topic"), "{table:?}");
}
