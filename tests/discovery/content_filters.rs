//! `--types` and `--languages`: pages that are not archived, and whose links are followed.

use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page};

const HOST: &str = "mixed.test";

/// Returns a page in a language, with links.
fn in_language(language: &str, links: &[&str]) -> Reply {
    let links: String = links
        .iter()
        .map(|link| format!("<a href=\"{link}\">{link}</a>"))
        .collect();
    let body = html(
        "<title>A page</title>",
        &format!("<p>{language} {links}</p>"),
    );
    Reply::html(body.replacen("<html>", &format!("<html lang=\"{language}\">"), 1))
}

fn site() -> Server {
    Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text("User-agent: *\nAllow: /\n"),
        "/" => in_language(
            "de-AT",
            &["/english", "/picture.png", "/paper.pdf", "/deep"],
        ),
        "/english" => in_language("en", &["/from-english"]),
        "/from-english" | "/deep" => page(7, NONE),
        "/picture.png" => Reply::document("image/png", "x".repeat(3 << 20)),
        "/paper.pdf" => Reply::document("application/pdf", "%PDF-1.7"),
        _ => Reply::status(404),
    }))
}

fn crawled(server: &Server, options: &[&str]) -> Crawl {
    let crawl = Crawl::of(server, &[HOST])
        .seeds(&[server.url(HOST, "/")])
        .with(&["--on-duplicate", "keep"])
        .with(options);
    let summary = crawl.complete();
    assert_eq!(summary["finished"], "exhausted");
    crawl.is_sound();
    crawl
}

#[test]
fn pages_of_other_types_are_excluded_and_their_links_are_followed() {
    let server = site();
    let crawl = crawled(&server, &["--types", "application/pdf"]);
    let verdict = |path: &str| crawl.visit(&server.url(HOST, path))["verdict"].clone();
    assert_eq!(verdict("/paper.pdf"), "unique");
    for path in ["/", "/english", "/from-english", "/picture.png"] {
        assert_eq!(verdict(path), "excluded", "{path}");
    }
    let why = crawl.run_command(&["why", "crawl", &server.url(HOST, "/picture.png")]);
    let reason = "its type is image/png, which --types application/pdf excludes";
    assert!(why.output.contains(reason), "{why:?}");
    // Only the header of the picture was received.
    let visit = crawl.visit(&server.url(HOST, "/picture.png"));
    assert_eq!(
        (&visit["status"], &visit["bytes"]),
        (&200.into(), &0.into())
    );
}

#[test]
fn a_type_can_be_excluded_and_all_others_are_archived() {
    let server = site();
    let crawl = crawled(&server, &["--types", "!image/*"]);
    let verdict = |path: &str| crawl.visit(&server.url(HOST, path))["verdict"].clone();
    assert_eq!(verdict("/picture.png"), "excluded");
    assert_eq!(verdict("/paper.pdf"), "unique");
    assert_eq!(verdict("/english"), "unique");
}

#[test]
fn pages_in_other_languages_are_excluded_and_their_links_are_followed() {
    let server = site();
    let crawl = crawled(&server, &["--languages", "en"]);
    let visit = |path: &str| crawl.visit(&server.url(HOST, path));
    assert_eq!(visit("/")["verdict"], "excluded");
    assert_eq!(
        visit("/")["reason"],
        "its language is de, which --languages en excludes"
    );
    assert_eq!(visit("/english")["verdict"], "unique");
    assert_eq!(
        visit("/picture.png")["verdict"],
        "unique",
        "it has no language"
    );
    // The crawl keeps the filter.
    let kept = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(kept.contains("languages = \"en\"\n"), "{kept}");
}

#[test]
fn robots_txt_sitemaps_and_requisites_are_not_concerned() {
    let server = Server::spawn_thread(Site::new(|request| match request.path() {
        "/robots.txt" => Reply::text(format!(
            "User-agent: *\nDisallow: /closed\nSitemap: http://{HOST}:{}/map.xml\n",
            request.port.unwrap()
        )),
        "/map.xml" => Reply::document(
            "application/xml",
            format!(
                "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><url><loc>\
                 http://{HOST}:{}/listed</loc></url></urlset>",
                request.port.unwrap()
            ),
        ),
        "/" => Reply::html(html(
            "",
            "<p>Start</p><img src=\"/picture.png\"><a href=\"/closed\">c</a>",
        )),
        "/picture.png" => Reply::document("image/png", "picture"),
        "/favicon.ico" => Reply::status(404),
        _ => page(1, NONE),
    }));
    let options = ["--types", "text/html", "--page-requisites=scope"];
    let crawl = crawled(&server, &options);
    let verdict = |path: &str| crawl.visit(&server.url(HOST, path))["verdict"].clone();
    for path in ["/", "/map.xml", "/listed", "/picture.png"] {
        assert_eq!(verdict(path), "unique", "{path}");
    }
    assert_eq!(server.log().count(HOST, "/closed"), 0);
}

#[test]
fn lists_that_cannot_be_are_refused() {
    let crawl = Crawl::bare();
    for (option, value, words) in [
        ("--types", "html", "is not a media type"),
        ("--types", "", "is not a media type"),
        ("--languages", "english", "is not a language"),
    ] {
        crawl
            .run_command(&["http://a.test/", option, value])
            .assert_error(2, words);
    }
}
