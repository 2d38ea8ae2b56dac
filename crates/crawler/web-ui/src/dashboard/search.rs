//! Full-text search, in the query language of `crawler search`, with highlights.

use std::sync::Arc;

use ::search::{Finder, Hit, IndexFault, Query as SearchQuery, Snippet, Snippets};
use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::Dashboard;
use super::page::archived_name;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};
use crate::paging::{Paging, search_parameter};

/// The question: a query, and the first hit of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HitsQuery {
    pub(crate) q: String,
    pub(crate) from: usize,
}

/// A part of a snippet.
struct Part {
    text: String,
    is_match: bool,
}

/// A page that was found.
struct HitRow {
    url: String,
    title: String,
    date: String,
    language: String,
    snippet: Vec<Part>,
}

/// A page of hits, each with the part of its text that contains the words.
pub(crate) struct FoundHits {
    pub(crate) hits: Vec<(Hit, Snippet)>,
    pub(crate) paging: Paging,
}

/// The answer to a query.
#[derive(Default)]
struct Answer {
    rows: Vec<HitRow>,
    paging: Option<Paging>,
    /// The reason for an answer without hits, if there is one.
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "dashboard/search.html")]
struct SearchPage {
    frame: Frame,
    linked: bool,
    query: String,
    answer: Answer,
}

/// Shows the search box, and the hits of a query.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<HitsQuery>,
) -> Result<Html, Refusal> {
    let answer = move |dashboard: &Dashboard| {
        Html::of(&SearchPage {
            frame: dashboard.look(|look| dashboard.frame(Tab::Search, granted, look)),
            linked: true,
            answer: answer(dashboard, &query),
            query: cut(&query.q, caps::REASON),
        })
    };
    dashboard.answer(answer).await
}

fn answer(dashboard: &Dashboard, asked: &HitsQuery) -> Answer {
    if asked.q.trim().is_empty() {
        return Answer::default();
    }
    match find(dashboard, asked) {
        Ok(found) => Answer {
            rows: found.hits.iter().map(row).collect(),
            paging: Some(found.paging),
            problem: None,
        },
        Err(problem) => Answer {
            problem: Some(problem),
            ..Answer::default()
        },
    }
}

/// Returns a page of hits, or the reason for an answer without hits.
pub(crate) fn find(dashboard: &Dashboard, asked: &HitsQuery) -> Result<FoundHits, String> {
    let query = SearchQuery::parse(&asked.q);
    let query = query.map_err(|error| format!("{error}: {}", error.reason.remedy()))?;
    hits(dashboard, &query, asked).map_err(|fault| match fault {
        IndexFault::Missing { .. } => missing(dashboard),
        fault => fault.to_string(),
    })
}

fn hits(
    dashboard: &Dashboard,
    query: &SearchQuery,
    asked: &HitsQuery,
) -> Result<FoundHits, IndexFault> {
    let finder = Finder::open(&dashboard.crawl.search)?;
    let total = finder.count(query)?.min(caps::HITS);
    let parameters = search_parameter(&asked.q);
    let (from, each) = (asked.from, caps::HITS_OF_A_PAGE);
    let paging = Paging::of("/search", &parameters, from, each, total);
    let range = paging.range();
    let found = finder.search(query, range.len(), range.start)?;
    let snippets = Snippets::of(query);
    let hits = found.into_iter().map(|hit| {
        let place = &hit.location;
        let text = archived_name(&place.file)
            .and_then(|file| (dashboard.crawl.queries.text)(file, place.offset));
        let snippet = snippets.cut(&text.unwrap_or_default());
        (hit, snippet)
    });
    Ok(FoundHits {
        hits: hits.collect(),
        paging,
    })
}

fn row((hit, snippet): &(Hit, Snippet)) -> HitRow {
    let title = hit
        .title
        .as_deref()
        .filter(|title| !title.trim().is_empty());
    HitRow {
        url: cut(&hit.url, caps::ADDRESS),
        title: cut(title.unwrap_or("(without a title)"), caps::TEXT),
        date: format::minute(hit.at),
        language: cut(hit.language.as_deref().unwrap_or_default(), caps::TEXT),
        snippet: parts(snippet),
    }
}

/// Divides a snippet at its matches.
fn parts(snippet: &Snippet) -> Vec<Part> {
    let part = |text: &str, is_match| Part {
        text: cut(text, caps::REASON),
        is_match,
    };
    let mut parts = Vec::new();
    if snippet.cut_before {
        parts.push(part("… ", false));
    }
    let mut end = 0;
    for found in &snippet.found {
        parts.push(part(&snippet.text[end..found.start], false));
        parts.push(part(&snippet.text[found.clone()], true));
        end = found.end;
    }
    parts.push(part(&snippet.text[end..], false));
    if snippet.cut_behind {
        parts.push(part(" …", false));
    }
    parts
}

/// Explains why the index is missing.
fn missing(dashboard: &Dashboard) -> String {
    let directory = dashboard.crawl.directory.display();
    if ::search::exists(&dashboard.crawl.search) {
        return "Nothing is committed yet: a crawl commits its search index about once a minute \
                and at its end."
            .to_owned();
    }
    format!(
        "The crawl has no search index: it was run with --no-index, or the index is lost. Build it \
         from the archive with `crawler reindex {directory}`."
    )
}
