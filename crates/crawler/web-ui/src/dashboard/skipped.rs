//! URLs that were seen and not visited, with their reasons, and URL patterns with examples.

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
use crate::report::{Patterns, Skipped};

/// A URL that a rule kept out.
struct ExclusionRow {
    url: String,
    reason: String,
}

#[derive(Template)]
#[template(path = "dashboard/skipped.html")]
struct SkippedPage<'a> {
    frame: Frame,
    linked: bool,
    skipped: &'a Skipped,
    patterns: &'a Patterns,
    newest: Vec<ExclusionRow>,
    total: u64,
}

/// Shows the skipped URLs.
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
        let newest = look.statistics.newest(Newest::Exclusions);
        Html::of(&SkippedPage {
            frame: dashboard.frame(Tab::Skipped, granted, look),
            linked: true,
            skipped: &gather::skipped(look.statistics),
            patterns: &gather::patterns(look.statistics, caps::LISTED),
            newest: newest.take(caps::LISTED).map(row).collect(),
            total: look.statistics.totals().excluded,
        })
    })
}

fn row(visit: &RecentVisit) -> ExclusionRow {
    ExclusionRow {
        url: cut(&visit.url, caps::ADDRESS),
        reason: cut(visit.reason.as_deref().unwrap_or_default(), caps::TEXT),
    }
}

impl SkippedPage<'_> {
    /// Returns the number of URLs that are listed.
    fn shown(&self) -> u64 {
        self.newest.len() as u64
    }
}
