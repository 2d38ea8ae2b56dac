//! Scores of an answer: precision, recall and F1.

use std::collections::BTreeSet;
use std::fmt;

use crate::measured::Measured;
use crate::sets::set::{Goal, Truth};

/// Pairs of pages, the lower number first, ascending, each once.
pub(crate) type Pairs = Vec<(u32, u32)>;

/// The right answer to a question.
#[derive(Debug)]
pub(crate) enum Answer {
    /// These pairs must be found; `also` may be found.
    Pairs {
        expected: BTreeSet<(u32, u32)>,
        also: BTreeSet<(u32, u32)>,
    },
    /// No pair may be found, except pages with the same text from end to end, and `same`.
    Distinct { same: BTreeSet<(u32, u32)> },
}

impl Answer {
    /// The pages with the same text in `whole`, the measures of all text of the pages.
    pub(crate) fn of(truth: &Truth, whole: &Measured) -> Self {
        match truth {
            Truth::Pairs(pairs) => Answer::Pairs {
                expected: pairs.clone(),
                also: BTreeSet::new(),
            },
            Truth::Judged { alike, different } => {
                let pages = whole.pages.len() as u32;
                let all = (0..pages).flat_map(|b| (0..b).map(move |a| (a, b)));
                Answer::Pairs {
                    expected: alike.clone(),
                    also: all.filter(|pair| !different.contains(pair)).collect(),
                }
            }
            Truth::Resembling { width, least, also } => {
                let place = crate::configuration::WIDTHS
                    .iter()
                    .position(|known| known == width)
                    .expect("the truth is asked in one of the widths that are measured");
                let near = whole
                    .near
                    .iter()
                    .filter(|near| near.shingles[place].exact >= *least);
                Answer::Pairs {
                    expected: near.map(|near| (near.a, near.b)).collect(),
                    also: also.clone(),
                }
            }
            Truth::Distinct { same } => Answer::Distinct { same: same.clone() },
        }
    }

    /// Returns true if the two may be judged alike.
    pub(crate) fn holds(&self, a: u32, b: u32, measured: &Measured) -> bool {
        match self {
            Answer::Pairs { expected, also } => {
                expected.contains(&(a, b)) || also.contains(&(a, b))
            }
            Answer::Distinct { same } => {
                same.contains(&(a, b))
                    || measured.pages[a as usize].full == measured.pages[b as usize].full
            }
        }
    }
}

/// The numbers of pairs found, expected and right, for precision and recall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Score {
    Found {
        found: usize,
        expected: usize,
        right: usize,
    },
    /// Pages that were judged to repeat an earlier page that says something else.
    Merged { merged: usize, pages: usize },
}

impl Score {
    pub(crate) fn of(found: &Pairs, answer: &Answer, measured: &Measured) -> Self {
        match answer {
            Answer::Pairs { expected, also } => {
                let right = found.iter().filter(|pair| expected.contains(pair)).count();
                let beside = found
                    .iter()
                    .filter(|pair| also.contains(pair) && !expected.contains(pair));
                Score::Found {
                    found: found.len() - beside.count(),
                    expected: expected.len(),
                    right,
                }
            }
            Answer::Distinct { .. } => {
                let pages = &measured.pages;
                let wrong = found
                    .iter()
                    .filter(|(a, b)| !answer.holds(*a, *b, measured));
                let merged: BTreeSet<u32> = wrong.map(|(_, b)| *b).collect();
                Score::Merged {
                    merged: merged.len(),
                    pages: pages.len(),
                }
            }
        }
    }

    fn precision(found: usize, right: usize) -> f64 {
        if found == 0 {
            1.0
        } else {
            right as f64 / found as f64
        }
    }

    fn recall(expected: usize, right: usize) -> f64 {
        if expected == 0 {
            1.0
        } else {
            right as f64 / expected as f64
        }
    }

    fn f1(found: usize, expected: usize, right: usize) -> f64 {
        if found + expected == 0 {
            1.0
        } else {
            2.0 * right as f64 / (found + expected) as f64
        }
    }

    /// Returns F1, or the number of merged pages.
    pub(crate) fn brief(self) -> String {
        match self {
            Score::Found {
                found,
                expected,
                right,
            } => Share(Self::f1(found, expected, right)).to_string(),
            Score::Merged { merged, .. } => merged.to_string(),
        }
    }

    /// Returns true if it reaches `goal`; it reaches no goal of another kind.
    pub(crate) fn reaches(self, goal: Goal) -> bool {
        match (self, goal) {
            (Score::Found { found, right, .. }, Goal::Precision(least)) => {
                Self::precision(found, right) >= least
            }
            (
                Score::Found {
                    expected, right, ..
                },
                Goal::Recall(least),
            ) => Self::recall(expected, right) >= least,
            (
                Score::Found {
                    found,
                    expected,
                    right,
                },
                Goal::F1(least),
            ) => Self::f1(found, expected, right) >= least,
            (Score::Merged { merged, pages }, Goal::MergedBelow(share)) => {
                (merged as f64) < share * pages as f64
            }
            (Score::Merged { merged, .. }, Goal::NoneMerged) => merged == 0,
            (Score::Found { .. }, Goal::MergedBelow(_) | Goal::NoneMerged)
            | (Score::Merged { .. }, Goal::Precision(_) | Goal::Recall(_) | Goal::F1(_)) => false,
        }
    }
}

/// Formats precision / recall / F1, or the number of merged pages.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Score::Found {
                found,
                expected,
                right,
            } => write!(
                f,
                "{} / {} / {}",
                Share(Self::precision(found, right)),
                Share(Self::recall(expected, right)),
                Share(Self::f1(found, expected, right))
            ),
            Score::Merged { merged, pages } => {
                write!(
                    f,
                    "{merged} ({:.2} %)",
                    100.0 * merged as f64 / pages.max(1) as f64
                )
            }
        }
    }
}

/// Formats a share, cut after four digits, so that a share below its goal does not look as if it
/// reached it.
struct Share(f64);

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An error of a division at the sixteenth digit must not be cut off with the rest.
        let cut = (self.0 * 10_000.0 + 1e-6).floor() / 10_000.0;
        if cut >= 1.0 {
            f.write_str("1")
        } else {
            f.write_str(format!("{cut:.4}").trim_start_matches('0'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_printed_in_shares_and_never_rounded_up_to_one() {
        let told = |found, expected, right| {
            Score::Found {
                found,
                expected,
                right,
            }
            .to_string()
        };
        assert_eq!(told(4, 8, 2), ".5000 / .2500 / .3333");
        assert_eq!(told(0, 8, 0), "1 / .0000 / .0000");
        assert_eq!(told(0, 0, 0), "1 / 1 / 1");
        assert_eq!(told(10_000, 9_999, 9_999), ".9999 / 1 / .9999");
        assert_eq!(
            Score::Merged {
                merged: 3,
                pages: 1_000
            }
            .to_string(),
            "3 (0.30 %)"
        );
    }

    #[test]
    fn a_goal_is_reached_at_its_figure_and_a_share_of_merged_pages_below_it() {
        let score = Score::Found {
            found: 100,
            expected: 100,
            right: 95,
        };
        assert!(score.reaches(Goal::Recall(0.95)) && score.reaches(Goal::F1(0.95)));
        assert!(!score.reaches(Goal::Precision(0.96)) && !score.reaches(Goal::NoneMerged));
        let merged = Score::Merged {
            merged: 1,
            pages: 100,
        };
        assert!(
            !merged.reaches(Goal::MergedBelow(0.01)) && merged.reaches(Goal::MergedBelow(0.02))
        );
        assert!(!merged.reaches(Goal::NoneMerged) && !merged.reaches(Goal::F1(0.0)));
    }
}
