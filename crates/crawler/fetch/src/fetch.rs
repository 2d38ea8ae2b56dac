//! The seam: one request, one response.

use std::net::IpAddr;

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue};
use web::{Exchange, PageUrl, Validators};

use crate::failure::FetchFailure;

/// A decision on the body of a response, by its status and its header fields.
pub type WantsBody<'a> = dyn Fn(u16, &HeaderMap) -> bool + Send + Sync + 'a;

/// A client that requests pages.
///
/// Every implementation guarantees:
/// - With validators, a request is conditional: 304 Not Modified is a response like any other.
/// - A call makes one request, or none if it is refused beforehand. A request that the server did
///   not process, because its connection ended, is repeated at once a few times. A redirect is an
///   answer like any other and is not followed.
/// - The body is what the server sent, with its content coding, cut at a known limit. If the rest
///   is missing, what came is returned, and [`Exchange::is_incomplete`].
/// - The call ends: head, silence and body have limits of time.
/// - `Err` is the page's fate, a value to count and perhaps retry, never our own fault.
#[async_trait]
pub trait Fetch: Send + Sync {
    /// Requests `url`, unless it is unchanged since `known`, and waits for the whole response.
    ///
    /// # Errors
    /// [`FetchFailure`] if no response comes.
    async fn request(&self, url: &PageUrl, known: &Validators) -> Result<Exchange, FetchFailure>;

    /// Requests like [`request`](Self::request), with these `fields` in place of the usual ones; a
    /// field of the user's wins over both. The body of a response whose head `wants_body` refuses
    /// is empty, and marked as cut. The function gets the status and the fields.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    async fn request_for(
        &self,
        url: &PageUrl,
        known: &Validators,
        _fields: &HeaderMap,
        _wants_body: &WantsBody<'_>,
    ) -> Result<Exchange, FetchFailure> {
        self.request(url, known).await
    }

    /// Requests `url` unconditionally and waits for the whole response.
    ///
    /// # Errors
    /// [`FetchFailure`] if no response comes.
    async fn fetch(&self, url: &PageUrl) -> Result<Exchange, FetchFailure> {
        self.request(url, &Validators::default()).await
    }

    /// Returns the cookies set by servers that a request for `url` would send now; an empty value
    /// for no cookie. `None` if the client keeps no cookies.
    fn session_cookies(&self, _url: &PageUrl) -> Option<HeaderValue> {
        None
    }

    /// Returns the address that the next request for `url` goes to, if it is known beforehand:
    /// hosts of one address may share a pace.
    async fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }
}
