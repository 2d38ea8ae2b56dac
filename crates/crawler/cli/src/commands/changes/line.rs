//! Output of `crawler changes` for one page, as text.

use std::io::{self, Write};

use inspect::changes::Change;
use messages::printable;

use crate::word_diff::WordDiff;

/// Maximum number of runs per page in a table. JSON output contains all runs.
const RUNS_SHOWN: usize = 5;
/// Maximum number of words per run in a table.
const WORDS_SHOWN: usize = 24;

/// Writes a change. With `diff`, writes the changed text with the words around each change; its
/// value is true if the output has colours.
pub(super) fn write(
    change: &Change<'_>,
    diff: Option<bool>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let resemblance = change.resemblance.map(|share| format!("{share:.2}"));
    let resemblance = resemblance.unwrap_or_default();
    let mut line = format!(
        "{:<9}  {resemblance:<4}  {}",
        change.kind.as_str(),
        printable(change.url)
    );
    if let Some(from) = change.from {
        line.push_str(&format!("  from {}", printable(from)));
    }
    if let Some(reason) = &change.reason {
        line.push_str(&format!("  ({})", printable(reason)));
    }
    writeln!(out, "{line}")?;
    let Some(text) = &change.text else {
        return Ok(());
    };
    if let Some(has_colours) = diff {
        let texts = &text.compared;
        let diff = WordDiff::with(&texts.before, &texts.now, texts.difference.clone());
        return out.write_all(diff.shown(has_colours).as_bytes());
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

/// Returns the first words of a run.
fn beginning(run: &str) -> String {
    let mut words = run.split(' ');
    let mut shown: Vec<&str> = words.by_ref().take(WORDS_SHOWN).collect();
    if words.next().is_some() {
        shown.push("…");
    }
    shown.join(" ")
}
