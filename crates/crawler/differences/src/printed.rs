//! A difference as values that are written as JSON.

use serde::Serialize;

use crate::difference::{Difference, Run, RunKind};
use crate::statistics::DifferenceStatistics;

/// A difference with the words of its runs.
#[derive(Clone, Debug, Serialize)]
pub struct PrintedDifference {
    #[serde(flatten)]
    figures: DifferenceStatistics,
    /// Bytes of each text that were compared, if either text was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_bytes: Option<(usize, usize)>,
    runs: Vec<PrintedRun>,
}

/// A run of words. The runs of a text, joined, are the text.
#[derive(Clone, Debug, Serialize)]
struct PrintedRun {
    run: RunKind,
    words: usize,
    #[serde(skip_serializing_if = "String::is_empty")]
    a: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    b: String,
}

impl Difference {
    /// Returns the difference of texts `a` and `b` with their words.
    #[must_use]
    pub fn printed(&self, a: &str, b: &str) -> PrintedDifference {
        let run = |run: &Run| PrintedRun {
            run: run.kind,
            words: run.words,
            a: a[run.a.clone()].to_owned(),
            b: b[run.b.clone()].to_owned(),
        };
        PrintedDifference {
            figures: *self.statistics(),
            compared_bytes: self.cut(),
            runs: self.runs().iter().map(run).collect(),
        }
    }

    /// Returns the words of all runs of a kind in texts `a` and `b`, one string per run.
    #[must_use]
    pub fn words_of(&self, kind: RunKind, a: &str, b: &str) -> Vec<String> {
        let runs = self.runs().iter();
        let of_kind = runs.filter(|run| run.kind == kind && run.words > 0);
        of_kind
            .map(|run| {
                let text = format!("{}{}", &a[run.a.clone()], &b[run.b.clone()]);
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            })
            .collect()
    }
}
