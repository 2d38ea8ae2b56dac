//! The labelled sets of others, read from their archives; the `README.md` beside these has their
//! sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::page::Page;
use super::set::{Absent, Goal, Places, Question, Set, Truth, ordered};
use crate::files::{gunzipped, unpacked};
use crate::threads;

/// Pages of WCXB that say the same, found by reading the merged pages.
const SAME_IN_WCXB: [(&str, &str); 2] = [
    // One vacuum cleaner, sold under two numbers: the labelled main contents resemble each other by
    // .95.
    ("dev/html/4211.html.gz", "dev/html/4213.html.gz"),
    // One list of sofas under two URLs; a few are in another order.
    ("dev/html/0648.html.gz", "dev/html/2927.html.gz"),
];

pub(crate) fn newsgroups(places: &Places) -> Result<Set, Absent> {
    let files = unpacked(&places.data.join("newsgroup-clusters-baseball.tar.zst"))?;
    let mut clusters: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut pages = Vec::new();
    for (number, (name, bytes)) in (0..).zip(files) {
        let cluster = name.split(".txt").next().unwrap_or(&name).to_owned();
        clusters.entry(cluster).or_default().push(number);
        pages.push(Page::of_text(
            name,
            String::from_utf8_lossy(&bytes).into_owned(),
        ));
    }
    Ok(Set {
        name: "newsgroup-clusters-baseball",
        about: format!(
            "{} posts in {} clusters: each with seven copies into which random tokens were put.",
            pages.len(),
            clusters.len()
        ),
        pages,
        questions: vec![Question {
            name: "clusters",
            truth: Truth::Pairs(
                clusters
                    .values()
                    .flat_map(|members| all_pairs(members))
                    .collect(),
            ),
            goals: vec![Goal::F1(0.994)],
        }],
    })
}

pub(crate) fn articles(places: &Places) -> Result<Set, Absent> {
    let text_of = |name| {
        let path = places.data.join(name);
        fs::read_to_string(&path).map_err(|error| Absent::unreadable(&path, &error))
    };
    let (articles, truth) = (
        text_of("articles_1000.train")?,
        text_of("articles_1000.truth")?,
    );
    let mut numbers = BTreeMap::new();
    let mut pages = Vec::new();
    for (name, text) in articles.lines().filter_map(|line| line.split_once(' ')) {
        numbers.insert(name.to_owned(), pages.len() as u32);
        pages.push(Page::of_text(name.to_owned(), text.to_owned()));
    }
    let mut pairs = BTreeSet::new();
    for (one, two) in truth.lines().filter_map(|line| line.trim().split_once(' ')) {
        match (numbers.get(one), numbers.get(two)) {
            (Some(&one), Some(&two)) => _ = pairs.insert(ordered(one, two)),
            _ => {
                return Err(Absent::because(format!(
                    "articles_1000.truth names {one} {two}, which the articles lack"
                )));
            }
        }
    }
    Ok(Set {
        name: "articles_1000",
        about: format!(
            "{} news articles, {} pairs of which are one article twice.",
            pages.len(),
            pairs.len()
        ),
        pages,
        questions: vec![Question {
            name: "pairs",
            truth: Truth::Pairs(pairs),
            goals: vec![Goal::Precision(1.0), Goal::Recall(1.0)],
        }],
    })
}

/// The least label by which people call a pair a duplicate.
const MIN_LABEL: f64 = 2.0;

pub(crate) fn judged_pairs(places: &Places) -> Result<Set, Absent> {
    let archive = places.data.join("judged-pairs.tar.zst");
    let files: BTreeMap<String, Vec<u8>> = unpacked(&archive)?.into_iter().collect();
    let mut pages = Vec::new();
    let (mut alike, mut different) = (BTreeSet::new(), BTreeSet::new());
    for (name, label) in files.iter().filter(|(name, _)| name.ends_with("/label")) {
        let pair = name.trim_end_matches("/label");
        let label: f64 = String::from_utf8_lossy(label)
            .trim()
            .parse()
            .map_err(|_bad| Absent::because(format!("{name} is no number")))?;
        let first = pages.len() as u32;
        for side in ["src-doc", "target-doc"] {
            let text = files
                .get(&format!("{pair}/{side}"))
                .ok_or_else(|| Absent::because(format!("{pair} has no {side}")))?;
            let short = pair.rsplit('/').next().unwrap_or(pair);
            pages.push(Page::of_text(
                format!("{short}/{side}"),
                String::from_utf8_lossy(text).into_owned(),
            ));
        }
        let of_label = if label >= MIN_LABEL {
            &mut alike
        } else {
            &mut different
        };
        of_label.insert((first, first + 1));
    }
    Ok(Set {
        name: "judged-pairs",
        about: format!(
            "{} pairs of web pages with one canonical URL, {} of which people called duplicates; \
             stemmed texts without titles.",
            alike.len() + different.len(),
            alike.len()
        ),
        pages,
        questions: vec![Question {
            name: "pairs",
            truth: Truth::Judged { alike, different },
            goals: vec![Goal::F1(0.84)],
        }],
    })
}

pub(crate) fn wcxb(places: &Places) -> Result<Set, Absent> {
    let pages = packed_pages(places, "wcxb-dev.tar.zst")?;
    Ok(Set {
        name: "wcxb-dev",
        about: format!(
            "{} pages of seven kinds; {} pairs of them are one page under two addresses.",
            pages.len(),
            SAME_IN_WCXB.len()
        ),
        questions: vec![distinct(
            Goal::NoneMerged,
            pairs_named(&pages, &SAME_IN_WCXB),
        )],
        pages,
    })
}

pub(crate) fn article_pages(places: &Places) -> Result<Set, Absent> {
    let pages = packed_pages(places, "article-extraction.tar.zst")?;
    Ok(Set {
        name: "article-extraction",
        about: format!("{} news pages from as many sites.", pages.len()),
        pages,
        questions: vec![distinct(Goal::NoneMerged, BTreeSet::new())],
    })
}

/// Returns a set of pages of which no two say the same, except word for word or by known labels.
pub(super) fn distinct(goal: Goal, same: BTreeSet<(u32, u32)>) -> Question {
    Question {
        name: "distinct pages",
        truth: Truth::Distinct { same },
        goals: vec![goal],
    }
}

/// Returns the numbers of pages given by their names.
fn pairs_named(pages: &[Page], named: &[(&str, &str)]) -> BTreeSet<(u32, u32)> {
    let number = |name: &str| {
        pages
            .iter()
            .position(|page| page.name == name)
            .map(|number| number as u32)
    };
    let pairs = named
        .iter()
        .filter_map(|(one, two)| Some(ordered(number(one)?, number(two)?)));
    pairs.collect()
}

/// Returns the gzipped pages of an archive.
fn packed_pages(places: &Places, archive: &str) -> Result<Vec<Page>, Absent> {
    let mut files = unpacked(&places.data.join(archive))?;
    files.retain(|(name, _)| name.ends_with(".html.gz"));
    let read = threads::each(files.len(), |number| {
        let (name, packed) = &files[number];
        Page::of_html(name.clone(), &gunzipped(packed))
    });
    Ok(read.into_iter().flatten().collect())
}

fn all_pairs(members: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let later = |place: usize| &members[place + 1..];
    (0..members.len()).flat_map(move |place| {
        later(place)
            .iter()
            .map(move |&two| ordered(members[place], two))
    })
}
