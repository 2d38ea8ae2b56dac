//! Output of `crawler changes` for one page.

use std::io::{self, Write};

use journal::VisitRecord;
use messages::printable;
use serde::Serialize;

use crate::args::ChangeKind;
use crate::word_diff::PrintedDifference;

/// The change of a page: a line of output.
#[derive(Debug, Serialize)]
pub(super) struct Change<'a> {
    pub(super) change: &'static str,
    pub(super) url: &'a str,
    /// Its old URL, if it moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<&'a str>,
    /// Resemblance of its two texts: the share of common word 5-shingles, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resemblance: Option<f64>,
    #[serde(flatten)]
    pub(super) text: Option<ChangedText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
}

/// The difference between two texts.
#[derive(Debug, Serialize)]
pub(super) struct ChangedText {
    /// Runs of words that only the new text has.
    pub(super) added: Vec<String>,
    /// Runs of words that only the old text has.
    pub(super) removed: Vec<String>,
    /// All runs, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diff: Option<PrintedDifference>,
    /// All runs as printable text.
    #[serde(skip)]
    pub(super) shown: Option<String>,
}

/// Maximum number of runs per page in a table. JSON output contains all runs.
const RUNS_SHOWN: usize = 5;
/// Maximum number of words per run in a table.
const WORDS_SHOWN: usize = 24;

impl<'a> Change<'a> {
    /// Returns a line with only the kind and the URL.
    pub(super) fn of(kind: ChangeKind, row: &'a VisitRecord) -> Self {
        Self {
            change: kind.as_str(),
            url: row.url.as_str(),
            from: None,
            resemblance: None,
            text: None,
            reason: None,
        }
    }

    /// Writes the change as text.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let resemblance = self.resemblance.map(|share| format!("{share:.2}"));
        let resemblance = resemblance.unwrap_or_default();
        let mut line = format!(
            "{:<9}  {resemblance:<4}  {}",
            self.change,
            printable(self.url)
        );
        if let Some(from) = self.from {
            line.push_str(&format!("  from {}", printable(from)));
        }
        if let Some(reason) = &self.reason {
            line.push_str(&format!("  ({})", printable(reason)));
        }
        writeln!(out, "{line}")?;
        let Some(text) = &self.text else {
            return Ok(());
        };
        if let Some(shown) = &text.shown {
            return out.write_all(shown.as_bytes());
        }
        for (sign, runs) in [('+', &text.added), ('-', &text.removed)] {
            for run in runs.iter().take(RUNS_SHOWN) {
                writeln!(out, "           {sign} {}", printable(&beginning(run)))?;
            }
            if runs.len() > RUNS_SHOWN {
                writeln!(
                    out,
                    "           {sign} … and {} more (--diff)",
                    runs.len() - RUNS_SHOWN
                )?;
            }
        }
        Ok(())
    }
}

/// Returns the first words of a run.
fn beginning(run: &str) -> String {
    let mut words = run.split(' ');
    let mut shown: Vec<&str> = words.by_ref().take(WORDS_SHOWN).collect();
    if words.next().is_some() {
        shown.push("…");
    }
    shown.join(" ")
}
