//! The documents of any archive: responses that represent a page, and texts made from pages.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use neardup::HashKey;
use sinks::captures::{CaptureKind, Requests};
use sinks::wacz::{self, ArchivePart};
use sinks::warc::{ReadFault, Record, Response, WarcStream};
use web::{CanonicalForm, DecodeError, Exchange};

use crate::document::{Content, Document};
use crate::warnings::{Warning, Warnings};

/// The schemes of resources that are documents. Crawlers write notes under other schemes
/// (`urn:pageinfo:`, `metadata:`).
const SCHEMES: [&str; 4] = ["http:", "https:", "ftp:", "file:"];

/// Maximum bytes of a record's content that are read, the same limit as for a page of a crawl. A
/// record can unpack to any length.
const MAX_CONTENT: u64 = 8 << 20;

/// Additional bytes that are read for the head of a response.
const MAX_HEAD: u64 = 64 << 10;

/// Maximum bytes of a record's block that are read.
const MAX_BLOCK: usize = (MAX_CONTENT + MAX_HEAD) as usize;

/// Maximum bytes of content that wait until the method of their request is known.
const MAX_HELD: usize = 64 << 20;

/// The documents in an archive. Resources and responses with content that represent a page are
/// documents as they are; conversions (Common Crawl's WET files) are texts. Other records and
/// robots.txt files are not documents. If a response is not read whole, its beginning is the
/// document, which equals only documents with the same whole. A broken record is an error, and the
/// records after it follow.
pub(crate) struct ArchiveDocuments {
    records: JudgedRecords<()>,
    warnings: Warnings,
}

/// The records of an archive in their order, each with the document in it. A document of a capture
/// that does not represent a page ([`sinks::captures`]) is [`Found::NoPage`], consistently in both
/// readings of a file.
pub(crate) struct JudgedRecords<T> {
    stream: WarcStream,
    requests: Requests<Judged<T>>,
    /// Bytes of content in the waiting records.
    held: usize,
    is_read: bool,
}

/// A record: the caller's information about it, and the document found in it.
pub(crate) struct Judged<T> {
    pub(crate) about: T,
    pub(crate) found: Found,
}

impl<T> JudgedRecords<T> {
    /// Returns the records of `stream`.
    pub(crate) fn of(stream: WarcStream) -> Self {
        Self {
            stream,
            requests: Requests::default(),
            held: 0,
            is_read: false,
        }
    }

    /// Returns the stream.
    pub(crate) const fn stream(&self) -> &WarcStream {
        &self.stream
    }

    /// Returns the next record; `None` at the end.
    ///
    /// # Errors
    /// As [`WarcStream::next_record`].
    pub(crate) fn next_record(
        &mut self,
        about: impl Fn(&Record) -> T,
    ) -> Result<Option<Judged<T>>, ReadFault> {
        loop {
            let next = match self.is_read || self.held > MAX_HELD {
                true => self.requests.pop_last(),
                false => self.requests.pop(),
            };
            if let Some((judged, kind)) = next {
                self.held -= judged.size();
                return Ok(Some(judged.with(kind)));
            }
            if self.is_read {
                return Ok(None);
            }
            match self.stream.next_record(MAX_BLOCK)? {
                None => self.is_read = true,
                Some(record) => {
                    let judged = Judged {
                        about: about(&record),
                        found: document(&record),
                    };
                    self.held += judged.size();
                    self.requests.push(&record, Some(judged));
                }
            }
        }
    }
}

impl<T> Judged<T> {
    /// Returns the bytes of its content.
    fn size(&self) -> usize {
        match &self.found {
            Found::Document(document, _) => match &document.content {
                Content::Body { bytes, .. } => bytes.len(),
                Content::Text { text, .. } => text.len(),
            },
            _ => 0,
        }
    }

    fn with(self, kind: CaptureKind) -> Self {
        let found = match (self.found, kind) {
            (Found::Document(document, _), CaptureKind::OtherMethod | CaptureKind::Piece) => {
                Found::NoPage(document.id.into_string())
            }
            (found, _) => found,
        };
        Self { found, ..self }
    }
}

impl ArchiveDocuments {
    /// Returns the documents in `stream`, whose deviations are added to `warnings` at its end.
    pub(crate) fn of(stream: WarcStream, warnings: Warnings) -> Self {
        let records = JudgedRecords::of(stream);
        Self { records, warnings }
    }
}

impl Iterator for ArchiveDocuments {
    type Item = Result<Document, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.records.next_record(|_| ()) {
                Ok(Some(record)) => match record.found {
                    Found::Document(document, warning) => {
                        if let Some(warning) = warning {
                            self.warnings.add(warning, document.id.to_string());
                        }
                        return Some(Ok(document));
                    }
                    Found::Headless(target) => self.warnings.add(Warning::Headless, target),
                    Found::NoPage(target) => self.warnings.add(Warning::NoPage, target),
                    Found::Nothing => {}
                },
                Ok(None) => {
                    let deviations = self.records.stream().deviations();
                    self.warnings.add_deviations(deviations);
                    return None;
                }
                Err(fault) => return Some(Err(fault.to_string())),
            }
        }
    }
}

/// The WARC files in a WACZ, one after the other, each read in place, without unpacking the
/// package.
pub(crate) struct WaczStreams {
    path: PathBuf,
    parts: VecDeque<ArchivePart>,
}

impl WaczStreams {
    /// Opens a WACZ file and reads its directory.
    ///
    /// # Errors
    /// The file cannot be read or is not a WACZ.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let parts = wacz::archives(path).map_err(io::Error::other)?;
        Ok(Self {
            path: path.to_owned(),
            parts: parts.into(),
        })
    }

    /// Returns the documents in all WARC files.
    pub(crate) fn documents(
        self,
        warnings: Warnings,
    ) -> impl Iterator<Item = Result<Document, String>> + Send {
        self.flat_map(move |stream| -> Box<dyn Iterator<Item = _> + Send> {
            match stream {
                Ok(stream) => Box::new(ArchiveDocuments::of(stream, warnings.clone())),
                Err(error) => Box::new(std::iter::once(Err(error.to_string()))),
            }
        })
    }
}

impl Iterator for WaczStreams {
    type Item = io::Result<WarcStream>;

    fn next(&mut self) -> Option<Self::Item> {
        let part = self.parts.pop_front()?;
        let shown = self.path.join(&part.name);
        let input = part.open(&self.path);
        Some(input.map(|input| WarcStream::new(&shown, input)))
    }
}

/// The result of looking for a document in a record.
pub(crate) enum Found {
    /// A document, and its warning, if any.
    Document(Document, Option<Warning>),
    /// The response of a web server whose head cannot be read, with its URL.
    Headless(String),
    /// A capture that does not represent a page, with its URL.
    NoPage(String),
    /// Something else.
    Nothing,
}

/// Returns the document in a record, if there is one.
fn document(record: &Record) -> Found {
    let target = record.target().unwrap_or_default();
    if is_for_robots(target) {
        return Found::Nothing;
    }
    let id = match (target, record.id().trim_matches(['<', '>'])) {
        ("", "") => format!("record at offset {}", record.offset),
        ("", id) => id.to_owned(),
        (target, _) => target.to_owned(),
    };
    let content = match record.kind() {
        "response" => match record.http() {
            Some(response) if has_content(response.status) => decoded(record, &response),
            None if is_of_web_server(target) => return Found::Headless(target.to_owned()),
            _ => return Found::Nothing,
        },
        "resource" if !is_page(target) => return Found::Nothing,
        "resource" | "conversion" => {
            let warning = match (record.is_truncated(), record.is_kept_whole()) {
                (true, _) => Some(Warning::Truncated),
                (_, false) => Some(Warning::Cut),
                _ => None,
            };
            let content = Content::Body {
                content_type: record.field("Content-Type").unwrap_or_default().to_owned(),
                bytes: record.block.clone(),
                part_of: warning.map(|warning| whole(record, warning)),
            };
            (content, warning)
        }
        _ => return Found::Nothing,
    };
    let (content, warning) = content;
    let at = record.date().to_owned();
    let document = Document {
        id: id.into(),
        date: Some(at).filter(|at| !at.is_empty()),
        content,
    };
    Found::Document(document, warning)
}

/// Returns a digest of a whole document although only its beginning was read. If the rest is not in
/// the archive, or cannot be decoded, the document equals only this capture.
fn whole(record: &Record, warning: Warning) -> u128 {
    let digest = |text: &str| HashKey::ZERO.digest(text.as_bytes());
    match record.whole_payload().filter(|_| warning == Warning::Cut) {
        Some(payload) => digest(&payload.to_string()),
        None => {
            let [id, target, date] = ["WARC-Record-ID", "WARC-Target-URI", "WARC-Date"]
                .map(|name| record.field(name).unwrap_or_default());
            digest(&format!("{id} {target} {date}"))
        }
    }
}

/// Returns the response in a record of another crawler, if it answers a visit. The response of a
/// `revisit` lacks a body.
pub fn exchange(record: &Record, form: &CanonicalForm) -> Option<Exchange> {
    if !is_visited(record.target().unwrap_or_default()) {
        return None;
    }
    match record.kind() {
        "response" | "revisit" => record.response(form),
        "resource" => record.as_response(form),
        _ => None,
    }
}

/// Returns true for the status of a page: success, with content (RFC 9110, section 15.3).
const fn has_content(status: u16) -> bool {
    matches!(status, 200..=299) && !matches!(status, 204 | 205)
}

/// Returns true if a crawl visits this URL.
pub fn is_visited(target: &str) -> bool {
    is_page(target) && !is_for_robots(target)
}

/// Returns true if a crawl visits URLs of this scheme; notes of crawlers have other schemes.
fn is_page(target: &str) -> bool {
    SCHEMES.iter().any(|scheme| {
        let begin = target.get(..scheme.len()).unwrap_or_default();
        begin.eq_ignore_ascii_case(scheme)
    })
}

/// Returns true if this is the URL of a robots.txt.
fn is_for_robots(target: &str) -> bool {
    let (_, rest) = target.split_once("//").unwrap_or_default();
    let (_, path) = rest.split_once('/').unwrap_or_default();
    path == "robots.txt"
}

/// Returns true for a URL whose answer has an HTTP head.
fn is_of_web_server(target: &str) -> bool {
    let scheme = target.split("://").next().unwrap_or_default();
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Returns the body of an HTTP response without its codings.
fn decoded(record: &Record, response: &Response<'_>) -> (Content, Option<Warning>) {
    let body = Bytes::from(response.body().into_owned()).into();
    let decoded = web::decode(&response.headers, &body, MAX_CONTENT);
    let is_kept = record.is_kept_whole();
    let warning = match decoded.error {
        _ if record.is_truncated() || (is_kept && !response.is_whole()) => Some(Warning::Truncated),
        Some(DecodeError::Broken | DecodeError::Bomb) if is_kept => Some(Warning::Undecoded),
        _ if decoded.truncated || !is_kept => Some(Warning::Cut),
        _ => None,
    };
    let content = Content::Body {
        content_type: web::content_type(&response.headers).unwrap_or_default(),
        bytes: decoded.bytes.into(),
        part_of: warning.map(|warning| whole(record, warning)),
    };
    (content, warning)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_of_crawlers_are_not_pages() {
        for (target, page) in [
            ("http://a.test/", true),
            ("HTTPS://a.test/", true),
            ("file:///a", true),
            ("urn:pageinfo:http://a.test/", false),
            ("urn:text:http://a.test/", false),
            ("metadata://gnu.org/software/wget/warc/MANIFEST.txt", false),
            ("dns:a.test", false),
            ("", false),
        ] {
            assert_eq!(is_page(target), page, "{target}");
        }
        assert!(is_for_robots("http://a.test/robots.txt"));
        assert!(!is_for_robots("http://a.test/a/robots.txt"));
    }
}
