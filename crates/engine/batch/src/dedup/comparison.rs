//! The comparison of two candidates.
//!
//! The texts decide if both are available and do not leave the verdict to the signatures.
//!
//! Sketches of 160 bytes estimate a resemblance; shingles give it exactly, at four bytes each. With
//! [`Verification::Shingles`], sketches only rule out pairs far from the threshold. An estimate is
//! four standard errors too low for one pair in 30,000, so this share of the pairs at the threshold
//! is lost.

use neardup::{MatchKind, Sketch, Thresholds};

use super::texts::{NamedDocument, TextVerdict};
use super::{FindingKind, Run, Verification};
use crate::dedup::distinct_texts::DistinctTexts;
use crate::dedup::stored_signatures::Candidate;
use crate::error::BatchError;

/// Number of standard errors that an estimate must be below the threshold to rule a pair out.
const MARGIN: f64 = 4.0;

/// Minimum estimate for reading the texts. Small edits of texts of fifty words leave more.
const MIN_OF_TEXTS: f64 = 0.3;

/// The decision about pairs of candidates.
#[derive(Clone, Copy)]
pub(super) struct Comparison<'a> {
    texts: &'a DistinctTexts<'a>,
    run: Run<'a>,
    /// The criterion of pairs whose shingles are compared; `None` if sketches decide.
    plausible: Option<Thresholds>,
}

/// A text that is compared, by its number.
#[derive(Clone, Copy)]
pub(super) struct Compared<'a> {
    pub(super) text: u32,
    pub(super) candidate: &'a Candidate<'a>,
}

impl<'a> Comparison<'a> {
    pub(super) fn of(texts: &'a DistinctTexts<'a>, run: Run<'a>) -> Self {
        let plausible = match run.options.verification {
            Verification::Shingles => plausible(run.options.criterion),
            Verification::Sketches => None,
        };
        Self {
            texts,
            run,
            plausible,
        }
    }

    /// Returns the match kind of two candidates; `None` if they are not near duplicates.
    pub(super) fn match_kind(
        self,
        one: Compared<'_>,
        two: Compared<'_>,
    ) -> Result<Option<MatchKind>, BatchError> {
        let by_signatures = self.by_signatures(one.candidate, two.candidate)?;
        let resembling = resembling(one.candidate, two.candidate);
        let Some(texts) = &self.run.options.texts else {
            return Ok(by_signatures);
        };
        if by_signatures.is_none() && resembling.is_none() {
            return Ok(None);
        }
        let (earlier, later) = match one.text < two.text {
            true => (one, two),
            false => (two, one),
        };
        let ids = [self.texts.id(later.text)?, self.texts.id(earlier.text)?];
        let verdict = texts.compare(later.named(&ids[0]), earlier.named(&ids[1]));
        let are_pairs = !matches!(
            self.run.options.kind,
            FindingKind::Duplicates | FindingKind::Clusters { chained: false }
        );
        Ok(match verdict {
            Some(TextVerdict::Distinct) => None,
            Some(TextVerdict::Repeats) => by_signatures.or(resembling),
            Some(TextVerdict::Contains) if are_pairs => by_signatures.or(resembling),
            Some(TextVerdict::Contains) | None => by_signatures,
        })
    }

    /// Returns the match kind of two candidates by their signatures. A candidate without shingles
    /// is judged by its sketch.
    fn by_signatures(
        self,
        one: &Candidate<'_>,
        two: &Candidate<'_>,
    ) -> Result<Option<MatchKind>, BatchError> {
        let signatures = (&one.banded.signature, &two.banded.signature);
        let criterion = self.run.options.criterion;
        let by_sketches = |criterion: Thresholds| criterion.match_kind(signatures.0, signatures.1);
        let Some(plausible) = self.plausible else {
            return Ok(by_sketches(criterion));
        };
        if by_sketches(plausible).is_none() {
            return Ok(None);
        }
        Ok(match (one.shingles()?, two.shingles()?) {
            (Some(ones), Some(twos)) => {
                let resemblance = ones.resemblance(&twos);
                criterion.exact_match_kind(signatures.0, signatures.1, resemblance)
            }
            _ => by_sketches(criterion),
        })
    }
}

impl<'a> Compared<'a> {
    fn named(self, id: &'a str) -> NamedDocument<'a> {
        NamedDocument {
            id,
            payload: self.candidate.banded.signature.payload,
        }
    }
}

/// Returns the match kind of candidates that resemble each other, if only a little.
fn resembling(one: &Candidate<'_>, two: &Candidate<'_>) -> Option<MatchKind> {
    let one = one.banded.signature.text.as_deref()?;
    let two = two.banded.signature.text.as_deref()?;
    let resemblance = one.sketch.as_ref()?.resemblance(two.sketch.as_ref()?);
    (resemblance >= MIN_OF_TEXTS).then(|| MatchKind::Near {
        distance: one.fingerprint.distance(two.fingerprint),
        resemblance,
    })
}

/// Returns the criterion that the sketches of pairs at the threshold meet; `None` if the threshold
/// depends on the length.
fn plausible(thresholds: Thresholds) -> Option<Thresholds> {
    let least = thresholds.resemblance()?;
    let margin = MARGIN * Sketch::standard_error(least);
    let lower = Thresholds::new(thresholds.distance(), (least - margin).max(0.0));
    Some(lower.expect("the distance is a threshold's, and the resemblance from 0 to 1"))
}
