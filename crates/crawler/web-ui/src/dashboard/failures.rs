//! Failures: their kinds, and the newest with their reasons.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::State;

use super::Dashboard;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab};
use crate::filters;
use crate::report::{Failures, gather};

#[derive(Template)]
#[template(path = "dashboard/failures.html")]
struct FailuresPage<'a> {
    frame: Frame,
    linked: bool,
    failures: &'a Failures,
}

/// Shows the failures.
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
        Html::of(&FailuresPage {
            frame: dashboard.frame(Tab::Failures, granted, look),
            linked: true,
            failures: &gather::failures(look.statistics, caps::LISTED),
        })
    })
}
