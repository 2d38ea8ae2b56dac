//! Compares a page with the original that it repeats: the words that differ, and the statistics
//! behind the verdict.

use std::ops::Range;
use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use comparison::{BlockWeight, DifferingBlock};
use differences::{Difference, PageOfPair, PageTextState, RunKind, Stretch, VerdictValues, listed};

use super::page::{Fact, PageQuery, is_not_archived};
use super::{Dashboard, JudgedPair};
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};

/// Unchanged words that are shown before and after a change.
const CONTEXT: usize = 30;

/// A piece of a text.
enum Piece {
    /// Words that both texts have.
    Same(String),
    /// Words that only this text has.
    Own(String),
    /// Words that both texts have and that are not shown; their number.
    Folded(u64),
}

/// One of the two texts.
struct ShownText {
    heading: &'static str,
    url: String,
    /// The reason why it cannot be shown.
    missing: Option<String>,
    pieces: Vec<Piece>,
    /// True if the rest is not shown.
    is_cut: bool,
}

/// A block that differs between the texts.
struct ShownBlock {
    weight: &'static str,
    original: String,
    page: String,
}

#[derive(Template)]
#[template(path = "dashboard/difference.html")]
struct DifferencePage {
    frame: Frame,
    linked: bool,
    url: String,
    verdict: &'static str,
    reason: String,
    may_be_distinct: bool,
    figures: Vec<Fact>,
    blocks: Vec<ShownBlock>,
    texts: [ShownText; 2],
}

/// Shows a page next to its original.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<PageQuery>,
) -> Result<Html, Refusal> {
    let url = dashboard.parse(&query.url)?;
    let answer = move |dashboard: &Dashboard| {
        let judged = (dashboard.crawl.queries.pair)(url.as_str());
        let judged = judged.map_err(Refusal::Question)?;
        let frame = dashboard.look(|look| dashboard.frame(Tab::Elsewhere, granted, look));
        Html::of(&page(frame, &judged))
    };
    dashboard.answer_slowly(answer).await
}

fn page(frame: Frame, judged: &JudgedPair) -> DifferencePage {
    let JudgedPair { pair, visit, .. } = judged;
    let (original, member) = (&pair.original, &pair.member);
    DifferencePage {
        frame,
        linked: true,
        url: cut(&member.url, caps::ADDRESS),
        verdict: visit.fate.as_str(),
        reason: cut(&visit.reason_text().unwrap_or_default(), caps::REASON),
        may_be_distinct: is_not_archived(visit),
        figures: figures(judged),
        blocks: blocks(&judged.blocks),
        texts: [
            text(
                ("Original", original),
                "it is not archived, or its crawl does not exist any more",
                pair.difference.as_ref(),
                RunKind::OnlyA,
            ),
            text(
                ("Page", member),
                "it was not archived, and its text was not kept: crawl with --duplicate-text on",
                pair.difference.as_ref(),
                RunKind::OnlyB,
            ),
        ],
    }
}

/// Returns the blocks to show: first the blocks that count.
fn blocks(blocks: &[DifferingBlock]) -> Vec<ShownBlock> {
    let text = |text: &Option<String>| cut(text.as_deref().unwrap_or_default(), caps::REASON);
    let counts = |block: &&DifferingBlock| block.weight == BlockWeight::Counts;
    let others = blocks.iter().filter(|block| !counts(block));
    let shown = blocks.iter().filter(counts).chain(others);
    let shown = shown.take(caps::LISTED).map(|block| ShownBlock {
        weight: block.weight.as_str(),
        original: text(&block.original),
        page: text(&block.page),
    });
    shown.collect()
}

/// Returns one of the texts; `own` are the runs that only this one has.
fn text(
    (heading, page): (&'static str, &PageOfPair),
    not_kept: &str,
    difference: Option<&Difference>,
    own: RunKind,
) -> ShownText {
    let (missing, whole) = match &page.text {
        PageTextState::Known(text) => (None, text.as_str()),
        PageTextState::NotKept => (Some(not_kept.to_owned()), ""),
        PageTextState::Unreadable(trouble) => {
            let missing = format!("it cannot be read: {}", cut(trouble, caps::REASON));
            (Some(missing), "")
        }
    };
    let mut shown = ShownText {
        heading,
        url: cut(&page.url, caps::ADDRESS),
        missing,
        pieces: Vec::new(),
        is_cut: false,
    };
    match difference {
        Some(difference) => shown.add(difference, whole, own),
        None => shown.pieces.push(Piece::Same(cut(whole, caps::PAGE_TEXT))),
    }
    shown
}

impl ShownText {
    /// Adds the pieces of a difference that fit.
    fn add(&mut self, difference: &Difference, whole: &str, own: RunKind) {
        let part = |bytes: &Range<usize>| whole.get(bytes.clone()).unwrap_or_default();
        let mut room = caps::PAGE_TEXT;
        for stretch in difference.folded(CONTEXT) {
            let (run, is_folded) = match &stretch {
                Stretch::Shown(run) => (run, false),
                Stretch::Folded(run) => (run, true),
            };
            let words = part(if own == RunKind::OnlyA {
                &run.a
            } else {
                &run.b
            });
            if is_folded {
                self.pieces.push(Piece::Folded(run.words as u64));
                continue;
            }
            if words.is_empty() {
                continue;
            }
            if words.len() > room || self.pieces.len() >= 4 * caps::LISTED {
                self.is_cut = true;
                return;
            }
            room -= words.len();
            self.pieces.push(match run.kind == RunKind::Same {
                true => Piece::Same(words.to_owned()),
                false => Piece::Own(words.to_owned()),
            });
        }
    }
}

/// Returns the statistics of the verdict, and of the difference if both texts are known.
fn figures(judged: &JudgedPair) -> Vec<Fact> {
    let JudgedPair { pair, .. } = judged;
    let figures = &pair.figures;
    let of_texts = pair.difference.as_ref().map(Difference::statistics);
    let facts = [
        Fact::of(
            "Differing bits",
            figures
                .differing_bits
                .as_deref()
                .map(|bits| listed(bits, 64)),
        ),
        Fact::of(
            "Equal quarters of the fingerprint",
            figures.equal_quarters.as_deref().map(|all| listed(all, 4)),
        ),
        Fact::of(
            "Equal bands of the sketch",
            figures.equal_bands.as_deref().map(|bands| listed(bands, 8)),
        ),
        Fact::of("Estimated resemblance", estimate(figures)),
        Fact::of("Threshold", threshold(figures)),
        Fact::of(
            "Resemblance of the words",
            figures.resemblance_of_words.map(share),
        ),
        Fact::of(
            "Title terms",
            figures.title_terms_differ.map(|differ| match differ {
                true => "they differ".to_owned(),
                false => "they do not differ".to_owned(),
            }),
        ),
        Fact::of(
            "Resemblance",
            of_texts.map(|texts| share(texts.resemblance)),
        ),
        Fact::of(
            "Shingles of five words",
            of_texts.map(|texts| {
                format!(
                    "{} in both, {} only in the original, {} only in the page",
                    format::count(texts.shared_shingles as u64),
                    format::count(texts.shingles_only_a as u64),
                    format::count(texts.shingles_only_b as u64)
                )
            }),
        ),
        Fact::of(
            "Changed words",
            of_texts.map(|texts| {
                format!(
                    "{} of {} of the original, {} of {} of the page",
                    format::count(texts.words_only_a as u64),
                    format::count(texts.words_a as u64),
                    format::count(texts.words_only_b as u64),
                    format::count(texts.words_b as u64)
                )
            }),
        ),
        Fact::of("Title of the original", pair.original.title.clone()),
        Fact::of("Title of the page", pair.member.title.clone()),
        Fact::of(
            "Canonical page of the original",
            pair.original.canonical.clone(),
        ),
        Fact::of("Canonical page of the page", pair.member.canonical.clone()),
    ];
    facts.into_iter().flatten().collect()
}

fn estimate(figures: &VerdictValues) -> Option<String> {
    let estimated = share(figures.estimated_resemblance?);
    let error = share(figures.standard_error.unwrap_or_default());
    Some(format!("{estimated} ± {error}"))
}

fn threshold(figures: &VerdictValues) -> Option<String> {
    let (least, words) = figures.min_resemblance.zip(figures.words)?;
    let canonical = match figures.is_canonical {
        true => ", of a page and its canonical page",
        false => "",
    };
    let words = format::count(words.into());
    Some(format!("{least:.2} at {words} words{canonical}"))
}

fn share(share: f64) -> String {
    format!("{share:.4}")
}
