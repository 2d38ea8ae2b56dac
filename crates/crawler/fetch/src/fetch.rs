//! The seam: one request, one response.

use std::net::IpAddr;

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use web::{Exchange, PageUrl, Validators};

use crate::failure::FetchFailure;

/// A decision on the body of a response, by its status and its header fields.
pub type WantsBody<'a> = dyn Fn(u16, &HeaderMap) -> bool + Send + Sync + 'a;

/// The method of a request, with its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestMethod {
    /// GET.
    #[default]
    Get,
    /// HEAD: the response has no body, even if its fields announce one (RFC 9110 section 9.3.2).
    Head,
    /// POST with this body.
    Post(Bytes),
}

impl RequestMethod {
    /// Returns the method's name.
    pub(crate) const fn name(&self) -> Method {
        match self {
            Self::Get => Method::GET,
            Self::Head => Method::HEAD,
            Self::Post(_) => Method::POST,
        }
    }
}

/// The method and the fields of a request that differ from the usual ones.
#[derive(Clone, Debug, Default)]
pub struct RequestContent {
    /// Fields in place of the usual ones.
    pub fields: HeaderMap,
    /// The method.
    pub method: RequestMethod,
}

impl From<HeaderMap> for RequestContent {
    /// Returns the content of a GET with these fields.
    fn from(fields: HeaderMap) -> Self {
        Self {
            fields,
            method: RequestMethod::Get,
        }
    }
}

/// A client that requests pages.
///
/// Every implementation guarantees:
/// - With validators, a request is conditional: 304 Not Modified is a response like any other.
/// - A call makes one request, or none if it is refused beforehand. A request that the server did
///   not process, because its connection ended, is repeated at once a few times; a POST only if
///   the server says so. A redirect is an answer like any other and is not followed.
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

    /// Requests like [`request`](Self::request), with this `content`; a field of the user's wins
    /// over its fields. A client that sends only GET fails for other methods. The body of a
    /// response whose head `wants_body` refuses is empty, and marked as cut. The function gets the
    /// status and the fields.
    ///
    /// # Errors
    /// As [`request`](Self::request).
    async fn request_for(
        &self,
        url: &PageUrl,
        known: &Validators,
        content: &RequestContent,
        _wants_body: &WantsBody<'_>,
    ) -> Result<Exchange, FetchFailure> {
        match content.method {
            RequestMethod::Get => self.request(url, known).await,
            RequestMethod::Head | RequestMethod::Post(_) => Err(FetchFailure::Unaskable),
        }
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

    /// Returns true if `refusal`, a response to a request of this client, asks for a login that the
    /// next request for its URL carries. That request is worth sending, once.
    fn can_log_in(&self, _refusal: &Exchange) -> bool {
        false
    }

    /// Returns the https URL to request in place of an http URL, because its host has asked for
    /// that (HSTS, RFC 6797).
    fn over_https(&self, _url: &PageUrl) -> Option<PageUrl> {
        None
    }

    /// Returns the address that the next request for `url` goes to, if it is known beforehand:
    /// hosts of one address may share a pace.
    async fn address(&self, _url: &PageUrl) -> Option<IpAddr> {
        None
    }
}
