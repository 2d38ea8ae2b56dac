//! Preferences of owners, by the documents that define them.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use web::{
    CanonicalForm, Document, Exchange, PageUrl, PreferenceSource, Preferences, Protocol,
    ReadLimits, ResponseMetadata, RobotsRules, SiteFile, Timestamp, Usage, Usages,
    page_preferences,
};

/// Returns a response from `http://a.test` with these fields.
fn page(path: &str, fields: &[(&'static str, &str)]) -> Exchange {
    let url = format!("http://a.test{path}");
    let mut headers = HeaderMap::new();
    for (name, value) in fields {
        let value = HeaderValue::from_str(value).expect("it is a value");
        headers.append(HeaderName::from_static(name), value);
    }
    Exchange {
        url: PageUrl::parse(&url, &CanonicalForm::default()).expect("it is a URL"),
        request_head: Vec::new(),
        status: 200,
        headers,
        body: Vec::new().into(),
        truncated: None,
        warnings: Vec::new(),
        address: None,
        protocol: Protocol::Http11,
        started: Timestamp::default(),
        elapsed: Duration::ZERO,
    }
}

fn document(page: &Exchange, html: &str) -> Document {
    let robots: Vec<&str> = page.header("x-robots-tag").into_iter().collect();
    let metadata = ResponseMetadata {
        content_type: page.header("content-type"),
        x_robots_tag: &robots,
        agent: "ourbot",
        ..ResponseMetadata::of(&page.url)
    };
    let form = CanonicalForm::default();
    web::read(html.as_bytes(), &metadata, &form, &ReadLimits::default())
}

/// Returns the preferences for a page without markup.
fn stated(robots: &str, page: &Exchange) -> String {
    let rules = RobotsRules::parse(robots.as_bytes(), "ourbot");
    page_preferences(Some(&rules), page, document(page, "").directives).to_string()
}

#[test]
fn the_longest_path_of_content_usage_decides() {
    // The example of draft-ietf-aipref-attach, section 4.5.
    let robots = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\n\
                  Content-Usage: /ai-ok/ train-ai=y\n\n\
                  User-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n";
    let of = |path| stated(robots, &page(path, &[]));
    assert_eq!(of("/test"), "train=n (robots.txt content-usage)");
    assert_eq!(of("/ai-ok/test"), "train=y (robots.txt content-usage)");
    let rules = RobotsRules::parse(robots.as_bytes(), "ExampleBot");
    let asked = page("/test", &[]);
    let directives = document(&asked, "").directives;
    assert_eq!(
        page_preferences(Some(&rules), &asked, directives).to_string(),
        "train=y (robots.txt content-usage)"
    );
}

#[test]
fn content_usage_is_a_dictionary_of_known_labels() {
    // draft-ietf-aipref-vocab, sections 6 and 6.5.
    for (value, expected) in [
        ("train-ai=y, search=n", "train=y, search=n"),
        ("train-ai=n", "train=n"),
        ("train-genai=n", "train=n"),
        ("ai-use=n;why=\"x\"", "input=n"),
        // The last value of a label counts, and neither is a token.
        ("train-ai=y, train-ai, search=n, search=\"n\"", ""),
        ("train-ai;allow=n, train-ai=y", "train=y"),
        ("train-ai;has;parameters=\"?\";", ""),
        // Labels are case-sensitive, and one bad label spoils the dictionary.
        ("Train-AI=n, search=n", ""),
        ("train-ai=no", ""),
        ("train-ai=N", ""),
        ("bots=n, other=?1", ""),
        ("", ""),
    ] {
        let known = stated("", &page("/", &[("content-usage", value)]));
        let known = known.replace(" (content-usage header)", "");
        assert_eq!(known, expected, "{value}");
    }
}

#[test]
fn content_signals_are_read_as_people_write_them() {
    for (line, expected) in [
        (
            "Content-Signal: search=yes, ai-train=no",
            "train=n, search=y",
        ),
        (
            "content-signal: search=yes,ai-train=no,ai-input=yes",
            "train=n, input=y, search=y",
        ),
        ("Content-Signal: AI-Train=No", "train=n"),
        ("Content-Signal: /a/ ai-train=no", "train=n"),
        ("Content-Signal: /b/ ai-train=no", ""),
        ("Content-Signal: ai-train", ""),
        ("Content-Signal:", ""),
        ("Content-Signal: /a/", ""),
    ] {
        let robots = format!("User-agent: *\n{line}\nAllow: /\n");
        let known = stated(&robots, &page("/a/b", &[]));
        let known = known.replace(" (robots.txt content-signal)", "");
        assert_eq!(known, expected, "{line}");
    }
}

#[test]
fn a_content_signal_does_not_end_the_names_of_a_group() {
    // Parsers that do not know the line read one group, which excludes both.
    let robots =
        "User-agent: ourbot\nContent-Signal: ai-train=no\nUser-agent: other\nDisallow: /\n";
    let rules = RobotsRules::parse(robots.as_bytes(), "ourbot");
    assert!(!rules.verdict(&page("/a", &[]).url).allowed);
}

#[test]
fn statements_for_other_crawlers_do_not_count() {
    let robots = "Content-Usage: / search=n\nUser-agent: other\nContent-Usage: / train-ai=n\n";
    assert_eq!(stated(robots, &page("/a", &[])), "");
}

#[test]
fn a_refusal_wins_over_a_permission_of_another_place() {
    let robots = "User-agent: *\nContent-Signal: ai-train=yes, search=yes\n";
    let header = [("content-usage", "train-ai=n, search=y")];
    assert_eq!(
        stated(robots, &page("/", &header)),
        "train=n (content-usage header), search=y (content-usage header)"
    );
    let robots = "User-agent: *\nContent-Usage: /a train-ai=y\nContent-Usage: /a train-ai=n\n";
    assert_eq!(
        stated(robots, &page("/a", &[])),
        "train=n (robots.txt content-usage)"
    );
}

#[test]
fn lines_of_a_repeated_header_are_one_dictionary() {
    let fields = [
        ("content-usage", "train-ai=n"),
        ("content-usage", "search=y"),
    ];
    assert_eq!(
        stated("", &page("/", &fields)),
        "train=n (content-usage header), search=y (content-usage header)"
    );
}

/// Returns the preferences for a page of a site with this TDM file.
fn with_tdm(file: &str, page: &Exchange, html: &str) -> String {
    let mut rules = RobotsRules::allow_all();
    rules.add_site_lines(SiteFile::Tdm.lines(file.as_bytes(), "ourbot").as_bytes());
    page_preferences(Some(&rules), page, document(page, html).directives).to_string()
}

#[test]
fn the_first_match_of_a_tdm_file_counts() {
    // The example of TDMRep, section 5.1.2, with a rule for the rest.
    let file = r#"[
        {"location": "/directory-a/", "tdm-reservation": 1},
        {"location": "/directory-b/html/", "tdm-reservation": 1, "tdm-policy": "https://a.test/p"},
        {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0},
        {"location": "/directory-b/images/secret.jpg", "tdm-reservation": 1},
        {"location": "/odd", "tdm-reservation": "1"},
        {"location": "/wrong", "tdm-reservation": 2},
        {"location": "/wrong"},
        "wrong"
    ]"#;
    for (path, expected) in [
        ("/directory-a/x.pdf", "train=n (tdmrep.json)"),
        ("/directory-b/html/x", "train=n (tdmrep.json)"),
        ("/directory-b/images/x.jpg", "train=y (tdmrep.json)"),
        ("/directory-b/images/secret.jpg", "train=y (tdmrep.json)"),
        ("/odd", "train=n (tdmrep.json)"),
        ("/wrong", ""),
        ("/other", ""),
    ] {
        assert_eq!(with_tdm(file, &page(path, &[]), ""), expected, "{path}");
    }
    for file in ["", "{}", "[", "[[[[[[[[", "null", "\u{0}"] {
        assert_eq!(with_tdm(file, &page("/", &[]), ""), "", "{file}");
    }
}

#[test]
fn the_page_precedes_its_header_and_the_header_the_file() {
    // TDMRep, section 5.6.
    let file = r#"[{"location": "/", "tdm-reservation": 1}]"#;
    let header = |value| {
        page(
            "/",
            &[("tdm-reservation", value), ("content-type", "text/html")],
        )
    };
    let meta = |value| format!("<meta name=TDM-Reservation content=\"{value}\"><p>text");
    for (header, meta, expected) in [
        (header("0"), meta(""), "train=y (tdm-reservation header)"),
        (header("1"), meta("0"), "train=y (tdm-reservation meta)"),
        (header("0"), meta("1"), "train=n (tdm-reservation meta)"),
        // Other values leave the current one.
        (header("yes"), meta("2"), "train=n (tdmrep.json)"),
    ] {
        assert_eq!(with_tdm(file, &header, &meta), expected);
    }
}

#[test]
fn an_ai_txt_is_read_like_a_robots_txt() {
    for (file, path, expected) in [
        (
            "User-Agent: *\nDisallow: *.jpg\nAllow: *.txt\n",
            "/a/b.jpg",
            "train=n (ai.txt)",
        ),
        (
            "User-Agent: *\nDisallow: *.jpg\nAllow: *.txt\n",
            "/a/b.txt",
            "train=y (ai.txt)",
        ),
        (
            "User-Agent: *\nDisallow: /\nAllow: /open/\n",
            "/open/x",
            "train=y (ai.txt)",
        ),
        (
            "User-Agent: *\nDisallow: /\nAllow: /open/\n",
            "/x",
            "train=n (ai.txt)",
        ),
        ("User-Agent: other\nDisallow: /\n", "/x", ""),
        (
            "# About our product\nWe sell shoes: all of them.\n",
            "/x",
            "",
        ),
    ] {
        let mut rules = RobotsRules::allow_all();
        rules.add_site_lines(SiteFile::AiTxt.lines(file.as_bytes(), "ourbot").as_bytes());
        let asked = page(path, &[]);
        let known = page_preferences(Some(&rules), &asked, document(&asked, "").directives);
        assert_eq!(known.to_string(), expected, "{file} {path}");
        assert!(
            rules.verdict(&asked.url).allowed,
            "it is no rule about requests"
        );
    }
}

#[test]
fn noai_refuses_training_and_noimageai_that_of_images() {
    for (media, robots, html, expected) in [
        ("text/html", "noai", "", "train=n (noai)"),
        (
            "text/html",
            "",
            "<meta name=robots content='noai, noimageai'>",
            "train=n (noai)",
        ),
        ("text/html", "noimageai", "", ""),
        ("image/png", "noimageai", "", "train=n (noai)"),
        ("text/html", "otherbot: noai", "", ""),
    ] {
        let fields = [("content-type", media), ("x-robots-tag", robots)];
        let page = page("/", &fields);
        let directives = document(&page, html).directives;
        let known = page_preferences(None, &page, directives);
        assert_eq!(known.to_string(), expected, "{media} {robots} {html}");
    }
}

#[test]
fn rules_that_cost_too_much_refuse_every_use() {
    let stars = "*a".repeat(40);
    let lines = format!("Content-Usage: /{stars}b train-ai=y\n").repeat(4_000);
    let robots = format!("User-agent: *\n{lines}");
    let known = stated(&robots, &page(&format!("/{}", "a".repeat(2_000)), &[]));
    assert_eq!(known.matches("=n").count(), Usage::ALL.len(), "{known}");
}

#[test]
fn a_list_of_uses_is_parsed_from_words() {
    let uses: Usages = "search, train".parse().unwrap();
    assert_eq!(uses.to_string(), "train,search");
    assert!("none".parse::<Usages>().unwrap().is_empty());
    assert!(uses.contains(Usage::Train) && !uses.contains(Usage::Input));
    let bad = "train,bots".parse::<Usages>().unwrap_err().to_string();
    assert_eq!(bad, "must be train, input, search or none, got \"bots\"");
}

proptest! {
    #[test]
    fn preferences_are_parsed_as_they_were_written(
        robots in "(Content-(Usage|Signal): (/[ab]? )?\
                   ((train-ai|search|ai-train)=(y|n|yes|no),?)+\n){0,4}",
        header in "(train-ai=[yn])?(, )?(search=[yn])?",
        path in "/[ab]?",
    ) {
        let known = stated(
            &format!("User-agent: *\n{robots}"),
            &page(&path, &[("content-usage", &header)]),
        );
        let parsed: Preferences = known.parse().unwrap();
        prop_assert_eq!(parsed.to_string(), known);
    }

    #[test]
    fn no_file_and_no_header_makes_reading_fail(file in any::<Vec<u8>>(), value in "[ -~]{0,40}") {
        let mut rules = RobotsRules::parse(&file, "ourbot");
        for site_file in SiteFile::ALL {
            rules.add_site_lines(site_file.lines(&file, "ourbot").as_bytes());
        }
        rules.add_site_lines(&file);
        let fields = [("content-usage", value.as_str()), ("tdm-reservation", value.as_str())];
        let asked = page("/a", &fields);
        let known = page_preferences(Some(&rules), &asked, document(&asked, "").directives);
        prop_assert!(known.to_string().parse::<Preferences>().is_ok());
    }
}

#[test]
fn a_source_has_one_name() {
    for text in [
        "train=n (noai)",
        "train=y (ai.txt), search=n (content-signal header)",
        "",
    ] {
        let known: Preferences = text.parse().unwrap();
        assert_eq!(known.to_string(), text);
    }
    let known: Preferences = "train=y (ai.txt), search=n (noai)".parse().unwrap();
    assert_eq!(known.source(), Some(PreferenceSource::NoAi));
    for bad in [
        "train",
        "train=n",
        "train=x (noai)",
        "train=n (somewhere)",
        "bots=n (noai)",
    ] {
        assert!(bad.parse::<Preferences>().is_err(), "{bad}");
    }
}
