//! The difference between two texts, line by line.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::caps;
use crate::format::cut;

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) change: Change,
    pub(crate) text: String,
}

/// The change of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Kept,
    Added,
    Removed,
}

impl Line {
    /// Returns the sign before the line.
    pub(crate) const fn sign(&self) -> &'static str {
        match self.change {
            Change::Kept => " ",
            Change::Added => "+",
            Change::Removed => "-",
        }
    }

    /// Returns the class of the line in the style sheet.
    pub(crate) const fn class(&self) -> &'static str {
        match self.change {
            Change::Kept => "kept",
            Change::Added => "added",
            Change::Removed => "removed",
        }
    }
}

/// Returns the lines of the new text and the lines removed from the old text; at most
/// [`caps::LISTED`].
pub(crate) fn between(old: &str, new: &str) -> Vec<Line> {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let mut lines = Vec::new();
    let mut add = |change, texts: &[&str]| {
        lines.extend(texts.iter().map(|text| Line {
            change,
            text: cut(text, caps::REASON),
        }));
    };
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut kept_from = 0;
    for hunk in Diff::compute(Algorithm::Histogram, &input).hunks() {
        let (before, after) = (indices(hunk.before), indices(hunk.after));
        add(Change::Kept, &new[kept_from..after.start]);
        kept_from = after.end;
        add(Change::Removed, &old[before]);
        add(Change::Added, &new[after]);
    }
    add(Change::Kept, &new[kept_from..]);
    // A long file is shown around its changes.
    if lines.len() > caps::LISTED {
        lines.retain(|line| line.change != Change::Kept);
        lines.truncate(caps::LISTED);
    }
    lines
}

fn indices(lines: Range<u32>) -> Range<usize> {
    lines.start as usize..lines.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_is_removed_and_added() {
        let lines = between(
            "# why\ndelay = \"1s\"\n",
            "# why\ndelay = \"2s\"\npause = true\n",
        );
        let shown: Vec<String> = lines
            .iter()
            .map(|line| format!("{}{}", line.sign(), line.text))
            .collect();
        assert_eq!(
            shown,
            [
                " # why",
                "-delay = \"1s\"",
                "+delay = \"2s\"",
                "+pause = true"
            ]
        );
        assert!(
            between("a\n", "a\n")
                .iter()
                .all(|line| line.change == Change::Kept)
        );
        let long = "x\n".repeat(2 * caps::LISTED);
        assert_eq!(between(&long, &format!("{long}y\n")).len(), 1);
    }
}
