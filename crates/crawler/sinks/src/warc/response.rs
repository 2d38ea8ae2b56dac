//! The HTTP exchange in a record, ours (see `message`) or another crawler's.
//!
//! Browsers' archives contain HTTP/2 status lines, which do not exist in HTTP/2; wget and Heritrix
//! keep chunks as they were sent; some archivers decode the chunks but keep `Transfer-Encoding`.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderName, HeaderValue};
use web::{Body, CanonicalForm, Exchange, PageUrl, Protocol, Truncation};

use super::chunks::{Chunking, unchunk};
use super::date::date;
use super::message::RENAMED;
use super::parsed::Record;
use super::spooled::{self, BlockRest};

/// The HTTP response in a record.
#[derive(Clone, Debug)]
pub struct Response<'a> {
    /// The status code.
    pub status: u16,
    /// The header fields, under the names that were received. A transfer coding other than
    /// `chunked` is the last content coding.
    pub headers: HeaderMap,
    /// The kept bytes after the head.
    sent: &'a [u8],
    /// The bytes behind these, outside memory.
    rest: Option<&'a Arc<BlockRest>>,
    is_chunked: bool,
    /// True if the record or its reader cut the message.
    is_cut: bool,
}

impl<'a> Response<'a> {
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
            true => spooled::without_chunks(&sent, rest, self.is_cut)?,
            false => None,
        };
        Ok(decoded.unwrap_or(sent))
    }

    /// Returns the body without its transfer coding, but with its content codings; its beginning if
    /// a part is outside memory.
    #[must_use]
    pub fn body(&self) -> Cow<'a, [u8]> {
        let mut body = Vec::new();
        match self.unchunk(&mut |chunk| body.extend_from_slice(chunk)) {
            Chunking::Absent => Cow::Borrowed(self.sent),
            Chunking::Whole | Chunking::BreaksOff => Cow::Owned(body),
        }
    }

    /// Returns true if the body is complete: neither its archiver nor the reader cut it, and its
    /// chunks do not break off.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.is_cut && self.unchunk(&mut |_| ()) != Chunking::BreaksOff
    }

    fn unchunk(&self, put: &mut dyn FnMut(&[u8])) -> Chunking {
        if !self.is_chunked {
            return Chunking::Absent;
        }
        let is_cut = self.is_cut || self.rest.is_some();
        let unchunked = unchunk(&mut &*self.sent, is_cut, &mut |chunk| {
            put(chunk);
            Ok(())
        });
        // Bytes in memory can always be read.
        unchunked.unwrap_or(Chunking::Absent)
    }

    /// Parses the final response of a message. Interim responses (RFC 9110, section 15.2) and
    /// empty lines before it are skipped.
    fn read(mut message: &'a [u8]) -> Option<Self> {
        loop {
            let head = Head::read(message)?;
            message = head.behind;
            if !(100..200).contains(&head.status) || Head::read(message).is_none() {
                return Some(head.response());
            }
        }
    }
}

/// The head of an HTTP response, read as leniently as by warcio: any protocol, a status line
/// without a version, lines that end in LF alone, lines that are not fields.
struct Head<'m> {
    /// True for HTTP/2, which does not use chunks (RFC 9113, section 8.1).
    is_http2: bool,
    status: u16,
    fields: &'m [u8],
    /// The bytes after the head.
    behind: &'m [u8],
}

impl<'m> Head<'m> {
    /// Splits the head off; `None` without a status line, or without an empty line after it.
    fn read(message: &'m [u8]) -> Option<Self> {
        let breaks = message.iter().take_while(|byte| is_break(byte)).count();
        let (line, fields) = split_line(&message[breaks..])?;
        let status = status_of(line)?;
        let mut behind = fields;
        loop {
            let (line, rest) = split_line(behind)?;
            behind = rest;
            if line.is_empty() {
                break;
            }
        }
        Some(Self {
            is_http2: line.starts_with(b"HTTP/2"),
            status,
            fields: &fields[..fields.len() - behind.len()],
            behind,
        })
    }

    fn response(&self) -> Response<'m> {
        let mut headers = HeaderMap::new();
        let (mut is_chunked, mut codings) = (false, Vec::new());
        for (field, value) in self.fields() {
            if field.eq_ignore_ascii_case(b"transfer-encoding") && !self.is_http2 {
                let names = String::from_utf8_lossy(&value).to_ascii_lowercase();
                let names = names.split(',').map(str::trim);
                let named: Vec<_> = names.filter(|name| !name.is_empty()).collect();
                is_chunked |= named.last() == Some(&"chunked");
                let others = named.into_iter().filter(|name| *name != "chunked");
                codings.extend(others.map(str::to_owned));
            }
            // A renamed field means that the chunks were decoded.
            let name = field.strip_prefix(RENAMED.as_bytes()).unwrap_or(field);
            let name = HeaderName::from_bytes(name);
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value))
                && headers.try_append(name, value).is_err()
            {
                break; // More fields than any server sends.
            }
        }
        let is_coding = |name: &String| matches!(name.as_str(), "gzip" | "x-gzip" | "deflate");
        for coding in codings.iter().filter(|name| is_coding(name)) {
            if let Ok(coding) = HeaderValue::from_str(coding) {
                headers.try_append(CONTENT_ENCODING, coding).ok();
            }
        }
        Response {
            status: self.status,
            headers,
            sent: self.behind,
            rest: None,
            is_chunked,
            is_cut: false,
        }
    }

    /// Returns names and values. A control character in a value becomes a space (RFC 9110, section
    /// 5.5), and a line that begins with white space continues the value before it.
    fn fields(&self) -> Vec<(&'m [u8], Vec<u8>)> {
        let mut fields: Vec<(&[u8], Vec<u8>)> = Vec::new();
        let mut rest = self.fields;
        while let Some((line, behind)) = split_line(rest) {
            rest = behind;
            let is_control = |byte: u8| byte.is_ascii_control() && byte != b'\t';
            let cleaned = |text: &[u8]| {
                let text = text
                    .iter()
                    .map(|&byte| if is_control(byte) { b' ' } else { byte });
                text.collect::<Vec<u8>>().trim_ascii().to_vec()
            };
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(b' ');
                    value.extend(cleaned(line));
                }
            } else if let Some(colon) = line.iter().position(|byte| *byte == b':') {
                fields.push((line[..colon].trim_ascii_end(), cleaned(&line[colon + 1..])));
            }
        }
        fields
    }
}

fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Splits a line off, without its ending: CR LF or LF alone (RFC 9112, section 2.2).
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let line = &bytes[..end];
    Some((line.strip_suffix(b"\r").unwrap_or(line), &bytes[end + 1..]))
}

/// Returns the status in a status line: three digits behind the name of a protocol.
fn status_of(line: &[u8]) -> Option<u16> {
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    let mut words = words.by_ref().filter(|word| !word.is_empty());
    let (protocol, code) = (words.next()?, words.next()?);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.');
    if !protocol.first()?.is_ascii_alphabetic() || !protocol.iter().all(is_name) {
        return None;
    }
    let digits = code.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let code = std::str::from_utf8(code.get(..digits).filter(|_| digits == 3)?).ok()?;
    code.parse().ok().filter(|code| *code >= 100)
}

impl Record {
    /// Returns the HTTP response in a `response` or `revisit` record of any crawler; `None` if
    /// there is none or it cannot be parsed. Its body is the kept part of the block; a `revisit`
    /// lacks a body.
    #[must_use]
    pub fn http(&self) -> Option<Response<'_>> {
        let response = Response::read(&self.block)?;
        Some(Response {
            rest: self.rest.as_ref(),
            is_cut: !self.is_kept_whole() || self.is_truncated(),
            ..response
        })
    }

    /// Returns the exchange of a `response` or `revisit` record; `None` if it cannot be parsed. The
    /// body is the kept part of the block, and truncated if that is incomplete; a `revisit` lacks a
    /// body. The request, which is in another record, the address and the elapsed time are missing.
    /// A record whose spooled body cannot be read counts as unparsable.
    #[must_use]
    pub fn response(&self, form: &CanonicalForm) -> Option<Exchange> {
        let response = self.http()?;
        let truncated = match self.truncated() {
            Some("length") if self.kind() == "response" => Some(Truncation::Length),
            Some("time") => Some(Truncation::Time),
            Some("disconnect") => Some(Truncation::Disconnect),
            _ if self.kind() != "response" => None,
            _ if !self.is_kept_whole() => Some(Truncation::Length),
            _ if !response.is_whole() => Some(Truncation::Disconnect),
            _ => None,
        };
        Some(Exchange {
            url: self.page_url(form)?,
            request_head: Vec::new(),
            status: response.status,
            body: response.payload().ok()?,
            headers: response.headers,
            truncated,
            warnings: Vec::new(),
            address: None,
            protocol: match self.field("WARC-Protocol") {
                Some("http/1.0") => Protocol::Http10,
                Some("h2") => Protocol::Http2,
                _ => Protocol::Http11,
            },
            started: date(self.date())?,
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
    fn a_response_is_read_with_any_status_line_and_any_line_breaks() {
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
            ("HTTP 200 Document follows\r\nA: b\r\n\r\nbody", 200, "body"),
            ("HTTP/1.1  200 OK\r\nA: b\r\n\r\nbody", 200, "body"),
            ("http/1.2 200\r\nA: b\r\n\r\nbody", 200, "body"),
            ("ICY 200 O\x01K\r\nA: b\r\n\r\nbody", 200, "body"),
            (
                "HTTP/1.1 200 OK\r\nX: \0\rx\r\nA: b\r\n\r\nbody",
                200,
                "body",
            ),
            ("\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\nbody", 200, "body"),
            (
                "HTTP/1.1 103 Early Hints\r\nB: c\r\n\r\nHTTP/1.1 200 OK\nA: b\n\nbody",
                200,
                "body",
            ),
            (
                "HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\nbody",
                101,
                "body",
            ),
            (
                "HTTP/1.1 200 OK\r\nA: b\r\nx-crawler-transfer-encoding: chunked\r\n\r\n4\r\nbody",
                200,
                "4\r\nbody",
            ),
        ] {
            let response = Response::read(message.as_bytes()).unwrap();
            assert_eq!(response.status, status, "{message}");
            assert_eq!(response.headers["a"], "b");
            assert_eq!(response.body(), body.as_bytes(), "{message}");
        }
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\nbody", "A: b\r\n".repeat(9000));
        assert_eq!(Response::read(many.as_bytes()).unwrap().headers.len(), 9000);
        let folded = Response::read(b"HTTP/1.1 200 OK\r\nA : b\r\n\t c\r\n\r\n").unwrap();
        assert_eq!(folded.headers["a"], "b c");
        for message in [
            "",
            "HTTP/",
            "HTTP/1.1 200 OK\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "HTTP/2",
            "HTTP/1.1 2000 OK\r\n\r\n",
            "<html> 200\r\n\r\n",
        ] {
            assert!(Response::read(message.as_bytes()).is_none(), "{message}");
        }
    }
}
