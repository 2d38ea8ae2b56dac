//! The similarity of two documents, and the verdict on them with its reason.
//!
//! Both texts are available, so resemblance and containment are exact.

use comparison::{ComparedPage, Decision, Frames, Outcome, decide};
use neardup::{
    Fingerprint, FingerprintBits, HashKey, MatchKind, NormalText, PageSignature, Shingles,
    SignatureBuilder, Sketch, Thresholds, Unit,
};
use serde::Serialize;
use web::PageUrl;

use crate::document::Content;
use crate::measures::MeasuredDocument;
use crate::reader::{Page, Reader};

/// The rules for comparing two documents.
#[derive(Clone, Debug)]
pub struct PairRules {
    /// The shingles of resemblance and containment.
    pub unit: Unit,
    /// The number of bits of a fingerprint.
    pub bits: FingerprintBits,
    /// The criterion of near duplicates.
    pub thresholds: Thresholds,
    /// The minimum number of words of near duplicates.
    pub min_words: usize,
}

/// A document with its signature.
pub struct ComparedDocument {
    /// The text as it was written.
    pub written: String,
    /// The page block by block; `None` for a file without text.
    pub page: Option<ComparedPage>,
    text: NormalText,
    fingerprint: Fingerprint,
    signature: PageSignature,
    /// URL that it names as its canonical page.
    canonical: Option<PageUrl>,
}

/// The similarity of two documents, and the verdict on them.
#[derive(Clone, Debug, Serialize)]
pub struct PairComparison {
    /// Number of differing fingerprint bits.
    pub distance: u32,
    /// Number of bits of a fingerprint.
    pub bits: u32,
    /// The shingles of resemblance and containment, as `--features` names them.
    pub shingles: String,
    /// Exact resemblance, 0 to 1.
    pub resemblance: f64,
    /// Resemblance estimated from the sketches; absent for texts without one.
    pub resemblance_estimate: Option<f64>,
    /// Share of the shingles of the first document that the second contains.
    pub containment_a_in_b: f64,
    /// Share of the shingles of the second document that the first contains.
    pub containment_b_in_a: f64,
    /// Fingerprint of the first document, in hexadecimal digits.
    pub fingerprint_a: String,
    /// Fingerprint of the second document, in hexadecimal digits.
    pub fingerprint_b: String,
    /// `distinct`, `near-duplicate` or `exact-duplicate`.
    pub verdict: &'static str,
    /// The rule that decided, with its values.
    pub reason: String,
}

impl ComparedDocument {
    /// Reads and signs a document.
    #[must_use]
    pub fn of(content: &Content, reader: &Reader, builder: &SignatureBuilder) -> Self {
        let page = reader.read(content);
        let written = reader.text(&page).map_or("", |page| page.text).to_owned();
        Self {
            text: NormalText::of(&written),
            written,
            page: reader.compared(&page),
            canonical: match &page {
                Page::Document(document) => document.canonical.clone(),
                Page::Text(_) | Page::Other => None,
            },
            fingerprint: reader.fingerprint(builder, content),
            signature: reader.signature(builder, content),
        }
    }

    /// Returns the sets and vectors that measures need.
    #[must_use]
    pub fn measured(&self, rules: &PairRules, builder: &SignatureBuilder) -> MeasuredDocument {
        MeasuredDocument {
            shingles: self.shingles(rules),
            features: builder.weighted_features(&self.text),
        }
    }

    /// Returns the shingles of resemblance and containment.
    fn shingles(&self, rules: &PairRules) -> Shingles {
        Shingles::of_unit(&self.text, rules.unit, HashKey::ZERO)
    }
}

impl PairComparison {
    /// Compares two documents.
    #[must_use]
    pub fn of(a: &ComparedDocument, b: &ComparedDocument, rules: &PairRules) -> Self {
        let (shingles_a, shingles_b) = (a.shingles(rules), b.shingles(rules));
        let sketches = Sketch::of(&shingles_a).zip(Sketch::of(&shingles_b));
        let resemblance = shingles_a.resemblance(&shingles_b);
        let thresholds = &rules.thresholds;
        // Both texts are available, so the exact resemblance decides instead of its estimate.
        let match_kind = thresholds.exact_match_kind(&a.signature, &b.signature, resemblance);
        let decision = decision(a, b, thresholds, match_kind);
        let outcome = decision.as_ref().map(|decision| decision.outcome);
        let verdict = match (match_kind, outcome) {
            (_, Some(Outcome::Distinct)) | (None, None | Some(Outcome::Undecided)) => "distinct",
            (Some(MatchKind::Near { .. }) | None, _) => "near-duplicate",
            (Some(_), _) => "exact-duplicate",
        };
        Self {
            distance: a.fingerprint.distance(b.fingerprint),
            bits: rules.bits.get(),
            resemblance,
            resemblance_estimate: sketches.map(|(a, b)| a.resemblance(&b)),
            shingles: rules.unit.to_string(),
            containment_a_in_b: shingles_a.containment_in(&shingles_b),
            containment_b_in_a: shingles_b.containment_in(&shingles_a),
            fingerprint_a: a.fingerprint.digits(rules.bits),
            fingerprint_b: b.fingerprint.digits(rules.bits),
            verdict,
            reason: decision
                .and_then(|decision| said(&decision))
                .unwrap_or_else(|| reason(a, b, rules, resemblance, match_kind)),
        }
    }
}

/// Returns the decision by the texts; `None` if the bytes or a criterion set by the user decide.
fn decision(
    a: &ComparedDocument,
    b: &ComparedDocument,
    thresholds: &Thresholds,
    match_kind: Option<MatchKind>,
) -> Option<Decision> {
    if !thresholds.asks_texts() || match_kind == Some(MatchKind::SamePayload) {
        return None;
    }
    let is_canonical = a.canonical.is_some() && a.canonical == b.canonical;
    let (a, b) = (a.page.as_ref()?, b.page.as_ref()?);
    Some(decide(a, b, Frames::default(), is_canonical))
}

/// Returns a sentence about a decision, if the texts decided.
fn said(decision: &Decision) -> Option<String> {
    match decision.outcome {
        Outcome::Distinct => decision.reason.as_ref().map(ToString::to_string),
        Outcome::Repeat => Some("no difference with weight".to_owned()),
        Outcome::View => Some("b contains all of a".to_owned()),
        Outcome::ViewOfPage => Some("a contains all of b".to_owned()),
        Outcome::Undecided => None,
    }
}

/// Returns the rule that decided, with its values.
fn reason(
    a: &ComparedDocument,
    b: &ComparedDocument,
    rules: &PairRules,
    resemblance: f64,
    match_kind: Option<MatchKind>,
) -> String {
    match match_kind {
        Some(MatchKind::SamePayload) => return "the same bytes".to_owned(),
        Some(MatchKind::SameText) => return "the same words in the same order".to_owned(),
        Some(MatchKind::Near { .. }) | None => {}
    }
    let words = a.text.len().min(b.text.len());
    let min_words = rules.min_words;
    if words < min_words {
        return format!("{words} words, below --min-words {min_words}: compared for equality only");
    }
    if !rules.thresholds.needs_bands() {
        let distance = a.fingerprint.distance(b.fingerprint);
        let most = rules.thresholds.distance();
        return format!("{distance} bits apart, at most {most} for near duplicates");
    }
    let words = u32::try_from(words).unwrap_or(u32::MAX);
    let least = rules.thresholds.min_resemblance(words);
    match (match_kind.is_some(), resemblance >= least) {
        (true, true) => format!("resemblance {resemblance:.4}, at least {least:.2}"),
        (true, false) => "most of the counted words are the same".to_owned(),
        (false, false) => format!("resemblance {resemblance:.4}, below {least:.2}"),
        (false, true) => "titles, headings, main content or counted words differ".to_owned(),
    }
}
