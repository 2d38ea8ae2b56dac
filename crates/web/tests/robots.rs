//! RFC 9309, case by case, and what stands around it.

use std::time::Duration;

use web::{CanonicalForm, MAX_CRAWL_DELAY, MAX_ROBOTS_BYTES, PageUrl, RobotsRules};

const US: &str = "FooBot";

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("https://example.org{path}"), &CanonicalForm::keep_all()).expect("a URL")
}

fn allowed(file: &str, path: &str) -> bool {
    RobotsRules::parse(file.as_bytes(), US)
        .verdict(&url(path))
        .allowed
}

#[test]
fn the_standard_is_followed() {
    for (section, file, path, expected) in [
        // 2.2.1 The User-Agent Line
        ("2.2.1 our group", "User-agent: FooBot\nDisallow: /a", "/a", false),
        ("2.2.1 any case", "USER-AGENT: foobot\nDisallow: /a", "/a", false),
        (
            "2.2.1 another's group",
            "User-agent: BarBot\nDisallow: /a",
            "/a",
            true,
        ),
        (
            "2.2.1 a longer name is another's",
            "User-agent: FooBot-Images\nDisallow: /a",
            "/a",
            true,
        ),
        (
            "2.2.1 a shorter name is another's",
            "User-agent: Foo\nDisallow: /a",
            "/a",
            true,
        ),
        (
            "2.2.1 no group for us: everybody's",
            "User-agent: BarBot\nAllow: /\n\nUser-agent: *\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.2.1 ours instead of everybody's",
            "User-agent: *\nDisallow: /\n\nUser-agent: FooBot\nDisallow: /a",
            "/b",
            true,
        ),
        (
            "2.2.1 ours first, the same",
            "User-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /",
            "/b",
            true,
        ),
        (
            "2.2.1 groups for us are merged",
            "User-agent: FooBot\nDisallow: /a\n\nUser-agent: *\nDisallow: /c\n\nUser-agent: FooBot\nDisallow: /b",
            "/b",
            false,
        ),
        (
            "2.2.1 and the first of them",
            "User-agent: FooBot\nDisallow: /a\n\nUser-agent: FooBot\nDisallow: /b",
            "/a",
            false,
        ),
        (
            "2.2.1 everybody's groups are merged",
            "User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /b",
            "/a",
            false,
        ),
        (
            "2.2.1 one group for several",
            "User-agent: BarBot\nUser-agent: FooBot\nDisallow: /a",
            "/a",
            false,
        ),
        ("2.2.1 no group at all", "Disallow: /a", "/a", true),
        (
            "2.2.1 an empty group for us",
            "User-agent: *\nDisallow: /\n\nUser-agent: FooBot\nDisallow:",
            "/a",
            true,
        ),
        (
            "2.2.1 a version is no part of the name",
            "User-agent: FooBot/2.1 (+https://foo.example)\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.2.1 white space around it",
            "  user-agent  :\t FooBot \nDisallow: /a",
            "/a",
            false,
        ),
        // 2.2.2 The Allow and Disallow Lines
        ("2.2.2 no rule matches", "User-agent: *\nDisallow: /a", "/b", true),
        ("2.2.2 prefix", "User-agent: *\nDisallow: /a", "/abc/d", false),
        ("2.2.2 case matters", "User-agent: *\nDisallow: /A", "/a", true),
        ("2.2.2 empty disallow", "User-agent: *\nDisallow:", "/a", true),
        (
            "2.2.2 the longest wins",
            "User-agent: *\nDisallow: /example/page/disallowed.gif\nAllow: /example/page/",
            "/example/page/disallowed.gif",
            false,
        ),
        (
            "2.2.2 the longest wins, allowing",
            "User-agent: *\nDisallow: /example/\nAllow: /example/page/",
            "/example/page/a",
            true,
        ),
        (
            "2.2.2 order does not matter",
            "User-agent: *\nAllow: /example/page/\nDisallow: /example/",
            "/example/page/a",
            true,
        ),
        (
            "2.2.2 allow wins a tie",
            "User-agent: *\nDisallow: /page\nAllow: /page",
            "/page",
            true,
        ),
        (
            "2.2.2 robots.txt itself",
            "User-agent: *\nDisallow: /",
            "/robots.txt",
            true,
        ),
        (
            "2.2.2 the query is matched",
            "User-agent: *\nDisallow: /a?b=",
            "/a?b=1",
            false,
        ),
        (
            "2.2.2 and another query is not",
            "User-agent: *\nDisallow: /a?b=",
            "/a?c=1",
            true,
        ),
        (
            "2.2.2 a URL in a query",
            "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar",
            "/foo/bar?baz=https://foo.bar",
            false,
        ),
        (
            "2.2.2 beyond ASCII, rule in UTF-8",
            "User-agent: *\nDisallow: /foo/bar/ツ",
            "/foo/bar/%E3%83%84",
            false,
        ),
        (
            "2.2.2 beyond ASCII, rule encoded",
            "User-agent: *\nDisallow: /foo/bar/%E3%83%84",
            "/foo/bar/ツ",
            false,
        ),
        (
            "2.2.2 beyond ASCII, lower-case hex",
            "User-agent: *\nDisallow: /foo/bar/%e3%83%84",
            "/foo/bar/ツ",
            false,
        ),
        (
            "2.2.2 unreserved characters encoded",
            "User-agent: *\nDisallow: /foo/bar/%62%61%7A",
            "/foo/bar/baz",
            false,
        ),
        (
            "2.2.2 unreserved in the URL",
            "User-agent: *\nDisallow: /foo/bar/baz",
            "/foo/bar/%62%61%7A",
            false,
        ),
        (
            "2.2.2 an encoded slash is no slash",
            "User-agent: *\nDisallow: /a/b",
            "/a%2Fb",
            true,
        ),
        (
            "2.2.2 no leading slash",
            "User-agent: *\nDisallow: a",
            "/a",
            false,
        ),
        // 2.2.3 Special Characters
        (
            "2.2.3 comment",
            "User-agent: * # all\nDisallow: /a # not this\n# Disallow: /b",
            "/b",
            true,
        ),
        (
            "2.2.3 comment after a value",
            "User-agent: *\nDisallow: /a# x",
            "/abc",
            false,
        ),
        (
            "2.2.3 end of pattern",
            "User-agent: *\nDisallow: /a$",
            "/a",
            false,
        ),
        (
            "2.2.3 end of pattern, more follows",
            "User-agent: *\nDisallow: /a$",
            "/ab",
            true,
        ),
        (
            "2.2.3 end of pattern, query",
            "User-agent: *\nDisallow: /a$",
            "/a?b",
            true,
        ),
        (
            "2.2.3 any characters",
            "User-agent: *\nDisallow: /this/*/exactly",
            "/this/path/exactly",
            false,
        ),
        (
            "2.2.3 any characters, none",
            "User-agent: *\nDisallow: /a*b",
            "/ab",
            false,
        ),
        (
            "2.2.3 any characters and end",
            "User-agent: *\nDisallow: /*.gif$",
            "/x/y.gif",
            false,
        ),
        (
            "2.2.3 any characters and end, more",
            "User-agent: *\nDisallow: /*.gif$",
            "/x/y.gif?z",
            true,
        ),
        (
            "2.2.3 star at the end",
            "User-agent: *\nDisallow: /a*",
            "/ab",
            false,
        ),
        (
            "2.2.3 a literal star",
            "User-agent: *\nDisallow: /path/file-with-a-%2A.html",
            "/path/file-with-a-*.html",
            false,
        ),
        (
            "2.2.3 a literal dollar",
            "User-agent: *\nDisallow: /path/foo-%24",
            "/path/foo-$",
            false,
        ),
        (
            "2.2.3 a dollar within is itself",
            "User-agent: *\nDisallow: /a$b",
            "/a$b",
            false,
        ),
        (
            "2.2.3 a literal star is no wildcard",
            "User-agent: *\nDisallow: /a%2Ab",
            "/axb",
            true,
        ),
        // 2.2.4 Other Records
        (
            "2.2.4 unknown records",
            "User-agent: *\nFoo: bar\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.2.4 a sitemap does not end a group",
            "User-agent: FooBot\nSitemap: https://example.org/s.xml\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.2.4 nor does it part names",
            "User-agent: FooBot\nSitemap: https://example.org/s.xml\nUser-agent: BarBot\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.2.4 nor does a crawl delay",
            "User-agent: FooBot\nCrawl-delay: 1\nUser-agent: BarBot\nDisallow: /a",
            "/a",
            false,
        ),
        // 2.3, 2.4: how a file is written
        (
            "2.3 a byte order mark",
            "\u{feff}User-agent: *\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "2.3 carriage returns",
            "User-agent: *\r\nDisallow: /a\r\n",
            "/a",
            false,
        ),
        (
            "2.3 only carriage returns",
            "User-agent: *\rDisallow: /a\r",
            "/a",
            false,
        ),
        (
            "2.3 blank lines within a group",
            "User-agent: *\n\nDisallow: /b\n\nDisallow: /a",
            "/a",
            false,
        ),
        (
            "5.1 the standard's example, ours",
            EXAMPLE,
            "/example/page.html",
            false,
        ),
        (
            "5.1 the standard's example, allowed",
            EXAMPLE,
            "/publications/",
            true,
        ),
        ("5.1 the standard's example, gif", EXAMPLE, "/a.gif", false),
        (
            "5.1 the standard's example, the longer rule",
            EXAMPLE,
            "/publications/a.gif",
            true,
        ),
    ] {
        assert_eq!(allowed(file, path), expected, "{section}: {path} of\n{file}");
    }
}

const EXAMPLE: &str = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
                       User-Agent: barbot\nDisallow: /\n\nUser-Agent: bazbot\nUser-Agent: quxbot\n\nEOF";

#[test]
fn a_verdict_quotes_the_rule_that_decided() {
    let rules = RobotsRules::parse(b"User-agent: *\nDisallow: /priv%61te\nAllow: /private/open", US);
    for (path, allowed, rule) in [
        ("/private/x", false, Some("Disallow: /private")),
        ("/private/open", true, Some("Allow: /private/open")),
        ("/", true, None),
    ] {
        let verdict = rules.verdict(&url(path));
        assert_eq!(
            (verdict.allowed, verdict.rule.as_deref()),
            (allowed, rule),
            "{path}"
        );
    }
}

#[test]
fn without_a_file_all_is_allowed_or_nothing_and_no_rule_is_quoted() {
    for (rules, expected) in [
        (RobotsRules::allow_all(), true),
        (RobotsRules::disallow_all(), false),
    ] {
        let verdict = rules.verdict(&url("/a"));
        assert_eq!((verdict.allowed, verdict.rule), (expected, None));
        assert!(rules.verdict(&url("/robots.txt")).allowed);
        assert_eq!((rules.crawl_delay(), rules.sitemaps()), (None, &[][..]));
    }
}

#[test]
fn the_crawlers_own_name_is_cut_to_its_token() {
    let rules = RobotsRules::parse(
        b"User-agent: foobot\nDisallow: /a",
        "FooBot/1.0 (+https://foo.example)",
    );
    assert!(!rules.verdict(&url("/a")).allowed);
}

#[test]
fn a_crawl_delay_is_that_of_our_group_and_has_a_ceiling() {
    for (file, delay) in [
        ("User-agent: *\nCrawl-delay: 5", Some(5.0)),
        ("User-agent: *\nCrawl-delay: 0.5 # half", Some(0.5)),
        ("User-agent: *\nCrawl-delay: 0", Some(0.0)),
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
        (
            "User-agent: *\nCrawl-delay: 1e999",
            Some(MAX_CRAWL_DELAY.as_secs_f64()),
        ),
        (
            "User-agent: *\nCrawl-delay: inf",
            Some(MAX_CRAWL_DELAY.as_secs_f64()),
        ),
        (
            "User-agent: *\nCrawl-delay: 301",
            Some(MAX_CRAWL_DELAY.as_secs_f64()),
        ),
        ("User-agent: *\nCrawl-delay: NaN", None),
        ("User-agent: *\nCrawl-delay: -1", None),
        ("User-agent: *\nCrawl-delay: soon", None),
        ("Crawl-delay: 5", None),
    ] {
        let rules = RobotsRules::parse(file.as_bytes(), US);
        assert_eq!(rules.crawl_delay(), delay.map(Duration::from_secs_f64), "{file}");
    }
}

#[test]
fn sitemaps_are_everybodys() {
    let rules = RobotsRules::parse(
        b"Sitemap: https://example.org/a.xml\nUser-agent: BarBot\nSitemap: ftp://x/\nSitemap: http://b.example/s.xml",
        US,
    );
    let sitemaps: Vec<&str> = rules.sitemaps().iter().map(PageUrl::as_str).collect();
    assert_eq!(sitemaps, ["https://example.org/a.xml", "http://b.example/s.xml"]);
}

#[test]
fn a_file_is_read_up_to_its_limit_and_a_cut_rule_is_none() {
    let rules = |filler: usize, rule: &str| {
        let mut file = format!("User-agent: *\n#{}\n", "x".repeat(filler - 16));
        assert_eq!(file.len(), filler);
        file.push_str(rule);
        RobotsRules::parse(file.as_bytes(), US)
    };
    let rule = "Disallow: /a\n";
    let fits = MAX_ROBOTS_BYTES - rule.len();
    assert!(!rules(fits, rule).verdict(&url("/a")).allowed);
    assert!(rules(fits + 2, rule).verdict(&url("/a")).allowed);
    // Cut in the middle it would read `Disallow: /`.
    assert!(rules(fits + 2, rule).verdict(&url("/b")).allowed);
}

#[test]
fn any_bytes_are_a_robots_file() {
    for body in [
        &b""[..],
        b"\xff\xfe\x00",
        b"<html>not found</html>",
        b"User-agent",
        b"User-agent:",
        b":\n:::\n#",
    ] {
        assert!(
            RobotsRules::parse(body, US).verdict(&url("/a")).allowed,
            "{body:?}"
        );
    }
}
