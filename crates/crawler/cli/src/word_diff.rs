//! The difference of two texts in command output: as text with the marks of `git diff --word-diff`,
//! or as runs in JSON.
//!
//! Words come from pages, so each piece is made [`printable`] line by line; only line ends and our
//! own marks and colours are added. A page with `{+` in its text cannot forge the marks on a
//! terminal with colours, and JSON does not contain marks.

use std::io::{self, Write};
use std::ops::Range;

use differences::{Difference, PrintedDifference, Run, RunKind, Stretch};
use messages::printable;

use crate::terminal::{GREEN, PLAIN, RED};

/// Number of unchanged words shown before and after a change.
const CONTEXT: usize = 12;

/// Two texts and their difference.
pub(crate) struct WordDiff<'a> {
    a: &'a str,
    b: &'a str,
    difference: Difference,
}

impl<'a> WordDiff<'a> {
    /// Compares two texts.
    pub(crate) fn of(a: &'a str, b: &'a str) -> Self {
        Self::with(a, b, Difference::of(a, b))
    }

    /// Wraps two texts that are already compared.
    pub(crate) fn with(a: &'a str, b: &'a str, difference: Difference) -> Self {
        Self { a, b, difference }
    }

    /// Returns the difference for JSON output.
    pub(crate) fn printed(&self) -> PrintedDifference {
        self.difference.printed(self.a, self.b)
    }

    /// Writes the numbers of words and shingles as text, under the names of both texts.
    pub(crate) fn write_figures(&self, out: &mut dyn Write, a: &str, b: &str) -> io::Result<()> {
        let figures = self.difference.statistics();
        writeln!(
            out,
            "words: {} only in {a}, {} only in {b}, of {} and {}",
            figures.words_only_a, figures.words_only_b, figures.words_a, figures.words_b
        )?;
        writeln!(
            out,
            "runs of five words: {} in both, {} only in {a}, {} only in {b}; resemblance {:.4}",
            figures.shared_shingles,
            figures.shingles_only_a,
            figures.shingles_only_b,
            figures.resemblance
        )
    }

    /// Returns each change as text, with the words around it. `has_colours` must only be true if
    /// the output lets colours pass.
    pub(crate) fn shown(&self, has_colours: bool) -> String {
        let mut shown = String::new();
        if let Some((a, b)) = self.difference.cut() {
            shown = format!("only the first {a} and {b} bytes are compared\n");
        }
        let mut hunk = Hunk::new(has_colours);
        let (mut line_a, mut line_b) = (1, 1);
        for stretch in self.difference.folded(CONTEXT) {
            match &stretch {
                Stretch::Shown(run) => {
                    hunk.open(self.a, self.b, run, line_a, line_b);
                    hunk.add(self.a, self.b, run);
                }
                Stretch::Folded(_) => hunk.end(&mut shown),
            }
            let (Stretch::Shown(run) | Stretch::Folded(run)) = stretch;
            line_a += line_ends(self.a, &run.a);
            line_b += line_ends(self.b, &run.b);
        }
        hunk.end(&mut shown);
        shown
    }
}

/// Changes that are close together, with the words around them.
struct Hunk {
    has_colours: bool,
    text: String,
}

impl Hunk {
    fn new(has_colours: bool) -> Self {
        Self {
            has_colours,
            text: String::new(),
        }
    }

    /// Begins a hunk at a run, unless a hunk has begun. The hunk starts with its first line numbers
    /// in both texts, counted from 1 as in `diff -u`.
    fn open(&mut self, a: &str, b: &str, run: &Run, line_a: usize, line_b: usize) {
        if self.text.is_empty() {
            let line_a = line_a + leading_line_ends(&a[run.a.clone()]);
            let line_b = line_b + leading_line_ends(&b[run.b.clone()]);
            self.text = format!("@@ -{line_a} +{line_b} @@\n");
        }
    }

    /// Adds a run. Unchanged words are printed as in the second text.
    fn add(&mut self, a: &str, b: &str, run: &Run) {
        match run.kind {
            RunKind::Same => {
                let text = &b[run.b.clone()];
                let is_first = self.text.ends_with("@@\n");
                self.add_lines(if is_first { text.trim_start() } else { text }, None);
            }
            RunKind::OnlyA => {
                // In the second text, there may be no space between the words around it.
                let is_apart = a[..run.a.start].ends_with(char::is_whitespace);
                if is_apart && !self.text.ends_with(char::is_whitespace) {
                    self.text.push(' ');
                }
                self.add_lines(&a[run.a.clone()], Some((RED, "[-", "-]")));
            }
            RunKind::OnlyB => self.add_lines(&b[run.b.clone()], Some((GREEN, "{+", "+}"))),
        }
    }

    /// Adds text, and puts each line between marks: colour, beginning and end.
    fn add_lines(&mut self, text: &str, marks: Option<(&str, &str, &str)>) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.text.push('\n');
            }
            let line = printable(line);
            match marks.filter(|_| !line.is_empty()) {
                Some((colour, begin, end)) if self.has_colours => {
                    self.text
                        .push_str(&format!("{colour}{begin}{line}{end}{PLAIN}"));
                }
                Some((_, begin, end)) => self.text.push_str(&format!("{begin}{line}{end}")),
                None => self.text.push_str(&line),
            }
        }
    }

    /// Appends the current hunk, if any, and ends it.
    fn end(&mut self, shown: &mut String) {
        if !self.text.is_empty() {
            shown.push_str(self.text.trim_end());
            shown.push('\n');
            self.text.clear();
        }
    }
}

fn line_ends(text: &str, range: &Range<usize>) -> usize {
    text[range.clone()].matches('\n').count()
}

/// Returns the number of line ends in the leading white space.
fn leading_line_ends(text: &str) -> usize {
    let white = text.len() - text.trim_start().len();
    text[..white].matches('\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str, has_colours: bool) -> String {
        WordDiff::of(a, b).shown(has_colours)
    }

    #[test]
    fn changed_words_are_marked_as_git_marks_them() {
        for (a, b, expected) in [
            (
                "one two three",
                "one 2 three",
                "@@ -1 +1 @@\none [-two-]{+2+} three\n",
            ),
            (
                "one two three",
                "one three",
                "@@ -1 +1 @@\none [-two-] three\n",
            ),
            (
                "one three",
                "one two three",
                "@@ -1 +1 @@\none {+two+} three\n",
            ),
            (
                "Title\nthe fox\nthe end",
                "Title\ndo NOT use\nthis\nthe fox\nthe end",
                "@@ -1 +1 @@\nTitle\n{+do NOT use+}\n{+this+}\nthe fox\nthe end\n",
            ),
            ("", "new", "@@ -1 +1 @@\n{+new+}\n"),
            ("the same", "the same", "@@ -1 +1 @@\nthe same\n"),
        ] {
            assert_eq!(shown(a, b, false), expected, "{a:?} {b:?}");
        }
    }

    #[test]
    fn words_far_from_changes_are_left_out_and_lines_are_counted() {
        let lines = |from: usize, to: usize| -> String {
            (from..to)
                .map(|line| format!("this is line {line} of it\n"))
                .collect()
        };
        let (a, b) = (
            format!("{}old\n{}", lines(0, 9), lines(9, 90)),
            format!(
                "{}new\n{}gone\n{}",
                lines(0, 9),
                lines(9, 50),
                lines(50, 90)
            ),
        );
        let expected = "@@ -8 +8 @@\nthis is line 7 of it\nthis is line 8 of it\n[-old-]{+new+}\n\
            this is line 9 of it\nthis is line 10 of it\n\
            @@ -50 +50 @@\nthis is line 48 of it\nthis is line 49 of it\n{+gone+}\n\
            this is line 50 of it\nthis is line 51 of it\n";
        assert_eq!(shown(&a, &b, false), expected);
        assert_eq!(shown(&a, &a, false), "");
    }

    #[test]
    fn hostile_words_are_escaped_and_coloured_by_us_alone() {
        let shown = shown("a \u{1b}[31mb\u{202e} c", "a c \u{7}", true);
        let expected = "@@ -1 +1 @@\na \u{1b}[31m[-\\u{1b}[31mb\\u{202e}-]\u{1b}[m c \\u{7}\n";
        assert_eq!(shown, expected);
    }
}
