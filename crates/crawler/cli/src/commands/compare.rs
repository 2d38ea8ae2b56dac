//! `crawler compare`: the similarity of two files.
//!
//! HTML files are compared by their main content, as in a crawl, and all other files as text. The
//! hash key is zero, so that fingerprints can be compared between machines. `--diff` shows the
//! blocks and words that differ.

use std::io::{self, Write};

use comparison::{ComparedPage, Decision, Frames, Outcome, PrintedBlock, decide, differing_blocks};
use corpus::measures::{Measure, MeasuredDocument, Measures};
use corpus::{Page, Reader};
use differences::PrintedDifference;
use messages::CommandError;
use neardup::{
    Fingerprint, HashKey, MatchKind, NormalText, PageSignature, Shingles, Sketch, Thresholds,
};
use serde::Serialize;
use web::PageUrl;

use super::column;
use crate::args::CompareArgs;
use crate::block_diff;
use crate::output::{self, Format};
use crate::word_diff::WordDiff;

#[derive(Serialize)]
struct Comparison {
    distance: u32,
    bits: u32,
    /// The shingles of resemblance and containment, as `--features` names them.
    shingles: String,
    resemblance: f64,
    resemblance_estimate: Option<f64>,
    containment_a_in_b: f64,
    containment_b_in_a: f64,
    fingerprint_a: String,
    fingerprint_b: String,
    verdict: &'static str,
    reason: String,
    /// Present with `--measures`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    measures: Vec<Measure>,
    /// Present with `--diff`.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<PrintedDifference>,
    /// Blocks that differ. Present with `--diff` if the texts decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<PrintedBlock>>,
}

/// A document with its signature.
struct ComparedDocument {
    text: NormalText,
    /// The text as it was written.
    written: String,
    fingerprint: Fingerprint,
    signature: PageSignature,
    /// The page block by block; `None` for a file without text.
    page: Option<ComparedPage>,
    /// URL that it names as its canonical page.
    canonical: Option<PageUrl>,
}

pub(crate) fn run(args: &CompareArgs) -> Result<(), CommandError> {
    let criterion = args.verdict.criterion(&args.features)?;
    let reader = Reader::new(true);
    let mut input = args.input.options(None);
    let signature_builder = args
        .features
        .signature_builder(&[args.a.clone(), args.b.clone()], &mut input, &reader)?
        .min_words(args.verdict.min_words());
    let compared = |path| -> Result<ComparedDocument, CommandError> {
        let document =
            corpus::only_document(path, &input).map_err(|error| CommandError::of_usage(&error))?;
        let page = reader.read(&document.content);
        let written = reader.text(&page).map_or("", |page| page.text).to_owned();
        Ok(ComparedDocument {
            text: NormalText::of(&written),
            written,
            page: reader.compared(&page),
            canonical: match &page {
                Page::Document(document) => document.canonical.clone(),
                Page::Text(_) | Page::Other => None,
            },
            fingerprint: reader.fingerprint(&signature_builder, &document.content),
            signature: reader.signature(&signature_builder, &document.content),
        })
    };
    let (a, b) = (compared(&args.a)?, compared(&args.b)?);
    let mut comparison = Comparison::of(&a, &b, args, &criterion);
    if !args.measures.is_empty() {
        let measured = |document: &ComparedDocument| MeasuredDocument {
            shingles: shingles(&document.text, args),
            features: signature_builder.weighted_features(&document.text),
        };
        let kinds: Vec<_> = args.measures.iter().map(|kind| kind.kind()).collect();
        let measures = Measures::new(&kinds, args.minima, args.features.bits())?;
        comparison.measures = measures.of(&measured(&a), &measured(&b))?;
    }
    let diff = args.diff.then(|| WordDiff::of(&a.written, &b.written));
    comparison.diff = diff.as_ref().map(WordDiff::printed);
    if args.diff && criterion.asks_texts() {
        let pages = a.page.as_ref().zip(b.page.as_ref());
        let blocks = pages.map(|(a, b)| differing_blocks(a, b, Frames::default()));
        comparison.blocks = blocks.map(|blocks| PrintedBlock::with_page_first(&blocks));
    }
    let format = Format::or_fitting(args.format);
    output::coloured_to_stdout(format, |out, has_colours| match format {
        Format::Json => output::json_line(out, &comparison),
        Format::Table => {
            output::columns(out, &comparison.lines())?;
            measure_table(out, &comparison.measures)?;
            let Some(diff) = &diff else {
                return Ok(());
            };
            writeln!(out)?;
            let blocks = comparison.blocks.as_deref().unwrap_or_default();
            block_diff::write(blocks, ("a", "b"), out)?;
            diff.write_figures(out, "a", "b")?;
            out.write_all(diff.shown(has_colours).as_bytes())
        }
    })
}

impl Comparison {
    fn of(
        a: &ComparedDocument,
        b: &ComparedDocument,
        args: &CompareArgs,
        criterion: &Thresholds,
    ) -> Self {
        let (shingles_a, shingles_b) = (shingles(&a.text, args), shingles(&b.text, args));
        let sketches = Sketch::of(&shingles_a).zip(Sketch::of(&shingles_b));
        let resemblance = shingles_a.resemblance(&shingles_b);
        // Both texts are available, so the exact resemblance decides instead of its estimate.
        let match_kind = criterion.exact_match_kind(&a.signature, &b.signature, resemblance);
        let decision = decision(a, b, criterion, match_kind);
        let outcome = decision.as_ref().map(|decision| decision.outcome);
        let verdict = match (match_kind, outcome) {
            (_, Some(Outcome::Distinct)) | (None, None | Some(Outcome::Undecided)) => "distinct",
            (Some(MatchKind::Near { .. }) | None, _) => "near-duplicate",
            (Some(_), _) => "exact-duplicate",
        };
        Self {
            distance: a.fingerprint.distance(b.fingerprint),
            bits: args.features.bits().get(),
            resemblance,
            resemblance_estimate: sketches.map(|(a, b)| a.resemblance(&b)),
            shingles: args.features.shingles().to_string(),
            containment_a_in_b: shingles_a.containment_in(&shingles_b),
            containment_b_in_a: shingles_b.containment_in(&shingles_a),
            fingerprint_a: args.features.digits(a.fingerprint),
            fingerprint_b: args.features.digits(b.fingerprint),
            verdict,
            reason: decision
                .and_then(|decision| said(&decision))
                .unwrap_or_else(|| reason(a, b, args, criterion, resemblance, match_kind)),
            measures: Vec::new(),
            diff: None,
            blocks: None,
        }
    }

    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let share = |share: f64| Some(format!("{share:.4}"));
        vec![
            column("verdict", Some(self.verdict)),
            column("reason", Some(&self.reason)),
            column(
                "distance",
                Some(format!("{} of {} bits", self.distance, self.bits)),
            ),
            column("shingles", Some(&self.shingles)),
            column("resemblance", share(self.resemblance)),
            column("estimated", self.resemblance_estimate.and_then(share)),
            column("a in b", share(self.containment_a_in_b)),
            column("b in a", share(self.containment_b_in_a)),
            column("fingerprint a", Some(&self.fingerprint_a)),
            column("fingerprint b", Some(&self.fingerprint_b)),
        ]
    }
}

/// Returns the decision by the texts; `None` if the bytes or a criterion set by the user decide.
fn decision(
    a: &ComparedDocument,
    b: &ComparedDocument,
    criterion: &Thresholds,
    match_kind: Option<MatchKind>,
) -> Option<Decision> {
    if !criterion.asks_texts() || match_kind == Some(MatchKind::SamePayload) {
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

/// Returns the shingles of resemblance and containment.
fn shingles(text: &NormalText, args: &CompareArgs) -> Shingles {
    Shingles::of_unit(text, args.features.shingles(), HashKey::ZERO)
}

/// Returns the rule that decided, with its values.
fn reason(
    a: &ComparedDocument,
    b: &ComparedDocument,
    args: &CompareArgs,
    criterion: &Thresholds,
    resemblance: f64,
    match_kind: Option<MatchKind>,
) -> String {
    match match_kind {
        Some(MatchKind::SamePayload) => return "the same bytes".to_owned(),
        Some(MatchKind::SameText) => return "the same words in the same order".to_owned(),
        Some(MatchKind::Near { .. }) | None => {}
    }
    let words = a.text.len().min(b.text.len());
    let min_words = args.verdict.min_words();
    if words < min_words {
        return format!("{words} words, below --min-words {min_words}: compared for equality only");
    }
    if !criterion.needs_bands() {
        let distance = a.fingerprint.distance(b.fingerprint);
        let most = criterion.distance();
        return format!("{distance} bits apart, at most {most} for near duplicates");
    }
    let least = criterion.min_resemblance(u32::try_from(words).unwrap_or(u32::MAX));
    match (match_kind.is_some(), resemblance >= least) {
        (true, true) => format!("resemblance {resemblance:.4}, at least {least:.2}"),
        (true, false) => "most of the counted words are the same".to_owned(),
        (false, false) => format!("resemblance {resemblance:.4}, below {least:.2}"),
        (false, true) => "titles, headings, main content or counted words differ".to_owned(),
    }
}

/// Writes the measures in columns.
fn measure_table(out: &mut dyn Write, measures: &[Measure]) -> io::Result<()> {
    if measures.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{:<30} {:<19} {:>9} {:>9} {:>12}",
        "measure", "of", "value", "exact", "std. error"
    )?;
    for measure in measures {
        let number = |number: Option<f64>| number.map_or("–".to_owned(), |n| format!("{n:.4}"));
        writeln!(
            out,
            "{:<30} {:<19} {:>9} {:>9} {:>12}",
            measure.measure,
            measure.quantity.replace('_', " "),
            number(measure.value),
            number(Some(measure.exact)),
            number(measure.standard_error)
        )?;
    }
    Ok(())
}
