//! The records of a visit, and the references between them.
//!
//! | the exchange | its records |
//! |---|---|
//! | a redirect on the way, or a page kept whole | `response`, `request` |
//! | a page whose payload is archived already | `revisit`, `request` |
//! | a response that the page was not modified | `revisit`, `request` |
//! | an unarchived page | none |
//! | an unarchived page whose text is kept | `conversion` |
//!
//! A `resource` record for each robots.txt that was read on the way precedes these. A `metadata`
//! record follows them if the visit has metadata.

use std::io;
use std::net::SocketAddr;

use web::{Body, Exchange, PageUrl, Protocol, Timestamp, Truncation};

use super::identity::RecordId;
use super::message::response_head;
use super::record::{FIELDS, Header, RecordWriter, push_field};
use crate::digest::PayloadDigest;
use crate::sink::{Keeping, Original, Resource, Visit};

/// The profile of a `revisit` record of an equal payload (section 6.7.2).
const IDENTICAL_PAYLOAD: &str = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";

/// The profile of a `revisit` record of a page that its server says was not modified (section
/// 6.7.3).
const NOT_MODIFIED: &str = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

const RESPONSE: &str = "application/http;msgtype=response";
/// The media type of unknown content (RFC 9110 section 8.3).
const UNKNOWN: &str = "application/octet-stream";

/// The media type of a text.
const TEXT: &str = "text/plain;charset=utf-8";

const REQUEST: &str = "application/http;msgtype=request";

/// The parts that the record ids of one visit are derived from, and the file of the records.
pub(super) struct RecordNames<'a> {
    /// The namespace of this opening of the archive.
    pub(super) session: RecordId,
    /// The number of the visit within the session, in the order of arrival.
    pub(super) visit: u64,
    /// The id of the `warcinfo` record of the file that the records are for.
    pub(super) warcinfo: &'a str,
}

/// Writes the records of `visit`; returns the offset of the record of the page.
///
/// # Errors
/// I/O errors of reading a spooled body.
pub(super) fn write_records(
    visit: &Visit,
    names: RecordNames<'_>,
    writer: &mut RecordWriter,
) -> io::Result<u64> {
    writer.clear();
    let algorithm = writer.digest();
    let mut records = Records {
        names,
        issued: 0,
        writer,
    };
    for robots in &visit.robots {
        records.resource(robots, algorithm.of(&robots.body))?;
    }
    let Some((page, hops)) = visit.exchanges.split_last() else {
        let metadata = records.metadata(visit, None, Described::Nothing)?;
        return Ok(metadata.unwrap_or_default());
    };
    for hop in hops {
        records.response(hop, algorithm.of_body(&hop.body)?)?;
    }
    let digest = || match visit.payload {
        Some(digest) => Ok(digest),
        None => algorithm.of_body(&page.body),
    };
    let page_offset = records.writer.length();
    let page_record = match &visit.keeping {
        Keeping::Whole => records.response(page, digest()?)?,
        Keeping::Revisit { of } => records.revisit(page, Some(digest()?), IDENTICAL_PAYLOAD, of)?,
        Keeping::NotModified { of } => records.revisit(page, visit.payload, NOT_MODIFIED, of)?,
        Keeping::NotArchived => {
            // Without a record and without metadata, the page is at the start of its visit.
            let metadata = records.metadata(visit, Some(page), Described::Nothing)?;
            return Ok(metadata.unwrap_or_default());
        }
        Keeping::TextOnly { text } => {
            let text = records.conversion(page, text)?;
            records.metadata(visit, Some(page), Described::Text(text))?;
            return Ok(page_offset);
        }
    };
    records.metadata(visit, Some(page), Described::Page(page_record))?;
    Ok(page_offset)
}

/// The record that a `metadata` record belongs to.
#[derive(Clone, Copy)]
enum Described {
    Nothing,
    /// The `response` or `revisit` of the page.
    Page(RecordId),
    /// The `conversion` of a page that was not archived.
    Text(RecordId),
}

struct Records<'a, 'p> {
    names: RecordNames<'a>,
    issued: u32,
    writer: &'p mut RecordWriter,
}

impl Records<'_, '_> {
    /// Writes a `resource` record.
    fn resource(&mut self, resource: &Resource, digest: PayloadDigest) -> io::Result<()> {
        let (_, mut header) = self.about("resource", &resource.url, resource.at);
        came_from(&mut header, resource.address, resource.protocol);
        header.field("WARC-Payload-Digest", digest);
        header.optional_field("WARC-Truncated", resource.truncated.map(Truncation::as_str));
        let content_type = resource.content_type.as_deref().unwrap_or(UNKNOWN);
        let body = resource.body.clone().into();
        self.writer.record(header, content_type, b"", &body)
    }

    /// Writes a page with its payload, and the request for it; returns the id of the `response`.
    fn response(&mut self, exchange: &Exchange, digest: PayloadDigest) -> io::Result<RecordId> {
        let (id, mut header) = self.captured("response", exchange);
        header.field("WARC-Payload-Digest", digest);
        header.optional_field("WARC-Truncated", exchange.truncated.map(Truncation::as_str));
        self.writer
            .record(header, RESPONSE, &response_head(exchange), &exchange.body)?;
        self.request(exchange, id)?;
        Ok(id)
    }

    /// Writes a response without a payload, which refers to `of`, and the request for it; returns
    /// the id of the `revisit`. `digest` is the digest of the payload of `of`. If `of` was not
    /// modified, this is the payload whose validators were sent (section 6.7.3).
    fn revisit(
        &mut self,
        exchange: &Exchange,
        digest: Option<PayloadDigest>,
        profile: &str,
        of: &Original,
    ) -> io::Result<RecordId> {
        let (id, mut header) = self.captured("revisit", exchange);
        header.optional_field("WARC-Payload-Digest", digest);
        // Section 6.7.2 requires exactly this word for a block that lacks its payload.
        let truncated = (profile == IDENTICAL_PAYLOAD).then_some("length");
        header.optional_field("WARC-Truncated", truncated);
        header.field("WARC-Profile", profile);
        header.field("WARC-Refers-To-Target-URI", of.url.request());
        header.field("WARC-Refers-To-Date", of.at);
        self.writer
            .record(header, RESPONSE, &response_head(exchange), &Body::default())?;
        self.request(exchange, id)?;
        Ok(id)
    }

    fn request(&mut self, exchange: &Exchange, response: RecordId) -> io::Result<()> {
        let (_, mut header) = self.captured("request", exchange);
        header.field("WARC-Concurrent-To", response);
        self.writer
            .record(header, REQUEST, &exchange.request_head, &Body::default())
    }

    /// Writes the text of a page that was not archived; returns the id of the record. It refers to
    /// no other record, since there is none of the page.
    fn conversion(&mut self, page: &Exchange, text: &str) -> io::Result<RecordId> {
        let (id, header) = self.about("conversion", &page.url, page.started);
        self.writer
            .record(header, TEXT, text.as_bytes(), &Body::default())?;
        Ok(id)
    }

    /// Writes the `metadata` record of `page`, if there is metadata; returns its offset.
    fn metadata(
        &mut self,
        visit: &Visit,
        page: Option<&Exchange>,
        described: Described,
    ) -> io::Result<Option<u64>> {
        if visit.metadata.is_empty() {
            return Ok(None);
        }
        let offset = self.writer.length();
        let (url, at) = page.map_or((&visit.url, visit.at), |page| (&page.url, page.started));
        let (_, mut header) = self.about("metadata", url, at);
        match described {
            Described::Nothing => {}
            Described::Page(record) => header.field("WARC-Concurrent-To", record),
            Described::Text(record) => header.field("WARC-Refers-To", record),
        }
        let mut block = Vec::new();
        for (name, value) in &visit.metadata {
            push_field(&mut block, name, value);
        }
        self.writer
            .record(header, FIELDS, &block, &Body::default())?;
        Ok(Some(offset))
    }

    /// Returns the header of a record of an exchange. All records of an exchange have the date of
    /// its start (section 5.4).
    fn captured(&mut self, kind: &str, exchange: &Exchange) -> (RecordId, Header) {
        let (id, mut header) = self.about(kind, &exchange.url, exchange.started);
        came_from(&mut header, exchange.address, exchange.protocol);
        (id, header)
    }

    /// Returns the header of a record about a URL, which is named as it was requested: replay looks
    /// for the links of a page as the page wrote them.
    fn about(&mut self, kind: &str, target: &PageUrl, date: Timestamp) -> (RecordId, Header) {
        let (visit, number) = (self.names.visit.to_be_bytes(), self.issued.to_be_bytes());
        let id = self.names.session.name(&[&visit[..], &number].concat());
        self.issued += 1;
        let mut header = Header::new(kind, id, date);
        header.field("WARC-Target-URI", target.request());
        header.field("WARC-Warcinfo-ID", self.names.warcinfo);
        (id, header)
    }
}

/// Adds the server's address and the protocol.
fn came_from(header: &mut Header, address: Option<SocketAddr>, protocol: Protocol) {
    let address = address.map(|address| address.ip().to_canonical());
    header.optional_field("WARC-IP-Address", address);
    header.field("WARC-Protocol", protocol.as_str());
}
