//! The page of a report, as a browser reads it.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod filled;
mod hostile;
mod series;

use scraper::{ElementRef, Html, Selector};
use web_ui::{Report, caps, cut};

use self::filled::{Size, filled};
use self::hostile::HOSTILE;

fn html(report: &Report) -> String {
    let mut page = Vec::new();
    report.write_html(&mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// Returns the name and the attributes of each element, in order.
fn elements(page: &str) -> Vec<String> {
    let document = Html::parse_document(page);
    let all = Selector::parse("*").unwrap();
    let elements = document.select(&all);
    elements
        .map(|element| format!("{:?}", element.value()))
        .collect()
}

/// Returns the target of each element that a selector finds; empty for an element without one.
fn found(page: &str, selector: &str) -> Vec<String> {
    let document = Html::parse_document(page);
    let selector = Selector::parse(selector).unwrap();
    let elements = document.select(&selector);
    elements
        .map(|element| element.attr("href").unwrap_or_default().to_owned())
        .collect()
}

/// Returns the text of the page, without titles of charts.
fn text(page: &str) -> String {
    let document = Html::parse_document(page);
    let body = Selector::parse("body").unwrap();
    document
        .select(&body)
        .flat_map(|body| body.text())
        .collect()
}

#[test]
fn no_string_becomes_an_element_or_an_attribute() {
    let plain = elements(&html(&filled("x", Size::Few)));
    assert!(plain.len() > 200, "{}", plain.len());
    for (string, shown) in HOSTILE {
        let report = filled(string, Size::Few);
        let page = html(&report);
        assert_eq!(elements(&page), plain, "{string:?}");
        assert!(text(&page).contains(shown), "{string:?}");
        let control = |character: char| web::is_command(character) && character != '\n';
        assert!(!page.contains(control), "{string:?}");
    }
}

#[test]
fn no_string_ends_its_value_in_json() {
    for (string, _) in HOSTILE {
        let report = filled(string, Size::Few);
        let json = serde_json::to_string(&report).unwrap();
        let read: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(read["broken_links"]["listed"][0]["url"], string);
        assert_eq!(read["settings"][0]["value"], string);
        assert_eq!(read.as_object().unwrap().len(), 19);
    }
}

#[test]
fn the_largest_report_is_at_most_1_mib() {
    for character in ["<", "\"", "&", "\u{202e}", "\0", "x", "é", "漢", "𝄞"] {
        let endless = character.repeat(1 << 20);
        let page = html(&filled(&endless, Size::Most));
        assert!(
            page.len() <= caps::REPORT,
            "{character:?}: {} bytes",
            page.len()
        );
        // The caps are not idle, either.
        assert!(
            page.len() > caps::REPORT / 4,
            "{character:?}: {} bytes",
            page.len()
        );
    }
}

#[test]
fn a_page_has_no_script_and_leads_nowhere() {
    let page = html(&filled("http://site.test/", Size::Few));
    let document = Html::parse_document(&page);
    let found = |selector: &str| document.select(&Selector::parse(selector).unwrap()).count();
    for forbidden in [
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "form",
        "base",
        "use",
        "image",
        "[src]",
        "[srcset]",
        "[style]",
        "[onclick]",
        "[onload]",
    ] {
        assert_eq!(found(forbidden), 0, "{forbidden}");
    }
    let anchors = Selector::parse("[href]").unwrap();
    for anchor in document.select(&anchors) {
        let target = anchor.attr("href").unwrap();
        let name = target.strip_prefix('#').expect(target);
        assert_eq!(found(&format!("[id={name}]")), 1, "{target}");
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
}

#[test]
fn the_policy_allows_the_style_sheet_and_nothing_else() {
    let page = html(&Report::default());
    let document = Html::parse_document(&page);
    let policy = Selector::parse("meta[http-equiv=Content-Security-Policy]").unwrap();
    let policy = document
        .select(&policy)
        .next()
        .unwrap()
        .attr("content")
        .unwrap();
    let (_, hash) = policy.split_once("style-src 'sha256-").unwrap();
    let (hash, _) = hash.split_once('\'').unwrap();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    let style = Selector::parse("style").unwrap();
    let style: String = document.select(&style).next().unwrap().text().collect();
    let digest = <sha2::Sha256 as sha2::Digest>::digest(style);
    assert_eq!(hash, data_encoding::BASE64.encode(&digest));
}

#[test]
fn a_crawl_that_has_not_begun_says_so_in_every_section() {
    let text = text(&html(&Report::default()));
    for state in [
        "Not begun",
        "No URL has been visited yet.",
        "No host has been visited yet.",
        "No duplicates were found.",
        "No duplicates found.",
        "No server has responded yet.",
        "No failures.",
        "No broken links were found.",
        "Every queued URL was visited.",
        "No pattern was closed.",
        "No request has been archived yet.",
    ] {
        assert!(text.contains(state), "{state}");
    }
}

#[test]
fn every_chart_has_a_title_and_a_description() {
    let document = Html::parse_document(&html(&filled("x", Size::Few)));
    let charts = Selector::parse("svg:not([aria-hidden])").unwrap();
    let charts: Vec<_> = document.select(&charts).collect();
    assert_eq!(charts.len(), 5);
    for chart in charts {
        let child = |name: &str| {
            let mut children = chart.children().filter_map(ElementRef::wrap);
            let found = children.find(|child| child.value().name() == name);
            found.map(|element| element.text().collect::<String>())
        };
        assert!(child("title").is_some_and(|title| !title.is_empty()));
        assert!(child("desc").is_some_and(|text| text.contains("table")));
    }
}

#[test]
fn the_same_report_is_written_in_the_same_bytes() {
    let report = filled("x", Size::Most);
    assert_eq!(html(&report), html(&report.clone()));
    assert_eq!(cut("x", 1), "x");
}
