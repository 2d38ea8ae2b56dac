//! Relevance: a number from 0 to 1, stored and compared in thousandths.

use std::fmt;
use std::num::ParseFloatError;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Thousandths in a relevance of 1.
const ALL: u16 = 1_000;

/// Relevance of a page or text to a topic, in thousandths, 0 to 1.
///
/// ```
/// use topic::Relevance;
///
/// let relevance = Relevance::from_share(0.4217);
/// assert_eq!((relevance.thousandths(), relevance.to_string()), (422, "0.422".to_owned()));
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "u16", into = "u16")]
pub struct Relevance(u16);

impl Relevance {
    /// A page that has nothing to do with the topic.
    pub const NONE: Self = Self(0);
    /// A page that is all about the topic.
    pub const FULL: Self = Self(ALL);

    /// Returns the relevance nearest to a share; NaN and values below 0 give 0, values above 1 give
    /// 1.
    #[must_use]
    pub fn from_share(share: f64) -> Self {
        // Casting NaN gives 0.
        Self((share.clamp(0.0, 1.0) * f64::from(ALL)).round() as u16)
    }

    /// Returns the relevance of this many thousandths, capped at 1,000.
    #[must_use]
    pub const fn from_thousandths(thousandths: u16) -> Self {
        Self(if thousandths > ALL { ALL } else { thousandths })
    }

    /// Returns the relevance as a number from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(ALL)
    }

    /// Returns the thousandths.
    #[must_use]
    pub const fn thousandths(self) -> u16 {
        self.0
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

/// Writes three decimal places, the full precision.
impl fmt::Display for Relevance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / ALL, self.0 % ALL)
    }
}

impl FromStr for Relevance {
    type Err = ParseFloatError;

    fn from_str(text: &str) -> Result<Self, ParseFloatError> {
        text.parse().map(Self::from_share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_to_thousandths_and_kept_within_0_and_1() {
        for (share, thousandths) in [
            (0.0, 0),
            (0.000_4, 0),
            (0.000_5, 1),
            (0.421_7, 422),
            (1.0, 1_000),
            (1.1, 1_000),
            (-1.0, 0),
            (f64::INFINITY, 1_000),
            (f64::NAN, 0),
        ] {
            assert_eq!(Relevance::from_share(share).thousandths(), thousandths);
        }
        assert_eq!(Relevance::from_thousandths(1_001), Relevance::FULL);
        assert_eq!(Relevance::from_thousandths(999).share(), 0.999);
    }

    #[test]
    fn a_relevance_is_shown_with_three_decimal_places_and_read_from_them() {
        for thousandths in 0..=1_000 {
            let relevance = Relevance::from_thousandths(thousandths);
            assert_eq!(relevance.to_string().parse(), Ok(relevance));
        }
        assert_eq!(Relevance::from_thousandths(59).to_string(), "0.059");
        assert_eq!(Relevance::FULL.to_string(), "1.000");
        assert!("much".parse::<Relevance>().is_err());
    }

    #[test]
    fn a_stored_relevance_above_1_is_read_as_1() {
        let read: Relevance = serde_json::from_str("2000").unwrap();
        assert_eq!(read, Relevance::FULL);
        assert_eq!(serde_json::to_string(&Relevance::FULL).unwrap(), "1000");
    }
}
