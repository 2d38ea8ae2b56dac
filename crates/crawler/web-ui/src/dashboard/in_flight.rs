//! Pages in flight: the visits that began and have not ended, the longest first.
//!
//! They come from the journal, so the view is the same within the crawl and in another process. The
//! journal does not store when a visit began: the newest time before the beginning is shown, hence
//! the longest possible age.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use serde::Deserialize;
use web::{PageUrl, Timestamp};

use super::Dashboard;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::{self, cut};
use crate::in_flight::Wanted;
use crate::live_statistics::Look;
use crate::machine;
use crate::paging::Paging;

/// The question: the first visit of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InFlightQuery {
    from: usize,
}

/// A visit in flight.
struct VisitRow {
    url: Option<String>,
    host: String,
    not_before: Timestamp,
    /// The longest time that it can be in flight.
    age: String,
}

#[derive(Template)]
#[template(path = "dashboard/in_flight.html")]
struct InFlightPage {
    frame: Frame,
    linked: bool,
    rows: Vec<VisitRow>,
    paging: Paging,
    /// The number of all visits in flight, listed or not.
    total: u64,
}

/// Returns the number of pages in flight; `None` if no process runs the crawl.
pub(crate) fn count(look: &Look<'_>, is_running: bool) -> Option<u64> {
    is_running.then(|| look.statistics.in_flight().len() as u64)
}

/// Shows the pages in flight.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<InFlightQuery>,
) -> Result<Html, Refusal> {
    dashboard
        .answer(move |dashboard| of(dashboard, granted, &query))
        .await
}

fn of(dashboard: &Dashboard, granted: Granted, query: &InFlightQuery) -> Result<Html, Refusal> {
    let state = &dashboard.crawl.state;
    let is_running = machine::process(state).is_some();
    let (page, mut listed, now) = dashboard.look(|look| {
        let total = count(look, is_running).unwrap_or_default();
        let mut visits: Vec<_> = look.statistics.in_flight().collect();
        visits.sort_unstable_by_key(|visit| (visit.not_before, visit.sequence));
        visits.truncate(if is_running { caps::IN_FLIGHT } else { 0 });
        let paging = Paging::of("/in-flight", "", query.from, caps::LISTED, visits.len());
        let listed = visits.drain(paging.range()).map(|visit| {
            let within = look.statistics.queued_within(visit.sequence);
            (visit, within)
        });
        let listed: Vec<Wanted> = listed.collect();
        let page = InFlightPage {
            frame: dashboard.frame(Tab::InFlight, granted, look),
            linked: true,
            rows: Vec::new(),
            paging,
            total,
        };
        (page, listed, look.now)
    });
    // Neighbours in the queue are neighbours in the journal.
    listed.sort_unstable_by_key(|(visit, _)| visit.sequence);
    let urls = dashboard.urls_in_flight.of(state, &listed);
    let mut found: Vec<_> = listed.into_iter().zip(urls).collect();
    found.sort_unstable_by_key(|((visit, _), _)| (visit.not_before, visit.sequence));
    let rows = found
        .into_iter()
        .map(|((visit, _), url)| row(visit.not_before, url.as_ref(), now));
    Html::of(&InFlightPage {
        rows: rows.collect(),
        ..page
    })
}

fn row(not_before: Timestamp, url: Option<&PageUrl>, now: Timestamp) -> VisitRow {
    let host = url.map(|url| url.host().to_string());
    VisitRow {
        url: url.map(|url| cut(url.as_str(), caps::ADDRESS)),
        host: cut(&host.unwrap_or_default(), caps::TEXT),
        not_before,
        age: format::whole_seconds(now.since(not_before)),
    }
}
