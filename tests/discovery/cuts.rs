//! Limits that cut pages: what is lost beyond them is counted and named wherever a user looks.

use serde_json::{Value, json};
use testkit::{Reply, Server, Site};

use crate::support::Crawl;
use crate::support::pages::{NONE, html, page, prose};

const HOST: &str = "site.test";
const LINKS: &str = "max-links-per-page";

fn crawl(pages: Vec<(&'static str, Reply)>, options: &[&str]) -> (Server, Crawl) {
    let server = Server::spawn_thread(Site::pages(pages));
    let seed = server.url(HOST, "/0");
    let crawl = Crawl::of(&server, &[HOST]).with(options).seeds(&[seed]);
    (server, crawl)
}

/// A page with this many links out of the scope, and one more in it.
fn directory(links: usize) -> Reply {
    let links: String = (0..links)
        .map(|number| format!("<a href=http://x.test/{number}>x</a>\n"))
        .collect();
    let end = "<a href=/last>last</a>";
    Reply::html(html("", &format!("<p>{}</p>{links}{end}", prose(7, 150))))
}

fn status(crawl: &Crawl) -> Value {
    let status = crawl.run_command(&["status", "crawl", "--format", "json"]);
    status.json()
}

fn reason(crawl: &Crawl, url: &str) -> String {
    let why = crawl.run_command(&["why", "crawl", url]).json();
    why["reason"].as_str().unwrap().to_owned()
}

/// A directory listing of 12,000 files lost its last 2,000, the crawl was "Complete", and `why`
/// said that no page links to them.
#[test]
fn links_beyond_the_limit_of_a_page_are_counted_listed_and_explained() {
    let pages = vec![("/0", directory(50_000)), ("/last", page(1, NONE))];
    let (server, crawl) = crawl(pages, &[]);
    let run = crawl.run_with(&["--summary", "text"]);
    let text = run.output.as_str();
    assert!(
        text.starts_with("Complete, but 1 link was not read\n"),
        "{run:?}"
    );
    assert!(text.contains("by max-links-per-page 50000: "), "{run:?}");
    let last = server.url(HOST, "/last");
    assert_eq!(server.log().count(HOST, "/last"), 0);

    let lost = json!({"visits": 1, "lost": 1});
    let summary = crawl.complete();
    assert_eq!(summary["limits"][LINKS], lost, "{summary}");
    assert_eq!(summary["skipped"]["cut"], 1, "{summary}");
    assert_eq!(status(&crawl)["limits"][LINKS], lost);
    let visit = crawl.visit(&server.url(HOST, "/0"));
    // The tree of so large a page ends early, too.
    assert_eq!(visit["truncated"], "max-tree max-links-per-page");
    let notes = crawl.notes_about(&server.url(HOST, "/0"));
    assert_eq!(notes["cut-by"], "max-links-per-page 1");

    let listed = crawl.run_command(&["skipped", "crawl", "--why", "cut"]);
    assert_eq!(listed.json()["url"], last.as_str(), "{listed:?}");
    let beyond = format!(
        "it is beyond the first 50000 links of {}",
        server.url(HOST, "/0")
    );
    assert!(reason(&crawl, &last).starts_with(&beyond));
    let nowhere = reason(&crawl, &server.url(HOST, "/nowhere"));
    assert!(nowhere.contains("max-links-per-page (1 link)"), "{nowhere}");
    assert!(nowhere.contains("(apart from nofollow and --max-depth)"));

    let rebuilt = crawl.run_command(&["rebuild", "crawl", "--from-archive"]);
    assert_eq!(rebuilt.code, Some(0), "{rebuilt:?}");
    assert_eq!(status(&crawl)["limits"][LINKS], lost);
    crawl.is_sound();
}

/// The navigation of a page, repeated and with fragments, used up the limit of its links.
#[test]
fn only_different_links_count_against_the_limit_of_a_page() {
    let navigation = "<a href=/a>a</a><a href=/b>b</a>".repeat(10_000);
    let sections: String = (0..60_000)
        .map(|number| format!("<a href=/a#{number}>a</a>"))
        .collect();
    let end = "<a href=/last>last</a>";
    let start = html(
        "",
        &format!("<p>{}</p>{navigation}{sections}{end}", prose(7, 150)),
    );
    let names = ["/a", "/b", "/last"];
    let others = (1..)
        .zip(names)
        .map(|(number, name)| (name, page(number, NONE)));
    let pages = std::iter::once(("/0", Reply::html(start))).chain(others);
    let (_server, crawl) = crawl(pages.collect(), &[]);
    let summary = crawl.complete();
    assert_eq!(summary["pages"], 4, "{summary}");
    assert_eq!(summary["limits"][LINKS], Value::Null, "{summary}");
}

#[test]
fn a_directory_of_more_files_than_the_old_limit_is_followed_to_its_end() {
    let pages = vec![("/0", directory(12_000)), ("/last", page(1, NONE))];
    let (_server, crawl) = crawl(pages, &[]);
    assert_eq!(crawl.complete()["pages"], 2);
}

#[test]
fn bodies_texts_and_urls_beyond_their_limits_are_counted_by_limit() {
    let long = format!("<p>{}</p>", prose(3, 200_000));
    let far = format!(
        "<p>{}</p><a href=/{}>x</a>",
        prose(4, 150),
        "x".repeat(9_000)
    );
    let links = ["/film", "/long", "/far"];
    let pages = vec![
        ("/0", page(0, &links)),
        ("/film", Reply::document("video/mp4", "x".repeat(3 << 20))),
        ("/long", Reply::html(html("", &long))),
        ("/far", Reply::html(html("", &far))),
    ];
    let (server, crawl) = crawl(pages, &["--max-body", "2MiB"]);
    let run = crawl.run_with(&["--summary", "text"]);
    assert!(run.output.contains("by max-body: "), "{run:?}");
    // URLs that are too long are counted, and cannot be listed.
    assert!(!run.output.contains("List them"), "{run:?}");
    let summary = crawl.complete();
    let cut = |visits: u64, lost: u64| json!({"visits": visits, "lost": lost});
    let limits = json!({
        "max-body": cut(1, 0), "max-text": cut(1, 0), "max-url-bytes": cut(1, 1),
    });
    assert_eq!(summary["limits"], limits);
    let truncated = |path: &str| crawl.visit(&server.url(HOST, path))["truncated"].clone();
    assert_eq!(truncated("/film"), "max-body");
    assert_eq!(truncated("/long"), "max-text");
    assert_eq!(truncated("/0"), Value::Null);
}

/// Nothing said that the links and the text of a PDF are not read.
#[test]
fn documents_that_are_not_read_are_counted_by_format() {
    let pages = vec![
        ("/0", page(0, &["/a.pdf", "/b", "/c.zip", "/d.png"])),
        ("/a.pdf", Reply::document("application/pdf", "%PDF-1.4 a")),
        (
            "/b",
            Reply::document("application/octet-stream", "%PDF-1.7 b"),
        ),
        ("/c.zip", Reply::document("application/zip", "PK")),
        ("/d.png", Reply::document("image/png", "png")),
    ];
    let (_server, crawl) = crawl(pages, &[]);
    let run = crawl.run_with(&["--summary", "text"]);
    assert!(run.output.starts_with("Complete\n"), "{run:?}");
    assert!(
        run.output
            .contains("  not read            2  PDF files: archived, text not read\n"),
        "{run:?}"
    );
    let counts = json!({"pdf": 2, "archive": 1});
    assert_eq!(crawl.complete()["not_read"], counts);
    assert_eq!(status(&crawl)["not_read"], counts);
    let skipped = crawl.run_command(&["skipped", "crawl"]);
    assert!(
        skipped.errors.contains("2  PDF files: archived"),
        "{skipped:?}"
    );
}

#[test]
fn the_archive_preset_cuts_no_body_below_a_gibibyte() {
    let (_server, crawl) = crawl(vec![("/0", page(0, NONE))], &["--preset", "archive"]);
    crawl.complete();
    let settings = std::fs::read_to_string(crawl.out().join("crawler.toml")).unwrap();
    assert!(settings.contains("max-body = \"1GiB\""), "{settings}");
}
