//! `Crawl-delay` and `Sitemap`: other records (section 2.2.4), which no standard defines.

use std::time::Duration;

use web::{CanonicalForm, MAX_CRAWL_DELAY, RobotsRules};

use crate::url;

const MOST: f64 = MAX_CRAWL_DELAY.as_secs() as f64;

fn check(file: &str, seconds: Option<f64>) {
    let rules = RobotsRules::parse(file.as_bytes(), "FooBot");
    assert_eq!(
        rules.crawl_delay(),
        seconds.map(Duration::from_secs_f64),
        "{file}"
    );
}

#[test]
fn a_crawl_delay_is_a_number_of_seconds_within_bounds() {
    for (value, seconds) in [
        ("5", Some(5.0)),
        ("5.0", Some(5.0)),
        ("0.5 # half", Some(0.5)),
        (".25", Some(0.25)),
        ("0", Some(0.0)),
        ("1e1", Some(10.0)),
        ("1e-9", Some(1e-9)),
        ("1e-30", Some(0.0)),
        ("300", Some(MOST)),
        ("300.1", Some(MOST)),
        ("301", Some(MOST)),
        ("1e999", Some(MOST)),
        ("99999999999999999999999999", Some(MOST)),
        ("inf", Some(MOST)),
        ("-1", None),
        ("-0", None),
        ("-inf", None),
        ("NaN", None),
        ("-NaN", None),
        ("soon", None),
        ("5s", None),
        ("0x10", None),
        ("", None),
    ] {
        check(&format!("User-agent: *\nCrawl-delay: {value}"), seconds);
    }
}

#[test]
fn the_crawl_delay_of_our_group_applies() {
    for (file, seconds) in [
        (
            "User-agent: FooBot\nCrawl-delay: 2\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 9",
            Some(2.0),
        ),
        (
            "User-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nCrawl-delay: 9",
            None,
        ),
        (
            "User-agent: BarBot\nCrawl-delay: 2\n\nUser-agent: *\nCrawl-delay: 9",
            Some(9.0),
        ),
        (
            "User-agent: BarBot\nDisallow: /\nUser-agent: *\nCrawl-delay: 9",
            Some(9.0),
        ),
        ("User-agent: BarBot\nDisallow: /\nCrawl-delay: 9", None),
        (
            "User-agent: FooBot\nUser-agent: BarBot\nCrawl-delay: 3",
            Some(3.0),
        ),
        (
            "User-agent: *\nCrawl-delay: 3\nDisallow: /a\nCrawl-delay: 4",
            Some(4.0),
        ),
        ("User-agent: *\nCrawl-delay: 4\nCrawl-delay: -1", Some(4.0)),
        ("Crawl-delay: 5", None),
        ("Crawl-delay: 5\nUser-agent: *\nDisallow: /", None),
    ] {
        check(file, seconds);
    }
}

#[test]
fn sitemaps_are_listed_for_all_crawlers() {
    let file = "Sitemap: https://example.org/a.xml\nUser-agent: BarBot\nSitemap: \
    ftp://x/\nsite-map: http://b.example/s.xml # b\n\
                Sitemap: /relative.xml\nSitemap:\nSITEMAP:https://example.org/c.xml?a=b";
    let rules = RobotsRules::parse(file.as_bytes(), "FooBot");
    let sitemaps: Vec<String> = rules
        .sitemaps(&url("/robots.txt"), &CanonicalForm::keep_all())
        .map(|sitemap| sitemap.to_string())
        .collect();
    // The relative line was dropped, and with it the pages that only this sitemap lists.
    let expected = [
        "https://example.org/a.xml",
        "http://b.example/s.xml",
        "https://example.org/relative.xml",
        "https://example.org/c.xml?a=b",
    ];
    assert_eq!(sitemaps, expected);
}
