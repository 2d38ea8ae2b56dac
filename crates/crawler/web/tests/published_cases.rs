//! Published cases: those of the URL standard and of the public suffix list.
//!
//! They are in the directory that `CRAWLER_DATA` names, or in `../shared/data` from the workspace.
//! If they are absent, the tests say so and pass.

use std::path::PathBuf;

use web::{CanonicalForm, PageUrl, UrlError};

#[expect(clippy::print_stdout, reason = "a test that was skipped must say so")]
fn published(name: &str) -> Option<String> {
    let directory = std::env::var_os("CRAWLER_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data"),
        PathBuf::from,
    );
    let path = directory.join(name);
    if !path.exists() {
        println!(
            "SKIPPED: {} is not there (set CRAWLER_DATA)",
            path.display()
        );
        return None;
    }
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

fn parse(text: &str) -> Result<PageUrl, UrlError> {
    PageUrl::parse(text, &CanonicalForm::keep_all())
}

#[test]
fn the_cases_of_the_url_standard_are_parsed_as_expected() {
    let Some(text) = published("urltestdata.json") else {
        return;
    };
    let cases: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let (mut read, mut refused) = (0, 0);
    for case in &cases {
        let Some(input) = case["input"].as_str() else {
            continue;
        };
        let base = case["base"].as_str().map(parse);
        let found = match base {
            None => parse(input),
            Some(Ok(base)) => base.join(input, &CanonicalForm::keep_all()),
            // A base that is not a page, such as `about:blank`.
            Some(Err(_)) => continue,
        };
        if case["failure"].as_bool() == Some(true) {
            assert!(found.is_err(), "{case}");
            refused += 1;
            continue;
        }
        let href = case["href"].as_str().unwrap_or_default();
        if !href.starts_with("http://") && !href.starts_with("https://") {
            assert!(found.is_err(), "{case}");
            continue;
        }
        // The base of a case may have credentials or a fragment, and ours has none: both sides are
        // compared in the canonical form.
        assert_eq!(found, parse(href), "{case}");
        read += 1;
    }
    println!("{read} read, {refused} refused");
    assert!(
        read > 200 && refused > 50,
        "{read} read, {refused} refused: the file is not what it was"
    );
}

#[test]
fn the_public_suffix_lists_cases_have_its_registrable_domains() {
    let Some(text) = published("test_psl.txt") else {
        return;
    };
    let mut checked = 0;
    for line in text.lines() {
        let Some(arguments) = line
            .strip_prefix("checkPublicSuffix(")
            .and_then(|line| line.strip_suffix(");"))
        else {
            continue;
        };
        let (name, domain) = arguments.split_once(", ").unwrap();
        let (name, domain) = (name.trim_matches('\''), domain.trim_matches('\''));
        let Ok(url) = parse(&format!("http://{name}/")) else {
            panic!("{line}")
        };
        // A public suffix is its own domain; names are compared in the form of the URL standard.
        let expected = if domain == "null" {
            url.host()
        } else {
            parse(&format!("http://{domain}/")).unwrap().host()
        };
        assert_eq!(url.registrable_domain(), expected.as_str(), "{line}");
        checked += 1;
    }
    println!("{checked} checked");
    assert!(
        checked > 60,
        "{checked} checked: the file is not what it was"
    );
}
