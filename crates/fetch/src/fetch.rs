//! The seam: one request, one answer.

use std::net::IpAddr;

use async_trait::async_trait;
use web::{Exchange, PageUrl, Validators};

use crate::failure::FetchFailure;

/// Whoever can ask the web for a page.
///
/// Promises of every implementation:
/// - with validators, a request is conditional: 304 Not Modified is an answer like any other;
/// - exactly one request is made for a call, or none where it is refused beforehand; a redirect is
///   an answer like any other and is not followed;
/// - the body is what the server sent, its content coding left on, cut at a limit that is known
///   beforehand;
/// - it ends: there is a deadline for the whole exchange;
/// - `Err` is the page's fate, a value to be counted and perhaps tried again, never a fault of
///   ours.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Asks for `url`, unless it is still what `known` names, and waits for the whole answer.
    async fn ask(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure>;

    /// Asks for `url`, whatever was known of it, and waits for the whole answer.
    async fn fetch(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        self.ask(url, &Validators::default()).await
    }

    /// The address that the next request for `url` goes to, where that is known beforehand: who
    /// shares it shares a pace.
    async fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }
}
