//! Requests and answers as values, without a connection.
//!
//! [`Reply`] describes an answer down to the ways in which it goes wrong; `play` makes steps of it,
//! and the servers take these. Header values are raw bytes, since the web's are.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::gate::Gate;

/// Everything that a server has to say: a function from requests to replies.
///
/// It is called on the server's thread, once a request, so it should be quick; to wait, hold the
/// reply at a [`Gate`].
#[derive(Clone)]
pub struct Site(Arc<dyn Fn(&Request) -> Reply + Send + Sync>);

impl Site {
    /// The site that answers what `answer` returns.
    pub fn new(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }

    /// A fixed set of pages: `"host.test/path?query"`, or `"/path"` for every host name. All else
    /// is a 404.
    pub fn pages<K: Into<String>>(pages: impl IntoIterator<Item = (K, Reply)>) -> Self {
        let pages: HashMap<String, Reply> = pages
            .into_iter()
            .map(|(key, reply)| (key.into(), reply))
            .collect();
        Self::new(move |request| {
            let with_host = format!("{}{}", request.host, request.target);
            let found = pages.get(&with_host).or_else(|| pages.get(&request.target));
            found.cloned().unwrap_or_else(|| Reply::status(404))
        })
    }

    /// Returns the answer to `request`.
    #[must_use]
    pub fn answer(&self, request: &Request) -> Reply {
        (self.0)(request)
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Site")
    }
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    /// `GET`
    pub method: String,
    /// Path and query as sent: `/a?b=c`.
    pub target: String,
    /// The host name asked for, in lower case and without port.
    pub host: String,
    /// The port in the `Host` field, where one was given.
    pub port: Option<u16>,
    /// Request line and header fields, up to and with the empty line. Over HTTP/2, which has no
    /// such text, an equivalent of it.
    pub head: Bytes,
    /// The bytes after the head (`Content-Length` only).
    pub body: Bytes,
    /// The number of the request on its connection, from 1; 0 over HTTP/2, and without a server.
    pub number: u64,
}

impl Request {
    /// A request for `url` (`http://host:port/path`), to ask a [`Site`] without a server.
    #[must_use]
    pub fn get(url: &str) -> Self {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (authority, target) = rest
            .find('/')
            .map_or((rest, "/"), |slash| rest.split_at(slash));
        let head = format!("GET {target} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        Self::new("GET", target, authority, head.into(), Bytes::new())
    }

    pub(crate) fn new(
        method: &str,
        target: &str,
        authority: &str,
        head: Bytes,
        body: Bytes,
    ) -> Self {
        // The colons of an IPv6 literal stand in brackets.
        let (name, port) = match authority.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().ok()),
            _ => (authority, None),
        };
        Self {
            method: method.into(),
            target: target.into(),
            host: name.to_ascii_lowercase(),
            port,
            head,
            body,
            number: 0,
        }
    }

    /// The target without its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target
            .split_once('?')
            .map_or(&self.target, |(path, _)| path)
    }

    /// Returns the part of the target after the first `?`; empty if there is none.
    #[must_use]
    pub fn query(&self) -> &str {
        self.target.split_once('?').map_or("", |(_, query)| query)
    }

    /// The first header field of this name (any case), trimmed, where it is UTF-8.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head
            .split(|&byte| byte == b'\n')
            .skip(1)
            .find_map(|line| {
                let (field, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
                field.eq_ignore_ascii_case(name).then(|| value.trim())
            })
    }

    /// The `User-Agent` field; empty where there is none.
    #[must_use]
    pub fn user_agent(&self) -> &str {
        self.header("user-agent").unwrap_or("")
    }
}

/// An answer, and how it is to be sent.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(Bytes, Bytes)>,
    pub(crate) body: Bytes,
    pub(crate) framing: Framing,
    pub(crate) delivery: Option<Box<Delivery>>,
}

/// The way in which a client learns where the body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `Content-Length`
    Length,
    /// `Transfer-Encoding: chunked`, in chunks of this many bytes.
    Chunked(usize),
    /// The connection is closed after it.
    UntilClose,
    /// The body is the whole answer, status line and all.
    Raw,
}

/// Everything unusual about how an answer is sent. Positions count bytes of the body as framed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    pub(crate) delay: Option<Duration>,
    pub(crate) gate: Option<Gate>,
    pub(crate) gate_within: Option<(usize, Gate)>,
    pub(crate) drip: Option<(usize, Duration)>,
    pub(crate) end: Option<(usize, End)>,
}

/// The way in which a connection ends before its answer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With a reset.
    Reset,
    /// As if all had been said.
    Close,
}

impl Reply {
    /// 200, `text/html; charset=utf-8`.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::document("text/html; charset=utf-8", body)
    }

    /// 200, `text/plain; charset=utf-8`.
    pub fn text(body: impl Into<Bytes>) -> Self {
        Self::document("text/plain; charset=utf-8", body)
    }

    /// 200 and a body of this type.
    pub fn document(content_type: impl AsRef<[u8]>, body: impl Into<Bytes>) -> Self {
        let reply = Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
            framing: Framing::Length,
            delivery: None,
        };
        reply.header("Content-Type", content_type)
    }

    /// This status, with its name as a short text.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let body = format!("{status} {}\n", reason(status));
        Self::text(body).with_status(status)
    }

    /// A redirect: 301, 302, 303, 307 or 308, to a relative or absolute URL.
    pub fn redirect(status: u16, to: impl AsRef<[u8]>) -> Self {
        Self::status(status).header("Location", to)
    }

    /// Exactly these bytes as the whole answer, status line and all; the connection is closed after
    /// them. Over TLS it cannot be said and is a 500.
    pub fn raw(answer: impl Into<Bytes>) -> Self {
        Self {
            framing: Framing::Raw,
            ..Self::document("", answer)
        }
    }

    /// No answer: the connection is closed.
    #[must_use]
    pub fn hang_up() -> Self {
        Self::raw("")
    }

    /// The same with another status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// One more header field, bytes as they are. A `Content-Length` given here replaces the right
    /// one.
    #[must_use]
    pub fn header(mut self, name: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Self {
        let field = (
            Bytes::copy_from_slice(name.as_ref()),
            Bytes::copy_from_slice(value.as_ref()),
        );
        self.headers.push(field);
        self
    }

    /// Without the header fields of this name, so that `Content-Type` can be left out or replaced.
    #[must_use]
    pub fn without_header(mut self, name: &str) -> Self {
        self.headers
            .retain(|(field, _)| !field.eq_ignore_ascii_case(name.as_bytes()));
        self
    }

    /// Sends the body in chunks of `size` bytes (RFC 9112 section 7.1).
    #[must_use]
    pub fn chunked(mut self, size: usize) -> Self {
        self.framing = Framing::Chunked(size.max(1));
        self
    }

    /// Sends no length: the body ends where the connection does (RFC 9112 section 6.3, item 8).
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::UntilClose;
        self
    }

    /// Waits this long before the first byte.
    #[must_use]
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delivery_mut().delay = Some(delay);
        self
    }

    /// Answers nothing until `gate` is open.
    #[must_use]
    pub fn hold(mut self, gate: &Gate) -> Self {
        self.delivery_mut().gate = Some(gate.clone());
        self
    }

    /// Sends the head and `bytes` of the body, the rest when `gate` is open.
    #[must_use]
    pub fn hold_after(mut self, bytes: usize, gate: &Gate) -> Self {
        self.delivery_mut().gate_within = Some((bytes, gate.clone()));
        self
    }

    /// Sends `bytes` of the body at a time, with a pause after each but the last.
    #[must_use]
    pub fn drip(mut self, bytes: usize, pause: Duration) -> Self {
        self.delivery_mut().drip = Some((bytes.max(1), pause));
        self
    }

    /// Sends the head and `bytes` of the body, then resets the connection. Over HTTP/2 the stream
    /// is reset, and may take with it what had not left yet.
    #[must_use]
    pub fn break_after(mut self, bytes: usize) -> Self {
        self.delivery_mut().end = Some((bytes, End::Reset));
        self
    }

    /// Sends the head and `bytes` of the body, then closes the connection as if that were all.
    #[must_use]
    pub fn close_after(mut self, bytes: usize) -> Self {
        self.delivery_mut().end = Some((bytes, End::Close));
        self
    }

    /// The status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.status
    }

    /// The whole body, without transfer coding.
    #[must_use]
    pub fn body(&self) -> &Bytes {
        &self.body
    }

    /// The first header field of this name (any case), where it is UTF-8.
    #[must_use]
    pub fn header_value(&self, name: &str) -> Option<&str> {
        let (_, value) = self
            .headers
            .iter()
            .find(|(field, _)| field.eq_ignore_ascii_case(name.as_bytes()))?;
        std::str::from_utf8(value).ok()
    }

    fn delivery_mut(&mut self) -> &mut Delivery {
        self.delivery.get_or_insert_default()
    }
}

/// The names of the statuses that tests use (RFC 9110 section 15, RFC 6585).
pub(crate) fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        410 => "Gone",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unnamed",
    }
}
