//! The views: their figures, and strings from the web in them.

use journal::Fate;

use crate::client::Served;
use crate::crawl::{CrawlFixture, DUPLICATE, EXCLUDED, FAILED, UNIQUE};
use crate::hostile::HOSTILE;

/// Every view, with a part of the page that shows it is the right one.
fn views() -> Vec<(String, &'static str)> {
    let page = |url: &str| format!("/page?url={url}");
    vec![
        ("/".to_owned(), "Newest pages"),
        ("/in-flight".to_owned(), "No page is in flight"),
        ("/hosts".to_owned(), "Next request"),
        ("/hosts?q=site&from=0".to_owned(), "site.test"),
        ("/duplicates".to_owned(), "Newest duplicates"),
        (format!("/cluster?url={UNIQUE}"), "is the original"),
        ("/problems".to_owned(), "Failures by kind"),
        ("/skipped".to_owned(), "Newest exclusions"),
        ("/search".to_owned(), "Page by URL"),
        ("/search?q=quiet+harbour".to_owned(), "no search index"),
        ("/controls".to_owned(), "One host"),
        (page(UNIQUE), "Similar pages"),
        (page(DUPLICATE), "Original"),
        (page(FAILED), "failed"),
        (page(EXCLUDED), "excluded"),
        (page("http://site.test/unknown"), "not-queued"),
        (
            format!("/similar?url={UNIQUE}"),
            "Archived pages that resemble",
        ),
        (format!("/difference?url={DUPLICATE}"), "How it was decided"),
        (format!("/replay?url={UNIQUE}"), "What is known about it"),
        (format!("/replay?url={DUPLICATE}"), "It was not archived"),
        (
            "/replay?url=http://site.test/unknown".to_owned(),
            "no capture of it",
        ),
    ]
}

#[tokio::test]
async fn every_view_shows_its_figures_without_script() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    for (target, words) in views() {
        let page = served.get(&target).await;
        assert_eq!(page.status, 200, "{target}: {}", page.text());
        assert!(page.text().contains(words), "{target}: {}", page.text());
        assert_eq!(page.attribute("html", "lang").as_deref(), Some("en"));
        assert_eq!(page.attribute("main h1", "class"), None);
    }
    let hosts = served.get("/hosts").await.text();
    assert!(hosts.contains("1 to 1 of 1 hosts"), "{hosts}");
    let duplicates = served.get("/duplicates").await;
    assert_eq!(
        duplicates.attribute("#newest tbody a", "href").unwrap(),
        "/page?url=http%3A%2F%2Fsite.test%2Fcopy"
    );
}

#[tokio::test]
async fn no_string_from_the_web_becomes_an_element_or_an_attribute() {
    let plain = Served::of(CrawlFixture::saying("x")).await;
    for (string, shown) in HOSTILE {
        let served = Served::of(CrawlFixture::saying(string)).await;
        for (target, _) in views() {
            let (expected, found) = (plain.get(&target).await, served.get(&target).await);
            assert_eq!(found.status, 200, "{target}: {string:?}");
            // A link to a page has the string in its address, encoded.
            let of = |elements: Vec<String>| -> Vec<String> {
                let mut elements = elements.into_iter();
                let first = elements
                    .by_ref()
                    .filter(|element| !element.contains("?url="));
                first.collect()
            };
            let lines = string.lines().count() == 1;
            if lines {
                assert_eq!(
                    of(found.elements()),
                    of(expected.elements()),
                    "{target}: {string:?}"
                );
            }
            assert!(
                found.text().contains(shown) || string.contains(['\r', '\u{2028}']),
                "{target}: {string:?}"
            );
            let control = |character: char| web::is_command(character) && character != '\n';
            assert!(!found.body.contains(control), "{target}: {string:?}");
        }
    }
}

#[tokio::test]
async fn an_endless_string_is_cut_in_every_view() {
    let served = Served::of(CrawlFixture::saying(&"<".repeat(1 << 20))).await;
    for (target, _) in views() {
        let page = served.get(&target).await;
        assert!(page.body.len() < 512 << 10, "{target}: {}", page.body.len());
    }
}

#[tokio::test]
async fn a_visit_that_is_appended_is_in_the_next_view() {
    let served = Served::of(CrawlFixture::empty("x")).await;
    let page = served.get("/").await.text();
    assert!(page.contains("No URL has been visited yet."), "{page}");
    served.crawl.visit(UNIQUE, Fate::Unique);
    let page = served.get("/").await.text();
    assert!(page.contains("Verdicts of 1 URLs"), "{page}");
}

#[tokio::test]
async fn of_a_damaged_journal_the_part_before_the_damage_is_shown() {
    let crawl = CrawlFixture::saying("x");
    // Damage before a mark that says that this was synced is no torn write.
    crawl.journal.sync(crawl.journal.end()).await.unwrap();
    crawl.journal.mark().unwrap();
    let journal = crawl.path("state/journal");
    let segment = std::fs::read_dir(journal)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mut bytes = std::fs::read(&segment).unwrap();
    let copy = bytes.windows(4).position(|four| four == b"copy").unwrap();
    bytes[copy] ^= 1;
    std::fs::write(&segment, bytes).unwrap();
    let served = Served::of(crawl).await;
    let page = served.get("/").await;
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("The journal is damaged"), "{text}");
    assert!(text.contains("The values cover the"), "{text}");
    let health = served.get("/healthz").await;
    assert_eq!(health.status, 503, "{}", health.body);
}

#[tokio::test]
async fn a_question_that_is_none_is_refused_with_a_sentence() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    for (target, status) in [
        ("/page?url=nonsense", 400),
        ("/page", 400),
        ("/nothing", 404),
        ("/../../etc/passwd", 404),
        ("/%2e%2e/crawler.toml", 404),
        ("/hosts?from=many", 400),
        ("/cluster?url=nonsense", 400),
        ("/cluster", 400),
        ("/search?q=%28", 200),
    ] {
        let page = served.get(target).await;
        assert_eq!(page.status, status, "{target}: {}", page.body);
        assert!(page.header("content-security-policy").is_some(), "{target}");
    }
    for target in [
        "/in-flight?from=99999999999",
        "/cluster?url=http://none.test/&from=7",
    ] {
        assert_eq!(served.get(target).await.status, 200, "{target}");
    }
    let beyond = served.get("/hosts?from=99999999999").await;
    assert!(beyond.text().contains("1 to 1 of 1"), "{}", beyond.text());
}

#[tokio::test]
async fn no_file_outside_the_archive_is_read_though_the_journal_names_one() {
    for name in ["../state/lock", "/etc/passwd", "..", "a/b"] {
        let mut crawl = CrawlFixture::empty("x");
        crawl.file = name.to_owned();
        crawl.visit(UNIQUE, Fate::Unique);
        std::fs::write(crawl.path("state/lock"), "secret").unwrap();
        let served = Served::of(crawl).await;
        let page = served.get(&format!("/page?url={UNIQUE}")).await.text();
        assert!(page.contains("a file outside the archive"), "{page}");
        assert!(
            !page.contains("secret") && !page.contains("root:"),
            "{page}"
        );
    }
}

#[tokio::test]
async fn failures_are_listed_with_the_page_that_links_to_them_and_filtered() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let page = served.get("/problems").await;
    let text = page.text();
    assert!(text.contains(FAILED) && text.contains("1 URL."), "{text}");
    let via = page.attribute("td[data-label='Linked from'] a", "href");
    assert_eq!(via.as_deref(), Some("/page?url=http%3A%2F%2Fsite.test%2F"));
    for (question, is_listed) in [
        ("status=2xx", true),
        ("status=404", false),
        ("host=site", true),
        ("host=broken", false),
        ("reason=x&sort=linked-from", true),
        ("kind=redirects", false),
    ] {
        let text = served.get(&format!("/problems?{question}")).await.text();
        assert_eq!(text.contains(FAILED), is_listed, "{question}: {text}");
    }
    let csv = page.attribute("main a[href^='/visits.csv']", "href");
    assert_eq!(csv.as_deref(), Some("/visits.csv?kind=failures"));
    let csv = served.get("/visits.csv?kind=failures").await;
    assert_eq!(csv.header("content-type"), Some("text/csv; charset=utf-8"));
    let name = csv.header("content-disposition").unwrap();
    assert!(name.contains("failures.csv"), "{name}");
    for wrong in ["/problems?kind=none", "/visits.csv?sort=none"] {
        assert_eq!(served.get(wrong).await.status, 400, "{wrong}");
    }
}

#[tokio::test]
async fn broken_links_out_of_scope_are_listed_with_the_visits_and_filtered() {
    let crawl = CrawlFixture::saying("x");
    let line = |url: &str, verdict: &str, status: u16| {
        format!(
            "{{\"url\":\"{url}\",\"verdict\":\"{verdict}\",\"method\":\"GET\",\"status\":{status},\
             \"checked_at\":\"2026-11-20T18:24:55.120Z\",\"linked_from\":\"{UNIQUE}\"}}\n"
        )
    };
    let lines = [
        line("http://far.test/gone", "broken", 404),
        line("http://far.test/fine", "ok", 200),
    ];
    std::fs::write(crawl.path("link-checks.jsonl"), lines.concat()).unwrap();
    let served = Served::of(crawl).await;
    for (question, is_listed) in [("", true), ("&status=404", true), ("&host=site", false)] {
        let target = format!("/problems?kind=broken-links{question}");
        let text = served.get(&target).await.text();
        assert_eq!(
            text.contains("http://far.test/gone"),
            is_listed,
            "{question}: {text}"
        );
        assert!(!text.contains("http://far.test/fine"), "{text}");
    }
    let failures = served.get("/problems?kind=failures").await.text();
    assert!(!failures.contains("http://far.test/gone"), "{failures}");
    let overview = served.get("/").await.text();
    assert!(overview.contains("Broken links"), "{overview}");
}

#[tokio::test]
async fn the_overview_lists_the_newest_pages_and_its_tiles_are_links() {
    let served = Served::of(CrawlFixture::saying("x")).await;
    let page = served.get("/").await;
    assert_eq!(
        page.attribute("#newest tbody a", "href").as_deref(),
        Some("/page?url=http%3A%2F%2Fsite.test%2Fcopy")
    );
    let failed = page.attribute(".tiles div:nth-child(4) a", "href");
    assert_eq!(failed.as_deref(), Some("/problems"));
    let text = page.text();
    assert!(text.contains("4 of 4 known URLs"), "{text}");
    // No changed page, no line for it.
    assert!(!text.contains("changed"), "{text}");
}
