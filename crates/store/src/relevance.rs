//! The relevance of a page to the topic of a focused crawl.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A relevance in thousandths, from 0 to 1. It is on disk (postcard), as a number.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "u16", into = "u16")]
pub struct Relevance(u16);

impl Relevance {
    /// The largest relevance, 1.
    pub const MAX: Self = Self(1_000);

    /// Returns the relevance of this many thousandths, at most 1,000.
    #[must_use]
    pub const fn from_thousandths(thousandths: u16) -> Self {
        match thousandths <= Self::MAX.0 {
            true => Self(thousandths),
            false => Self::MAX,
        }
    }

    /// Returns the thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u16 {
        self.0
    }

    /// Returns the relevance as a share, 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(Self::MAX.0)
    }
}

impl From<u16> for Relevance {
    fn from(thousandths: u16) -> Self {
        Self::from_thousandths(thousandths)
    }
}

impl From<Relevance> for u16 {
    fn from(relevance: Relevance) -> Self {
        relevance.0
    }
}

impl fmt::Display for Relevance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / Self::MAX.0, self.0 % Self::MAX.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relevance_is_at_most_one_and_shown_with_three_digits() {
        for (thousandths, shown, share) in [
            (0, "0.000", 0.0),
            (7, "0.007", 0.007),
            (420, "0.420", 0.42),
            (999, "0.999", 0.999),
            (1_000, "1.000", 1.0),
            (1_001, "1.000", 1.0),
            (u16::MAX, "1.000", 1.0),
        ] {
            let relevance = Relevance::from_thousandths(thousandths);
            assert_eq!(relevance.to_string(), shown);
            assert!((relevance.share() - share).abs() < 1e-9);
            let bytes = postcard::to_stdvec(&thousandths).unwrap();
            assert_eq!(
                postcard::from_bytes::<Relevance>(&bytes).unwrap(),
                relevance
            );
        }
        assert!(Relevance::from_thousandths(419) < Relevance::from_thousandths(420));
    }
}
