//! The documents of any WARC file: archived responses, and texts made from them.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue};
use sinks::wacz::{self, ArchivePart};
use sinks::warc::{Record, WarcStream};
use web::{CanonicalForm, Exchange, Protocol};

use crate::document::{Content, Document};
use crate::oddities::Oddities;

/// The schemes of resources that are documents. Crawlers write notes under other schemes
/// (`urn:pageinfo:`, `metadata:`).
const SCHEMES: [&str; 4] = ["http:", "https:", "ftp:", "file:"];

/// Bytes that are read of a record's content, as many as a crawl reads of a page. A record can
/// unpack to any length.
const MAX_CONTENT: u64 = 8 << 20;

/// Bytes that are read of the head of a response, besides.
const MAX_HEAD: u64 = 64 << 10;

/// Bytes that are read of a record's block.
pub(crate) const MAX_BLOCK: usize = (MAX_CONTENT + MAX_HEAD) as usize;

/// The documents in a WARC file. Responses with status 200 and resources are documents as they are,
/// conversions (Common Crawl's WET files) are texts. Other records and robots.txt files are not
/// documents. A broken record is an error, and the records behind it follow.
pub(crate) struct ArchiveDocuments {
    stream: WarcStream,
    oddities: Oddities,
}

impl ArchiveDocuments {
    /// Returns the documents in `stream`, whose deviations are added to `oddities` at its end.
    pub(crate) fn of(stream: WarcStream, oddities: Oddities) -> Self {
        Self { stream, oddities }
    }
}

impl Iterator for ArchiveDocuments {
    type Item = Result<Document, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.stream.next_record(MAX_BLOCK) {
                Ok(Some(record)) => {
                    let is_cut = record.block.len() as u64 != record.block_length;
                    if let Some(document) = document(record) {
                        if is_cut {
                            self.oddities.add_cut(document.id.clone());
                        }
                        return Some(Ok(document));
                    }
                }
                Ok(None) => {
                    self.oddities.add_deviations(self.stream.deviations());
                    return None;
                }
                Err(fault) => return Some(Err(fault.to_string())),
            }
        }
    }
}

/// The WARC files in a WACZ, one after the other, each read where it lies: nothing is unpacked.
pub(crate) struct WaczStreams {
    path: PathBuf,
    parts: VecDeque<ArchivePart>,
}

impl WaczStreams {
    /// Opens a WACZ file and reads its directory.
    ///
    /// # Errors
    /// The file cannot be read or is no WACZ.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let parts = wacz::archives(path).map_err(io::Error::other)?;
        Ok(Self {
            path: path.to_owned(),
            parts: parts.into(),
        })
    }

    /// Returns the documents in all of them.
    pub(crate) fn documents(
        self,
        oddities: Oddities,
    ) -> impl Iterator<Item = Result<Document, String>> + Send {
        self.flat_map(move |stream| -> Box<dyn Iterator<Item = _> + Send> {
            match stream {
                Ok(stream) => Box::new(ArchiveDocuments::of(stream, oddities.clone())),
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

/// Returns the document in a record, if there is one.
pub(crate) fn document(record: Record) -> Option<Document> {
    let target = record.target().unwrap_or_default();
    if is_for_robots(target) {
        return None;
    }
    let id = match target {
        "" => record.id().trim_matches(['<', '>']),
        target => target,
    };
    let (id, date) = (id.to_owned(), record.date().to_owned());
    let content = match record.kind() {
        "response" => answer(&record)?,
        "resource" if !is_page(target) => return None,
        "resource" | "conversion" => Content::Body {
            content_type: record.field("Content-Type").unwrap_or_default().to_owned(),
            bytes: record.block,
        },
        _ => return None,
    };
    Some(Document {
        id,
        has_number_id: false,
        date: Some(date).filter(|date| !date.is_empty()),
        content,
    })
}

/// Returns the answer in a record of another crawler, if it is one to a visit. That of a `revisit`
/// has no body.
pub fn exchange(record: &Record, form: &CanonicalForm) -> Option<Exchange> {
    if !is_visited(record.target().unwrap_or_default()) {
        return None;
    }
    match record.kind() {
        "response" | "revisit" => record.answer(form),
        "resource" => {
            let beginning = || Bytes::copy_from_slice(&record.block).into();
            let mut headers = HeaderMap::new();
            let media = record.field("Content-Type").map(HeaderValue::from_str);
            if let Some(Ok(media)) = media {
                headers.insert(CONTENT_TYPE, media);
            }
            Some(Exchange {
                url: record.page_url(form)?,
                request_head: Vec::new(),
                status: 200,
                headers,
                body: record.whole_block().unwrap_or_else(beginning),
                truncated: None,
                warnings: Vec::new(),
                address: None,
                protocol: Protocol::Http11,
                started: record.date().parse().ok()?,
                elapsed: Duration::ZERO,
            })
        }
        _ => None,
    }
}

/// Returns true if a crawl visits this URL.
pub fn is_visited(target: &str) -> bool {
    is_page(target) && !is_for_robots(target)
}

/// Returns true if the scheme is one that a crawl visits, and not that of a crawler's note.
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

/// Returns the body of an HTTP answer without its codings.
fn answer(record: &Record) -> Option<Content> {
    let answer = record.http()?;
    if answer.status != 200 {
        return None;
    }
    let body = Bytes::from(answer.body().into_owned()).into();
    let decoded = fetch::decode(&answer.headers, &body, MAX_CONTENT);
    Some(Content::Body {
        content_type: web::content_type(&answer.headers).unwrap_or_default(),
        bytes: decoded.bytes.into(),
    })
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
