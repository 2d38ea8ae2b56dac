//! Search, and what is known about single pages.

use std::sync::Arc;

use axum::extract::State;
use comparison::PrintedBlock;
use differences::{PageOfPair, PrintedDifference, VerdictValues};
use export::VisitRow;
use serde::{Deserialize, Serialize};
use web::PageUrl;

use super::json::{Asked, Json, JsonRefusal, Listed, read};
use crate::caps;
use crate::dashboard::frame::Refusal;
use crate::dashboard::page::{PageQuery, archived_name, visit_of};
use crate::dashboard::search::{self, HitsQuery};
use crate::dashboard::{Dashboard, Explanation};

/// Maximum size of the words of two texts, in bytes; longer differences are left out.
const MAX_DIFFERENCE: usize = 1 << 20;

/// The question for a page, and the first byte of its text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextQuery {
    url: String,
    #[serde(default)]
    from: usize,
}

/// A page that was found, with the fields of `crawler search`.
#[derive(Serialize)]
struct HitEntry {
    url: String,
    title: Option<String>,
    score: f32,
    date: String,
    language: Option<String>,
    snippet: String,
    highlights: Vec<[usize; 2]>,
    warc_file: String,
    warc_offset: u64,
}

/// A page, with the fields of `crawler why`, and a part of its text.
#[derive(Serialize)]
struct PageAnswer<'a> {
    url: &'a str,
    #[serde(flatten)]
    explanation: Explanation,
    page: Option<VisitRow<'a>>,
    text: Option<&'a str>,
    /// The parameter `from` of the next part of the text, in bytes.
    next_from: Option<usize>,
}

/// A page of a pair.
#[derive(Serialize)]
struct PairPage<'a> {
    url: &'a str,
    title: Option<&'a str>,
    heading: Option<&'a str>,
    canonical: Option<&'a str>,
}

/// A page and its original, with the fields of `crawler duplicates --diff`.
#[derive(Serialize)]
struct PairAnswer<'a> {
    original: PairPage<'a>,
    page: PairPage<'a>,
    verdict: &'static str,
    reason: Option<String>,
    figures: &'a VerdictValues,
    diff: Option<PrintedDifference>,
    blocks: Vec<PrintedBlock>,
}

/// Answers with the hits of a query, best first.
pub(crate) async fn search(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<HitsQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let answer = move |dashboard: &Dashboard| {
        let found = search::find(dashboard, &query).map_err(Refusal::Question)?;
        let entries = found.hits.into_iter().map(|(hit, snippet)| HitEntry {
            highlights: snippet
                .highlights()
                .iter()
                .map(|part| [part.start, part.end])
                .collect(),
            snippet: snippet.text,
            url: hit.url,
            title: hit.title,
            score: hit.score,
            date: hit.at.to_string(),
            language: hit.language,
            warc_file: hit.location.file,
            warc_offset: hit.location.offset,
        });
        Json::of(&Listed::of(&found.paging, entries.collect()))
    };
    Ok(dashboard.answer(answer).await?)
}

/// Answers with the decision on a URL, and a part of the text of its page.
pub(crate) async fn page(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<TextQuery>,
) -> Result<Json, JsonRefusal> {
    let query = read(asked)?;
    let url = dashboard.parse(&query.url)?;
    let (of_visit, from) = (url.clone(), query.from);
    let visited = move |dashboard: &Dashboard| visited(dashboard, &of_visit, from);
    if let Some(answer) = dashboard.answer(visited).await? {
        return Ok(answer);
    }
    // Only the whole journal knows about a URL that was not visited.
    let unvisited = move |dashboard: &Dashboard| {
        let explained = (dashboard.crawl.queries.explain)(url.as_str());
        Json::of(&PageAnswer {
            url: url.as_str(),
            explanation: explained.map_err(Refusal::Unavailable)?,
            page: None,
            text: None,
            next_from: None,
        })
    };
    Ok(dashboard.answer_slowly(unvisited).await?)
}

fn visited(dashboard: &Dashboard, url: &PageUrl, from: usize) -> Result<Option<Json>, Refusal> {
    let Some(visit) = visit_of(dashboard, url)? else {
        return Ok(None);
    };
    let place = visit.content_place().filter(|_| visit.kept);
    let text = place
        .and_then(|(file, offset)| (dashboard.crawl.queries.text)(archived_name(file)?, offset));
    let text = text.as_deref();
    let (mut part, mut next_from) = (None, None);
    if let Some(text) = text {
        let from = text.floor_char_boundary(from.min(text.len()));
        let end = text.floor_char_boundary(text.len().min(from + caps::PAGE_TEXT));
        part = Some(&text[from..end]);
        next_from = (end < text.len()).then_some(end);
    }
    let answer = Json::of(&PageAnswer {
        url: visit.url.as_str(),
        explanation: Explanation::of(&visit),
        page: Some(VisitRow(&visit)),
        text: part,
        next_from,
    });
    answer.map(Some)
}

/// Answers with the kept pages that are similar to a page, nearest first.
pub(crate) async fn similar(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<PageQuery>,
) -> Result<Json, JsonRefusal> {
    let url = dashboard.parse(&read(asked)?.url)?;
    let answer = move |dashboard: &Dashboard| {
        let similar = (dashboard.crawl.queries.similar)(url.as_str());
        let similar = similar.map_err(Refusal::Unavailable)?;
        Json::of(&Listed::of(&super::json::part(0, similar.len()), similar))
    };
    Ok(dashboard.answer_slowly(answer).await?)
}

/// Answers with a page next to its original.
pub(crate) async fn difference(
    State(dashboard): State<Arc<Dashboard>>,
    asked: Asked<PageQuery>,
) -> Result<Json, JsonRefusal> {
    let url = dashboard.parse(&read(asked)?.url)?;
    let answer = move |dashboard: &Dashboard| {
        let judged = (dashboard.crawl.queries.pair)(url.as_str()).map_err(Refusal::Question)?;
        let (original, member) = (&judged.pair.original, &judged.pair.member);
        let texts = original.text.known().zip(member.text.known());
        let texts = texts.filter(|(one, other)| one.len() + other.len() <= MAX_DIFFERENCE);
        let difference = judged.pair.difference.as_ref().zip(texts);
        let shown = judged.blocks.len().min(caps::LISTED);
        Json::of(&PairAnswer {
            original: PairPage::of(original),
            page: PairPage::of(member),
            verdict: judged.visit.fate.as_str(),
            reason: judged.visit.reason_text(),
            figures: &judged.pair.figures,
            diff: difference.map(|(difference, (a, b))| difference.printed(a, b)),
            blocks: PrintedBlock::with_original_first(&judged.blocks[..shown]),
        })
    };
    Ok(dashboard.answer_slowly(answer).await?)
}

impl<'a> PairPage<'a> {
    fn of(page: &'a PageOfPair) -> Self {
        Self {
            url: &page.url,
            title: page.title.as_deref(),
            heading: page.heading.as_deref(),
            canonical: page.canonical.as_deref(),
        }
    }
}
