//! Duplicates: the rules that found them, distances and resemblances, the newest, and clusters.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;
use statistics::{Newest, RecentVisit};

use super::Dashboard;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::format::cut;
use crate::report::gather;
use crate::report::{Clusters, Verdicts};

/// A duplicate with its original.
pub(crate) struct DuplicateRow {
    pub(crate) url: String,
    pub(crate) original: Option<String>,
    pub(crate) verdict: &'static str,
    pub(crate) distance: Option<u32>,
    pub(crate) resemblance: Option<String>,
    pub(crate) reason: String,
    /// True if the page has next to no text without its scripts, and they were not run.
    pub(crate) needs_scripts: bool,
    /// True if it was not archived, and can be declared to be no duplicate.
    pub(crate) may_be_distinct: bool,
}

#[derive(Template)]
#[template(path = "dashboard/duplicates.html")]
struct DuplicatesPage<'a> {
    frame: Frame,
    linked: bool,
    verdicts: &'a Verdicts,
    clusters: &'a Clusters,
    newest: Vec<DuplicateRow>,
    total: u64,
}

/// Shows the duplicates.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
) -> Result<Html, Refusal> {
    dashboard
        .answer(move |dashboard| of(dashboard, granted))
        .await
}

fn of(dashboard: &Dashboard, granted: Granted) -> Result<Html, Refusal> {
    dashboard.look(|look| {
        let newest = look.statistics.newest(Newest::Duplicates);
        Html::of(&DuplicatesPage {
            frame: dashboard.frame(Tab::Duplicates, granted, look),
            linked: true,
            verdicts: &gather::verdicts(look.statistics),
            clusters: &gather::clusters(look.statistics),
            newest: newest.take(caps::LISTED).map(row).collect(),
            total: look.statistics.counts().duplicates(),
        })
    })
}

/// Returns a duplicate as lists show it.
pub(crate) fn row(visit: &RecentVisit) -> DuplicateRow {
    let original = visit.duplicate_of.as_deref();
    DuplicateRow {
        url: cut(&visit.url, caps::ADDRESS),
        original: original.map(|url| cut(url, caps::ADDRESS)),
        verdict: visit.verdict.as_str(),
        distance: visit.distance,
        resemblance: visit
            .resemblance
            .map(|resemblance| format!("{resemblance:.2}")),
        may_be_distinct: !visit.kept && original != Some(&*visit.url) && is_whole(&visit.url),
        reason: cut(visit.reason.as_deref().unwrap_or_default(), caps::TEXT),
        needs_scripts: visit.needs_scripts,
    }
}

/// Returns true if a URL is shown whole, so that an action can name it.
fn is_whole(url: &str) -> bool {
    cut(url, caps::ADDRESS) == url && !url.ends_with('…')
}

impl DuplicatesPage<'_> {
    /// Returns the number of URLs that are listed.
    fn shown(&self) -> u64 {
        self.newest.len() as u64
    }
}
