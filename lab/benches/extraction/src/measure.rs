//! The two benchmarks' own measures.
//!
//! [`shingles`] and [`mean_of_shingles`] are `evaluate.py` of
//! `scrapinghub/article-extraction-benchmark`: tokens `\w+`, case kept; 4-token shingles as
//! multisets (a text of fewer tokens is one shingle); true and false positives and false negatives
//! a page, divided by their sum; precision is the mean over pages with a prediction, recall the
//! mean over pages with a label, F1 made of the two means.
//!
//! [`words`] and [`mean_of_words`] are WCXB's `evaluate.py`: tokens `\w+` of the text in lower
//! case, as multisets; precision, recall and F1 a page, 0 where nothing is predicted; each is
//! averaged over all pages.

use std::collections::HashMap;
use std::hash::Hash;

/// Precision, recall and their harmonic mean, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    pub f1: f64,
    pub precision: f64,
    pub recall: f64,
}

/// The overlap of a prediction with the label on one page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overlap {
    both: f64,
    predicted: f64,
    labelled: f64,
}

impl Overlap {
    fn of<T: Eq + Hash>(
        predicted: impl Iterator<Item = T>,
        labelled: impl Iterator<Item = T>,
    ) -> Self {
        let mut counts: HashMap<T, (u32, u32)> = HashMap::new();
        predicted.for_each(|token| counts.entry(token).or_default().0 += 1);
        labelled.for_each(|token| counts.entry(token).or_default().1 += 1);
        let mut overlap = Self::default();
        for (predicted, labelled) in counts.into_values() {
            overlap.both += f64::from(predicted.min(labelled));
            overlap.predicted += f64::from(predicted);
            overlap.labelled += f64::from(labelled);
        }
        overlap
    }

    /// Returns the score of this page alone.
    #[must_use]
    pub fn score(self) -> Score {
        if self.predicted == self.labelled && self.both == self.predicted {
            return Score {
                f1: 1.0,
                precision: 1.0,
                recall: 1.0,
            };
        }
        let ratio = |of: f64| if of > 0.0 { self.both / of } else { 0.0 };
        let (precision, recall) = (ratio(self.predicted), ratio(self.labelled));
        Score {
            f1: harmonic(precision, recall),
            precision,
            recall,
        }
    }
}

/// Compares by 4-token shingles.
#[must_use]
pub fn shingles(predicted: &str, labelled: &str) -> Overlap {
    let (predicted, labelled) = (tokens(predicted), tokens(labelled));
    Overlap::of(of_four(&predicted), of_four(&labelled))
}

/// Compares by words.
#[must_use]
pub fn words(predicted: &str, labelled: &str) -> Overlap {
    let (predicted, labelled) = (predicted.to_lowercase(), labelled.to_lowercase());
    Overlap::of(
        tokens(&predicted).into_iter(),
        tokens(&labelled).into_iter(),
    )
}

/// Returns the article benchmark's score of many pages.
#[must_use]
pub fn mean_of_shingles(pages: &[Overlap]) -> Score {
    let precision = mean(
        pages
            .iter()
            .filter(|page| page.predicted > 0.0)
            .map(|page| page.score().precision),
    );
    let recall = mean(
        pages
            .iter()
            .filter(|page| page.labelled > 0.0)
            .map(|page| page.score().recall),
    );
    Score {
        f1: harmonic(precision, recall),
        precision,
        recall,
    }
}

/// Returns WCXB's score of many pages.
#[must_use]
pub fn mean_of_words(pages: &[Overlap]) -> Score {
    let scores = || pages.iter().map(|page| page.score());
    Score {
        f1: mean(scores().map(|score| score.f1)),
        precision: mean(scores().map(|score| score.precision)),
        recall: mean(scores().map(|score| score.recall)),
    }
}

/// Returns the runs of `\w`: in Python's `re`, a letter, a digit or number of any script, or `_`.
fn tokens(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|token| !token.is_empty())
        .collect()
}

fn of_four<'a>(tokens: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let whole = (!tokens.is_empty() && tokens.len() < 4).then_some(tokens);
    tokens.windows(4).chain(whole)
}

fn harmonic(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}
