//! The table of contents lists each page once, and links lead to pages and headings that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use super::{pages, root};

/// Pages outside of `docs` whose links are checked, too.
const OUTSIDE: [&str; 7] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "RELEASE.md",
    "SECURITY.md",
    "packaging/README.md",
];

/// Returns the destinations of the links and pictures of a page.
fn links(text: &str) -> Vec<String> {
    Parser::new(text)
        .filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        })
        .collect()
}

/// Returns the anchors of the headings of a page, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(part) | Event::Code(part) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&part);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                anchors.extend(heading.take().map(|heading| anchor(&heading)));
            }
            _ => {}
        }
    }
    anchors
}

/// Returns the anchor of a heading: letters, digits, hyphens and underscores, in lower case.
fn anchor(heading: &str) -> String {
    heading
        .trim()
        .chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter if letter.is_alphanumeric() => Some(letter),
            _ => None,
        })
        .flat_map(char::to_lowercase)
        .collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_table_of_contents_lists_each_page_once() {
    let docs = root().join("docs");
    let mut listed: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for link in links(&read(&docs.join("README.md"))) {
        let page = docs.join(link.split('#').next().unwrap_or_default());
        *listed.entry(page).or_default() += 1;
    }
    for page in pages() {
        let name = page.strip_prefix(&docs).unwrap().display().to_string();
        let times = listed.remove(&page).unwrap_or(0);
        assert_eq!(times, 1, "docs/README.md lists {name} {times} times");
    }
    assert!(listed.is_empty(), "docs/README.md lists {listed:?}");
}

/// mdBook wants its table of contents in a file of this name.
#[test]
fn the_book_is_made_from_the_table_of_contents() {
    let summary = std::fs::read_link(root().join("docs/SUMMARY.md"));
    assert_eq!(summary.unwrap(), Path::new("README.md"));
    let book: toml::Table = toml::from_str(&read(&root().join("docs/book.toml"))).unwrap();
    assert_eq!(book["book"]["src"].as_str(), Some("."));
}

#[test]
fn links_lead_to_pages_and_headings_that_exist() {
    let mut files = pages();
    files.extend(OUTSIDE.map(|name| root().join(name)));
    let mut broken = Vec::new();
    for file in files {
        let text = read(&file);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            let leads = target.exists()
                && (heading.is_empty() || anchors(&read(&target)).contains(heading));
            if !leads {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn anchors_are_made_as_readers_make_them() {
    for (heading, expected) in [
        ("## Bounds", "bounds"),
        (
            "## The life of a journal record",
            "the-life-of-a-journal-record",
        ),
        ("### `--serve` and /metrics, too", "--serve-and-metrics-too"),
    ] {
        assert_eq!(anchors(heading), [expected.to_owned()].into(), "{heading}");
    }
}
