//! The rules for the order of visits that the simulator knows.

use super::formula::{BEST_WITNESS, CHOSEN, FORMULA, Formula, LEARNING, WITHOUT_STREAKS};

/// A rule for the order of visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rule {
    /// The nearest to a seed first.
    BreadthFirst,
    Random,
    /// The relevance of the first page that links there (Nutch scoring-similarity, QFirst).
    FirstParent,
    /// The lowest relevance of the pages that link there (QMin).
    LowestParent,
    /// A linear classifier of links, trained in batches, with two levels (ACHE).
    Batches,
    /// A linear classifier trained by each visit, and a bandit over hosts (Anthelion).
    Bandit,
    /// A fixed formula of the parent's relevance, the words of the link, and the harvests of its
    /// directory and host.
    Formula(Formula),
    /// The truth about known links: relevant ones first, then those that lead to such ones soonest.
    Oracle,
}

impl Rule {
    /// Returns true for a rule of the literature.
    pub(crate) const fn is_other(self) -> bool {
        !matches!(self, Self::Formula(_) | Self::Oracle)
    }
}

/// The rules and their names in the tables.
pub(crate) const RULES: &[(&str, Rule)] = &[
    ("breadth-first", Rule::BreadthFirst),
    ("random", Rule::Random),
    ("parent's relevance (Nutch, QFirst)", Rule::FirstParent),
    ("lowest parent (QMin)", Rule::LowestParent),
    ("linear classifier in batches (ACHE)", Rule::Batches),
    ("online classifier, bandit (Anthelion)", Rule::Bandit),
    (
        "first formula: equal levels, decay 0.7",
        Rule::Formula(FORMULA),
    ),
    ("formula of `link_score.rs`", Rule::Formula(CHOSEN)),
    (
        "the same, without off-topic streaks",
        Rule::Formula(WITHOUT_STREAKS),
    ),
    ("the same, by the best witness", Rule::Formula(BEST_WITNESS)),
    ("the same, with learning", Rule::Formula(LEARNING)),
    ("oracle over known links", Rule::Oracle),
];
