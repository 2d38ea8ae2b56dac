//! The values that a near-duplicate index uses to decide on two pages.
//!
//! An index finds candidates by two kinds of keys, quarters of the fingerprint and bands of the
//! sketch. It then decides by the values of a [`TextPair`]. This module collects them for
//! output; it decides nothing.

use std::fmt::Display;

use neardup::{Fingerprint, TextPair, TextSignature, Thresholds};
use serde::Serialize;

/// Number of blocks of a fingerprint that are used to find candidates within 3 bits (Manku, Jain
/// and Das Sarma, WWW 2007, section 3).
const QUARTERS: u32 = 4;

/// Values of two pages. They are absent for a page without text, or with a text that is too short
/// to resemble others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerdictValues {
    /// Fingerprint of the first page.
    pub fingerprint_a: Option<Fingerprint>,
    /// Fingerprint of the second page.
    pub fingerprint_b: Option<Fingerprint>,
    /// Bits that differ between the fingerprints; 0 is the lowest.
    pub differing_bits: Option<Vec<u32>>,
    /// Equal quarters, of 16 bits each; 0 is the lowest. One equal quarter is enough for a
    /// candidate within three bits.
    pub equal_quarters: Option<Vec<u32>>,
    /// Equal bands of the two sketches, of 8. One equal band makes a candidate.
    pub equal_bands: Option<Vec<usize>>,
    /// Resemblance of the word 5-shingles, estimated from the sketches, 0 to 1.
    pub estimated_resemblance: Option<f64>,
    /// Standard error of the estimated resemblance.
    pub standard_error: Option<f64>,
    /// Number of words of the shorter text, which determines the threshold.
    pub words: Option<u32>,
    /// Least resemblance of near duplicates of this length, 0 to 1.
    pub min_resemblance: Option<f64>,
    /// True if the lower threshold applies, for a page and the page that it declares canonical.
    pub is_canonical: bool,
    /// Resemblance of the multisets of words, 0 to 1. It decides together with the shingles.
    pub resemblance_of_words: Option<f64>,
    /// True if the pages have different title terms, and are therefore not near duplicates.
    pub title_terms_differ: Option<bool>,
}

impl VerdictValues {
    /// Returns the values of two fingerprints only.
    #[must_use]
    pub fn of_fingerprints(a: Option<Fingerprint>, b: Option<Fingerprint>) -> Self {
        let both = a.zip(b).map(|(a, b)| a.as_u64() ^ b.as_u64());
        let bits = |differing: u64| {
            (0..u64::BITS)
                .filter(|bit| differing >> bit & 1 == 1)
                .collect()
        };
        let quarters = |differing: u64| {
            let width = u64::BITS / QUARTERS;
            let quarter = |number: &u32| differing >> (number * width) & ((1 << width) - 1);
            (0..QUARTERS)
                .filter(|number| quarter(number) == 0)
                .collect()
        };
        Self {
            fingerprint_a: a,
            fingerprint_b: b,
            differing_bits: both.map(bits),
            equal_quarters: both.map(quarters),
            ..Self::default()
        }
    }

    /// Returns the values of two texts. `is_canonical` is true if one page declares the other,
    /// or the other's original, as its canonical page.
    #[must_use]
    pub fn of(
        a: &TextSignature,
        b: &TextSignature,
        thresholds: &Thresholds,
        is_canonical: bool,
    ) -> Self {
        let pair = TextPair::new(thresholds, a, b, is_canonical);
        let resemblance = pair.resemblance();
        let sketches = a.sketch.as_ref().zip(b.sketch.as_ref());
        let bands = sketches.map(|(a, b)| {
            let pairs = a.bands().into_iter().zip(b.bands()).enumerate();
            pairs
                .filter(|(_, (a, b))| a == b)
                .map(|(band, _)| band)
                .collect()
        });
        Self {
            equal_bands: bands,
            estimated_resemblance: resemblance,
            standard_error: resemblance.map(neardup::Sketch::standard_error),
            words: Some(pair.words()),
            min_resemblance: resemblance
                .filter(|_| thresholds.needs_bands())
                .map(|_| pair.min_resemblance()),
            is_canonical,
            resemblance_of_words: pair.resemblance_of_words(),
            title_terms_differ: pair.title_terms_differ(),
            ..Self::of_fingerprints(Some(a.fingerprint), Some(b.fingerprint))
        }
    }
}

/// Returns the count of `items` out of `all` possible ones, followed by the items: `2 of 8: 1, 5`.
#[must_use]
pub fn listed(items: &[impl Display], all: u32) -> String {
    let names: Vec<String> = items.iter().map(ToString::to_string).collect();
    match names.is_empty() {
        true => format!("0 of {all}"),
        false => format!("{} of {all}: {}", names.len(), names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use neardup::{Features, HashKey, MatchKind, PageText, SignatureBuilder};

    use super::*;

    fn signature(text: &str, title: &str) -> TextSignature {
        let builder = SignatureBuilder::new(Features::default(), HashKey::ZERO);
        let page = PageText {
            title: Some(title),
            ..PageText::of(text)
        };
        *builder.signature(0, Some(page)).text.unwrap()
    }

    #[test]
    fn items_are_counted_and_named() {
        assert_eq!(listed(&[1, 5], 8), "2 of 8: 1, 5");
        assert_eq!(listed(&[0_u32; 0], 8), "0 of 8");
    }

    #[test]
    fn bits_and_quarters_of_fingerprints_are_counted_from_the_lowest() {
        let of = |a, b| {
            let fingerprints = (Fingerprint::new(a), Fingerprint::new(b));
            VerdictValues::of_fingerprints(Some(fingerprints.0), Some(fingerprints.1))
        };
        let figures = of(0b101, 1 << 63);
        assert_eq!(figures.differing_bits, Some(vec![0, 2, 63]));
        assert_eq!(figures.equal_quarters, Some(vec![1, 2]));
        assert_eq!(of(7, 7).equal_quarters, Some(vec![0, 1, 2, 3]));
        let none = VerdictValues::of_fingerprints(None, Some(Fingerprint::new(1)));
        assert_eq!((none.differing_bits, none.words), (None, None));
    }

    #[test]
    fn the_figures_are_those_that_the_thresholds_decide_by() {
        let text: String = (0..300).map(|word| format!("word{word} ")).collect();
        let (a, b) = (
            signature(&text, "One"),
            signature(&format!("{text}more"), "One"),
        );
        let thresholds = Thresholds::default();
        let figures = VerdictValues::of(&a, &b, &thresholds, false);
        let page = |text: &TextSignature, payload| neardup::PageSignature {
            payload,
            text: Some(Box::new(text.clone())),
        };
        let Some(MatchKind::Near {
            distance,
            resemblance,
        }) = thresholds.match_kind(&page(&a, 1), &page(&b, 2))
        else {
            panic!("they are near duplicates");
        };
        assert_eq!(
            figures.differing_bits.map(|bits| bits.len()),
            Some(distance as usize)
        );
        assert_eq!(figures.estimated_resemblance, Some(resemblance));
        assert_eq!(
            (figures.words, figures.min_resemblance),
            (Some(300), Some(0.86))
        );
        assert_eq!(figures.title_terms_differ, Some(false));
        assert!(!figures.equal_bands.unwrap().is_empty());
        let canonical = VerdictValues::of(&a, &b, &thresholds, true);
        assert_eq!(canonical.min_resemblance, Some(0.76));
    }

    #[test]
    fn short_texts_have_neither_bands_nor_a_threshold() {
        let (a, b) = (
            signature("a few words", ""),
            signature("some other words", ""),
        );
        let figures = VerdictValues::of(&a, &b, &Thresholds::default(), false);
        assert_eq!((figures.equal_bands, figures.min_resemblance), (None, None));
        assert_eq!((figures.words, figures.title_terms_differ), (Some(3), None));
    }
}
