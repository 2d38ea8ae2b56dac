//! What is said to a server, and the same as an archive keeps it.
//!
//! The order of the fields is the order in which they are sent. Fields that are for one origin only
//! (credentials, cookies, what the user adds) come from [`Secrets`], and of these an archive keeps
//! the names; what is for a proxy is added by reqwest, which alone knows it, and is never archived.

use std::sync::Arc;

use http::header::{ACCEPT, ACCEPT_ENCODING, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method};
use reqwest::Request;
use web::{PageUrl, Protocol, Timestamp, Validators};

use crate::credentials::{REDACTED, Secrets};
use crate::failure::FetchFailure;

/// What we say of ourselves.
#[derive(Debug)]
pub(crate) struct RequestHeaders {
    always: HeaderMap,
    /// What is said besides, to some.
    secrets: Arc<Secrets>,
}

impl RequestHeaders {
    /// Under this name, and with these secrets.
    pub(crate) fn new(user_agent: HeaderValue, secrets: Arc<Secrets>) -> Self {
        let mut always = HeaderMap::with_capacity(3);
        always.insert(USER_AGENT, user_agent);
        let pages = HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8");
        always.insert(ACCEPT, pages);
        let codings = HeaderValue::from_static("gzip, deflate, br, zstd");
        always.insert(ACCEPT_ENCODING, codings);
        Self { always, secrets }
    }

    /// Every field of a request for `url` now, of which this is known; `Host` is not among them.
    pub(crate) fn for_url(&self, url: &PageUrl, known: &Validators, now: Timestamp) -> HeaderMap {
        let mut headers = self.always.clone();
        headers.extend(self.secrets.headers_for(url, now));
        if let Some(etag) = &known.etag {
            headers.insert(IF_NONE_MATCH, etag.clone());
        }
        if let Some(date) = &known.last_modified {
            headers.insert(IF_MODIFIED_SINCE, date.clone());
        }
        headers
    }
}

/// The request for `url` that says this, or that it cannot be made.
pub(crate) fn request(url: &PageUrl, headers: &HeaderMap) -> Result<Request, FetchFailure> {
    let mut request = Request::new(Method::GET, url.as_url().clone());
    let fields = request.headers_mut();
    if url.as_url().scheme() == "http" {
        fields.insert(HOST, host_field(url)?);
    }
    fields.extend(headers.clone());
    Ok(request)
}

fn host_field(url: &PageUrl) -> Result<HeaderValue, FetchFailure> {
    HeaderValue::from_str(url.authority()).map_err(|_not_a_field| FetchFailure::Unaskable)
}

/// The request as it was written to an HTTP/1.1 connection, byte for byte; what HTTP/2 sends in
/// frames is written the same way, as archives do, and what is sent to a proxy as the proxy passes
/// it on.
///
/// `Host` comes first over http, where we set it. Over https it is not known beforehand whether
/// HTTP/2 will be spoken, which has no such field, so the engine appends it where it is needed.
///
/// What is secret is not written, only that it was headers.
pub(crate) fn head(
    url: &PageUrl,
    headers: &HeaderMap,
    protocol: Protocol,
) -> Result<Vec<u8>, FetchFailure> {
    let host = host_field(url)?;
    let host_last = url.as_url().scheme() == "https" && protocol != Protocol::Http2;
    let mut head = Vec::with_capacity(256 + url.as_str().len());
    head.extend_from_slice(b"GET ");
    head.extend_from_slice(url.as_url().path().as_bytes());
    if let Some(query) = url.as_url().query() {
        head.push(b'?');
        head.extend_from_slice(query.as_bytes());
    }
    head.extend_from_slice(b" HTTP/1.1\r\n");
    if !host_last {
        write_field(&mut head, "host", &host);
    }
    for (name, value) in headers {
        write_field(&mut head, name.as_str(), value);
    }
    if host_last {
        write_field(&mut head, "host", &host);
    }
    head.extend_from_slice(b"\r\n");
    Ok(head)
}

fn write_field(head: &mut Vec<u8>, name: &str, value: &HeaderValue) {
    let shown = if value.is_sensitive() {
        REDACTED.as_bytes()
    } else {
        value.as_bytes()
    };
    for part in [name.as_bytes(), b": ", shown, b"\r\n"] {
        head.extend_from_slice(part);
    }
}
