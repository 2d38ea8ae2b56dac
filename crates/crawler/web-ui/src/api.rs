//! The views of the dashboard as JSON, for programs, below `/api/`.
//!
//! Values come from the functions that the views use. A field has the name that `--format json` of
//! the command with the same answer gives it. `openapi.json` describes every route and every field;
//! a test compares it with the answers.
//!
//! Invariant: every answer below `/api/` is JSON, also a refusal (`{"error": …}`).
//!
//! Source: OpenAPI Specification 3.1.0.

mod changes;
mod json;
mod lists;
mod pages;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

pub(crate) use self::json::{Json, JsonRefusal};
use crate::dashboard::Dashboard;
use crate::dashboard::frame::Refusal;

const DESCRIPTION: &str = include_str!("api/openapi.json");

/// Returns the routes below [`API`](crate::access::API).
pub(crate) fn routes() -> Router<Arc<Dashboard>> {
    Router::new()
        .route("/status", get(lists::status))
        .route("/hosts", get(lists::hosts))
        .route("/problems", get(lists::problems))
        .route("/duplicates", get(lists::duplicates))
        .route("/cluster", get(lists::cluster))
        .route("/skipped", get(lists::skipped))
        .route("/search", get(pages::search))
        .route("/page", get(pages::page))
        .route("/similar", get(pages::similar))
        .route("/difference", get(pages::difference))
        .route("/changes", get(changes::changes))
        .route("/openapi.json", get(|| async { Json::text(DESCRIPTION) }))
        .fallback(|| async { JsonRefusal(Refusal::NoSuchPage) })
}
