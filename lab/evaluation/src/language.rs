//! The language of pages, measured on translated manuals.
//!
//! `DIR/translations/MANUAL/LANGUAGE` holds the pages of a manual in a language. Pages count that
//! have over a hundred words and are translated: a translation that is not complete has the English
//! text in places, and its language is not what its directory says. Pages are judged by their text
//! alone, whatever they declare.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use web::{CanonicalForm, Document, PageUrl, ReadLimits, ResponseMetadata};

use crate::files::pages_below;
use crate::report::Report;

/// The words from which on a page counts.
const MIN_WORDS: usize = 101;
/// The most pages of a manual in a language that are read, spread evenly over it.
const MAX_PAGES: usize = 200;
/// The least share of a page's phrases that are not in its English edition, in quarters.
const MIN_TRANSLATED: usize = 3;
/// The least share of pages whose language is right.
const GOAL: f64 = 0.98;

/// The results of a language.
#[derive(Default)]
struct Score {
    pages: usize,
    right: usize,
    without: usize,
    confidence: usize,
    /// The languages that were found instead, and the number of pages.
    wrong: BTreeMap<String, usize>,
}

/// A page of a manual, by its name in the directory of its language.
type Pages = BTreeMap<String, String>;

/// Measures the languages of the manuals in a directory.
pub(crate) fn measure(manuals: &Path) -> Result<Report, String> {
    let root = manuals.join("translations");
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    let (mut took, mut read) = (Duration::ZERO, 0_u32);
    for manual in directories(&root)? {
        let languages = directories(&root.join(&manual))?;
        let english: BTreeMap<String, HashSet<String>> = match languages.get("en") {
            None => BTreeMap::new(),
            Some(_) => pages(&root.join(&manual).join("en"), "en")?
                .into_iter()
                .map(|(name, text)| (name, phrases(&text)))
                .collect(),
        };
        for language in languages {
            let score = scores.entry(primary(&language)).or_default();
            for (name, text) in pages(&root.join(&manual).join(&language), &language)? {
                let is_translated = primary(&language) == "en"
                    || english.get(&name).is_some_and(|english| {
                        let ours = phrases(&text);
                        let new = ours.difference(english).count();
                        4 * new > MIN_TRANSLATED * ours.len()
                    });
                if !is_translated || words(&text) < MIN_WORDS {
                    continue;
                }
                let start = Instant::now();
                let found = web::text_language(&text);
                took += start.elapsed();
                read += 1;
                score.add(&primary(&language), found);
            }
        }
    }
    if read == 0 {
        return Err(format!("{} has no translated pages", root.display()));
    }
    Ok(report(&scores, took / read))
}

impl Score {
    fn add(&mut self, expected: &str, found: Option<web::TextLanguage>) {
        self.pages += 1;
        let Some(found) = found else {
            self.without += 1;
            return;
        };
        if found.code == expected {
            self.right += 1;
            self.confidence += usize::from(found.confidence);
        } else {
            *self.wrong.entry(found.code.to_owned()).or_default() += 1;
        }
    }
}

fn report(scores: &BTreeMap<String, Score>, took: Duration) -> Report {
    let mut report = Report::default();
    report.heading(1, "The language of pages");
    report.paragraph(
        "Made by `cargo run --release -p evaluation -- language`, after \
         `lab/evaluation/fetch-manuals.sh --languages`: pages of translated manuals with over 100 \
         words, at least three quarters of whose phrases are not in the English edition, by their \
         text alone.",
    );
    let head = ["language", "pages", "right", "mean confidence", "taken for"];
    let mut rows = Vec::new();
    let (mut all, mut right, mut without) = (0, 0, 0);
    for (language, score) in scores.iter().filter(|(_, score)| score.pages > 0) {
        all += score.pages;
        right += score.right;
        without += score.without;
        let share = score.right as f64 / score.pages as f64;
        let confidence = score.confidence as f64 / 100.0 / score.right.max(1) as f64;
        let wrong = score.wrong.iter();
        let wrong: Vec<_> = wrong
            .map(|(code, pages)| format!("{code} {pages}"))
            .collect();
        rows.push(vec![
            language.clone(),
            score.pages.to_string(),
            format!("{share:.3}"),
            format!("{confidence:.2}"),
            wrong.join(", "),
        ]);
    }
    let share = right as f64 / f64::from(all as u32);
    let said = if share >= GOAL {
        "reached"
    } else {
        "**missed**"
    };
    report.paragraph(&format!(
        "Of {all} pages in {} languages {right} are right: {share:.4} (goal {GOAL}: {said}); \
         {without} have no language. {} µs per page.",
        rows.len(),
        took.as_micros()
    ));
    report.table(&head.map(str::to_owned), &rows);
    report
}

/// Returns the texts of the pages below a directory, by their names without the language.
fn pages(directory: &Path, language: &str) -> Result<Pages, String> {
    let files = pages_below(directory).map_err(|absent| absent.to_string())?;
    let step = files.len().div_ceil(MAX_PAGES).max(1);
    let mut pages = Pages::new();
    for (name, path) in files.iter().step_by(step) {
        let body = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = name.replace(&format!(".{language}"), "");
        pages.insert(name, document(&body)?.text);
    }
    Ok(pages)
}

fn document(body: &[u8]) -> Result<Document, String> {
    let form = CanonicalForm::default();
    let url = PageUrl::parse("http://manual.test/", &form).map_err(|error| error.to_string())?;
    let metadata = ResponseMetadata {
        content_type: Some("text/html"),
        ..ResponseMetadata::of(&url)
    };
    Ok(web::read(body, &metadata, &form, &ReadLimits::default()))
}

fn directories(root: &Path) -> Result<BTreeSet<String>, String> {
    let entries =
        std::fs::read_dir(root).map_err(|error| format!("{}: {error}", root.display()))?;
    let named = entries.flatten().filter(|entry| entry.path().is_dir());
    Ok(named
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect())
}

/// Returns the language of a directory such as `zh-CN`.
fn primary(name: &str) -> String {
    match name.split(['-', '_']).next().unwrap_or_default() {
        "no" | "nn" => "nb".to_owned(),
        primary => primary.to_ascii_lowercase(),
    }
}

/// Returns the number of words; two characters of Chinese, Japanese or Korean count as one.
fn words(text: &str) -> usize {
    let east_asian = |letter: &char| matches!(letter, '\u{2e80}'..='\u{d7ff}');
    let count = text.chars().filter(east_asian).count() / 2;
    count.max(text.split_whitespace().count())
}

/// Returns the phrases of three words of a text.
fn phrases(text: &str) -> HashSet<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(3).map(|phrase| phrase.join(" ")).collect()
}
