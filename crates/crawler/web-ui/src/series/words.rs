//! The words of a page that changed, in their context, for a page of HTML.

use std::ops::Range;

use differences::{Difference, RunKind, Stretch};

use crate::caps;
use crate::format::{count, cut};

/// Unchanged words that are shown before and after a change.
const CONTEXT: usize = 12;

/// A piece of a changed text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChangedPiece {
    /// Words that both texts have.
    Same(String),
    /// Words that only the earlier text has.
    Removed(String),
    /// Words that only the later text has.
    Added(String),
    /// Number of common words that are not shown.
    Folded(u64),
}

/// The words of a page that changed, at most [`caps::WORDS`] bytes.
#[derive(Clone, Debug, Default)]
pub struct ChangedWords {
    pub(super) pieces: Vec<ChangedPiece>,
    pub(super) added: u64,
    pub(super) removed: u64,
    /// True if some words are not shown.
    pub(super) is_cut: bool,
}

impl ChangedWords {
    /// Returns the words in which two texts differ.
    #[must_use]
    pub fn of(difference: &Difference, before: &str, now: &str) -> Self {
        let statistics = difference.statistics();
        let mut words = Self {
            added: statistics.words_only_b as u64,
            removed: statistics.words_only_a as u64,
            ..Self::default()
        };
        let mut room = caps::WORDS;
        for stretch in difference.folded(CONTEXT) {
            let piece = match &stretch {
                Stretch::Folded(run) => ChangedPiece::Folded(run.words as u64),
                Stretch::Shown(run) => {
                    let (of, text) = match run.kind {
                        RunKind::OnlyA => (&run.a, before),
                        RunKind::Same | RunKind::OnlyB => (&run.b, now),
                    };
                    let text = words.cut(part(text, of), room);
                    // Escapes take room, too, but a piece is at most `PIECE` bytes with them.
                    room = room.saturating_sub(text.len());
                    match run.kind {
                        RunKind::Same => ChangedPiece::Same(text),
                        RunKind::OnlyA => ChangedPiece::Removed(text),
                        RunKind::OnlyB => ChangedPiece::Added(text),
                    }
                }
            };
            words.pieces.push(piece);
            if room == 0 || words.pieces.len() >= caps::PIECES {
                words.is_cut = true;
                break;
            }
        }
        words
    }

    /// Returns true if words were added or removed.
    pub(super) const fn has_changes(&self) -> bool {
        self.added + self.removed > 0
    }

    /// Returns the numbers of words: `3 words added, 1 removed`.
    pub(super) fn summary(&self) -> String {
        let words = if self.added == 1 { "word" } else { "words" };
        let [added, removed] = [self.added, self.removed].map(count);
        format!("{added} {words} added, {removed} removed")
    }

    /// Cuts a piece on one line, and notes that it was cut.
    fn cut(&mut self, text: &str, room: usize) -> String {
        let line = text.replace(char::is_whitespace, " ");
        let shown = cut(&line, room.min(caps::PIECE));
        self.is_cut |= shown != line;
        shown
    }
}

fn part<'t>(text: &'t str, bytes: &Range<usize>) -> &'t str {
    text.get(bytes.clone()).unwrap_or_default()
}
