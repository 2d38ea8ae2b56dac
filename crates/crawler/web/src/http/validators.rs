//! Validators of a response, for conditional requests.

use http::HeaderValue;

use crate::http::exchange::Exchange;

/// Validators of a kept response (RFC 9110 section 8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`, as received; sent as `If-None-Match` (section 13.1.2).
    pub etag: Option<HeaderValue>,
    /// `Last-Modified`, as received; sent as `If-Modified-Since` (section 13.1.3).
    pub last_modified: Option<HeaderValue>,
}

impl Validators {
    /// Returns the validators of a response.
    #[must_use]
    pub fn of(exchange: &Exchange) -> Self {
        let field = |name| exchange.headers.get(name).cloned();
        Self {
            etag: field(http::header::ETAG),
            last_modified: field(http::header::LAST_MODIFIED),
        }
    }

    /// Returns true if neither validator is present.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}
