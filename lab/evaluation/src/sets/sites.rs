//! Whole documentation sites. The main region of each page decides which pages may be merged.
//!
//! Two pages may be merged if their main regions are equal, or resemble each other by .95 in
//! their word 5-shingles, or by .8 and have one title (numbers aside) or one last segment of their
//! paths, as editions of a manual have. `lab/evaluation/fetch-manuals.sh DIR` puts the sites at
//! `DIR/sites/NAME/EDITION`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use neardup::{HashKey, NormalText, Shingles, Width};
use scraper::{ElementRef, Html, Node, Selector};

use super::labelled::distinct;
use super::manuals::subdirectories;
use super::page::Page;
use super::set::{Absent, Goal, Places, Set, ordered};
use crate::files::pages_below;
use crate::oracle;
use crate::threads;

/// A site, with the selectors of its main region.
#[derive(Debug)]
pub(crate) struct Site {
    name: &'static str,
    directory: &'static str,
    /// The selector of the main content; the whole body if nothing matches.
    main: &'static str,
    /// The selector of the parts of it that belong to the frame.
    frame: &'static str,
}

pub(crate) const SITES: [Site; 4] = [
    Site {
        name: "site-javadoc",
        directory: "javadoc",
        main: "main",
        frame: "script, style",
    },
    Site {
        name: "site-cppreference",
        directory: "cppreference",
        main: "#mw-content-text",
        frame: "script, style",
    },
    Site {
        name: "site-boost",
        directory: "boost",
        main: "body",
        frame: "script, style, .spirit-nav, .copyright-footer",
    },
    Site {
        name: "site-llvm",
        directory: "llvm",
        main: "[role=main]",
        frame: "script, style",
    },
];

/// The least resemblance of the main regions of two pages that may be merged, whatever their
/// titles.
const ONE: f64 = 0.95;
/// The same for pages with the same title.
const ONE_OF_ONE_NAME: f64 = 0.80;
/// The share of a site's pages that may be merged wrongly.
const MAX_LOST: f64 = 0.003;

/// The parts of a page by which its site distinguishes it.
struct Truth {
    main: NormalText,
    shingles: Shingles,
    /// The words of the title without those that are numbers.
    title: BTreeSet<String>,
}

pub(crate) fn load(places: &Places, site: &Site) -> Result<Set, Absent> {
    let root = places.manuals.join("sites").join(site.directory);
    let (mut files, mut editions) = (Vec::new(), Vec::new());
    for edition in subdirectories(&root)? {
        let found = pages_below(&root.join(&edition))?;
        editions.push(format!("{edition}: {}", found.len()));
        files.extend(
            found
                .into_iter()
                .map(|(path, file)| (format!("{edition}/{path}"), file)),
        );
    }
    let read = threads::each(files.len(), |number| {
        let (name, file) = &files[number];
        let body = fs::read(file).map_err(|error| Absent::unreadable(file, &error))?;
        let page = Page::of_html(name.clone(), &body);
        Ok(page.map(|page| (page, Truth::of(&body, site))))
    });
    let read: Result<Vec<Option<(Page, Truth)>>, Absent> = read.into_iter().collect();
    let (pages, truths): (Vec<Page>, Vec<Truth>) = read?.into_iter().flatten().unzip();
    let same = same(&pages, &truths);
    Ok(Set {
        name: site.name,
        about: format!(
            "{} pages of a documentation site ({}); by its own main region {} pairs of them may be \
             taken for one page.",
            pages.len(),
            editions.join(", "),
            same.len()
        ),
        questions: vec![distinct(Goal::MergedBelow(MAX_LOST), same)],
        pages,
    })
}

impl Truth {
    fn of(body: &[u8], site: &Site) -> Self {
        let tree = Html::parse_document(&String::from_utf8_lossy(body));
        let select = |selector: &str| {
            Selector::parse(selector).expect("the selectors of this table are valid")
        };
        let title = tree
            .select(&select("title"))
            .next()
            .map_or_else(String::new, |title| title.text().collect());
        let (main, frame) = (select(site.main), select(site.frame));
        let region = tree
            .select(&main)
            .next()
            .or_else(|| tree.select(&select("body")).next())
            .unwrap_or_else(|| tree.root_element());
        let main = NormalText::of(&visible(region, &frame));
        Self {
            shingles: Shingles::of(&main, Width::VERIFICATION, HashKey::ZERO),
            title: NormalText::of(&title)
                .words()
                .filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
                .map(str::to_owned)
                .collect(),
            main,
        }
    }
}

/// Returns the text of a region without the frame; inline markup does not separate words.
fn visible(region: ElementRef<'_>, frame: &Selector) -> String {
    const INLINE: [&str; 16] = [
        "a", "abbr", "b", "cite", "code", "em", "font", "i", "kbd", "small", "span", "strong",
        "sub", "sup", "tt", "var",
    ];
    let mut text = String::new();
    let mut waiting = vec![*region];
    while let Some(node) = waiting.pop() {
        match node.value() {
            Node::Text(said) => text.push_str(said),
            Node::Element(element) => {
                if ElementRef::wrap(node).is_some_and(|element| frame.matches(&element)) {
                    continue;
                }
                if !INLINE.contains(&element.name()) {
                    text.push(' ');
                }
                waiting.extend(node.children().rev());
            }
            _ => {}
        }
    }
    text
}

/// Returns all pairs of pages that may be merged.
fn same(pages: &[Page], truths: &[Truth]) -> BTreeSet<(u32, u32)> {
    let mut of_text: BTreeMap<u128, Vec<u32>> = BTreeMap::new();
    for (number, truth) in (0..).zip(truths) {
        of_text
            .entry(truth.main.digest(HashKey::ZERO))
            .or_default()
            .push(number);
    }
    let mut same = BTreeSet::new();
    for numbers in of_text.values() {
        for (place, &one) in numbers.iter().enumerate() {
            same.extend(numbers[place + 1..].iter().map(|&two| ordered(one, two)));
        }
    }
    let sets: Vec<&[u64]> = truths.iter().map(|truth| truth.shingles.hashes()).collect();
    let last_segment = |number: u32| pages[number as usize].name.rsplit('/').next();
    for pair in oracle::resembling(&sets, ONE_OF_ONE_NAME) {
        let (one, two) = (&truths[pair.a as usize], &truths[pair.b as usize]);
        if pair.resemblance >= ONE
            || one.title == two.title
            || last_segment(pair.a) == last_segment(pair.b)
        {
            same.insert((pair.a, pair.b));
        }
    }
    same
}
