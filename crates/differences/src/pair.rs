//! A page that repeats another, and its original, as they are shown side by side.

use neardup::{Fingerprint, TextSignature, Thresholds};
use serde::Serialize;

use crate::difference::Difference;
use crate::verdict::VerdictFigures;

/// One of the two pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageOfPair {
    /// Its URL.
    pub url: String,
    /// Its title.
    pub title: Option<String>,
    /// Its first heading.
    pub heading: Option<String>,
    /// The URL that it names as its canonical page.
    pub canonical: Option<String>,
    /// Its fingerprint, if it has text.
    pub fingerprint: Option<Fingerprint>,
    /// The signature of its text, if that is known.
    pub signature: Option<TextSignature>,
    /// The text by which it was judged.
    pub text: PageTextState,
}

/// The text of a page, or the reason why it is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageTextState {
    /// The text.
    Known(String),
    /// The page was left out, and its text was not kept.
    #[default]
    NotKept,
    /// The archive has it, and it cannot be read.
    Unreadable(String),
}

impl PageTextState {
    /// Returns the text, if it is known.
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
    /// The figures of the verdict.
    pub figures: VerdictFigures,
    /// The difference of their texts; none if one of them is not known.
    pub difference: Option<Difference>,
}

impl Pair {
    /// Compares two pages. `by_canonical` is true if the member was near enough only to the page
    /// that it calls canonical.
    #[must_use]
    pub fn of(
        original: PageOfPair,
        member: PageOfPair,
        thresholds: &Thresholds,
        by_canonical: bool,
    ) -> Self {
        let signatures = original.signature.as_ref().zip(member.signature.as_ref());
        let figures = match signatures {
            Some((a, b)) => VerdictFigures::of(a, b, thresholds, by_canonical),
            None => VerdictFigures::of_fingerprints(original.fingerprint, member.fingerprint),
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
