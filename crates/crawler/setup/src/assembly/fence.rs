//! The fetch of a node: no request begins late in its term, and none outlasts it.

use std::future::pending;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use fetch::{Fetch, FetchFailure, RequestContent, WantsBody};
use http::HeaderValue;
use shared_store::Term;
use web::{Exchange, PageUrl, Validators};

/// A fetch that keeps to a term.
pub(super) struct FencedFetch {
    pub(super) inner: Arc<dyn Fetch>,
    pub(super) term: Arc<Term>,
}

impl FencedFetch {
    /// Carries out a request within the term.
    async fn within_term<T>(&self, request: impl Future<Output = T>) -> T {
        self.term.may_request().await;
        tokio::select! {
            response = request => response,
            // The crawl ends with the next call of the store, and so does this visit.
            _ended = self.term.ended() => pending().await,
        }
    }
}

#[async_trait]
impl Fetch for FencedFetch {
    async fn request(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure> {
        self.within_term(self.inner.request(url, known)).await
    }

    async fn request_for(
        &self,
        url: &PageUrl,
        known: &Validators,
        content: &RequestContent,
        wants_body: &WantsBody<'_>,
    ) -> Result<Exchange, FetchFailure> {
        let request = self.inner.request_for(url, known, content, wants_body);
        self.within_term(request).await
    }

    fn session_cookies(&self, url: &PageUrl) -> Option<HeaderValue> {
        self.inner.session_cookies(url)
    }

    fn can_log_in(&self, refusal: &Exchange) -> bool {
        self.inner.can_log_in(refusal)
    }

    fn over_https(&self, url: &PageUrl) -> Option<PageUrl> {
        self.inner.over_https(url)
    }

    async fn address(&self, url: &PageUrl) -> Option<IpAddr> {
        self.inner.address(url).await
    }
}
