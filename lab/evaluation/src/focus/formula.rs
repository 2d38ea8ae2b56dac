//! The fixed formula for the score of a link, with the coefficients that are compared.

/// The coefficients of the fixed formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Formula {
    pub(crate) parent: f64,
    pub(crate) words: f64,
    pub(crate) directory: f64,
    pub(crate) host: f64,
    /// The factor for each off-topic page in a row.
    pub(crate) decay: f64,
    pub(crate) levels: Levels,
    /// The part of the model of links in the score, from 0 to 1.
    pub(crate) learned: f64,
    pub(crate) witness: Witness,
    pub(crate) in_vain: InVain,
}

/// The effect of pages off topic on the order of visits, beside the decay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InVain {
    /// None.
    Nothing,
    /// Within a level, links behind fewer of them in a row go first.
    Runs,
    /// The same, and a host is asked later in an off-topic streak, as the store counts it: among
    /// hosts its scores are a level worse after four of them in a row, and one more whenever that
    /// has doubled.
    RunsAndStreaks,
}

impl InVain {
    /// Returns the levels by which scores are worse after this many pages off topic in a row.
    pub(crate) fn levels(self, dry: u32) -> f64 {
        match (self, (dry / 4).checked_ilog2()) {
            (Self::RunsAndStreaks, Some(times)) => f64::from(times + 1),
            _ => 0.0,
        }
    }
}

/// The page whose link counts, of several that link to a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Witness {
    /// The first one, as in the crawl: a URL keeps its place.
    First,
    /// The one with the best score: a link that is found later takes its URL forward if its
    /// score, with the harvests of that time, is better than the one that the URL has.
    Best,
}

/// The levels of score that a queue tells apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Levels {
    /// All numbers.
    Exact,
    /// Equal parts of 0 to 1.
    Linear(u32),
    /// This many steps, each of them this part of the one before; the last has all below.
    Logarithmic(u32, f64),
}

impl Levels {
    /// Returns the level of a score as a number that grows with it.
    pub(crate) fn of(self, score: f64) -> f64 {
        match self {
            Self::Exact => score,
            Self::Linear(levels) => (score * f64::from(levels)).floor(),
            Self::Logarithmic(levels, step) => {
                let steps = score.max(f64::MIN_POSITIVE).ln() / step.ln();
                -steps.floor().min(f64::from(levels - 1))
            }
        }
    }
}

/// A formula with equal levels, and a decay for each page off topic in a row: the one that was
/// assumed before anything was measured.
pub(crate) const FORMULA: Formula = Formula {
    parent: 0.35,
    words: 0.45,
    directory: 0.12,
    host: 0.08,
    decay: 0.7,
    levels: Levels::Linear(8),
    learned: 0.0,
    witness: Witness::First,
    in_vain: InVain::Nothing,
};

/// The formula of `crawl/src/steps/link_score.rs`, by directory instead of pattern, as
/// `focus-choose` chose it: logarithmic levels, no decay, and mostly words.
pub(crate) const CHOSEN: Formula = Formula {
    parent: 1.0,
    words: 5.0,
    directory: 1.0,
    host: 0.0,
    decay: 1.0,
    levels: Levels::Logarithmic(8, 0.6),
    learned: 0.0,
    witness: Witness::First,
    in_vain: InVain::RunsAndStreaks,
};

/// The same without off-topic streaks.
pub(crate) const WITHOUT_STREAKS: Formula = Formula {
    in_vain: InVain::Runs,
    ..CHOSEN
};

/// The same as [`CHOSEN`], by the best witness.
pub(crate) const BEST_WITNESS: Formula = Formula {
    witness: Witness::Best,
    ..CHOSEN
};

/// The same with a model of links, learned while crawling.
pub(crate) const LEARNING: Formula = Formula {
    learned: 0.3,
    ..CHOSEN
};
