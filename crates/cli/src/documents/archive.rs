//! The documents of a WARC file: the answers that were archived, and texts that were made of them.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use sinks::warc::{Record, WarcStream};

use super::{Content, Document, MAX_DOCUMENT};

/// Fields of an HTTP message that are looked at; a message with more has no text for us.
const MAX_FIELDS: usize = 256;

/// Answers with status 200 and resources are documents as they are, conversions (Common Crawl's WET files) are texts; other records are none.
pub(super) struct ArchiveDocuments {
    stream: WarcStream,
}

impl ArchiveDocuments {
    pub(super) fn of(stream: WarcStream) -> Self {
        Self { stream }
    }
}

impl Iterator for ArchiveDocuments {
    type Item = Result<Document, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.stream.next_record(MAX_DOCUMENT as usize) {
                Ok(Some(record)) => {
                    if let Some(document) = document(record) {
                        return Some(Ok(document));
                    }
                }
                Ok(None) => return None,
                Err(fault) => return Some(Err(fault.to_string())),
            }
        }
    }
}

fn document(record: Record) -> Option<Document> {
    let id = record
        .target()
        .unwrap_or(record.id())
        .trim_matches(['<', '>'])
        .to_owned();
    let content = match record.kind() {
        "response" => answer(&record)?,
        "resource" | "conversion" => Content::Body {
            content_type: record.field("Content-Type").unwrap_or_default().to_owned(),
            bytes: record.block,
        },
        _ => return None,
    };
    Some(Document { id, content })
}

/// The body of an HTTP answer without its codings.
fn answer(record: &Record) -> Option<Content> {
    let (head, payload) = record.head_and_payload()?;
    let mut fields = [httparse::EMPTY_HEADER; MAX_FIELDS];
    let mut answer = httparse::Response::new(&mut fields);
    let parsed = httparse::ParserConfig::default()
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true)
        .parse_response(&mut answer, head);
    if parsed.is_err() || answer.code != Some(200) {
        return None;
    }
    let mut headers = HeaderMap::new();
    for field in answer.headers.iter() {
        let name = HeaderName::from_bytes(field.name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(field.value)) {
            headers.append(name, value);
        }
    }
    let chunked = headers
        .get(http::header::TRANSFER_ENCODING)
        .is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
    // Some archives keep the field and take the chunks apart: then the payload does not begin with a size.
    let body = match chunked.then(|| without_chunks(payload)).flatten() {
        Some(body) => Bytes::from(body),
        None => Bytes::copy_from_slice(payload),
    };
    let content_type = headers.get(http::header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    Some(Content::Body {
        content_type: content_type.to_owned(),
        bytes: fetch::decode(&headers, &body, MAX_DOCUMENT).bytes.into(),
    })
}

/// The body that was sent in chunks (RFC 9112, section 7.1); none where it is not in chunks. A body that breaks off is what came before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_put_together_and_what_is_not_in_chunks_is_left_alone() {
        for (sent, body) in [
            (&b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n"[..], Some(&b"hello!"[..])),
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
