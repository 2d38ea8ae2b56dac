//! The whole toy web, crawled with the defaults: every page has its planned fate.

use serde_json::Value;
use testkit::{Declared, Fate, Server, ToyWeb};

use crate::support::Crawl;
use crate::support::pages::BEHIND_COPIES;

/// The toy web, crawled from all its seeds.
fn crawled() -> (ToyWeb, Server, Crawl, Value) {
    let toy = ToyWeb::new();
    let server = Server::spawn_thread(toy.site());
    let hosts = toy.hosts();
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    // The calendar without end would be probed until a sample brings nothing new, which
    // tests/discovery/traps.rs covers; here it ends.
    let crawl = Crawl::of(&server, &hosts)
        .seeds(&toy.seeds(server.port()))
        .with(&["--exclude", BEHIND_COPIES]);
    let summary = crawl.complete();
    (toy, server, crawl, summary)
}

#[test]
fn every_page_of_the_toy_web_has_the_expected_fate() {
    let (toy, server, crawl, summary) = crawled();
    assert_eq!(toy.faults(&server.log()), Vec::<String>::new());

    let tally = toy.tally();
    let kept = tally.unique + tally.files;
    let pages = kept + tally.exact_copies + tally.near_copies;
    for (name, expected) in [
        ("pages", pages),
        ("unique", kept),
        ("exact_duplicates", tally.exact_copies),
        ("near_duplicates", tally.near_copies),
        ("failed", tally.missing),
        // A page that robots.txt disallows, and a redirect to another.
        ("excluded", 2),
        ("hosts", toy.hosts().len()),
    ] {
        assert_eq!(summary[name], expected, "{name} in {summary}");
    }

    let url = |page: &str| toy.url(page, server.port());
    let visits = crawl.visits();
    let archived = crawl.archived();
    for truth in toy.truth() {
        // The target of a redirect is reported under the URL that redirects.
        let found = visits.iter().find(|visit| {
            visit["url"] == url(&truth.page) || visit["final_url"] == url(&truth.page)
        });
        let verdict = found.map(|visit| visit["verdict"].as_str().unwrap());
        let original = found.and_then(|visit| visit["duplicate_of"].as_str().map(str::to_owned));
        let in_archive = archived.contains(&url(&truth.page));
        let (expected, of, is_kept) = match &truth.fate {
            Fate::Unique | Fate::File => (Some("unique"), None, true),
            Fate::ExactCopy(of) => (Some("exact-duplicate"), Some(url(of)), false),
            Fate::NearCopy(of) => (Some("near-duplicate"), Some(url(of)), false),
            Fate::Missing => (Some("failed"), None, true),
            // A hop on the way has no visit of its own.
            Fate::Redirect(_) => (verdict, None, true),
            // It has a visit where robots.txt was what kept it out.
            Fate::Untouchable(_) => (
                verdict.filter(|verdict| *verdict == "excluded"),
                None,
                false,
            ),
        };
        assert_eq!(
            (verdict, original, in_archive),
            (expected, of, is_kept),
            "{truth:?}"
        );
    }
    crawl.is_sound();
}

#[test]
fn pages_in_any_charset_are_read() {
    let (toy, server, crawl, _summary) = crawled();
    for page in toy.charset_pages() {
        let visit = crawl.visit(&toy.url(page.page, server.port()));
        // Where nothing is declared, the charset is guessed; koi8-u differs from koi8-r in letters
        // that Russian does not have.
        let close = page.declared == Declared::Nowhere
            && visit["charset"].as_str().unwrap().starts_with("KOI8");
        assert!(close || visit["charset"] == page.charset.name(), "{visit}");
        assert_eq!(visit["language"], page.language, "{visit}");
        let title = visit["title"].as_str().unwrap();
        assert!(
            page.text.starts_with(title) && title.chars().count() > 10,
            "{visit}"
        );
    }
}
