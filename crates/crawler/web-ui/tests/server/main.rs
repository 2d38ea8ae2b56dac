//! The dashboard as a client of its socket sees it.

#![expect(
    clippy::unwrap_used,
    reason = "what the helpers unwrap is part of the test"
)]

mod access;
mod api;
mod client;
mod clusters;
mod controls;
mod crawl;
#[path = "../report/hostile.rs"]
mod hostile;
mod in_flight;
mod live;
mod metrics;
mod views;
