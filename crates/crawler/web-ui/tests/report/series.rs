//! The page that compares crawls over time.

use differences::Difference;
use web_ui::{ChangedWords, ComparedCrawl, CrawlChanges, ListedChange, SeriesReport, caps};

use super::hostile::HOSTILE;
use super::{elements, found, text};

/// A series of crawls, a week apart, whose strings are this one, with `changes` changes of each
/// kind.
fn series(string: &str, crawls: u64, changes: usize) -> SeriesReport {
    let before = format!("the tide is low {string} today");
    let now = format!("the tide is high {string} {string} today");
    let difference = Difference::of(&before, &now);
    let change = || ListedChange {
        url: string.to_owned(),
        from: Some(string.to_owned()),
        resemblance: Some(0.974),
        reason: Some(string.to_owned()),
        words: Some(ChangedWords::of(&difference, &before, &now)),
    };
    let crawl = |number: u64| {
        let mut compared = CrawlChanges {
            command: format!("crawler changes {string} b"),
            unchanged: 9,
            unknown: 1,
            ..CrawlChanges::default()
        };
        for _ in 0..changes {
            compared.new.add(change);
            compared.changed.add(change);
            compared.moved.add(change);
            compared.gone.add(change);
        }
        ComparedCrawl {
            directory: string.to_owned(),
            begun_at: Some(web::Timestamp::from_millis(number * 7 * 86_400_000)),
            pages: 40 + number,
            failed: number,
            changes: (number > 0).then_some(compared),
        }
    };
    SeriesReport {
        title: string.to_owned(),
        crawls: (0..crawls).map(crawl).collect(),
    }
}

fn html(report: &SeriesReport) -> String {
    let mut page = Vec::new();
    report.write_html(&mut page).expect("memory takes a page");
    String::from_utf8(page).expect("a page is text")
}

#[test]
fn no_string_of_a_site_becomes_an_element_of_the_comparison() {
    let plain = elements(&html(&series("x", 3, 2)));
    assert!(plain.len() > 150, "{}", plain.len());
    for (string, shown) in HOSTILE {
        let page = html(&series(string, 3, 2));
        // How many runs of words differ depends on the string.
        let without_words = |page: &str| {
            let all = elements(page).into_iter();
            let is_word = |one: &String| {
                ["<ins", "<del", "<span class=\"quiet"]
                    .iter()
                    .any(|tag| one.starts_with(tag))
            };
            all.filter(|one| !is_word(one)).collect::<Vec<_>>()
        };
        assert_eq!(
            without_words(&page),
            without_words(&html(&series("x", 3, 2))),
            "{string:?}"
        );
        assert!(text(&page).contains(shown), "{string:?}");
    }
}

#[test]
fn the_first_changes_of_a_list_are_shown_and_the_command_lists_all() {
    let page = html(&series("a", 2, caps::CHANGES));
    assert!(!text(&page).contains("all: crawler"), "{page}");
    let page = html(&series("a", 2, caps::CHANGES + 1));
    let shown = text(&page);
    for kind in ["new", "changed", "moved", "gone"] {
        let all = format!("200 of 201; all: crawler changes a b --only {kind} --format csv");
        assert!(shown.contains(&all), "{kind}");
    }
    assert_eq!(found(&page, "#new-1 li").len(), caps::CHANGES);
    assert!(
        found(&page, "#new-1 > ul > li").len() < caps::CHANGES,
        "the rest is folded"
    );
}

#[test]
fn the_words_of_a_page_are_cut_and_say_so() {
    let long = "unlike ".repeat(4_000);
    let difference = Difference::of(&long, "another text");
    let words = ChangedWords::of(&difference, &long, "another text");
    let mut report = series("a", 2, 1);
    let changes = report.crawls[1].changes.as_mut().expect("it is compared");
    changes.new.add(|| ListedChange {
        words: Some(words),
        ..ListedChange::default()
    });
    let page = html(&report);
    assert!(text(&page).contains("not all words are shown"));
    assert!(text(&page).contains("2 words added, 4,000 removed"));
    assert!(page.len() < 64 << 10, "{}", page.len());
}

#[test]
fn links_of_the_comparison_lead_to_its_own_sections() {
    let page = html(&series("http://a.test/", 4, 1));
    for target in found(&page, "[href]") {
        let name = target.strip_prefix('#').expect("a link within the page");
        assert_eq!(
            found(&page, &format!("[id=\"{name}\"]")).len(),
            1,
            "{target}"
        );
    }
    assert!(found(&page, "script, img, link, form, [style]").is_empty());
}

#[test]
fn crawls_without_changes_are_compared_too() {
    let page = html(&series("a", 2, 0));
    assert!(text(&page).contains("No page is new, changed, moved or gone."));
    assert!(html(&SeriesReport::default()).contains("0 crawls"));
}
