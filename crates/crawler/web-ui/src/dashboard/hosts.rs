//! Hosts: the wait that each asked for, the wait that is used, its reason, and the next request.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use statistics::{CrawlStatistics, HostStatistics, VisitSums};
use web::{Host, Timestamp, WaitReason};

use super::Dashboard;
use crate::access::Granted;
use crate::caps;
use crate::dashboard::frame::{Frame, Html, Refusal, Tab, attached_csv};
use crate::filters;
use crate::format::{self, cut};
use crate::paging::{Paging, search_parameter};

/// The question: a part of a host's name, and the first host of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct HostsQuery {
    pub(crate) q: String,
    pub(crate) from: usize,
}

/// A host.
pub(crate) struct HostRow {
    pub(crate) host: String,
    pub(crate) sums: VisitSums,
    pub(crate) waiting: u64,
    /// The wait that the host asked for: its `Crawl-delay` or its `Retry-After`.
    pub(crate) crawl_delay: Option<String>,
    pub(crate) retry_after: Option<String>,
    /// The wait that is used, and its reason.
    pub(crate) delay: String,
    pub(crate) why: WaitReason,
    pub(crate) failures: u32,
    /// The time until the next request: `now`, `in 4s`, or nothing if no URL waits.
    pub(crate) next: String,
    pub(crate) last_failure: Option<String>,
}

#[derive(Template)]
#[template(path = "dashboard/hosts.html")]
struct HostsPage {
    frame: Frame,
    query: String,
    rows: Vec<HostRow>,
    paging: Paging,
    has_changed: bool,
}

/// Shows a page of hosts, by descending number of pages.
pub(crate) async fn show(
    State(dashboard): State<Arc<Dashboard>>,
    Extension(granted): Extension<Granted>,
    Query(query): Query<HostsQuery>,
) -> Result<Html, Refusal> {
    dashboard
        .answer(move |dashboard| of(dashboard, granted, &query))
        .await
}

/// Sends all hosts whose names contain the letters as CSV.
pub(crate) async fn csv(
    State(dashboard): State<Arc<Dashboard>>,
    Query(query): Query<HostsQuery>,
) -> Result<Response, Refusal> {
    let written = dashboard.answer_slowly(move |dashboard| {
        let letters = query.q.trim().to_lowercase();
        let write = &dashboard.crawl.queries.hosts_csv;
        let written = dashboard.look(|look| write(look.statistics, &letters, caps::CSV));
        written.map_err(Refusal::Unavailable)
    });
    Ok(attached_csv("hosts", written.await?))
}

fn of(dashboard: &Dashboard, granted: Granted, query: &HostsQuery) -> Result<Html, Refusal> {
    dashboard.look(|look| {
        let mut found = matching(look.statistics, &query.q);
        let (parameters, from) = (search_parameter(&query.q), query.from);
        let paging = Paging::of("/hosts", &parameters, from, caps::LISTED, found.len());
        let least = &dashboard.crawl.min_delays;
        let row = |(host, figures): (&Host, &HostStatistics)| {
            row(host.as_str(), figures, least.of(host), look.now)
        };
        let rows = found.drain(paging.range()).map(row);
        Html::of(&HostsPage {
            frame: dashboard.frame(Tab::Hosts, granted, look),
            query: cut(&query.q, caps::TEXT),
            rows: rows.collect(),
            paging,
            has_changed: look.statistics.totals().changed > 0,
        })
    })
}

/// Returns the hosts whose names contain these letters, by descending number of pages.
pub(crate) fn matching<'a>(
    statistics: &'a CrawlStatistics,
    letters: &str,
) -> Vec<(&'a Host, &'a HostStatistics)> {
    let letters = letters.trim().to_lowercase();
    let mut found: Vec<_> = statistics
        .hosts()
        .filter(|(host, _)| letters.is_empty() || host.as_str().contains(&letters))
        .collect();
    found.sort_unstable_by_key(|(host, figures)| {
        (
            Reverse(figures.sums.pages),
            Reverse(figures.waiting),
            host.as_str(),
        )
    });
    found
}

fn row(host: &str, figures: &HostStatistics, least: Duration, now: Timestamp) -> HostRow {
    let pace = &figures.pace;
    let failure = figures.last_failure.as_deref();
    HostRow {
        host: cut(host, caps::TEXT),
        sums: figures.sums,
        waiting: figures.waiting,
        crawl_delay: pace.crawl_delay.map(format::span),
        retry_after: pace.retry_after.map(format::span),
        delay: format::span(pace.wait.max(least)),
        why: pace.why,
        failures: pace.failures,
        next: match figures.waiting {
            0 => String::new(),
            _ if pace.ready <= now => "now".to_owned(),
            // To the second: the rest differs with every look.
            _ => format!("in {}s", pace.ready.since(now).as_secs() + 1),
        },
        last_failure: failure.map(|reason| cut(reason, caps::TEXT)),
    }
}
