//! `crawler compare`: the similarity of two files.
//!
//! HTML files are compared by their main content, as in a crawl, and all other files as text. The
//! hash key is zero, so that fingerprints can be compared between machines. `--diff` shows the
//! blocks and words that differ.

use std::io::{self, Write};

use comparison::{Frames, PrintedBlock, differing_blocks};
use corpus::compared_pair::{ComparedDocument, PairComparison, PairRules};
use corpus::measures::{Measure, Measures};
use differences::PrintedDifference;
use messages::CommandError;
use serde::Serialize;

use super::column;
use crate::args::CompareArgs;
use crate::block_diff;
use crate::output::{self, Format};
use crate::word_diff::WordDiff;
use settings::input::document_reader;

/// A comparison for output.
#[derive(Serialize)]
struct PrintedComparison {
    #[serde(flatten)]
    pair: PairComparison,
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

pub(crate) fn run(args: &CompareArgs) -> Result<(), CommandError> {
    let rules = PairRules {
        unit: args.features.shingles(),
        bits: args.features.bits(),
        thresholds: args.verdict.criterion(&args.features)?,
        min_words: args.verdict.min_words(),
    };
    let reader = document_reader(true);
    let mut input = args.input.options(None);
    let signature_builder = args
        .features
        .signature_builder(&[args.a.clone(), args.b.clone()], &mut input, &reader)?
        .min_words(rules.min_words);
    let compared = |path| -> Result<ComparedDocument, CommandError> {
        let document =
            corpus::only_document(path, &input).map_err(|error| CommandError::of_usage(&error))?;
        let content = &document.content;
        Ok(ComparedDocument::of(content, &reader, &signature_builder))
    };
    let (a, b) = (compared(&args.a)?, compared(&args.b)?);
    let mut comparison = PrintedComparison {
        pair: PairComparison::of(&a, &b, &rules),
        measures: Vec::new(),
        diff: None,
        blocks: None,
    };
    if !args.measures.is_empty() {
        let kinds: Vec<_> = args.measures.iter().map(|kind| kind.kind()).collect();
        let measures = Measures::new(&kinds, args.minima, rules.bits)?;
        let measured = |document: &ComparedDocument| document.measured(&rules, &signature_builder);
        comparison.measures = measures.of(&measured(&a), &measured(&b))?;
    }
    let diff = args.diff.then(|| WordDiff::of(&a.written, &b.written));
    comparison.diff = diff.as_ref().map(WordDiff::printed);
    if args.diff && rules.thresholds.asks_texts() {
        let pages = a.page.as_ref().zip(b.page.as_ref());
        let blocks = pages.map(|(a, b)| differing_blocks(a, b, Frames::default()));
        comparison.blocks = blocks.map(|blocks| PrintedBlock::with_page_first(&blocks));
    }
    let format = args.format;
    output::coloured_to_stdout(|out, has_colours| match format {
        Format::Json => output::json_line(out, &comparison),
        Format::Table => {
            output::columns(out, &lines(&comparison.pair))?;
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

fn lines(pair: &PairComparison) -> Vec<(&'static str, Option<String>)> {
    let share = |share: f64| Some(format!("{share:.4}"));
    vec![
        column("verdict", Some(pair.verdict)),
        column("reason", Some(&pair.reason)),
        column(
            "distance",
            Some(format!("{} of {} bits", pair.distance, pair.bits)),
        ),
        column("shingles", Some(&pair.shingles)),
        column("resemblance", share(pair.resemblance)),
        column("estimated", pair.resemblance_estimate.and_then(share)),
        column("a in b", share(pair.containment_a_in_b)),
        column("b in a", share(pair.containment_b_in_a)),
        column("fingerprint a", Some(&pair.fingerprint_a)),
        column("fingerprint b", Some(&pair.fingerprint_b)),
    ]
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
