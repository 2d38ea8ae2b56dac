//! The difference of two texts, word by word, for people to read.
//!
//! Words are defined as in `neardup`, so that a difference shows what decided on a near duplicate:
//! capitals, punctuation and white space are not differences. imara-diff compares the words; a
//! reader sees the texts as they were written.
//!
//! ```
//! use differences::{Difference, RunKind};
//!
//! let (a, b) = ("The quick fox, again.", "the QUICK brown fox, again!");
//! let difference = Difference::of(a, b);
//! let runs = difference.runs().iter();
//! let only_b: Vec<&str> = runs
//!     .filter(|run| run.kind == RunKind::OnlyB)
//!     .map(|run| &b[run.b.clone()])
//!     .collect();
//! assert_eq!(only_b, ["brown"]);
//! assert_eq!(difference.statistics().shared_shingles, 0);
//! ```
//!
//! A [`Pair`] is a page that repeats another, with its original: their difference, and the
//! statistics of the verdict.
//!
//! Pure: no clock, no disk, no threads.

mod alignment;
mod difference;
mod pair;
mod printed;
mod side;
mod statistics;
mod verdict;

pub use difference::{Difference, MAX_TEXT, MAX_WORDS, Run, RunKind, Stretch};
pub use pair::{PageOfPair, PageTextState, Pair};
pub use printed::PrintedDifference;
pub use statistics::DifferenceStatistics;
pub use verdict::{VerdictValues, listed};
