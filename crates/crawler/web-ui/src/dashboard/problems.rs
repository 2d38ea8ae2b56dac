//! URLs that need work: failures, broken links, redirects, truncated visits, and pages that need
//! scripts, each with the first page that links to it; and lists of visits as CSV.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;

use super::Dashboard;
use super::selection::{Listing, Order, Selection};
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab, attached_csv};
use crate::filters;
use crate::format::cut;
use crate::report::{ListedUrl, ReportCounts, gather};

#[derive(Template)]
#[template(path = "dashboard/problems.html")]
struct ProblemsPage {
    frame: Frame,
    linked: bool,
    selection: Selection,
    /// The kinds, each with its number if it is known.
    kinds: Vec<(Listing, Option<u64>)>,
    /// Failures by kind, if the list has failures.
    failures: Option<ReportCounts>,
    listed: Vec<ListedUrl>,
    is_whole: bool,
}

/// Shows URLs that need work.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(selection): Query<Selection>,
) -> Result<Html, Refusal> {
    dashboard
        .answer(move |dashboard| of(dashboard, granted, &selection))
        .await
}

fn of(dashboard: &Dashboard, granted: Granted, selection: &Selection) -> Result<Html, Refusal> {
    dashboard.look(|look| {
        let statistics = look.statistics;
        let listed = selection.listed(look).into_iter();
        let listed = listed.map(|visit| gather::listed_url(visit, caps::ADDRESS));
        let kinds = Listing::PROBLEMS.map(|kind| (kind, kind.total(look)));
        let of_failures = matches!(selection.kind, Listing::Failures | Listing::BrokenLinks);
        Html::of(&ProblemsPage {
            frame: dashboard.frame(Tab::Problems, granted, look),
            linked: true,
            kinds: kinds.into(),
            failures: of_failures.then(|| gather::report_counts(statistics.failure_kinds())),
            listed: listed.collect(),
            is_whole: selection.is_whole(look),
            selection: Selection {
                kind: selection.kind,
                status: cut(&selection.status, caps::TEXT),
                host: cut(&selection.host, caps::TEXT),
                reason: cut(&selection.reason, caps::TEXT),
                sort: selection.sort,
            },
        })
    })
}

/// Sends all visits of a selection as CSV, in the order in which they ended.
pub(crate) async fn csv(
    State(dashboard): State<Arc<Dashboard>>,
    Query(selection): Query<Selection>,
) -> Result<Response, Refusal> {
    let name = selection.kind.as_str();
    let written = dashboard.answer_slowly(move |dashboard| {
        let takes = |visit: &journal::VisitRecord| selection.takes(visit);
        let written = (dashboard.crawl.queries.visits_csv)(&takes, caps::CSV);
        written.map_err(Refusal::Unavailable)
    });
    Ok(attached_csv(name, written.await?))
}

impl ProblemsPage {
    /// Returns the number of URLs that are listed.
    fn shown(&self) -> u64 {
        self.listed.len() as u64
    }
}
