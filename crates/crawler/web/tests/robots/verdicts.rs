//! Sections 2.3.1.3 and 2.3.1.4, and the content of a verdict.

use web::{CanonicalForm, Grounds, RobotsRules};

use crate::url;

#[test]
fn without_a_file_everything_or_nothing_is_allowed_and_no_rule_is_quoted() {
    for (rules, allowed, grounds) in [
        (RobotsRules::allow_all(), true, Grounds::NoFile),
        (RobotsRules::disallow_all(), false, Grounds::Unreachable),
    ] {
        let verdict = rules.verdict(&url("/a"));
        assert_eq!(
            (verdict.allowed, &verdict.grounds, verdict.rule()),
            (allowed, &grounds, None)
        );
        assert!(rules.verdict(&url("/robots.txt")).allowed);
        let (robots, form) = (url("/robots.txt"), CanonicalForm::keep_all());
        let sitemaps = rules.sitemaps(&robots, &form);
        assert_eq!((rules.crawl_delay(), sitemaps.count()), (None, 0));
    }
}

#[test]
fn a_verdict_names_the_rule_its_line_its_group_and_the_section() {
    let file = b"User-agent: FOOBOT/2\nDisallow: /priv%61te/\x1b[31m*x$\n";
    let verdict = RobotsRules::parse(file, "FooBot").verdict(&url("/private/%1B[31m/x"));
    let rule = verdict.rule().unwrap();
    // The text has no control characters for a terminal.
    assert_eq!(rule.to_string(), "Disallow: /private/%1B[31m*x$");
    assert_eq!(
        (rule.line, rule.group.as_str(), rule.allow),
        (2, "FooBot", false)
    );
    assert_eq!(verdict.grounds.section(), "2.2.2");
    let everybodys =
        RobotsRules::parse(b"User-agent: *\nAllow: /%2A%24*", "FooBot").verdict(&url("/*$"));
    assert_eq!(everybodys.rule().map(|rule| rule.group.as_str()), Some("*"));
    assert_eq!(everybodys.grounds.to_string(), "Allow: /%2A%24*");
}

#[test]
fn every_kind_of_grounds_has_a_section() {
    for (grounds, section) in [
        (Grounds::Itself, "2.2.2"),
        (Grounds::NoRule, "2.2.2"),
        (Grounds::NoGroup, "2.2.1"),
        (Grounds::NoFile, "2.3.1.3"),
        (Grounds::Unreachable, "2.3.1.4"),
        (Grounds::TooCostly, "3"),
    ] {
        assert_eq!(grounds.section(), section, "{grounds}");
    }
}
