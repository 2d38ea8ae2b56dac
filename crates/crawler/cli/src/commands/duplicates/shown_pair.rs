//! `crawler duplicates DIR --diff URL`: shows a page next to its original, with the values behind
//! the verdict, and the blocks and words that differ.

use std::path::Path;

use differences::{VerdictValues, listed};
use inspect::pair::{self, PairAnswer};
use messages::CommandError;

use crate::block_diff;
use crate::commands::column;
use crate::output::{self, Format};
use crate::word_diff::WordDiff;

/// Prints a page that repeats another, and its original.
pub(super) fn show(directory: &Path, url: &str, format: Format) -> Result<(), CommandError> {
    let judged = pair::judged(directory, url)?;
    let (original, member) = (&judged.pair.original, &judged.pair.member);
    let texts = original.text.known().zip(member.text.known());
    let difference = judged.pair.difference.as_ref().zip(texts);
    let diff = difference.map(|(difference, (a, b))| WordDiff::with(a, b, difference.clone()));
    let shown = judged.answer();
    if format == Format::Json {
        return output::to_stdout(|out| output::json_line(out, &shown));
    }
    output::coloured_to_stdout(|out, has_colours| {
        output::columns(out, &lines(&shown))?;
        if let Some(diff) = &diff {
            writeln!(out)?;
            let blocks = shown.blocks.as_deref().unwrap_or_default();
            block_diff::write(blocks, ("the original", "the page"), out)?;
            diff.write_figures(out, "the original", "the page")?;
            out.write_all(diff.shown(has_colours).as_bytes())?;
        }
        Ok(())
    })
}

/// Returns the lines of the table.
fn lines(pair: &PairAnswer<'_>) -> Vec<(&'static str, Option<String>)> {
    let figures = pair.figures;
    let title_terms = figures.title_terms_differ.map(|differ| match differ {
        true => "they differ: not near-duplicates",
        false => "they do not differ",
    });
    vec![
        column("page", Some(pair.page.url)),
        column("original", Some(pair.original.url)),
        column("verdict", Some(pair.verdict)),
        column("reason", pair.reason.as_deref()),
        column("fingerprint", figures.fingerprint_b),
        column("its original's", figures.fingerprint_a),
        column(
            "differing bits",
            figures
                .differing_bits
                .as_deref()
                .map(|bits| listed(bits, 64)),
        ),
        column(
            "equal quarters",
            figures
                .equal_quarters
                .as_deref()
                .map(|quarters| listed(quarters, 4)),
        ),
        column(
            "equal bands",
            figures.equal_bands.as_deref().map(|bands| listed(bands, 8)),
        ),
        column("resemblance", resemblance(figures)),
        column("of the words", figures.resemblance_of_words.map(rounded)),
        column("title terms", title_terms),
        column("title", pair.page.title),
        column("its original's", pair.original.title),
        column("heading", pair.page.heading),
        column("its original's", pair.original.heading),
        column("canonical", pair.page.canonical),
        column("its original's", pair.original.canonical),
        column("no text", pair.page.no_text.as_deref()),
        column("no text of the original", pair.original.no_text.as_deref()),
    ]
}

/// Returns the estimated resemblance and its threshold.
fn resemblance(figures: &VerdictValues) -> Option<String> {
    let estimated = figures.estimated_resemblance?;
    let error = figures.standard_error.unwrap_or_default();
    let (least, words) = figures.min_resemblance.zip(figures.words)?;
    let canonical = if figures.is_canonical {
        " and canonical pages"
    } else {
        ""
    };
    Some(format!(
        "{estimated:.4} ± {error:.4} estimated; {least:.2} suffices at {words} words{canonical}"
    ))
}

fn rounded(share: f64) -> String {
    format!("{share:.4}")
}
