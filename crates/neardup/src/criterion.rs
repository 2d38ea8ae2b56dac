//! The criterion by which two texts are near duplicates, where a caller chooses it.

use crate::signature::PageSignature;
use crate::sketch::Sketch;
use crate::thresholds::{InvalidThresholds, Likeness, Thresholds};

/// The criterion of near duplicates. Equal payloads and equal texts are duplicates by any.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "StoredCriterion"))]
pub enum Criterion {
    /// The thresholds of a crawl: fingerprints and bands propose candidates, sketches decide.
    Verified(Thresholds),
    /// Fingerprints that differ in at most this number of bits, as in the paper of Manku, Jain and
    /// Das Sarma (section 2). Resemblance, subject and main content do not count.
    Within(u32),
}

impl Default for Criterion {
    fn default() -> Self {
        Self::Verified(Thresholds::default())
    }
}

impl Criterion {
    /// Creates the criterion of fingerprints that differ in at most `distance` bits.
    ///
    /// # Errors
    /// [`InvalidThresholds::Distance`] for a distance above
    /// [`MAX_DISTANCE`](crate::tables::MAX_DISTANCE).
    pub fn within(distance: u32) -> Result<Self, InvalidThresholds> {
        Ok(Self::Within(Thresholds::new(distance, None)?.distance()))
    }

    /// Returns the number of bits in which the fingerprints of candidates may differ.
    #[must_use]
    pub fn distance(&self) -> u32 {
        match self {
            Self::Verified(thresholds) => thresholds.distance(),
            Self::Within(distance) => *distance,
        }
    }

    /// Returns true if texts that share a band are candidates, however far apart their fingerprints
    /// are.
    #[must_use]
    pub fn needs_bands(&self) -> bool {
        matches!(self, Self::Verified(_))
    }

    /// Returns the likeness of two texts; none if they are not duplicates. Texts without a sketch
    /// are too short for near duplicates.
    #[must_use]
    pub fn likeness(&self, one: &PageSignature, two: &PageSignature) -> Option<Likeness> {
        self.likeness_by(one, two, Sketch::resemblance)
    }

    /// Returns the likeness of two texts whose resemblance, 0 to 1, is known exactly.
    #[must_use]
    pub fn exact_likeness(
        &self,
        one: &PageSignature,
        two: &PageSignature,
        resemblance: f64,
    ) -> Option<Likeness> {
        self.likeness_by(one, two, |_, _| resemblance)
    }

    fn likeness_by(
        &self,
        one: &PageSignature,
        two: &PageSignature,
        resemblance: impl Fn(&Sketch, &Sketch) -> f64,
    ) -> Option<Likeness> {
        if one.payload == two.payload {
            return Some(Likeness::SamePayload);
        }
        let (one, two) = (one.text.as_deref()?, two.text.as_deref()?);
        if one.digest == two.digest {
            return Some(Likeness::SameText);
        }
        let resemblance = resemblance(one.sketch.as_ref()?, two.sketch.as_ref()?);
        match self {
            Self::Verified(thresholds) => thresholds.nearness_at(one, two, resemblance),
            Self::Within(most) => {
                let distance = one.fingerprint.distance(two.fingerprint);
                (distance <= *most).then_some(Likeness::Near {
                    distance,
                    resemblance,
                })
            }
        }
    }
}

/// A stored [`Criterion`], which is not checked yet.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
enum StoredCriterion {
    Verified(Thresholds),
    Within(u32),
}

#[cfg(feature = "serde")]
impl TryFrom<StoredCriterion> for Criterion {
    type Error = InvalidThresholds;

    fn try_from(stored: StoredCriterion) -> Result<Self, InvalidThresholds> {
        match stored {
            StoredCriterion::Verified(thresholds) => Ok(Self::Verified(thresholds)),
            StoredCriterion::Within(distance) => Self::within(distance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, HashKey, PageText, SignatureBuilder};

    #[test]
    fn within_so_many_bits_alone_decides_whatever_the_resemblance_is() {
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let words: Vec<String> = (0..300).map(|at| format!("word{at}")).collect();
        let signature = |words: &[String]| {
            let text = words.join(" ");
            let payload = HashKey::ZERO.digest(text.as_bytes());
            builder.signature(payload, Some(PageText::of(&text)))
        };
        let (one, two) = (signature(&words), signature(&words[..299]));
        let Some(Likeness::Near { distance, .. }) = Criterion::Within(7).likeness(&one, &two)
        else {
            panic!("near");
        };
        assert!((1..=7).contains(&distance));
        assert_eq!(Criterion::Within(distance - 1).likeness(&one, &two), None);
        let strict = Criterion::Verified(Thresholds::new(7, 1.0).unwrap());
        assert_eq!(strict.likeness(&one, &two), None);
        assert_eq!(
            Criterion::Within(0).likeness(&one, &one),
            Some(Likeness::SamePayload)
        );
        assert!(Criterion::within(8).is_err());
    }
}
