//! The nodes of a shared crawl, for `crawler nodes`.

use serde::Serialize;
use shared_store::{NodeState, TermState};

/// A row of the list.
#[derive(Serialize)]
pub struct Node {
    /// Name of the node.
    pub node: String,
    /// `live`, `silent`, `left` or `expired`.
    pub state: &'static str,
    /// Number of its term.
    pub term: u64,
    /// Number of buckets that it owns.
    pub buckets: u64,
    /// Number of its pages.
    pub pages: u64,
    /// Pages per second over the term.
    pub pages_per_second: f64,
    /// Number of URLs that wait.
    pub waiting: u64,
    /// Seconds since the last heartbeat.
    pub heartbeat: f64,
}

impl Node {
    /// Returns the row of a node.
    pub fn of(state: &NodeState) -> Self {
        let lasted = state.lasted.as_secs_f64();
        let rate = match lasted > 0.0 {
            true => page_count(state.pages_of_term) / lasted,
            false => 0.0,
        };
        Self {
            node: state.name.clone(),
            state: match state.state {
                TermState::Live => "live",
                TermState::Silent => "silent",
                TermState::Left => "left",
                TermState::Expired => "expired",
            },
            term: state.term,
            buckets: state.buckets,
            pages: state.pages,
            pages_per_second: (rate * 10.0).round() / 10.0,
            waiting: state.waiting,
            heartbeat: (state.since_heartbeat.as_secs_f64() * 10.0).round() / 10.0,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a rate needs no more than 15 digits"
)]
fn page_count(pages: u64) -> f64 {
    pages as f64
}
