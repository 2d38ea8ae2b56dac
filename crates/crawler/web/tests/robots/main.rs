//! RFC 9309, case by case, each with its section, and the conventions around the standard.
//!
//! The cases of google/robotstxt and the examples of its documentation suggested the questions.
//! That program deliberately differs from the standard in places (`index.html`, lines that are too
//! long); the tests follow the standard.

mod agents;
mod cost;
mod delays;
mod encoding;
mod examples;
mod lines;
mod notepad;
mod oracle;
mod paths;
mod special;
mod verdicts;

use web::{CanonicalForm, PageUrl, RobotsRules};

fn url(path: &str) -> PageUrl {
    let text = format!("https://example.org{path}");
    PageUrl::parse(&text, &CanonicalForm::keep_all()).expect("a URL")
}

/// Checks the verdicts of a file on URLs: whether each is allowed, and the line and rule behind it,
/// no rule (`-`), or no group.
fn check(section: &str, file: impl AsRef<[u8]>, agent: &str, expected: &[(&str, bool, &str)]) {
    let file = file.as_ref();
    let rules = RobotsRules::parse(file, agent);
    for (path, allowed, grounds) in expected {
        let verdict = rules.verdict(&url(path));
        let found = match (&verdict.grounds, verdict.rule()) {
            (_, Some(rule)) => format!("{} {rule}", rule.line),
            (web::Grounds::NoRule, _) => "-".to_owned(),
            (web::Grounds::NoGroup, _) => "no group".to_owned(),
            (other, _) => other.to_string(),
        };
        assert_eq!(
            (verdict.allowed, found.as_str()),
            (*allowed, *grounds),
            "section {section}: {path} for {agent} in\n{}",
            String::from_utf8_lossy(file)
        );
    }
}

/// Checks the verdicts on paths of rules for everybody, one a line.
fn rules(section: &str, rules: &[&str], expected: &[(&str, bool)]) {
    let file = format!("User-agent: *\n{}", rules.join("\n"));
    let read = RobotsRules::parse(file.as_bytes(), "FooBot");
    for (path, allowed) in expected {
        let verdict = read.verdict(&url(path));
        assert_eq!(
            verdict.allowed, *allowed,
            "section {section}: {path} in\n{file}"
        );
    }
}
