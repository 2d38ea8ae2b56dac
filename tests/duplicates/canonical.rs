//! Canonical links: evidence for a verdict, and not a verdict.

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{anchor, html, prose};

const HOST: &str = "site.test";

/// Words of the article; a text of that length repeats another from a resemblance of .80 on, and
/// its canonical page from .70 on.
const WORDS: usize = 400;

/// Words of the notice before the article where it is printed: 396 shingles of 525 are those of the
/// article, .75.
const PRINTED: usize = 129;

fn article(canonical: &str, texts: &[String], links: &[&str]) -> Reply {
    let head = match canonical {
        "" => String::new(),
        url => format!("<link rel=canonical href=\"{url}\">"),
    };
    let links: Vec<String> = links.iter().map(|link| anchor(link)).collect();
    let text = format!("<p>{}</p><p>{}</p>", texts.join("</p><p>"), links.join(" "));
    Reply::html(html(&head, &text))
}

/// An article and pages that call it canonical: its print view, which adds a notice, one with a
/// wrong link, and a print view on another domain. `has_links` is true if they have canonical
/// links.
fn site(has_links: bool) -> Server {
    let links = ["/print", "/lie", "http://stranger.test:{port}/print"];
    Server::spawn_thread(Site::new(move |request| {
        let port = request.port.unwrap().to_string();
        let links = links.map(|link| link.replace("{port}", &port));
        let own = format!("http://{HOST}:{port}/article");
        let canonical = if has_links { own.as_str() } else { "" };
        let print = |number, links: &[&str]| {
            let texts = [prose(number, PRINTED), prose(1, WORDS)];
            article(canonical, &texts, links)
        };
        match (request.host.as_str(), request.path()) {
            (HOST, "/article") => article(
                canonical,
                &[prose(1, WORDS)],
                &links.each_ref().map(String::as_str),
            ),
            (HOST, "/print") => print(3, &["/only-in-print"]),
            (HOST, "/lie") => article(canonical, &[prose(4, WORDS)], &[]),
            ("stranger.test", "/print") => print(5, &[]),
            _ => Reply::status(404),
        }
    }))
}

/// The article is admitted before anything that it links to.
fn crawled(has_links: bool) -> (Server, Crawl) {
    let server = site(has_links);
    let seeds = [
        server.url(HOST, "/article"),
        server.url("stranger.test", "/"),
    ];
    let crawl = Crawl::of(&server, &[HOST, "stranger.test"]).seeds(&seeds);
    crawl.complete();
    (server, crawl)
}

fn verdict(crawl: &Crawl, url: &str) -> Value {
    crawl.visit(url)["verdict"].clone()
}

#[test]
fn a_print_view_is_dropped_only_if_it_names_its_article_as_canonical() {
    for (has_links, expected) in [(true, "near-duplicate"), (false, "unique")] {
        let (server, crawl) = crawled(has_links);
        let print = server.url(HOST, "/print");
        assert_eq!(verdict(&crawl, &print), expected, "{}", crawl.visit(&print));
        assert_eq!(crawl.archived().contains(&print), !has_links);
        assert_eq!(
            server.log().count(HOST, "/only-in-print"),
            1,
            "unseen links of dropped pages are probed"
        );
        crawl.is_sound();
    }
}

#[test]
fn why_names_the_canonical_page_that_decided() {
    let (server, crawl) = crawled(true);
    let own = server.url(HOST, "/article");
    let print = server.url(HOST, "/print");
    let answer = crawl.run_command(&["why", "crawl", &print]).json();
    assert_eq!(answer["canonical"], own);
    assert_eq!(answer["original"]["url"], own);
    let resemblance = answer["page"]["resemblance"].as_f64().unwrap();
    assert!((0.70..0.80).contains(&resemblance), "{answer}");
    let reason = answer["reason"].as_str().unwrap();
    let words = format!("resemblance {resemblance:.2} with the page that it calls canonical, ");
    assert!(reason.starts_with(&words), "{reason}");
    let notes = crawl.notes_about(&print);
    assert_eq!(
        (&notes["canonical"], &notes["reason"]),
        (&own, &reason.to_owned())
    );
    assert_eq!(notes["matched-by"], "canonical");
    let itself = crawl.run_command(&["why", "crawl", &own]).json();
    assert_eq!(
        itself["canonical"],
        Value::Null,
        "a page that names itself is no evidence"
    );
}

#[test]
fn wrong_and_foreign_canonical_links_change_no_verdict() {
    let (server, crawl) = crawled(true);
    let lie = server.url(HOST, "/lie");
    for url in [lie.clone(), server.url("stranger.test", "/print")] {
        assert_eq!(verdict(&crawl, &url), "unique", "{}", crawl.visit(&url));
        assert!(crawl.archived().contains(&url), "{url}");
    }
    let answer = crawl.run_command(&["why", "crawl", &lie]).json();
    assert_eq!(answer["canonical"], server.url(HOST, "/article"));
    assert_eq!(answer["reason"], "its content is new, and was archived");
}

#[test]
fn a_rebuilt_crawl_has_the_same_reasons_and_verdicts() {
    let (server, crawl) = crawled(true);
    let print = server.url(HOST, "/print");
    let before = crawl.run_command(&["why", "crawl", &print]).json();
    let verdicts = crawl.verdicts();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let rebuild = [
        "rebuild",
        "crawl",
        "--format",
        "json",
        "--hash-key",
        crate::support::KEY,
    ];
    let run = crawl.run_command(&rebuild);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(crawl.verdicts(), verdicts);
    let after = crawl.run_command(&["why", "crawl", &print]).json();
    for field in ["canonical", "reason", "verdict"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    let lie = crawl
        .run_command(&["why", "crawl", &server.url(HOST, "/lie")])
        .json();
    assert_eq!(lie["canonical"], server.url(HOST, "/article"));
    crawl.is_sound();
}
