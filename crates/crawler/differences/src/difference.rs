//! Runs of words that two texts share, and runs that occur in only one text.
//!
//! Invariants (property tests): the runs tile both texts; a shared run has equal words on both
//! sides; the runs of one text, joined, are the compared part of that text.

use std::ops::Range;

use serde::Serialize;

use crate::alignment::{self, Change};
use crate::side::{PartOfSide, Side};
use crate::statistics::DifferenceStatistics;

/// Number of bytes of a text that are compared: 8 MiB. The rest is ignored.
pub const MAX_TEXT: usize = 8 << 20;

/// Number of words of a text that are compared: 262,144, some 1.5 MiB of English. The rest is
/// ignored.
pub const MAX_WORDS: usize = 1 << 18;

/// A kind of run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// Both texts have these words.
    Same,
    /// Only the first text has them.
    OnlyA,
    /// Only the second text has them.
    OnlyB,
}

/// A run of words, with the text around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Kind of the run.
    pub kind: RunKind,
    /// Bytes in the first text; an empty range at the run's position if only the second text has
    /// it.
    pub a: Range<usize>,
    /// Bytes in the second text; an empty range at the run's position if only the first text has
    /// it.
    pub b: Range<usize>,
    /// Number of words; 0 for a text without words.
    pub words: usize,
}

/// A part of a difference as shown: unchanged words far from any change are folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// Shown.
    Shown(Run),
    /// Common words that are not shown.
    Folded(Run),
}

/// The difference of two texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    a: Side,
    b: Side,
    runs: Vec<Run>,
    /// The number of the first word of each run, in either text.
    firsts: Vec<(usize, usize)>,
    figures: DifferenceStatistics,
}

impl Difference {
    /// Compares two texts, each up to [`MAX_TEXT`] bytes and [`MAX_WORDS`] words.
    #[must_use]
    pub fn of(a: &str, b: &str) -> Self {
        Self::of_first(a, b, MAX_TEXT, MAX_WORDS)
    }

    pub(crate) fn of_first(a: &str, b: &str, bytes: usize, words: usize) -> Self {
        let ((side_a, words_a), (side_b, words_b)) =
            (Side::read(a, bytes, words), Side::read(b, bytes, words));
        let changes = alignment::changes(&words_a, &words_b);
        let mut difference = Self {
            figures: DifferenceStatistics::of(&words_a, &words_b, &changes),
            a: side_a,
            b: side_b,
            runs: Vec::new(),
            firsts: Vec::new(),
        };
        difference.tile(a, b, &changes);
        difference
    }

    /// Returns the runs in text order. In a change, the runs of the first text come first.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the numbers of words and shingles.
    #[must_use]
    pub fn statistics(&self) -> &DifferenceStatistics {
        &self.figures
    }

    /// Returns true if the compared parts of both texts have the same words in the same order.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.iter().all(|run| run.kind == RunKind::Same)
    }

    /// Returns the number of compared bytes of each text, if at least one text was cut.
    #[must_use]
    pub fn cut(&self) -> Option<(usize, usize)> {
        (self.a.is_cut || self.b.is_cut).then_some((self.a.length, self.b.length))
    }

    /// Returns the runs with at most `context` unchanged words before and after each change; other
    /// unchanged words are folded. Stretches tile both texts, as runs do.
    #[must_use]
    pub fn folded(&self, context: usize) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        for (place, (run, first)) in self.runs.iter().zip(&self.firsts).enumerate() {
            let is_first = place == 0;
            let is_last = place + 1 == self.runs.len();
            let head = if is_first { 0 } else { context };
            let tail = if is_last { 0 } else { context };
            // Folding one or two words is not worth it.
            if run.kind != RunKind::Same || run.words <= head + tail + 2 {
                stretches.push(Stretch::Shown(run.clone()));
                continue;
            }
            let (from, to) = (head, run.words - tail);
            let [shown, folded, rest] = self.split(run, *first, from, to);
            stretches.extend((head > 0).then_some(Stretch::Shown(shown)));
            stretches.push(Stretch::Folded(folded));
            stretches.extend((tail > 0).then_some(Stretch::Shown(rest)));
        }
        stretches
    }

    /// Splits a run of common words before its words `from` and `to`. The run starts at the words
    /// `first` of the two texts.
    fn split(&self, run: &Run, first: (usize, usize), from: usize, to: usize) -> [Run; 3] {
        // Cut at the end of a word: the shown part ends with it, and the folded part gets the rest.
        let head_of = |side: &Side, first: usize, all: &Range<usize>| match from {
            0 => all.start,
            _ => side.place(first + from - 1).end,
        };
        let tail_of = |side: &Side, first: usize, all: &Range<usize>| match to {
            to if to == run.words => all.end,
            to => side.place(first + to).start,
        };
        let a = (
            head_of(&self.a, first.0, &run.a),
            tail_of(&self.a, first.0, &run.a),
        );
        let b = (
            head_of(&self.b, first.1, &run.b),
            tail_of(&self.b, first.1, &run.b),
        );
        let part = |a: Range<usize>, b: Range<usize>, words| Run {
            kind: RunKind::Same,
            a,
            b,
            words,
        };
        [
            part(run.a.start..a.0, run.b.start..b.0, from),
            part(a.0..a.1, b.0..b.1, to - from),
            part(a.1..run.a.end, b.1..run.b.end, run.words - to),
        ]
    }

    /// Creates runs from the changes and the words between them.
    fn tile(&mut self, a: &str, b: &str, changes: &[Change]) {
        let parts = self.parts(changes);
        let of_a = parts
            .iter()
            .map(|part| part.on_side(RunKind::OnlyA, part.a.start));
        let of_b = parts
            .iter()
            .map(|part| part.on_side(RunKind::OnlyB, part.b.start));
        let (of_a, of_b) = (self.a.tile(a, of_a), self.b.tile(b, of_b));
        for (part, (a, b)) in parts.into_iter().zip(of_a.into_iter().zip(of_b)) {
            if a.is_empty() && b.is_empty() {
                continue;
            }
            self.firsts.push((part.a.start, part.b.start));
            self.runs.push(Run {
                kind: part.kind,
                a,
                b,
                words: part.a.len().max(part.b.len()),
            });
        }
    }

    /// Returns the runs, in words. A pair of texts without words yields a single run.
    fn parts(&self, changes: &[Change]) -> Vec<Part> {
        let (words_a, words_b) = (self.a.words(), self.b.words());
        let mut parts = Vec::with_capacity(3 * changes.len() + 1);
        let mut add = |kind, a: Range<usize>, b: Range<usize>| parts.push(Part { kind, a, b });
        let (mut at_a, mut at_b) = (0, 0);
        for Change { a, b } in changes {
            if a.start > at_a {
                add(RunKind::Same, at_a..a.start, at_b..b.start);
            }
            if !a.is_empty() || words_a == 0 {
                add(RunKind::OnlyA, a.clone(), b.start..b.start);
            }
            if !b.is_empty() || words_b == 0 {
                add(RunKind::OnlyB, a.end..a.end, b.clone());
            }
            (at_a, at_b) = (a.end, b.end);
        }
        if at_a < words_a || words_a == 0 && words_b == 0 {
            add(RunKind::Same, at_a..words_a, at_b..words_b);
        }
        parts
    }
}

/// A run, in words of either text.
struct Part {
    kind: RunKind,
    a: Range<usize>,
    b: Range<usize>,
}

impl Part {
    /// Returns the part in the text whose own words have kind `own`: `first` is its first word
    /// there.
    fn on_side(&self, own: RunKind, first: usize) -> Option<PartOfSide> {
        let is_shared = self.kind == RunKind::Same;
        (is_shared || self.kind == own).then_some(PartOfSide { first, is_shared })
    }
}

#[cfg(test)]
mod tests;
