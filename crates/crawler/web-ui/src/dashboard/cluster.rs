//! A cluster: an original, and all pages that repeat it, in the order of their visits.

use std::borrow::Borrow;
use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use journal::{Position, Record, VisitRecord, records_at};
use serde::Deserialize;
use statistics::RecentVisit;
use web::PageUrl;

use super::Dashboard;
use super::duplicates::{DuplicateRow, row};
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::cut;
use crate::paging::{Paging, encoded};

/// The question: an original, and the first member of the page.
#[derive(Debug, Deserialize)]
pub(crate) struct ClusterQuery {
    pub(crate) url: String,
    /// True for an original of an earlier crawl.
    #[serde(default)]
    pub(crate) earlier: bool,
    #[serde(default)]
    pub(crate) from: usize,
}

#[derive(Template)]
#[template(path = "dashboard/cluster.html")]
struct ClusterPage {
    frame: Frame,
    linked: bool,
    original: String,
    of_earlier: bool,
    members: Vec<DuplicateRow>,
    paging: Paging,
}

/// Shows a part of the members of a cluster.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<ClusterQuery>,
) -> Result<Html, Refusal> {
    let original = dashboard.parse(&query.url)?;
    dashboard
        .answer(move |dashboard| of(dashboard, granted, &original, &query))
        .await
}

fn of(
    dashboard: &Dashboard,
    granted: Granted,
    original: &PageUrl,
    query: &ClusterQuery,
) -> Result<Html, Refusal> {
    let of_earlier = query.earlier;
    let (frame, positions) = dashboard.look(|look| {
        let frame = dashboard.frame(Tab::Elsewhere, granted, look);
        (frame, look.statistics.members_of(original, of_earlier))
    });
    let parameters = parameters(original.as_str(), of_earlier);
    let (from, each) = (query.from, caps::LISTED);
    let paging = Paging::of("/cluster", &parameters, from, each, positions.len());
    let listed = positions.get(paging.range()).unwrap_or_default();
    let members = members(dashboard, original, of_earlier, listed)?;
    Html::of(&ClusterPage {
        frame,
        linked: true,
        original: cut(original.as_str(), caps::ADDRESS),
        of_earlier,
        members: members
            .iter()
            .map(|member| row(&RecentVisit::of(member)))
            .collect(),
        paging,
    })
}

/// Returns the visits of a cluster at these positions of the journal. Positions of other visits are
/// left out: two URLs may have one key, and a journal may be replaced.
pub(crate) fn members(
    dashboard: &Dashboard,
    original: &PageUrl,
    of_earlier: bool,
    positions: &[Position],
) -> Result<Vec<VisitRecord>, Refusal> {
    let records = records_at(&dashboard.crawl.state, positions);
    let records = records.map_err(|fault| Refusal::Unavailable(fault.to_string()))?;
    let visits = records.into_iter().filter_map(|record| match record {
        Record::Settled(settled) => Some(*settled.visit.record),
        _ => None,
    });
    let is_member = |visit: &VisitRecord| {
        visit.duplicate_of.as_ref() == Some(original) && visit.of_earlier == of_earlier
    };
    Ok(visits.filter(is_member).collect())
}

/// Returns the address of the view of a cluster.
pub(crate) fn address(original: impl AsRef<str>, of_earlier: impl Borrow<bool>) -> String {
    let parameters = parameters(original.as_ref(), *of_earlier.borrow());
    format!("/cluster?{parameters}")
}

fn parameters(original: &str, of_earlier: bool) -> String {
    let earlier = if of_earlier { "&earlier=true" } else { "" };
    format!("url={}{earlier}", encoded(original))
}
