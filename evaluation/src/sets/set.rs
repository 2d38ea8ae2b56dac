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

/// Something to be found in a set, and how much of it ought to be.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) name: &'static str,
    pub(crate) truth: Truth,
    pub(crate) goals: Vec<Goal>,
}

/// The pairs of pages, given by their numbers, that say the same.
#[derive(Debug)]
pub(crate) enum Truth {
    /// These, the lower number first.
    Pairs(BTreeSet<(u32, u32)>),
    /// These; of all other pairs only `different` are known to be wrong, and nothing is known of
    /// the rest.
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
    /// None but those that say the same from end to end, word for word, and `same`.
    Distinct { same: BTreeSet<(u32, u32)> },
}

/// A score that an answer ought to reach.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    Precision(f64),
    Recall(f64),
    F1(f64),
    /// A share of the pages that is not reached by those taken for a repetition of a page that says
    /// something else.
    MergedBelow(f64),
    /// No such page.
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
    /// The manuals that `evaluation/fetch-manuals.sh` unpacked.
    pub(crate) manuals: PathBuf,
}

/// A set cannot be evaluated: its data are not there.
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

/// The pair, the lower number first.
pub(crate) const fn ordered(a: u32, b: u32) -> (u32, u32) {
    if a < b { (a, b) } else { (b, a) }
}
