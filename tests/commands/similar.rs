//! `crawler similar`: pages like a page, or like a file.

use serde_json::Value;
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, article, page, prose, with_tail};

const HOST: &str = "like.test";

/// An article, one that shares two thirds of it, one that is nearly the same, and one that has
/// nothing to do with it.
fn crawled() -> (Server, Crawl) {
    let links = ["/article", "/longer", "/nearly", "/other", "/missing"];
    let server = Server::spawn_thread(Site::pages([
        ("/", page(9, &links)),
        ("/article", Reply::html(with_tail(0))),
        ("/longer", Reply::html(with_tail(200))),
        ("/nearly", Reply::html(with_tail(5))),
        ("/other", page(5, NONE)),
    ]));
    let crawl = Crawl::of(&server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--concurrency", "1", "--tries", "1"]);
    crawl.complete();
    (server, crawl)
}

fn hits(crawl: &Crawl, arguments: &[&str]) -> Vec<Value> {
    crawl.json_lines(&[&["similar", "crawl", "--format", "json"], arguments].concat())
}

fn paths(hits: &[Value]) -> Vec<&str> {
    hits.iter()
        .map(|hit| {
            let url = hit["url"].as_str().unwrap();
            &url[url.rfind('/').unwrap()..]
        })
        .collect()
}

#[test]
fn pages_like_a_page_are_listed_nearest_first() {
    let (server, crawl) = crawled();
    let article = server.url(HOST, "/article");
    let near = hits(&crawl, &[&article]);
    assert_eq!(paths(&near), ["/nearly"], "by the thresholds of the crawl");
    assert_eq!(near[0]["verdict"], "near-duplicate");
    assert!(
        near[0]["texts"].is_null(),
        "the archive does not have it: {near:?}"
    );
    let visit = crawl.visit(&server.url(HOST, "/nearly"));
    for name in ["distance", "resemblance"] {
        assert_eq!(near[0][name], visit[name]);
    }
    let wide = hits(&crawl, &[&article, "--resemblance", "0.4"]);
    assert_eq!(paths(&wide), ["/nearly", "/longer"]);
    assert!(
        wide[1]["texts"].is_string(),
        "the archive has both: {wide:?}"
    );
    let resemblance = wide[1]["resemblance"].as_f64().unwrap();
    assert!(
        (0.55..0.78).contains(&resemblance),
        "400 of 600 words: {resemblance}"
    );
    assert_eq!(
        hits(&crawl, &[&article, "--resemblance", "0"]).len(),
        4,
        "all except the page itself"
    );
    let one = hits(&crawl, &[&article, "--resemblance", "0", "--limit", "1"]);
    assert_eq!(paths(&one), ["/nearly"]);
    for hit in hits(&crawl, &[&article, "--resemblance=0", "--distance=20"]) {
        assert!(hit["distance"].as_u64().unwrap() <= 20, "{hit}");
    }
    let table = crawl.run_command(&["similar", "crawl", &article, "--format", "table"]);
    assert!(
        table.output.contains(&server.url(HOST, "/nearly")),
        "{table:?}"
    );
}

#[test]
fn pages_like_a_file_are_found_with_the_key_of_the_crawl() {
    let (server, crawl) = crawled();
    crawl.write("draft.html", with_tail(3));
    let near = hits(&crawl, &["draft.html"]);
    assert_eq!(
        paths(&near),
        ["/article"],
        "unarchived pages have no signature"
    );
    assert!(near[0]["resemblance"].as_f64().unwrap() > 0.9, "{near:?}");
    crawl.write("same.html", with_tail(0));
    let same = hits(&crawl, &["same.html"]);
    assert_eq!(
        (&same[0]["distance"], &same[0]["resemblance"]),
        (&0.into(), &1.0.into())
    );
    crawl.write("new.html", article(77, NONE));
    assert!(hits(&crawl, &["new.html"]).is_empty());
    let text = format!("{}\n", prose(1, 400));
    let run = crawl.run_command_with_input(&["similar", "crawl", "-", "--format=json"], text);
    assert_eq!(run.json()["url"], server.url(HOST, "/article"), "{run:?}");
}

#[test]
fn pages_without_a_signature_are_refused_with_the_reason() {
    let (server, crawl) = crawled();
    let similar_to = |what: &str| crawl.run_command(&["similar", "crawl", what]);
    let unknown = similar_to("http://unknown.test/");
    unknown.assert_error(2, "http://unknown.test/ was not visited");
    assert!(
        unknown.errors.contains("crawler export crawl"),
        "{unknown:?}"
    );
    let left_out = similar_to(&server.url(HOST, "/nearly"));
    left_out.assert_error(2, "was not archived");
    assert!(
        left_out.errors.contains(&server.url(HOST, "/article")),
        "{left_out:?}"
    );
    similar_to(&server.url(HOST, "/missing")).assert_error(2, "was not archived");
    let missing = server.url(HOST, "/missing?a=1&b=2");
    crawl.run_with(&[&missing]);
    let pasted = format!("`crawler why crawl '{missing}'`");
    let with_query = similar_to(&missing);
    assert!(with_query.errors.contains(&pasted), "{with_query:?}");
    similar_to("missing.html").assert_error(2, "missing.html");
    similar_to("http://").assert_error(2, "http://");
    let impossible = crawl.run_command(&["similar", "crawl", "x", "--resemblance", "2"]);
    impossible.assert_error(2, "--resemblance must be between 0 and 1, got 2");
    crawl
        .run_command(&["similar", "nowhere", "x"])
        .assert_error(2, "nowhere");
}
