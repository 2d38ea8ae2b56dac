//! A canonical link is evidence for a verdict, and no verdict.

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

/// An article and pages that call it canonical: its print view, which has a notice of its own, one
/// that lies, and a print view of another domain. `told` says whether they say so.
fn site(told: bool) -> Server {
    let links = ["/print", "/lie", "http://stranger.test:{port}/print"];
    Server::spawn_thread(Site::new(move |request| {
        let port = request.port.unwrap().to_string();
        let links = links.map(|link| link.replace("{port}", &port));
        let own = format!("http://{HOST}:{port}/article");
        let canonical = if told { own.as_str() } else { "" };
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

/// The article is there before anything that it links to.
fn crawled(told: bool) -> (Server, Crawl) {
    let server = site(told);
    let seeds = [
        server.url(HOST, "/article"),
        server.url("stranger.test", "/"),
    ];
    let crawl = Crawl::of(&server, &[HOST, "stranger.test"]).seeds(&seeds);
    crawl.complete();
    (server, crawl)
}

fn verdict(crawl: &Crawl, url: &str) -> Value {
    crawl.row(url)["verdict"].clone()
}

#[test]
fn a_print_view_is_dropped_where_it_names_its_article_and_kept_where_it_does_not() {
    for (told, expected) in [(true, "near-duplicate"), (false, "unique")] {
        let (server, crawl) = crawled(told);
        let print = server.url(HOST, "/print");
        assert_eq!(verdict(&crawl, &print), expected, "{}", crawl.row(&print));
        assert_eq!(crawl.archived().contains(&print), !told);
        assert_eq!(
            server.log().count(HOST, "/only-in-print"),
            1,
            "what is dropped leads on to what nobody has seen"
        );
        crawl.is_sound();
    }
}

#[test]
fn why_tells_what_a_page_calls_canonical_and_that_this_decided() {
    let (server, crawl) = crawled(true);
    let own = server.url(HOST, "/article");
    let print = server.url(HOST, "/print");
    let answer = crawl.tell(&["why", "crawl", &print]).json();
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
    let itself = crawl.tell(&["why", "crawl", &own]).json();
    assert_eq!(
        itself["canonical"],
        Value::Null,
        "a page that names itself says nothing"
    );
}

#[test]
fn a_lie_and_a_strangers_word_cost_nothing() {
    let (server, crawl) = crawled(true);
    let lie = server.url(HOST, "/lie");
    for url in [lie.clone(), server.url("stranger.test", "/print")] {
        assert_eq!(verdict(&crawl, &url), "unique", "{}", crawl.row(&url));
        assert!(crawl.archived().contains(&url), "{url}");
    }
    let answer = crawl.tell(&["why", "crawl", &lie]).json();
    assert_eq!(answer["canonical"], server.url(HOST, "/article"));
    assert_eq!(answer["reason"], "it says something new, and was kept");
}

#[test]
fn what_the_archive_tells_again_has_the_same_words_and_verdicts() {
    let (server, crawl) = crawled(true);
    let print = server.url(HOST, "/print");
    let before = crawl.tell(&["why", "crawl", &print]).json();
    let rows = crawl.verdicts();
    std::fs::remove_dir_all(crawl.out().join("state")).unwrap();
    let rebuild = [
        "rebuild",
        "crawl",
        "--format",
        "json",
        "--hash-key",
        crate::support::KEY,
    ];
    let ran = crawl.tell(&rebuild);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(crawl.verdicts(), rows);
    let after = crawl.tell(&["why", "crawl", &print]).json();
    for field in ["canonical", "reason", "verdict"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    let lie = crawl
        .tell(&["why", "crawl", &server.url(HOST, "/lie")])
        .json();
    assert_eq!(lie["canonical"], server.url(HOST, "/article"));
    crawl.is_sound();
}
