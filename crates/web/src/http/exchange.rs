//! One question to the web and its answer, as they went over the wire.
//!
//! The body is kept as received, still compressed: that is what an archive must hold. Reading it is
//! somebody else's work, on a capped copy.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::time::Duration;

use http::header::LOCATION;
use http::{HeaderMap, HeaderValue};

use crate::http::body::Body;
use crate::time::Timestamp;
use crate::url::page_url::PageUrl;

/// A request that was answered: one hop, never a chain of them.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// What was asked for.
    pub url: PageUrl,
    /// Request line and header fields as sent, up to and with the empty line; but of fields that
    /// are secret, the name only.
    pub request_head: Vec<u8>,
    /// The status code, 200 to 999: 600 and above are in no standard (informational answers are
    /// passed over).
    pub status: u16,
    /// The header fields as received, values untouched.
    pub headers: HeaderMap,
    /// The payload as received: content coding left on, transfer coding taken off.
    pub body: Body,
    /// Why the body is not whole, where it is not.
    pub truncated: Option<Truncation>,
    /// Who answered.
    pub address: Option<SocketAddr>,
    /// The version of HTTP that was spoken.
    pub protocol: Protocol,
    /// When the request was sent.
    pub started: Timestamp,
    /// From the request's first byte to the answer's last.
    pub elapsed: Duration,
}

impl Exchange {
    /// The value of a header field where it is there once at least and readable as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Where a redirect points, not yet resolved against [`Exchange::url`] (RFC 9110 section 15.4).
    /// Bytes that are not ASCII do not belong there; what is no UTF-8 is taken for Latin-1, and
    /// made part of the URL all the same.
    #[must_use]
    pub fn location(&self) -> Option<Cow<'_, str>> {
        match self.status {
            301 | 302 | 303 | 307 | 308 => self.headers.get(LOCATION).map(as_browsers_read),
            _ => None,
        }
    }
}

fn as_browsers_read(value: &HeaderValue) -> Cow<'_, str> {
    std::str::from_utf8(value.as_bytes()).map_or_else(
        |_not_utf_8| value.as_bytes().iter().copied().map(char::from).collect(),
        Cow::Borrowed,
    )
}

/// Why a body is shorter than what the server wanted to send; the words are WARC/1.1's (section
/// 5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It was longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
    /// The connection broke.
    Disconnect,
}

impl Truncation {
    /// The value of `WARC-Truncated`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Length => "length",
            Self::Time => "time",
            Self::Disconnect => "disconnect",
        }
    }
}

/// The version of HTTP that was spoken.
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
    /// As `WARC-Protocol` names it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "http/1.0",
            Self::Http11 => "http/1.1",
            Self::Http2 => "h2",
        }
    }
}
