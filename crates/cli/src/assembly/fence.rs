//! The fetch of a node: no request begins late in its term, and none outlasts it.

use std::future::pending;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use fetch::{Exchange, Fetch, FetchFailure, Validators, WantsBody};
use shared_store::Term;
use web::PageUrl;

/// A fetch that keeps to a term.
pub(super) struct FencedFetch {
    pub(super) inner: Arc<dyn Fetch>,
    pub(super) term: Arc<Term>,
}

#[async_trait]
impl Fetch for FencedFetch {
    async fn ask(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure> {
        self.ask_for(url, known, &|_, _| true).await
    }

    async fn ask_for(
        &self,
        url: &PageUrl,
        known: &Validators,
        wants_body: &WantsBody<'_>,
    ) -> Result<Exchange, FetchFailure> {
        self.term.may_ask().await;
        tokio::select! {
            answer = self.inner.ask_for(url, known, wants_body) => answer,
            // The crawl ends with the next call of the store, and so does this visit.
            _ended = self.term.ended() => pending().await,
        }
    }

    async fn address(&self, url: &PageUrl) -> Option<IpAddr> {
        self.inner.address(url).await
    }
}
