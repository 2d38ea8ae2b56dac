//! Main content compared with human labels, on real pages.
//!
//! 181 news pages (`scrapinghub/article-extraction-benchmark`) and 450 of seven kinds (WCXB,
//! development set), each with its own measure. The data are beside the project, or in
//! `CRAWLER_DATA`; without them the tests check nothing. A debug build reads every sixth page, a
//! release build all of them; `lab/benches/extraction` compares the figures with those of others.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use http::HeaderMap;
use serde_json::Value;
use web::{
    CanonicalForm, Document, Interstitial, PageKind, PageUrl, ReadLimits, ResponseMetadata, read,
};

/// Every n-th page is read.
const STEP: usize = if cfg!(debug_assertions) { 6 } else { 1 };

fn labelled(name: &str) -> Option<BTreeMap<String, Vec<u8>>> {
    let beside = || {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../../../shared/data"
        ))
    };
    let path = std::env::var_os("CRAWLER_DATA")
        .map_or_else(beside, PathBuf::from)
        .join(name);
    let Ok(file) = File::open(&path) else {
        say(&format!(
            "skipped: no labelled data at {}; CRAWLER_DATA says where they are",
            path.display()
        ));
        return None;
    };
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).expect("the archive is whole"));
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("the archive is whole") {
        let mut entry = entry.expect("the archive is whole");
        let path = entry
            .path()
            .expect("the archive is whole")
            .to_string_lossy()
            .into_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("the archive is whole");
        files.insert(path, bytes);
    }
    Some(files)
}

#[expect(
    clippy::print_stdout,
    reason = "a check that did not take place must say so"
)]
fn say(line: &str) {
    println!("{line}");
}

/// The text that a page is judged by.
fn text_of(compressed: &[u8]) -> String {
    document_of(compressed).text
}

fn document_of(compressed: &[u8]) -> Document {
    document_at(NOWHERE, compressed)
}

/// URL of a page whose own URL is not known.
const NOWHERE: &str = "http://example.org/";

fn unpacked(compressed: &[u8]) -> Vec<u8> {
    let mut html = Vec::new();
    flate2::read::MultiGzDecoder::new(compressed)
        .read_to_end(&mut html)
        .expect("the archive is whole");
    html
}

fn document_at(url: &str, compressed: &[u8]) -> Document {
    let html = unpacked(compressed);
    let form = CanonicalForm::default();
    let url = PageUrl::parse(url, &form);
    let url = url.unwrap_or_else(|_| PageUrl::parse(NOWHERE, &form).expect("a URL"));
    let hints = ResponseMetadata {
        agent: "crawler",
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        fields: true,
        ..ReadLimits::default()
    };
    read(&html, &hints, &form, &limits)
}

/// The tokens of both benchmarks, Python's `\w+`.
fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|token| !token.is_empty())
        .collect()
}

/// Precision and recall, as parts of multisets of runs of so many tokens; a shorter text is one
/// run.
fn precision_and_recall(text: &str, gold: &str, run: usize) -> (f64, f64) {
    let (text, gold) = (tokens(text), tokens(gold));
    let mut counts: HashMap<&[&str], (u32, u32)> = HashMap::new();
    for run in text
        .chunks(text.len().max(1))
        .flat_map(|all| all.windows(run.min(all.len())))
    {
        counts.entry(run).or_default().0 += 1;
    }
    for run in gold
        .chunks(gold.len().max(1))
        .flat_map(|all| all.windows(run.min(all.len())))
    {
        counts.entry(run).or_default().1 += 1;
    }
    let (mut both, mut of_text, mut of_gold) = (0, 0, 0);
    for (text, gold) in counts.into_values() {
        both += text.min(gold);
        of_text += text;
        of_gold += gold;
    }
    let part = |of: u32| f64::from(both) / f64::from(of.max(1));
    (part(of_text), part(of_gold))
}

fn harmonic(precision: f64, recall: f64) -> f64 {
    2.0 * precision * recall / (precision + recall).max(f64::MIN_POSITIVE)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// `evaluate.py`: 4-token shingles, case kept; F1 of the mean precision and the mean recall.
#[test]
fn articles_are_found_in_pages_of_news() {
    let Some(files) = labelled("article-extraction.tar.zst") else {
        return;
    };
    let truth: Value = serde_json::from_slice(&files["ground-truth.json"]).unwrap();
    let (mut precisions, mut recalls) = (Vec::new(), Vec::new());
    for (path, page) in files
        .iter()
        .filter(|(path, _)| path.ends_with(".html.gz"))
        .step_by(STEP)
    {
        let name = path
            .strip_prefix("html/")
            .unwrap()
            .strip_suffix(".html.gz")
            .unwrap();
        let gold = truth[name]["articleBody"].as_str().unwrap();
        let (precision, recall) = precision_and_recall(&text_of(page), gold, 4);
        precisions.push(precision);
        recalls.push(recall);
    }
    let f1 = harmonic(mean(&precisions), mean(&recalls));
    say(&format!(
        "article-extraction: F1 {f1:.4} of {} pages, goal 0.95",
        precisions.len()
    ));
    assert!(f1 >= 0.95, "{f1}");
}

/// The F1 reached on WCXB, by kind, of the 442 pages with a label that is not empty. The goals of
/// .80 for listings and of .76 for collections were missed: lists are labelled now with their tiles
/// and now without.
const REACHED: &[(&str, f64)] = &[
    ("", 0.885),
    ("article", 0.95),
    ("documentation", 0.91),
    ("service", 0.87),
    ("forum", 0.84),
    ("listing", 0.77),
    ("collection", 0.72),
    ("product", 0.76),
];

/// The same of the pages that a debug build reads; few of each kind.
const REACHED_OF_SOME: f64 = 0.865;

/// `evaluate.py` of WCXB: words in lower case; the mean of the pages' F1.
#[test]
fn main_content_is_found_in_pages_of_seven_kinds() {
    let Some(files) = labelled("wcxb-dev.tar.zst") else {
        return;
    };
    let mut f1s: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (path, page) in files
        .iter()
        .filter(|(path, _)| path.ends_with(".html.gz"))
        .step_by(STEP)
    {
        let name = path
            .strip_prefix("dev/html/")
            .unwrap()
            .strip_suffix(".html.gz")
            .unwrap();
        let label: Value =
            serde_json::from_slice(&files[&format!("dev/ground-truth/{name}.json")]).unwrap();
        let gold = &label["ground_truth"]["main_content"];
        // Seven labels are empty, and one is missing: whatever is found there would be wrong.
        let Some(gold) = gold.as_str().filter(|gold| !gold.is_empty()) else {
            continue;
        };
        let gold = gold.to_lowercase();
        let (precision, recall) = precision_and_recall(&text_of(page).to_lowercase(), &gold, 1);
        let kind = label["_internal"]["page_type"]["primary"].as_str().unwrap();
        for name in ["", kind] {
            let f1s = f1s.entry(name.to_owned()).or_default();
            f1s.push(harmonic(precision, recall));
        }
    }
    let measured = REACHED.iter().map(|&(kind, reached)| {
        let (f1, pages) = (mean(&f1s[kind]), f1s[kind].len());
        say(&format!(
            "WCXB-dev {kind}: F1 {f1:.4} of {pages} pages, reached {reached}"
        ));
        (kind, f1, reached)
    });
    let measured: Vec<(&str, f64, f64)> = measured.collect();
    for (kind, f1, reached) in measured {
        assert!(STEP > 1 || f1 >= reached, "{kind}: {f1}");
    }
    assert!(mean(&f1s[""]) >= REACHED_OF_SOME, "{}", mean(&f1s[""]));
}

/// Returns the names in a label or in a field, in lower case and without punctuation.
fn names_in(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(" and ", ";");
    let names = text.split([';', ',', '&', '|']);
    let names = names.map(|name| tokens(name).join(" "));
    names.filter(|name| !name.is_empty()).collect()
}

/// Counts of pages whose label has a value of a field.
#[derive(Default)]
struct FieldScore {
    labelled: u32,
    answered: u32,
    right: u32,
}

impl FieldScore {
    fn add(&mut self, label: &Value, answer: Option<&str>, is_right: impl Fn(&str, &str) -> bool) {
        let Some(label) = label.as_str().filter(|label| !label.is_empty()) else {
            return;
        };
        self.labelled += 1;
        self.answered += u32::from(answer.is_some());
        self.right += u32::from(answer.is_some_and(|answer| is_right(label, answer)));
    }

    /// Shares of the answers and of the labels that are right.
    fn shares(&self, field: &str) -> (f64, f64) {
        let of_answers = f64::from(self.right) / f64::from(self.answered.max(1));
        let of_labels = f64::from(self.right) / f64::from(self.labelled.max(1));
        say(&format!(
            "WCXB-dev {field}: {} labels, {} answers, {} right; {of_answers:.3}, {of_labels:.3}",
            self.labelled, self.answered, self.right
        ));
        (of_answers, of_labels)
    }
}

/// An author is right if a name of the label is among the names, a date if it is the same day.
#[test]
fn author_and_date_of_labelled_pages_are_found() {
    let Some(files) = labelled("wcxb-dev.tar.zst") else {
        return;
    };
    let (mut authors, mut dates) = (FieldScore::default(), FieldScore::default());
    let labels = files.iter().filter(|(path, _)| path.ends_with(".json"));
    for (path, label) in labels.step_by(STEP) {
        let label: Value = serde_json::from_slice(label).unwrap();
        let truth = &label["ground_truth"];
        if truth["author"].is_null() && truth["publish_date"].is_null() {
            continue;
        }
        let page = path
            .replace("ground-truth", "html")
            .replace(".json", ".html.gz");
        let document = document_at(label["url"].as_str().unwrap(), &files[&page]);
        let fields = document.fields;
        authors.add(
            &truth["author"],
            fields.author.as_deref(),
            |label, found| {
                let found = names_in(found);
                names_in(label).iter().any(|name| found.contains(name))
            },
        );
        let published = fields.published.map(|date| date.to_string());
        dates.add(
            &truth["publish_date"],
            published.as_deref(),
            |label, found| label == found,
        );
    }
    let (authors, dates) = (authors.shares("author"), dates.shares("published"));
    // A debug build reads some thirty labels of each.
    let goal = if STEP > 1 { 0.85 } else { 0.9 };
    assert!(authors.0 >= goal && authors.1 >= 0.84, "{authors:?}");
    assert!(dates.0 >= goal && dates.1 >= 0.8, "{dates:?}");
}

/// Two pages of WCXB are shells: both are shops, and their labels have no text. A debug build reads
/// some of the other pages.
#[test]
fn pages_that_need_their_scripts_are_found_among_pages_of_seven_kinds() {
    let Some(files) = labelled("wcxb-dev.tar.zst") else {
        return;
    };
    let shells = ["dev/html/0585.html.gz", "dev/html/4577.html.gz"];
    let pages = files.iter().filter(|(path, _)| path.ends_with(".html.gz"));
    let is_read = |(at, (path, _)): &(usize, (&String, &Vec<u8>))| {
        at % STEP == 0 || shells.contains(&path.as_str())
    };
    let found: Vec<&str> = pages
        .enumerate()
        .filter(is_read)
        .filter(|(_, (_, page))| document_of(page).needs_scripts)
        .map(|(_, (path, _))| path.as_str())
        .collect();
    assert_eq!(found, shells);
}

/// A page that is taken for a challenge is lost, so none of the labelled pages may be.
#[test]
fn no_page_of_seven_kinds_is_taken_for_an_interstitial_page() {
    let Some(files) = labelled("wcxb-dev.tar.zst") else {
        return;
    };
    let url = PageUrl::parse(NOWHERE, &CanonicalForm::default()).expect("a URL");
    let pages = files.iter().filter(|(path, _)| path.ends_with(".html.gz"));
    let pages = pages.enumerate().filter(|(at, _)| at % STEP == 0);
    let mut read = 0;
    for (_, (path, page)) in pages {
        let (document, html) = (document_of(page), unpacked(page));
        let found = Interstitial::of(&url, &HeaderMap::new(), &document, &html);
        assert_eq!(found, None, "{path}");
        read += 1;
    }
    say(&format!(
        "{read} pages, none taken for an interstitial page"
    ));
}

/// Pages of goods and of listings are lists. A wrong list costs a corpus an article, so those are
/// rarer than lists that are missed.
#[test]
fn lists_are_told_from_articles_among_pages_of_seven_kinds() {
    let Some(files) = labelled("wcxb-dev.tar.zst") else {
        return;
    };
    // By the kind in the label: the number of pages, and of those that were found to be lists.
    let mut found: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let pages = files.iter().filter(|(path, _)| path.ends_with(".html.gz"));
    for (path, page) in pages.step_by(STEP) {
        let label = path
            .replace("html/", "ground-truth/")
            .replace(".html.gz", ".json");
        let label: Value = serde_json::from_slice(&files[&label]).unwrap();
        let kind = label["_internal"]["page_type"]["primary"].as_str().unwrap();
        let counts = found.entry(kind.to_owned()).or_default();
        counts.0 += 1;
        counts.1 += u32::from(document_of(page).kind == Some(PageKind::List));
    }
    say(&format!("WCXB-dev pages and lists: {found:?}"));
    let (articles, wrong) = found["article"];
    assert!(wrong * 50 <= articles, "{wrong} of {articles}");
    let lists = ["collection", "listing"].map(|kind| found[kind]);
    let pages: u32 = lists.iter().map(|(pages, _)| pages).sum();
    let right: u32 = lists.iter().map(|(_, right)| right).sum();
    // A debug build reads a dozen lists.
    let goal = if STEP > 1 { 0.5 } else { 0.65 };
    assert!(
        f64::from(right) >= goal * f64::from(pages),
        "{right} of {pages}"
    );
}
