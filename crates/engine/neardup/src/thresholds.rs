//! Minimum resemblances that make one page a duplicate of another.

use crate::tables::design::MAX_DISTANCE;

/// Minimum resemblance of near duplicates by the number of words of the shorter text, unless a
/// single threshold is set.
///
/// Short texts of one kind share their phrases, and one word in ten changes the subject
/// (`docs/adr/0005`, `docs/adr/0010`). In the shortest texts every word counts: the descriptions of
/// two instructions may differ in one operand.
const MIN_BY_LENGTH: [(u32, f64); 4] = [(350, 0.80), (100, 0.86), (50, 0.90), (0, 1.0)];

/// Reduction of the threshold for a page and the page that it declares canonical.
///
/// Two independent sources agree there: the site's declaration, which does not see the text, and
/// the text, which does not see the declaration. Each errs in ways that the other does not
/// (`docs/guide/links.md`).
const MARGIN_OF_CANONICAL: f64 = 0.10;

/// Lower bound of the reduced threshold. With less than three fifths of its shingles in common, a
/// page is different, and the declaration is wrong.
const MIN_OF_CANONICAL: f64 = 0.60;

/// Thresholds of near duplicates. The default is a distance of 3 bits and, depending on the number
/// of words, a resemblance of word 5-shingles of 1 under 50 words, 0.90 under 100, 0.86 under 350,
/// and 0.80 from 350 words; or, in prose, a resemblance of 0.87 of the multisets of words.
///
/// ```
/// use neardup::{InvalidThresholds, Thresholds};
///
/// assert_eq!(Thresholds::default().min_resemblance(200), 0.86);
/// assert_eq!(Thresholds::new(3, 0.9)?.min_resemblance(200), 0.9);
/// assert_eq!(Thresholds::new(8, 0.9), Err(InvalidThresholds::Distance(8)));
/// # Ok::<(), InvalidThresholds>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredThresholds"))]
pub struct Thresholds {
    distance: u32,
    rule: Rule,
}

/// The rule that decides about candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Rule {
    /// The default: by the length and the kind of the texts.
    ByLength,
    /// A fixed resemblance for any length.
    Resemblance(f64),
    /// Only the distance of the fingerprints.
    Distance,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            distance: 3,
            rule: Rule::ByLength,
        }
    }
}

impl Thresholds {
    /// Creates thresholds: fingerprints within `distance` bits make a candidate; an estimated
    /// resemblance of word 5-shingles of at least `resemblance` confirms it, for texts of any
    /// length. Without `resemblance`, the defaults for the length and kind of the texts apply.
    /// Pages with different title terms are never duplicates.
    ///
    /// # Errors
    /// [`InvalidThresholds`] for a distance above [`MAX_DISTANCE`] or a resemblance outside 0 to 1.
    pub fn new(
        distance: u32,
        resemblance: impl Into<Option<f64>>,
    ) -> Result<Self, InvalidThresholds> {
        let rule = match resemblance.into() {
            Some(impossible) if !(0.0..=1.0).contains(&impossible) => {
                return Err(InvalidThresholds::Resemblance(impossible));
            }
            Some(resemblance) => Rule::Resemblance(resemblance),
            None => Rule::ByLength,
        };
        Self { distance, rule }.checked()
    }

    /// Creates the rule of Manku, Jain and Das Sarma (WWW 2007, section 2): fingerprints that
    /// differ in at most `distance` bits are near duplicates. Resemblance, title terms and main
    /// content do not count, but texts without a sketch are too short for near duplicates.
    ///
    /// # Errors
    /// [`InvalidThresholds::Distance`] for a distance above [`MAX_DISTANCE`].
    pub fn within(distance: u32) -> Result<Self, InvalidThresholds> {
        let rule = Rule::Distance;
        Self { distance, rule }.checked()
    }

    /// Returns the same rule with another distance.
    ///
    /// # Errors
    /// [`InvalidThresholds::Distance`] for a distance above [`MAX_DISTANCE`].
    pub fn at_distance(self, distance: u32) -> Result<Self, InvalidThresholds> {
        Self { distance, ..self }.checked()
    }

    fn checked(self) -> Result<Self, InvalidThresholds> {
        match self.distance > MAX_DISTANCE {
            true => Err(InvalidThresholds::Distance(self.distance)),
            false => Ok(self),
        }
    }

    /// Returns true if a resemblance confirms candidates, so that texts that share a band are
    /// candidates at any distance of their fingerprints.
    #[must_use]
    pub fn needs_bands(&self) -> bool {
        self.rule != Rule::Distance
    }

    /// Returns true for the thresholds by length: with these, the texts themselves decide first, if
    /// available. An explicit resemblance or distance decides alone.
    #[must_use]
    pub fn asks_texts(&self) -> bool {
        self.rule == Rule::ByLength
    }

    /// Returns the maximum distance of candidates: the number of bits that their fingerprints may
    /// differ by.
    #[must_use]
    pub fn distance(&self) -> u32 {
        self.distance
    }

    /// Returns the minimum resemblance of near duplicates, 0 to 1; `None` if it depends on the
    /// length or does not count.
    #[must_use]
    pub fn resemblance(&self) -> Option<f64> {
        match self.rule {
            Rule::Resemblance(least) => Some(least),
            Rule::ByLength | Rule::Distance => None,
        }
    }

    /// Returns the minimum resemblance of word 5-shingles, 0 to 1, of near duplicates whose shorter
    /// text has `words` words.
    #[must_use]
    pub fn min_resemblance(&self, words: u32) -> f64 {
        let of_length = || MIN_BY_LENGTH.iter().find(|(from, _)| words >= *from);
        self.resemblance()
            .or_else(|| of_length().map(|(_, least)| *least))
            .expect("the last line of the table is for texts from 0 words on")
    }

    /// Returns the minimum resemblance of a page and the page that it declares canonical: lower by
    /// a fixed margin, but the margin never lowers it below 0.60.
    #[must_use]
    pub fn min_resemblance_to_canonical(&self, words: u32) -> f64 {
        let least = self.min_resemblance(words);
        (least - MARGIN_OF_CANONICAL)
            .max(MIN_OF_CANONICAL)
            .min(least)
    }
}

/// Invalid thresholds.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InvalidThresholds {
    /// A distance without tables.
    #[error("distance must be between 0 and {MAX_DISTANCE} bits, got {0}")]
    Distance(u32),
    /// A resemblance that is not a number from 0 to 1.
    #[error("resemblance must be between 0 and 1, got {0}")]
    Resemblance(f64),
}

/// Stored [`Thresholds`], which are not checked yet.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct StoredThresholds {
    distance: u32,
    rule: Rule,
}

#[cfg(feature = "serde")]
impl TryFrom<StoredThresholds> for Thresholds {
    type Error = InvalidThresholds;

    fn try_from(stored: StoredThresholds) -> Result<Self, InvalidThresholds> {
        match stored.rule {
            Rule::ByLength => Self::new(stored.distance, None),
            Rule::Resemblance(least) => Self::new(stored.distance, least),
            Rule::Distance => Self::within(stored.distance),
        }
    }
}

/// The kind of match between two duplicates.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MatchKind {
    /// The same bytes. Two empty bodies are the same, too.
    SamePayload,
    /// The same words in the same order.
    SameText,
    /// Nearly the same words in nearly the same order.
    Near {
        /// Number of bits that differ between the fingerprints.
        distance: u32,
        /// Resemblance of the sets of shingles, 0 to 1: estimated from sketches, or exact if
        /// shingles decide.
        resemblance: f64,
    },
}

impl MatchKind {
    /// Returns the measure that makes the two duplicates: `bytes`, `words`, `resemblance`, or, if
    /// fingerprints are not verified, `distance`.
    #[must_use]
    pub const fn measure(self, is_verified: bool) -> &'static str {
        match self {
            Self::SamePayload => "bytes",
            Self::SameText => "words",
            Self::Near { .. } if is_verified => "resemblance",
            Self::Near { .. } => "distance",
        }
    }

    /// Returns the number of bits that differ between the fingerprints; 0 for equal pages.
    #[must_use]
    pub const fn distance(self) -> u32 {
        match self {
            Self::SamePayload | Self::SameText => 0,
            Self::Near { distance, .. } => distance,
        }
    }

    /// Returns the resemblance, estimated or exact; 1 for equal pages.
    #[must_use]
    pub const fn resemblance(self) -> f64 {
        match self {
            Self::SamePayload | Self::SameText => 1.0,
            Self::Near { resemblance, .. } => resemblance,
        }
    }
}

/// The original of a duplicate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Match<Id = u64> {
    /// Id of the page, as given by the caller.
    pub of: Id,
    /// Kind of the match.
    pub match_kind: MatchKind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_at_the_edge_are_accepted_and_beyond_it_refused() {
        assert!(Thresholds::new(0, 0.0).is_ok() && Thresholds::new(7, 1.0).is_ok());
        let message = |distance, resemblance| {
            Thresholds::new(distance, resemblance)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            message(8, 0.8),
            "distance must be between 0 and 7 bits, got 8"
        );
        for wrong in [-0.1, 1.01, f64::NAN, f64::INFINITY] {
            assert!(
                message(3, wrong).starts_with("resemblance must be between 0 and 1, got "),
                "{wrong}"
            );
        }
    }

    #[test]
    fn invalid_stored_thresholds_are_refused() {
        let stored = postcard::to_allocvec(&Thresholds::default()).unwrap();
        assert_eq!(postcard::from_bytes(&stored), Ok(Thresholds::default()));
        let one_figure = Thresholds::new(2, 0.5).unwrap();
        let stored = postcard::to_allocvec(&one_figure).unwrap();
        assert_eq!(postcard::from_bytes(&stored), Ok(one_figure));
        for (distance, rule) in [
            (64, Rule::Resemblance(0.8)),
            (64, Rule::ByLength),
            (64, Rule::Distance),
            (3, Rule::Resemblance(1.5)),
        ] {
            let wrong = postcard::to_allocvec(&Thresholds { distance, rule });
            assert!(postcard::from_bytes::<Thresholds>(&wrong.unwrap()).is_err());
        }
    }

    #[test]
    fn short_texts_need_more_resemblance_than_long_ones_unless_a_single_threshold_is_set() {
        let by_length = Thresholds::default();
        assert_eq!(Thresholds::new(3, None), Ok(by_length));
        for (words, least) in [
            (0, 1.0),
            (49, 1.0),
            (50, 0.90),
            (99, 0.90),
            (100, 0.86),
            (349, 0.86),
            (350, 0.80),
            (u32::MAX, 0.80),
        ] {
            assert_eq!(by_length.min_resemblance(words), least, "{words}");
            assert_eq!(Thresholds::new(3, 0.5).unwrap().min_resemblance(words), 0.5);
        }
        assert_eq!(
            Thresholds::new(8, None),
            Err(InvalidThresholds::Distance(8))
        );
    }

    #[test]
    fn a_canonical_page_needs_less_resemblance_by_a_margin_and_never_less_than_three_fifths() {
        let check = |thresholds: Thresholds, words, least: f64| {
            let found = thresholds.min_resemblance_to_canonical(words);
            assert!(
                (found - least).abs() < 1e-9,
                "{words}: {found} is not {least}"
            );
        };
        let by_length = Thresholds::default();
        for (words, least) in [
            (15, 0.90),
            (50, 0.80),
            (99, 0.80),
            (100, 0.76),
            (349, 0.76),
            (350, 0.70),
        ] {
            check(by_length, words, least);
        }
        for (asked, least) in [
            (1.0, 0.90),
            (0.75, 0.65),
            (0.65, 0.60),
            (0.60, 0.60),
            // A lower threshold stays as it is.
            (0.50, 0.50),
            (0.0, 0.0),
        ] {
            check(Thresholds::new(3, asked).unwrap(), 500, least);
        }
    }
}
