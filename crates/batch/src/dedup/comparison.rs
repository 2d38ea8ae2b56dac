//! The comparison of two candidates.
//!
//! Sketches of 160 bytes estimate a resemblance; shingles give it exactly, at four bytes each. With
//! [`Verification::Shingles`] sketches only rule out what is far from the threshold. An estimate is
//! four standard errors too low for one pair in 30,000, so that is the part of the pairs at the
//! threshold that is lost.

use neardup::{Likeness, Sketch, Thresholds};

use super::{Options, Verification};
use crate::dedup::stored_signatures::Candidate;
use crate::error::BatchError;

/// The number of standard errors below the threshold from which on an estimate decides.
const MARGIN: f64 = 4.0;

/// The decision about pairs of candidates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comparison {
    criterion: Thresholds,
    /// The criterion of pairs whose shingles are compared; none if sketches decide.
    plausible: Option<Thresholds>,
}

impl Comparison {
    pub(super) fn of(options: &Options) -> Self {
        let plausible = match options.verification {
            Verification::Shingles => plausible(options.criterion),
            Verification::Sketches => None,
        };
        Self {
            criterion: options.criterion,
            plausible,
        }
    }

    /// Returns the likeness of two candidates; none if they are not near duplicates. A candidate
    /// without shingles is judged by its sketch.
    pub(super) fn likeness(
        self,
        one: &Candidate<'_>,
        two: &Candidate<'_>,
    ) -> Result<Option<Likeness>, BatchError> {
        let signatures = (&one.banded.signature, &two.banded.signature);
        let by_sketches = |criterion: Thresholds| criterion.likeness(signatures.0, signatures.1);
        let Some(plausible) = self.plausible else {
            return Ok(by_sketches(self.criterion));
        };
        if by_sketches(plausible).is_none() {
            return Ok(None);
        }
        Ok(match (one.shingles()?, two.shingles()?) {
            (Some(ones), Some(twos)) => {
                let resemblance = ones.resemblance(&twos);
                self.criterion
                    .exact_likeness(signatures.0, signatures.1, resemblance)
            }
            _ => by_sketches(self.criterion),
        })
    }
}

/// Returns the criterion that pairs at the threshold meet by their sketches; none if the threshold
/// depends on the length.
fn plausible(thresholds: Thresholds) -> Option<Thresholds> {
    let least = thresholds.resemblance()?;
    let margin = MARGIN * Sketch::standard_error(least);
    let lower = Thresholds::new(thresholds.distance(), (least - margin).max(0.0));
    Some(lower.expect("the distance is a threshold's, and the resemblance from 0 to 1"))
}
