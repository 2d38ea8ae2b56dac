//! A page that repeats another and its original, as shown side by side.

use neardup::{Fingerprint, TextSignature, Thresholds};
use serde::Serialize;

use crate::difference::Difference;
use crate::verdict::VerdictValues;

/// One of the two pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOfPair {
    /// URL of the page.
    pub url: String,
    /// Title of the page.
    pub title: Option<String>,
    /// First heading of the page.
    pub heading: Option<String>,
    /// URL that the page declares as its canonical page.
    pub canonical: Option<String>,
    /// Fingerprint of the page, if it has text.
    pub fingerprint: Option<Fingerprint>,
    /// Signature of the page's text, if known.
    pub signature: Option<TextSignature>,
    /// Judged text of the page.
    pub text: PageTextState,
}

/// Text of a page, or the reason why it is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageTextState {
    /// The text.
    Known(String),
    /// The page was not archived, and its text was not kept.
    #[default]
    NotKept,
    /// The text is in the archive but cannot be read.
    Unreadable(String),
}

impl PageTextState {
    /// Returns the text, if known.
    #[must_use]
    pub fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::NotKept | Self::Unreadable(_) => None,
        }
    }
}

/// A page that repeats another, and its original.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The original: the first text of [`Pair::difference`].
    pub original: PageOfPair,
    /// The page that repeats it: the second text.
    pub member: PageOfPair,
    /// The statistics of the verdict.
    pub figures: VerdictValues,
    /// Difference of the two texts; `None` if either text is unknown.
    pub difference: Option<Difference>,
}

impl Pair {
    /// Compares two pages. `by_canonical` is true if only the lower threshold for a page and its
    /// declared canonical page was met.
    #[must_use]
    pub fn of(
        original: PageOfPair,
        member: PageOfPair,
        thresholds: &Thresholds,
        by_canonical: bool,
    ) -> Self {
        let signatures = original.signature.as_ref().zip(member.signature.as_ref());
        let figures = match signatures {
            Some((a, b)) => VerdictValues::of(a, b, thresholds, by_canonical),
            None => VerdictValues::of_fingerprints(original.fingerprint, member.fingerprint),
        };
        let texts = original.text.known().zip(member.text.known());
        Self {
            difference: texts.map(|(a, b)| Difference::of(a, b)),
            figures,
            original,
            member,
        }
    }
}
