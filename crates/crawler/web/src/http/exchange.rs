//! One HTTP request and its response, as sent and received.
//!
//! The body is kept as received, still compressed, as an archive requires. Decoding works on a
//! separate, capped copy.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue};

use crate::http::body::Body;
use crate::http::media_type;
use crate::http::warning::Warning;
use crate::time::Timestamp;
use crate::url::canonical::push_encoded;
use crate::url::page_url::PageUrl;

/// A request and its response: one hop, never a redirect chain.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The requested URL.
    pub url: PageUrl,
    /// Request line and header fields as sent, including the empty line, but without the values of
    /// secret fields. The body of a POST follows.
    pub request_head: Vec<u8>,
    /// Status code, 200 to 999; no standard defines codes of 600 and above. Informational responses
    /// are skipped.
    pub status: u16,
    /// The header fields as received, values untouched.
    pub headers: HeaderMap,
    /// The payload as received: content coding kept, transfer coding removed.
    pub body: Body,
    /// Reason for an incomplete body; `None` if it is complete.
    pub truncated: Option<Truncation>,
    /// Warnings of the response, in the order of detection.
    pub warnings: Vec<Warning>,
    /// Address of the server.
    pub address: Option<SocketAddr>,
    /// Version of HTTP in use.
    pub protocol: Protocol,
    /// Time of sending the request.
    pub started: Timestamp,
    /// Time from the request's first byte to the response's last.
    pub elapsed: Duration,
}

impl Exchange {
    /// Returns the first value of a header field, if it is present and readable as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the media type: the last valid one in all `Content-Type` fields; without one,
    /// `None`, so that the first bytes decide.
    #[must_use]
    pub fn content_type(&self) -> Option<String> {
        media_type::content_type(&self.headers)
    }

    /// Returns true if a part of the body is missing, which another request may deliver.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        let mut warnings = self.warnings.iter();
        warnings.any(|warning| warning.is_incomplete_body())
    }

    /// Returns the target of a redirect, not yet resolved against [`Exchange::url`] (RFC 9110
    /// section 15.4).
    #[must_use]
    pub fn location(&self) -> Option<Cow<'_, str>> {
        match self.status {
            301 | 302 | 303 | 307 | 308 => self.headers.get(LOCATION).map(url_field),
            _ => None,
        }
    }

    /// Returns the page with the DOM that its scripts made in place of its body. The other header
    /// fields hold for the DOM, too.
    #[must_use]
    pub fn with_dom(&self, html: Body) -> Self {
        let mut page = Self {
            body: html,
            truncated: None,
            ..self.clone()
        };
        page.headers.remove(CONTENT_ENCODING);
        page.headers
            .insert(CONTENT_TYPE, HeaderValue::from_static(DOM));
        page
    }
}

/// The media type of a DOM.
const DOM: &str = "text/html;charset=utf-8";

/// Returns the value of a header field with URLs. Bytes beyond ASCII are not allowed there but
/// accepted: they are percent-encoded as received, in any encoding, so that the server gets its own
/// bytes back.
#[must_use]
pub fn url_field(value: &HeaderValue) -> Cow<'_, str> {
    let bytes = value.as_bytes();
    if let Ok(text) = std::str::from_utf8(bytes)
        && text.is_ascii()
    {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(3 * bytes.len());
    for byte in bytes {
        match byte.is_ascii() {
            true => text.push(char::from(*byte)),
            false => push_encoded(&mut text, *byte),
        }
    }
    Cow::Owned(text)
}

/// Reason for a body shorter than the server's response, in the words of WARC/1.1 (section 5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// The body exceeded the size limit.
    Length,
    /// The transfer exceeded the time limit.
    Time,
    /// The connection broke.
    Disconnect,
}

impl Truncation {
    /// Returns the value of `WARC-Truncated`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }
}

/// The version of HTTP in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
    /// HTTP/2
    Http2,
}

impl Protocol {
    /// Returns the value of `WARC-Protocol`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "http/1.0",
            Self::Http11 => "http/1.1",
            Self::Http2 => "h2",
        }
    }
}
