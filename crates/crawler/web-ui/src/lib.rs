//! Pages of HTML that show a crawl, made from its statistics.
//!
//! The statistics come from `statistics`; this crate selects, bounds, draws and formats them. It is
//! the only crate that knows the template engine and the web server. The templates of a section are
//! fragments, so that every page with that section includes the same one.
//!
//! - `report` has the sections of a report as values, which are also its JSON; `series` compares
//!   crawls over time.
//! - `server` serves the dashboard: `access` decides who may read and change, `dashboard` has a
//!   module for each view, `api` has the views as JSON,
//!   `controls` writes control.toml, `live` says when statistics changed, and
//!   `metrics` has them for monitoring. `live_statistics` follow the journal, `in_flight`
//!   finds URLs in it, and `machine` reads the rest.
//! - `replay` serves captures of the archive, which the dashboard shows in a frame.
//! - `charts` draws SVG; `format` writes numbers, sizes, times and text from the web.
//! - `caps` has the bounds.
//!
//! Invariants: text from the web is always escaped by the templates, except our own SVG and style
//! sheet; only `replay` answers with markup from the web. A page refers only to itself, to our own
//! files and to captures. The same statistics make the same bytes.

pub mod caps;
mod charts;
#[expect(
    unreachable_pub,
    reason = "what the attribute of a filter makes of it is public"
)]
mod filters;
mod format;
mod paging;
mod report;
mod series;

// The dashboard.
mod access;
mod api;
mod controls;
mod dashboard;
mod in_flight;
mod live;
mod live_statistics;
mod machine;
mod metrics;
mod min_delays;
mod replay;
mod server;

pub use access::{MAX_TOKEN, MIN_TOKEN, Token, TokenError};
pub use dashboard::{
    CrawlQueries, Explanation, JudgedPair, ListChanges, ListedChanges, Question, ReadText,
    SimilarPage, WatchedCrawl, WriteHosts, WriteVisits,
};
pub use format::cut;
pub use metrics::{METRICS, Metric, MetricKind};
pub use min_delays::MinDelays;
pub use report::*;
pub use series::{
    ChangeList, ChangedWords, ComparedCrawl, CrawlChanges, ListedChange, SeriesReport,
};
pub use server::{DashboardServer, ServeError, ServeOptions};
