//! The difference between two texts: the hunks of `diff -u`, and the words that were added and
//! removed.
//!
//! Lines are compared first, and then the words of replaced lines. A comparison costs at most
//! [`MOST_STEPS`] steps (Myers, "An O(ND) Difference Algorithm", 1986, with N·M as the bound):
//! longer texts that have little in common become one removed and one added run.

use std::fmt::Write;

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

/// Steps of one comparison, at most: about a tenth of a second.
const MOST_STEPS: usize = 16 << 20;
/// Lines around a change.
const CONTEXT: usize = 3;

/// The words that two texts do not share: each run of words as one string, in the order of the
/// text.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ChangedWords {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
}

impl ChangedWords {
    /// Compares two texts.
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
        let mut changed = Self::default();
        for op in operations(&old, &new) {
            if let DiffOp::Equal { .. } = op {
                continue;
            }
            let old: Vec<&str> = words(&old[op.old_range()]);
            let new: Vec<&str> = words(&new[op.new_range()]);
            for op in operations(&old, &new) {
                if let DiffOp::Equal { .. } = op {
                    continue;
                }
                push(&mut changed.removed, &old[op.old_range()]);
                push(&mut changed.added, &new[op.new_range()]);
            }
        }
        changed
    }
}

/// Returns the hunks of `diff -u`, without a header; empty if the lines are equal.
pub(super) fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        let old_lines = first.old_range().start..last.old_range().end;
        let new_lines = first.new_range().start..last.new_range().end;
        put(
            &mut text,
            format_args!("@@ -{} +{} @@", range(&old_lines), range(&new_lines)),
        );
        for op in hunk {
            let sides = match op {
                DiffOp::Equal { .. } => [(" ", &old[op.old_range()]), ("", &[][..])],
                _ => [("-", &old[op.old_range()]), ("+", &new[op.new_range()])],
            };
            for (sign, lines) in sides {
                for line in lines {
                    put(&mut text, format_args!("{sign}{line}"));
                }
            }
        }
    }
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes whatever is written to it");
}

/// Formats the lines of a hunk as `diff` does: counted from 1, and an empty range after the line
/// before it.
fn range(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        length => format!("{},{length}", lines.start + 1),
    }
}

fn words<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines
        .iter()
        .flat_map(|line| line.split_whitespace())
        .collect()
}

fn push(runs: &mut Vec<String>, words: &[&str]) {
    if !words.is_empty() {
        runs.push(words.join(" "));
    }
}

/// Returns the operations that turn one sequence into the other.
fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let same = |(one, two): &(&&str, &&str)| one == two;
    let head = old.iter().zip(new).take_while(same).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(same)
        .count();
    let (old_middle, new_middle) = (old_rest.len() - tail, new_rest.len() - tail);
    if old_middle.saturating_mul(new_middle) <= MOST_STEPS {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let replaced = DiffOp::Replace {
        old_index: head,
        old_len: old_middle,
        new_index: head,
        new_len: new_middle,
    };
    let all = [
        equal(0, 0, head),
        replaced,
        equal(head + old_middle, head + new_middle, tail),
    ];
    all.into_iter()
        .filter(|op| !(op.old_range().is_empty() && op.new_range().is_empty()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_added_paragraph_is_the_only_change() {
        let old = "Title\nthe quick brown fox\nthe end";
        let new = "Title\nsecurity correction: do NOT use this\nthe quick brown fox\nthe end";
        let changed = ChangedWords::between(old, new);
        assert_eq!(changed.added, ["security correction: do NOT use this"]);
        assert!(changed.removed.is_empty(), "{changed:?}");
        assert_eq!(
            unified(old, new),
            "@@ -1,3 +1,4 @@\n Title\n+security correction: do NOT use this\n \
             the quick brown fox\n the end\n"
        );
    }

    #[test]
    fn a_rewritten_line_changes_single_words_and_one_line_of_the_diff() {
        let (old, new) = ("use it in production", "never use it in tests");
        let changed = ChangedWords::between(old, new);
        assert_eq!(changed.added, ["never", "tests"]);
        assert_eq!(changed.removed, ["production"]);
        assert_eq!(
            unified(old, new),
            "@@ -1 +1 @@\n-use it in production\n+never use it in tests\n"
        );
        assert_eq!(unified(old, old), "");
        assert_eq!(ChangedWords::between(old, old), ChangedWords::default());
        assert_eq!(unified("", "a\nb"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    }

    #[test]
    fn long_texts_with_little_in_common_change_as_a_whole() {
        let text =
            |word: &str| -> String { (0..5_000).map(|line| format!("{word}{line}\n")).collect() };
        let (old, new) = (
            format!("first\n{}last", text("a")),
            format!("first\n{}last", text("b")),
        );
        let changed = ChangedWords::between(&old, &new);
        assert_eq!((changed.added.len(), changed.removed.len()), (1, 1));
        assert!(unified(&old, &new).starts_with("@@ -1,5002 +1,5002 @@\n first\n-a0\n"));
    }
}
