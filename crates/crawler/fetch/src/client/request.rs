//! The request: its header fields, and its bytes as an archive keeps them.
//!
//! The fields are sent in this order. Fields for single origins (credentials, cookies, the user's
//! own) come from [`Secrets`], and an archive keeps only their names. Fields for a proxy are never
//! archived.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, HOST, IF_MODIFIED_SINCE, IF_NONE_MATCH,
    PROXY_AUTHORIZATION, USER_AGENT,
};
use http::{HeaderMap, HeaderValue, Request, Uri};
use http_body_util::Full;
use web::{PageUrl, Protocol, Timestamp, Validators};

use crate::credentials::{REDACTED, Secrets};
use crate::failure::FetchFailure;
use crate::fetch::{RequestContent, RequestMethod};

/// The header fields of every request.
#[derive(Debug)]
pub(crate) struct RequestHeaders {
    always: HeaderMap,
    /// The fields for single origins.
    secrets: Arc<Secrets>,
}

impl RequestHeaders {
    /// Returns the fields of this user agent, with these secrets.
    pub(crate) fn new(user_agent: HeaderValue, secrets: Arc<Secrets>) -> Self {
        let mut always = HeaderMap::with_capacity(3);
        always.insert(USER_AGENT, user_agent);
        let pages = HeaderValue::from_static("text/html,application/xhtml+xml,*/*;q=0.8");
        always.insert(ACCEPT, pages);
        let codings = HeaderValue::from_static("gzip, deflate, br, zstd");
        always.insert(ACCEPT_ENCODING, codings);
        Self { always, secrets }
    }

    /// Returns every field of a request for `url` now, except `Host` and a login. `known` are the
    /// validators of an earlier response. The fields of `content` replace the usual ones, and the
    /// user's fields replace both.
    pub(crate) fn for_url(
        &self,
        url: &PageUrl,
        known: &Validators,
        content: &RequestContent,
        now: Timestamp,
    ) -> HeaderMap {
        let mut headers = self.always.clone();
        headers.extend(content.fields.clone());
        headers.extend(self.secrets.headers_for(url, now));
        if let Some(etag) = &known.etag {
            headers.insert(IF_NONE_MATCH, etag.clone());
        }
        if let Some(date) = &known.last_modified {
            headers.insert(IF_MODIFIED_SINCE, date.clone());
        }
        if let RequestMethod::Post(body) = &content.method {
            headers.insert(CONTENT_LENGTH, body.len().into());
        }
        headers
    }
}

/// A request: its URL, its fields except `Host`, and its method with the body.
#[derive(Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    pub(crate) url: &'a PageUrl,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) method: &'a RequestMethod,
}

impl Outgoing<'_> {
    /// Returns the body; empty for a request without one.
    fn body(self) -> Bytes {
        match self.method {
            RequestMethod::Get | RequestMethod::Head => Bytes::new(),
            RequestMethod::Post(body) => body.clone(),
        }
    }
}

/// Builds a request. A proxy that reads it gets `proxy_login`.
pub(crate) fn request(
    outgoing: Outgoing<'_>,
    proxy_login: Option<HeaderValue>,
) -> Result<Request<Full<Bytes>>, FetchFailure> {
    let Outgoing { url, headers, .. } = outgoing;
    let uri =
        Uri::try_from(url.request().as_str()).map_err(|_not_a_uri| FetchFailure::Unaskable)?;
    let mut request = Request::new(Full::new(outgoing.body()));
    *request.uri_mut() = uri;
    *request.method_mut() = outgoing.method.name();
    let fields = request.headers_mut();
    if url.as_url().scheme() == "http" {
        fields.insert(HOST, host_field(url)?);
    }
    fields.extend(headers.clone());
    if let Some(login) = proxy_login {
        fields.insert(PROXY_AUTHORIZATION, login);
    }
    Ok(request)
}

fn host_field(url: &PageUrl) -> Result<HeaderValue, FetchFailure> {
    HeaderValue::from_str(url.authority()).map_err(|_not_a_field| FetchFailure::Unaskable)
}

/// Returns the request as it was written to an HTTP/1.1 connection, byte for byte. The frames of
/// HTTP/2 are written the same way, as archives do, and a request to a proxy as the proxy passes it
/// on.
///
/// `Host` comes first over http, where we set it. Over https the protocol is not known beforehand,
/// and HTTP/2 does not use this field, so the engine appends it if it is needed.
///
/// The value of a secret is replaced by [`REDACTED`]; a body is written as it was sent.
pub(crate) fn written(outgoing: Outgoing<'_>, protocol: Protocol) -> Result<Vec<u8>, FetchFailure> {
    let Outgoing { url, headers, .. } = outgoing;
    let host = host_field(url)?;
    let host_last = url.as_url().scheme() == "https" && protocol != Protocol::Http2;
    let target = url.request_target();
    let mut head = Vec::with_capacity(256 + target.len());
    for part in [
        outgoing.method.name().as_str(),
        " ",
        target,
        " HTTP/1.1\r\n",
    ] {
        head.extend_from_slice(part.as_bytes());
    }
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
    head.extend_from_slice(&outgoing.body());
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
