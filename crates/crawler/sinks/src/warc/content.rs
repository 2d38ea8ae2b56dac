//! Content in a record without a response: a `resource`, and the DOM of a rendered page.

use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use web::{CanonicalForm, Exchange, Protocol};

use super::date::date;
use super::parsed::Record;

/// The media type of a DOM.
const HTML: &str = "text/html";

impl Record {
    /// Returns the block of a record as the body of a response with its media type; `None` without
    /// a URL that a crawl can visit or without a date. The body is the beginning of the block if
    /// its rest was not read.
    #[must_use]
    pub fn as_response(&self, form: &CanonicalForm) -> Option<Exchange> {
        let beginning = || Bytes::copy_from_slice(&self.block).into();
        let mut headers = HeaderMap::new();
        let media = self.field("Content-Type").map(HeaderValue::from_str);
        if let Some(Ok(media)) = media {
            headers.insert(CONTENT_TYPE, media);
        }
        Some(Exchange {
            url: self.page_url(form)?,
            request_head: Vec::new(),
            status: 200,
            headers,
            body: self.whole_block().unwrap_or_else(beginning),
            truncated: None,
            warnings: Vec::new(),
            address: None,
            protocol: Protocol::Http11,
            started: date(self.date())?,
            elapsed: Duration::ZERO,
        })
    }

    /// Returns true for the DOM of a rendered page: HTML that was made from a page. A text of a
    /// page is plain.
    #[must_use]
    pub fn is_dom(&self) -> bool {
        let media = self.field("Content-Type").map(web::essence);
        self.kind() == "conversion" && media.as_deref() == Some(HTML)
    }

    /// Returns the DOM of a rendered page as a response; `None` for any other record.
    #[must_use]
    pub fn dom(&self, form: &CanonicalForm) -> Option<Exchange> {
        self.is_dom().then(|| self.as_response(form)).flatten()
    }
}
