//! Pages that are similar to one page, nearest first. The whole journal is read for it, so the list
//! is a page of its own.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};

use super::Dashboard;
use super::page::PageQuery;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::cut;

/// A similar page.
struct SimilarRow {
    url: String,
    verdict: &'static str,
    distance: u32,
    resemblance: String,
}

#[derive(Template)]
#[template(path = "dashboard/similar.html")]
struct SimilarView {
    frame: Frame,
    linked: bool,
    url: String,
    rows: Vec<SimilarRow>,
}

/// Shows the pages that are similar to one.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<PageQuery>,
) -> Result<Html, Refusal> {
    let url = dashboard.parse(&query.url)?;
    let answer = move |dashboard: &Dashboard| {
        let similar = (dashboard.crawl.queries.similar)(url.as_str());
        let similar = similar.map_err(Refusal::Unavailable)?.into_iter();
        let rows = similar.take(caps::LISTED).map(|page| SimilarRow {
            url: cut(&page.url, caps::ADDRESS),
            verdict: page.verdict.as_str(),
            distance: page.distance,
            resemblance: format!("{:.3}", page.resemblance),
        });
        Html::of(&SimilarView {
            rows: rows.collect(),
            frame: dashboard.look(|look| dashboard.frame(Tab::Elsewhere, granted, look)),
            linked: true,
            url: cut(url.as_str(), caps::ADDRESS),
        })
    };
    dashboard.answer_slowly(answer).await
}

impl SimilarView {
    /// Returns the number of URLs that are listed.
    fn shown(&self) -> u64 {
        self.rows.len() as u64
    }
}
