//! Real documents: the manuals of four releases of clang, and reference manuals that doxygen made.
//!
//! `lab/evaluation/fetch-manuals.sh DIR` fetches them from Debian into `DIR/clang-13`, … and
//! `DIR/reference/PACKAGE`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::labelled::distinct;
use super::page::Page;
use super::set::{Absent, Goal, Places, Question, Set, Truth, ordered};
use crate::files::pages_below;
use crate::threads;

const RELEASES: [&str; 4] = ["clang-13", "clang-14", "clang-15", "clang-16"];

pub(crate) fn clang(places: &Places) -> Result<Set, Absent> {
    let mut pages = Vec::new();
    let mut of_path: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut counts = Vec::new();
    for release in RELEASES {
        let read = read_below(&places.manuals.join(release), release)?;
        counts.push(read.len().to_string());
        for page in read {
            let path = page.name[release.len() + 1..].to_owned();
            of_path.entry(path).or_default().push(pages.len() as u32);
            pages.push(page);
        }
    }
    let mut same_path = BTreeSet::new();
    for numbers in of_path.values() {
        for (place, &one) in numbers.iter().enumerate() {
            same_path.extend(numbers[place + 1..].iter().map(|&two| ordered(one, two)));
        }
    }
    let resembling = |also| Truth::Resembling {
        width: 5,
        least: 0.8,
        also,
    };
    Ok(Set {
        name: "clang-manuals",
        about: format!(
            "The manuals of clang 13, 14, 15 and 16: {} pages, {} pairs at one path in two \
             releases.",
            counts.join(" + "),
            same_path.len()
        ),
        pages,
        questions: vec![
            Question {
                name: "5-shingles ≥ 0.8",
                truth: resembling(BTreeSet::new()),
                goals: vec![Goal::Recall(0.97)],
            },
            Question {
                name: "5-shingles ≥ 0.8, or the same path",
                truth: resembling(same_path.clone()),
                goals: vec![Goal::Recall(0.97), Goal::Precision(0.99)],
            },
            Question {
                name: "same path",
                truth: Truth::Pairs(same_path),
                goals: vec![Goal::F1(0.94)],
            },
        ],
    })
}

pub(crate) fn reference(places: &Places) -> Result<Set, Absent> {
    let root = places.manuals.join("reference");
    let packages = subdirectories(&root)?;
    let mut pages = Vec::new();
    let mut counts = Vec::new();
    for package in &packages {
        let read = read_below(&root.join(package), package)?;
        counts.push(format!("{package} {}", read.len()));
        pages.extend(read);
    }
    Ok(Set {
        name: "reference-installed",
        about: format!(
            "Reference manuals made by doxygen: {} pages ({}).",
            pages.len(),
            counts.join(", ")
        ),
        pages,
        questions: vec![distinct(Goal::MergedBelow(0.01), BTreeSet::new())],
    })
}

/// Returns the names in a directory, in alphabetical order.
pub(super) fn subdirectories(root: &Path) -> Result<Vec<String>, Absent> {
    let unreadable = |error| Absent::unreadable(root, &error);
    let mut names = Vec::new();
    for item in fs::read_dir(root).map_err(unreadable)? {
        names.push(item.map_err(unreadable)?.file_name().display().to_string());
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns the pages below a directory, each named after it and its own path.
fn read_below(root: &Path, name: &str) -> Result<Vec<Page>, Absent> {
    let files = pages_below(root)?;
    if files.is_empty() {
        return Err(Absent::because(format!(
            "{}: no page of HTML",
            root.display()
        )));
    }
    let read = threads::each(files.len(), |number| {
        let (path, file) = &files[number];
        let body = fs::read(file).map_err(|error| Absent::unreadable(file, &error))?;
        Ok(Page::of_html(format!("{name}/{path}"), &body))
    });
    let read: Result<Vec<Option<Page>>, Absent> = read.into_iter().collect();
    Ok(read?.into_iter().flatten().collect())
}
