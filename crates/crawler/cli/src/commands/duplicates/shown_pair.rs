//! `crawler duplicates DIR --diff URL`: shows a page next to its original, with the values behind
//! the verdict, and the blocks and words that differ.

use std::path::Path;

use differences::{PageOfPair, PageTextState, PrintedDifference, VerdictValues, listed};
use inspect::pair;
use messages::CommandError;
use serde::Serialize;

use crate::block_diff::{self, PrintedBlock};
use crate::commands::column;
use crate::output::{self, Format};
use crate::word_diff::WordDiff;

#[derive(Serialize)]
struct ShownPair<'a> {
    original: ShownPage<'a>,
    page: ShownPage<'a>,
    verdict: &'static str,
    reason: Option<String>,
    figures: &'a VerdictValues,
    /// Absent if a text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<PrintedDifference>,
    /// Blocks that differ. Absent if a text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<Vec<PrintedBlock>>,
}

#[derive(Serialize)]
struct ShownPage<'a> {
    url: &'a str,
    title: Option<&'a str>,
    heading: Option<&'a str>,
    canonical: Option<&'a str>,
    /// The reason why its text is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_text: Option<String>,
}

/// Prints a page that repeats another, and its original.
pub(super) fn show(directory: &Path, url: &str, format: Format) -> Result<(), CommandError> {
    let judged = pair::judged(directory, url)?;
    let (original, member) = (&judged.pair.original, &judged.pair.member);
    let texts = original.text.known().zip(member.text.known());
    let difference = judged.pair.difference.as_ref().zip(texts);
    let diff = difference.map(|(difference, (a, b))| WordDiff::with(a, b, difference.clone()));
    let shown = ShownPair {
        original: ShownPage::of(
            original,
            "it is not archived, or its crawl does not exist any \
            more",
        ),
        page: ShownPage::of(
            member,
            "it was not archived, and its text was not kept: crawl with --duplicate-text on",
        ),
        verdict: judged.row.fate.as_str(),
        reason: judged.row.reason_text(),
        figures: &judged.pair.figures,
        diff: diff
            .as_ref()
            .filter(|_| format == Format::Json)
            .map(WordDiff::printed),
        blocks: (judged.blocks.clone()).map(|blocks| block_diff::printed(blocks, false)),
    };
    output::coloured_to_stdout(format, |out, has_colours| {
        if format == Format::Json {
            return output::json_line(out, &shown);
        }
        output::columns(out, &shown.lines())?;
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

impl<'a> ShownPage<'a> {
    fn of(page: &'a PageOfPair, not_kept: &str) -> Self {
        let no_text = match &page.text {
            PageTextState::Known(_) => None,
            PageTextState::NotKept => Some(not_kept.to_owned()),
            PageTextState::Unreadable(trouble) => Some(format!("it cannot be read: {trouble}")),
        };
        Self {
            url: &page.url,
            title: page.title.as_deref(),
            heading: page.heading.as_deref(),
            canonical: page.canonical.as_deref(),
            no_text,
        }
    }
}

impl ShownPair<'_> {
    fn lines(&self) -> Vec<(&'static str, Option<String>)> {
        let figures = self.figures;
        let title_terms = figures.title_terms_differ.map(|differ| match differ {
            true => "they differ: not near-duplicates",
            false => "they do not differ",
        });
        vec![
            column("page", Some(self.page.url)),
            column("original", Some(self.original.url)),
            column("verdict", Some(self.verdict)),
            column("reason", self.reason.as_deref()),
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
            column("resemblance", self.resemblance()),
            column("of the words", figures.resemblance_of_words.map(rounded)),
            column("title terms", title_terms),
            column("title", self.page.title),
            column("its original's", self.original.title),
            column("heading", self.page.heading),
            column("its original's", self.original.heading),
            column("canonical", self.page.canonical),
            column("its original's", self.original.canonical),
            column("no text", self.page.no_text.as_deref()),
            column("no text of the original", self.original.no_text.as_deref()),
        ]
    }

    /// Returns the estimated resemblance and its threshold.
    fn resemblance(&self) -> Option<String> {
        let figures = self.figures;
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
}

fn rounded(share: f64) -> String {
    format!("{share:.4}")
}
