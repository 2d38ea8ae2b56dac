//! The words that two texts have in common, in order.
//!
//! Myers's algorithm ("An O(ND) Difference Algorithm", 1986) with the heuristics of GNU diff, as
//! imara-diff has it: texts with little in common get a longer difference than the shortest, and
//! take bounded time. The histogram algorithm is not used: its recursion is as deep as a hostile
//! text wants.
//!
//! Single words that two rewritten passages share by chance ("the", "of") tell a reader nothing and
//! cut the passages into confetti, so [`joined`] makes one change of both.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use neardup::NormalText;

/// A change is joined with the next if both are at least this many times as long as the words
/// between them.
const CONFETTI: usize = 4;

/// A place where two texts differ: words of one, of the other or of both. Ranges are numbers of
/// words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) a: Range<usize>,
    pub(crate) b: Range<usize>,
}

impl Change {
    fn len(&self) -> usize {
        self.a.len().max(self.b.len())
    }
}

/// Returns the changes that make the words of `b` of those of `a`, in order and apart.
pub(crate) fn changes(a: &NormalText, b: &NormalText) -> Vec<Change> {
    let mut input = InternedInput::default();
    input.update_before(a.words());
    input.update_after(b.words());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_no_heuristic(&input);
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    joined(diff.hunks().map(|hunk| Change {
        a: range(hunk.before),
        b: range(hunk.after),
    }))
}

/// Joins changes that have few words between them compared with their own.
fn joined(changes: impl Iterator<Item = Change>) -> Vec<Change> {
    let mut joined: Vec<Change> = Vec::new();
    for change in changes {
        match joined.last_mut() {
            Some(last)
                if (change.a.start - last.a.end) * CONFETTI <= last.len().min(change.len()) =>
            {
                last.a.end = change.a.end;
                last.b.end = change.b.end;
            }
            _ => joined.push(change),
        }
    }
    joined
}
