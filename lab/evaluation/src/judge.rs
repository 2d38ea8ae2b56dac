//! The deciders by signatures: the shipped one, and others that could have been shipped.

use neardup::{MIN_WORDS, Thresholds, Width};

use crate::configuration::WIDTHS;
use crate::measured::{Measured, MeasuredPage, Near};
use crate::score::{Answer, Pairs, Score};
use crate::threads;

/// The sets from which resemblance is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// The sets themselves.
    Exact,
    /// The sketches that are shipped.
    Sketch,
    /// Sketches twice as large.
    Larger,
}

/// The least resemblance of pages that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Least {
    /// One threshold for all lengths of texts.
    Flat(f64),
    /// The shipped thresholds for texts of their length.
    Shipped,
    /// Thresholds by the least number of words of the shorter text; the last line is for all the
    /// others.
    ByLength(&'static [(usize, f64)]),
}

impl Least {
    fn of(self, words: usize) -> f64 {
        match self {
            Least::Flat(least) => least,
            Least::Shipped => Thresholds::default().min_resemblance(words as u32),
            Least::ByLength(table) => {
                let line = table.iter().find(|(from, _)| words >= *from);
                line.map_or(1.0, |(_, least)| *least)
            }
        }
    }
}

/// The test by which two texts with the same words have different subjects, as the pages of two
/// classes do.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject {
    /// No test.
    Ignored,
    /// By all words of both.
    ByAllWords,
    /// By the most frequent words, which could be stored.
    ByFrequentWords,
    /// By title and heading, as the shipped verdict does.
    ByTitles,
}

/// The rule that decides about a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The shipped verdict by signatures as it is.
    Shipped,
    /// The measures that a [`Verification`] names.
    Measures,
}

/// The condition under which two different texts are near-duplicates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verification {
    pub(crate) decision: Decision,
    /// Words of a shingle, as an index of [`WIDTHS`].
    pub(crate) width: usize,
    pub(crate) measure: Measure,
    /// The least resemblance.
    pub(crate) least: Least,
    /// The least resemblance in counted words, if that is required as well.
    pub(crate) min_of_words: Option<f64>,
    /// The test for a word that one text repeats and the other lacks.
    pub(crate) subject: Subject,
    /// Texts with fewer words are compared exactly only.
    pub(crate) min_words: usize,
    /// True if short main texts must be equal as well.
    pub(crate) own_decides: bool,
}

impl Verification {
    /// Returns the shipped verification by signatures.
    pub(crate) fn shipped() -> Self {
        Self {
            decision: Decision::Shipped,
            width: WIDTHS
                .iter()
                .position(|&width| width == Width::VERIFICATION.get())
                .expect("the shipped width is one that is measured"),
            measure: Measure::Sketch,
            least: Least::Shipped,
            min_of_words: None,
            subject: Subject::Ignored,
            min_words: MIN_WORDS,
            own_decides: true,
        }
    }

    /// Returns the shipped width, sketch and lengths alone: no title, no counted words.
    pub(crate) fn by_measures() -> Self {
        Self {
            decision: Decision::Measures,
            ..Self::shipped()
        }
    }

    fn confirms(&self, near: &Near, measured: &Measured) -> bool {
        let (one, two) = (
            &measured.pages[near.a as usize],
            &measured.pages[near.b as usize],
        );
        if self.decision == Decision::Shipped {
            let match_kind = Thresholds::default().match_kind(&one.signature, &two.signature);
            return match_kind.is_some();
        }
        let words = one.words.min(two.words);
        let other_subject = match self.subject {
            Subject::Ignored => false,
            Subject::ByAllWords => near.has_another_subject(),
            Subject::ByFrequentWords => near.other_frequent,
            Subject::ByTitles => {
                let subject = |page: &MeasuredPage| {
                    page.signature
                        .text
                        .as_ref()
                        .and_then(|text| text.title_terms)
                };
                let subjects = subject(one).zip(subject(two));
                subjects.is_some_and(|(one, two)| one.differs_from(&two))
            }
        };
        if words < self.min_words || other_subject {
            return false;
        }
        let own = |page: &MeasuredPage| {
            let text = page.signature.text.as_ref();
            text.and_then(|text| text.main_content)
        };
        if self.own_decides && (own(one) != own(two) || one.own_is_empty) {
            return false;
        }
        let resemblances = near.shingles[self.width];
        let resemblance = match self.measure {
            Measure::Exact => resemblances.exact,
            Measure::Sketch => resemblances.sketch,
            Measure::Larger => resemblances.larger,
        };
        resemblance >= self.least.of(words)
            && self.min_of_words.is_none_or(|least| near.words >= least)
    }
}

/// Returns the pairs with the same bytes or text, and those that `verification` confirms.
pub(crate) fn alike(measured: &Measured, verification: &Verification) -> Pairs {
    let mut pairs = same(measured);
    pairs.extend(confirmed(measured, verification));
    tidy(pairs)
}

/// Returns the pairs that `verification` confirms, equal or not.
pub(crate) fn confirmed(measured: &Measured, verification: &Verification) -> Pairs {
    let near = measured
        .near
        .iter()
        .filter(|near| verification.confirms(near, measured));
    near.map(|near| (near.a, near.b)).collect()
}

/// Returns the scores of a verdict by fingerprints alone, one for each of `distances`: the greatest
/// number of bits in which two may differ. Pages without text are left out.
pub(crate) fn simhash_alone(
    measured: &Measured,
    answer: &Answer,
    features: usize,
    distances: &[u32],
) -> Vec<Score> {
    let pages = &measured.pages;
    let most = distances.iter().copied().max().unwrap_or(0);
    let by_page = threads::each(pages.len(), |b| {
        let mut found = Vec::new();
        for a in 0..b {
            let distance =
                pages[a].fingerprints[features].distance(pages[b].fingerprints[features]);
            if distance <= most && pages[a].words > 0 && pages[b].words > 0 {
                found.push((distance, a as u32, b as u32));
            }
        }
        found
    });
    distances
        .iter()
        .map(|&distance| {
            let within = by_page
                .iter()
                .flatten()
                .filter(|(bits, ..)| *bits <= distance);
            Score::of(&within.map(|&(_, a, b)| (a, b)).collect(), answer, measured)
        })
        .collect()
}

/// Returns the pairs whose fingerprints are within `distance`.
pub(crate) fn reached(measured: &Measured, pairs: &Pairs, features: usize, distance: u32) -> Pairs {
    let fingerprint = |page: u32| measured.pages[page as usize].fingerprints[features];
    let near = pairs
        .iter()
        .filter(|(a, b)| fingerprint(*a).distance(fingerprint(*b)) <= distance);
    near.copied().collect()
}

/// Returns all pairs with the same bytes or the same words.
pub(crate) fn same(measured: &Measured) -> Pairs {
    let mut keys: Vec<(u8, u128, u32)> = Vec::new();
    for (number, page) in (0..).zip(&measured.pages) {
        keys.push((0, page.signature.payload, number));
        keys.extend(
            page.signature
                .text
                .as_ref()
                .map(|text| (1, text.digest, number)),
        );
    }
    keys.sort_unstable();
    let mut pairs = Vec::new();
    for equal in keys.chunk_by(|one, two| (one.0, one.1) == (two.0, two.1)) {
        for (place, &(.., a)) in equal.iter().enumerate() {
            pairs.extend(equal[place + 1..].iter().map(|&(.., b)| (a, b)));
        }
    }
    tidy(pairs)
}

fn tidy(mut pairs: Pairs) -> Pairs {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
