//! A labelled set: its pages, the questions about them, and the goals of the answers.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::page::Page;

/// Pages, and one or more questions about them.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// A description in a sentence or two, as Markdown.
    pub(crate) about: String,
    pub(crate) pages: Vec<Page>,
    pub(crate) questions: Vec<Question>,
}

/// The pairs to be found in a set, and the goals for finding them.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) truth: Truth,
    pub(crate) goals: Vec<Goal>,
}

/// The pairs of pages, given by their numbers, that say the same.
#[derive(Debug)]
pub(crate) enum Truth {
    /// These pairs, the lower number first.
    Pairs(BTreeSet<(u32, u32)>),
    /// These pairs. Of the others only `different` are known to be wrong; the rest is unknown.
    Judged {
        alike: BTreeSet<(u32, u32)>,
        different: BTreeSet<(u32, u32)>,
    },
    /// Those whose pages, not their main texts alone, have at least this resemblance in shingles of
    /// `width` words; `also` may be found without being expected.
    Resembling {
        width: usize,
        least: f64,
        also: BTreeSet<(u32, u32)>,
    },
    /// None, except pages with the same text from end to end, and `same`.
    Distinct { same: BTreeSet<(u32, u32)> },
}

/// A score that an answer should reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    Precision(f64),
    Recall(f64),
    F1(f64),
    /// Less than this share of the pages is judged to repeat a page that says something else.
    MergedBelow(f64),
    /// No page is.
    NoneMerged,
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Goal::Precision(least) => write!(f, "precision ≥ {least}"),
            Goal::Recall(least) => write!(f, "recall ≥ {least}"),
            Goal::F1(least) => write!(f, "F1 ≥ {least}"),
            Goal::MergedBelow(share) => write!(f, "merged < {} %", share * 100.0),
            Goal::NoneMerged => write!(f, "none merged"),
        }
    }
}

/// The directories of the data.
#[derive(Debug)]
pub(crate) struct Places {
    /// The labelled data.
    pub(crate) data: PathBuf,
    /// The manuals that `lab/evaluation/fetch-manuals.sh` unpacked.
    pub(crate) manuals: PathBuf,
}

/// The data of a set are absent, so it cannot be evaluated.
#[derive(Debug)]
pub(crate) struct Absent(String);

impl Absent {
    pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }

    pub(crate) fn because(why: String) -> Self {
        Self(why)
    }
}

impl fmt::Display for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the pair, the lower number first.
pub(crate) const fn ordered(a: u32, b: u32) -> (u32, u32) {
    if a < b { (a, b) } else { (b, a) }
}
