//! The HTTP exchange in a record, ours (see `message`) or another crawler's.
//!
//! Browsers' archives have HTTP/2 status lines, which HTTP/2 does not have; wget and Heritrix keep
//! chunks as they were sent; some keep `Transfer-Encoding` and decode the chunks all the same.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use web::{Body, CanonicalForm, Exchange, PageUrl, Protocol, Truncation};

use super::message::RENAMED;
use super::parsed::Record;
use super::spooled::{self, BlockRest};

/// Maximum number of header fields; a message with more is not parsed.
const MAX_FIELDS: usize = 4096;

/// The number of header fields that nearly every answer stays below.
const USUAL_FIELDS: usize = 128;

/// Longest head of an answer whose status line is not one of HTTP/1, in bytes.
const MAX_HEAD: usize = 256 << 10;

/// The HTTP response in a record.
#[derive(Clone, Debug)]
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// The header fields, under the names that were received.
    pub headers: HeaderMap,
    /// The bytes after the head, as far as they were kept.
    sent: &'a [u8],
    /// The bytes behind these, outside memory.
    rest: Option<&'a Arc<BlockRest>>,
    is_chunked: bool,
}

impl<'a> Answer<'a> {
    /// Returns the body without its transfer coding, but with its content codings. It may be
    /// outside memory.
    ///
    /// # Errors
    /// I/O errors of the system, if it is outside memory.
    pub fn payload(&self) -> io::Result<Body> {
        let Some(rest) = self.rest else {
            return Ok(Bytes::from(self.body().into_owned()).into());
        };
        let sent = spooled::joined(self.sent, Some(rest));
        let decoded = match self.is_chunked {
            true => spooled::without_chunks(&sent, rest)?,
            false => None,
        };
        Ok(decoded.unwrap_or(sent))
    }

    /// Returns the body without its transfer coding, but with its content codings; its beginning if
    /// a part is outside memory.
    #[must_use]
    pub fn body(&self) -> Cow<'a, [u8]> {
        match self.is_chunked.then(|| without_chunks(self.sent)).flatten() {
            Some(body) => Cow::Owned(body),
            None => Cow::Borrowed(self.sent),
        }
    }

    fn read(message: &'a [u8]) -> Option<Self> {
        let version = message.strip_prefix(b"HTTP/")?;
        if version.starts_with(b"1.") {
            let (answer, head) = Self::read_head(message)?;
            let sent = message.get(head..)?;
            return Some(Self { sent, ..answer });
        }
        let rest = message.iter().take(16).position(|byte| *byte == b' ')?;
        let head = &message[rest..message.len().min(rest + MAX_HEAD)];
        let head = [b"HTTP/1.1", head].concat();
        let (answer, length) = Self::read_head(&head)?;
        let sent = message.get(length + rest - b"HTTP/1.1".len()..)?;
        Some(Self {
            sent,
            // HTTP/2 has no chunks (RFC 9113, section 8.1).
            is_chunked: answer.is_chunked && !version.starts_with(b"2"),
            ..answer
        })
    }

    /// Parses the head; returns the answer without a body, and the length of the head.
    fn read_head(message: &[u8]) -> Option<(Answer<'static>, usize)> {
        let mut few = [httparse::EMPTY_HEADER; USUAL_FIELDS];
        let mut answer = httparse::Response::new(&mut few);
        match config().parse_response(&mut answer, message) {
            Ok(httparse::Status::Complete(length)) => Some((Answer::of(&answer)?, length)),
            Err(httparse::Error::TooManyHeaders) => {
                let mut many = vec![httparse::EMPTY_HEADER; MAX_FIELDS];
                let mut answer = httparse::Response::new(&mut many);
                match config().parse_response(&mut answer, message).ok()? {
                    httparse::Status::Complete(length) => Some((Answer::of(&answer)?, length)),
                    httparse::Status::Partial => None,
                }
            }
            _ => None,
        }
    }

    fn of(parsed: &httparse::Response<'_, '_>) -> Option<Answer<'static>> {
        let mut headers = HeaderMap::new();
        let mut is_chunked = false;
        for field in parsed.headers.iter() {
            // A renamed field means that the chunks were decoded.
            is_chunked |= field.name.eq_ignore_ascii_case("transfer-encoding")
                && field.value.to_ascii_lowercase().ends_with(b"chunked");
            let name = field.name.strip_prefix(RENAMED).unwrap_or(field.name);
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(field.value)) {
                headers.append(name, value);
            }
        }
        Some(Answer {
            status: parsed.code?,
            headers,
            sent: b"",
            rest: None,
            is_chunked,
        })
    }
}

fn config() -> httparse::ParserConfig {
    let mut config = httparse::ParserConfig::default();
    config
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    config
}

/// Decodes a chunked body (RFC 9112, section 7.1); `None` if it is not chunked. A body that breaks
/// off is returned up to there.
fn without_chunks(mut sent: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(sent.len());
    let mut chunks = 0;
    while let Ok(httparse::Status::Complete((start, size))) = httparse::parse_chunk_size(sent) {
        chunks += 1;
        let rest = &sent[start..];
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(rest.len());
        body.extend_from_slice(&rest[..size]);
        if size == 0 {
            break;
        }
        sent = rest[size..].strip_prefix(b"\r\n").unwrap_or_default();
    }
    (chunks > 0).then_some(body)
}

impl Record {
    /// Returns the HTTP response in a `response` or `revisit` record of any crawler; `None` if
    /// there is none or it cannot be parsed. Its body is empty if the block was not kept whole, and
    /// in a `revisit`, which has none.
    #[must_use]
    pub fn http(&self) -> Option<Answer<'_>> {
        let answer = Answer::read(&self.block)?;
        let rest = self.rest.as_ref();
        match self.kept_length() == self.block_length {
            true => Some(Answer { rest, ..answer }),
            false => Some(Answer {
                sent: b"",
                ..answer
            }),
        }
    }

    /// Returns the exchange of a `response` or `revisit` record; `None` if it cannot be parsed. The
    /// body is empty if the block was not kept whole, and in a `revisit`, which has none. The
    /// request, which is in another record, the address and the elapsed time are missing. A spooled
    /// body that cannot be read is a record that cannot be parsed.
    #[must_use]
    pub fn answer(&self, form: &CanonicalForm) -> Option<Exchange> {
        let answer = self.http()?;
        let truncated = match self.truncated() {
            Some("length") if self.kind() == "response" => Some(Truncation::Length),
            Some("time") => Some(Truncation::Time),
            Some("disconnect") => Some(Truncation::Disconnect),
            _ => None,
        };
        Some(Exchange {
            url: self.page_url(form)?,
            request_head: Vec::new(),
            status: answer.status,
            body: answer.payload().ok()?,
            headers: answer.headers,
            truncated,
            warnings: Vec::new(),
            address: None,
            protocol: match self.field("WARC-Protocol") {
                Some("http/1.0") => Protocol::Http10,
                Some("h2") => Protocol::Http2,
                _ => Protocol::Http11,
            },
            started: self.date().parse().ok()?,
            elapsed: Duration::ZERO,
        })
    }

    /// Returns `WARC-Target-URI` if a crawl can visit it.
    #[must_use]
    pub fn page_url(&self, form: &CanonicalForm) -> Option<PageUrl> {
        PageUrl::parse(self.target()?, form).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_any_status_line_and_any_line_breaks() {
        for (message, status, body) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", 200, "body"),
            ("HTTP/1.0 404\r\nA: b\r\n\r\n", 404, ""),
            ("HTTP/1.1 200 OK\nA: b\n\nbody", 200, "body"),
            ("HTTP/2 200\r\nA: b\r\n\r\nbody", 200, "body"),
            ("HTTP/2.0 200 \r\nA: b\r\n\r\nbody", 200, "body"),
            ("HTTP/3 200\r\nA: b\r\n\r\nbody", 200, "body"),
            (
                "HTTP/1.1 200 OK\r\nA: b\r\nno field\r\n\r\nbody",
                200,
                "body",
            ),
            (
                "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n\
                 4\r\nbody\r\n0\r\n\r\n",
                200,
                "body",
            ),
            (
                "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\nbody",
                200,
                "body",
            ),
            (
                "HTTP/1.1 200 OK\r\nA: b\r\nx-crawler-transfer-encoding: chunked\r\n\r\n4\r\nbody",
                200,
                "4\r\nbody",
            ),
        ] {
            let answer = Answer::read(message.as_bytes()).unwrap();
            assert_eq!(answer.status, status, "{message}");
            assert_eq!(answer.headers["a"], "b");
            assert_eq!(answer.body(), body.as_bytes(), "{message}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\nbody", "A: b\r\n".repeat(4000));
        assert_eq!(Answer::read(many.as_bytes()).unwrap().headers.len(), 4000);
        for message in [
            "",
            "HTTP/",
            "HTTP/1.1 200 OK\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "HTTP/2",
        ] {
            assert!(Answer::read(message.as_bytes()).is_none(), "{message}");
        }
    }

    #[test]
    fn chunks_are_joined_and_an_unchunked_body_is_unchanged() {
        for (sent, body) in [
            (
                &b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"[..],
                Some(&b"hello!"[..]),
            ),
            (b"5;note=1\r\nhello\r\n0\r\n\r\n", Some(b"hello")),
            (b"5\r\nhel", Some(b"hel")),
            (b"ffffffffffffffff\r\nhello", Some(b"hello")),
            (b"0\r\n\r\n", Some(b"")),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(without_chunks(sent).as_deref(), body);
        }
    }
}
