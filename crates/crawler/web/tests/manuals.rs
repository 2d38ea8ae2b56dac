//! The main content of manuals lies within their `<main>`: mdBook, rustdoc, gi-docgen and Sphinx,
//! as Debian packs them.
//!  `tests/fetch-main-manuals.sh` fetches the packages into `target/main-manuals`, or
//! `CRAWLER_MAIN_MANUALS` names their directory; without them there is nothing to check. A debug
//! build reads some pages of each package, to stay quick, and a release build all of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use scraper::{ElementRef, Html, Node, Selector};
use web::{CanonicalForm, Document, Interstitial, PageUrl, ReadLimits, ResponseMetadata, read};

/// Pages of each package that a debug build reads.
const SAMPLE: usize = 150;

#[expect(
    clippy::print_stdout,
    reason = "a check that did not take place must say so"
)]
fn say(line: &str) {
    println!("{line}");
}

fn manuals() -> Option<PathBuf> {
    let beside = || {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../target/main-manuals"
        ))
    };
    let directory = std::env::var_os("CRAWLER_MAIN_MANUALS").map_or_else(beside, PathBuf::from);
    if directory.is_dir() {
        return Some(directory);
    }
    say(&format!(
        "skipped: no manuals at {}; crates/crawler/web/tests/fetch-main-manuals.sh fetches them",
        directory.display()
    ));
    None
}

/// The pages below a directory, by name.
fn pages(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            pages(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| extension == "html")
        {
            found.push(path);
        }
    }
}

fn document(source: &[u8]) -> Document {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://example.org/", &form).expect("a URL");
    let hints = ResponseMetadata {
        content_type: Some("text/html"),
        ..ResponseMetadata::of(&url)
    };
    read(source, &hints, &form, &ReadLimits::default())
}

/// Gathers the visible text of an element, without white space.
fn visible(element: ElementRef<'_>, text: &mut String) {
    const UNSEEN: &[&str] = &[
        "script", "style", "noscript", "template", "svg", "select", "textarea",
    ];
    for child in element.children() {
        if let Node::Text(words) = child.value() {
            text.extend(
                words
                    .chars()
                    .filter(|c| !c.is_whitespace() && !c.is_control()),
            );
        } else if let Some(element) =
            ElementRef::wrap(child).filter(|it| !UNSEEN.contains(&it.value().name()))
        {
            visible(element, text);
        }
    }
}

/// The lines of a page's texts that stand outside of its main element; none if it has no such
/// element.
fn outside(source: &[u8]) -> Option<Vec<String>> {
    let page = String::from_utf8_lossy(source);
    if !page.contains("main") {
        return None;
    }
    let html = Html::parse_document(&page);
    // gi-docgen uses a section instead of `<main>`.
    let of_main = Selector::parse("main, [role=main], section#main.content").expect("a selector");
    let mut main = String::new();
    for element in html.select(&of_main) {
        visible(element, &mut main);
    }
    main.chars().find(|c| c.is_alphanumeric())?;
    let read = document(source);
    let lines = [&*read.text, read.compared_text()];
    let lines = lines.into_iter().flat_map(str::lines);
    let stray = lines.filter(|line| {
        let seen = |c: &char| !c.is_whitespace() && !c.is_control();
        let line: String = line.chars().filter(seen).collect();
        !main.contains(&line)
    });
    let mut stray: Vec<String> = stray.map(str::to_owned).collect();
    if read.text.is_empty() || read.compared_text().is_empty() {
        stray.push("(nothing)".to_owned());
    }
    Some(stray)
}

/// A sidebar won over a `<main>` of ten words in mdBook, a footer over short bodies in Sphinx.
#[test]
fn the_text_of_a_manuals_page_lies_within_its_main_element() {
    let Some(directory) = manuals() else { return };
    let mut packages = BTreeMap::new();
    for entry in std::fs::read_dir(&directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "packages" {
            packages.insert(name, path);
        }
    }
    let mut strays = Vec::new();
    for (name, path) in packages {
        let mut found = Vec::new();
        pages(&path, &mut found);
        found.sort();
        let step = if cfg!(debug_assertions) {
            found.len().div_ceil(SAMPLE).max(1)
        } else {
            1
        };
        let mut with_main = 0;
        for page in found.iter().step_by(step) {
            let source = std::fs::read(page).expect("a page");
            let Some(stray) = outside(&source) else {
                continue;
            };
            with_main += 1;
            if !stray.is_empty() {
                let first: String = stray[0].chars().take(120).collect();
                strays.push(format!(
                    "{}: {} lines, {first:?}",
                    page.display(),
                    stray.len()
                ));
            }
        }
        say(&format!(
            "{name}: {with_main} pages with a main element, of {}",
            found.len()
        ));
    }
    assert!(
        strays.is_empty(),
        "{} pages:\n{}",
        strays.len(),
        strays.join("\n")
    );
}

/// A page that is taken for a challenge is lost: at most one of 10,000 may be.
#[test]
fn hardly_any_page_of_a_manual_is_taken_for_an_interstitial_page() {
    let Some(directory) = manuals() else { return };
    let mut found = Vec::new();
    pages(&directory, &mut found);
    found.sort();
    let step = if cfg!(debug_assertions) { 20 } else { 1 };
    let url = PageUrl::parse("http://example.org/", &CanonicalForm::default()).expect("a URL");
    let (mut read, mut taken) = (0_usize, Vec::new());
    for path in found.iter().step_by(step) {
        let source = std::fs::read(path).expect("a page");
        let headers = http::HeaderMap::new();
        read += 1;
        if let Some(found) = Interstitial::of(&url, &headers, &document(&source), &source) {
            taken.push(format!("{}: {found}", path.display()));
        }
    }
    say(&format!(
        "{read} pages, {} taken for interstitial pages",
        taken.len()
    ));
    assert!(taken.len() * 10_000 <= read, "{taken:#?}");
}
