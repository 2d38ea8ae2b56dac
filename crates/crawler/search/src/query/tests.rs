use proptest::prelude::*;

use super::clause::{Clause, SearchField};
use super::*;
use crate::words::tokens::PAIR;

/// Returns the parsed query, or the error, as text.
fn understood(text: &str) -> String {
    match Query::parse(text) {
        Ok(query) => shown(&query.root),
        Err(error) => format!("{error}"),
    }
}

fn shown(clause: &Clause) -> String {
    let all = |clauses: &[Clause], joint: &str| {
        let understood: Vec<String> = clauses.iter().map(shown).collect();
        format!("({})", understood.join(joint))
    };
    match clause {
        Clause::All(clauses) => all(clauses, " & "),
        Clause::Any(clauses) => all(clauses, " | "),
        Clause::Not(clause) => format!("!{}", shown(clause)),
        Clause::Words(part, words) => {
            let terms: Vec<String> = words
                .terms
                .iter()
                .map(|(at, term)| format!("{at}{}", term.replace(PAIR, "⸱")))
                .collect();
            let part = match part {
                SearchField::Page => "",
                SearchField::Title => "title ",
                SearchField::Text => "text ",
                SearchField::Address => "url ",
            };
            format!(
                "{part}{}{}",
                terms.join(" "),
                if words.open { "…" } else { "" }
            )
        }
        Clause::Host(host) => format!("host {host}"),
        Clause::Language(language) => format!("lang {language}"),
        Clause::After(date) => format!("from {date}"),
        Clause::Before(date) => format!("to {date}"),
    }
}

#[test]
fn queries_mean_what_people_expect() {
    for (text, meaning) in [
        ("page", "0page"),
        ("two Words", "(0two & 0words)"),
        ("two AND words", "(0two & 0words)"),
        ("\"two words\"", "0two 1words"),
        ("a b OR c d", "((0a & 0b) | (0c & 0d))"),
        ("a (b OR c)", "(0a & (0b | 0c))"),
        ("a -b NOT c +d", "(0a & !0b & !0c & 0d)"),
        ("-\"a b\"", "!0a 1b"),
        (
            "title:page url:a/b text:\"x y\"",
            "(title 0page & url 0a 1b & text 0x 1y)",
        ),
        (
            "host:Example.org lang:de-AT",
            "(host example.org & lang de)",
        ),
        ("host:bücher.example", "host xn--bcher-kva.example"),
        (
            "after:1970-01-02 before:1971",
            "(from 86400000 & to 31536000000)",
        ),
        (
            "after:1970-02 before:1970-01-01T00:00:01Z",
            "(from 2678400000 & to 1000)",
        ),
        ("wi-fi C++ 12:30", "(0wi 1fi & 0c & 012 130)"),
        (
            "http://example.org/x std::vec",
            "(0http 1example.org 3x & 0std 1vec)",
        ),
        ("東京 都 東京都", "(0東⸱京 & 0都⸱… & 0東⸱京 1京⸱都)"),
        (
            "\"in 東京 now\" \"in 東\" \"東 in\"",
            "(0in 1東⸱京 3now & 0in 1東⸱… & 0東⸱ 1in)",
        ),
        ("title:OR", "title 0or"),
        ("concurrent.futures", "0concurrent.futures"),
        (
            "\"use concurrent.futures now\" a_b",
            "(0use 1concurrent.futures 3now & 0a_b)",
        ),
        ("note: this", "(0note & 0this)"),
        ("((a))", "0a"),
    ] {
        assert_eq!(understood(text), meaning, "{text}");
    }
}

#[test]
fn an_error_names_its_culprit_and_its_position() {
    for (text, message) in [
        ("", "the query is empty"),
        (" \t", "the query is empty"),
        (
            "a \"b c",
            "a phrase is not closed: \"\\\"b c\" at character 3",
        ),
        ("(a", "a parenthesis is not closed: \"(\" at character 1"),
        (
            "é a)",
            "a closing parenthesis has no opening one: \")\" at character 4",
        ),
        ("a OR", "nothing follows: \"OR\" at character 3"),
        ("OR a", "nothing follows: \"OR\" at character 1"),
        ("a -", "nothing follows: \"-\" at character 3"),
        ("()", "nothing follows: \"(\" at character 1"),
        (
            "title:",
            "the field has no value: \"title:\" at character 1",
        ),
        (
            "a (Host: b)",
            "the field has no value: \"Host:\" at character 4",
        ),
        (
            "(a title:)",
            "the field has no value: \"title:\" at character 4",
        ),
        ("colour:red", "unknown field: \"colour:red\" at character 1"),
        (
            "?!",
            "this word has no letters or digits: \"?!\" at character 1",
        ),
        (
            "a \"--\"",
            "this word has no letters or digits: \"\\\"--\\\"\" at character 3",
        ),
        (
            "pag*",
            "wildcards are not supported: \"pag*\" at character 1",
        ),
        (
            "host:a/b",
            "this is not a host: \"host:a/b\" at character 1",
        ),
        (
            "lang:1",
            "this is not a language: \"lang:1\" at character 1",
        ),
        (
            "after:soon",
            "this is not a date: \"after:soon\" at character 1",
        ),
        (
            "before:2026-13-01",
            "this is not a date: \"before:2026-13-01\" at character 1",
        ),
    ] {
        assert_eq!(understood(text), message, "{text}");
    }
}

#[test]
fn every_size_has_a_cap() {
    let reason = |text: &str| Query::parse(text).err().map(|error| error.reason);
    assert_eq!(reason(&format!("a{}", " ".repeat(MAX_QUERY - 1))), None);
    assert_eq!(
        reason(&format!("a{}", " ".repeat(MAX_QUERY))),
        Some(Reason::TooLong)
    );
    assert_eq!(reason(&"a ".repeat(MAX_CLAUSES)), None);
    assert_eq!(
        reason(&"a ".repeat(MAX_CLAUSES + 1)),
        Some(Reason::TooManyClauses)
    );
    assert_eq!(reason(&format!("\"{}\"", "a ".repeat(MAX_WORDS))), None);
    assert_eq!(
        reason(&format!("\"{}\"", "a ".repeat(MAX_WORDS + 1))),
        Some(Reason::TooManyWords)
    );
    assert_eq!(
        reason(&format!(
            "{}a{}",
            "(".repeat(MAX_DEPTH),
            ")".repeat(MAX_DEPTH)
        )),
        None
    );
    assert_eq!(
        reason(&format!("{}a", "(".repeat(MAX_DEPTH + 1))),
        Some(Reason::TooDeep)
    );
    assert_eq!(
        reason(&format!("{}a", "-".repeat(MAX_QUERY - 1))),
        Some(Reason::TooDeep)
    );
}

proptest! {
    #[test]
    fn any_text_is_a_query_or_an_error_that_quotes_it(text in "([-+()\":a東 ]|OR|AND|NOT|\
    host:|title:|after:|\\PC){0,40}") {
        if let Err(error) = Query::parse(&text) {
            prop_assert!(text.contains(&error.culprit), "{}", error);
            prop_assert!(error.at <= text.chars().count() + 1);
        }
    }
}
