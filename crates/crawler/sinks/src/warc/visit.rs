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
//! A `resource` record for each robots.txt that was read on the way precedes these. If the scripts
//! of the page were run, a `response` and a `request` for each of their requests follow. If the
//! page has a record, a `conversion` with the DOM follows, and a `resource` with a picture of it,
//! if there is one. A `metadata` record ends a visit with metadata.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;

use bytes::Bytes;
use web::{Body, Exchange, MAX_IDENTIFIED, Protocol, Timestamp, Truncation, identified_type};

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

/// The field with the media type that the bytes of a payload identify (section 5.17).
const IDENTIFIED: &str = "WARC-Identified-Payload-Type";

/// The beginning of the URL of a picture of a page.
pub const PICTURE_OF: &str = "urn:view:";

const RESPONSE: &str = "application/http;msgtype=response";
/// The media type of unknown content (RFC 9110 section 8.3).
const UNKNOWN: &str = "application/octet-stream";

/// The media type of a text.
const TEXT: &str = "text/plain;charset=utf-8";

/// The media type of a DOM.
const DOM: &str = "text/html;charset=utf-8";

/// The media type of a picture.
const PICTURE: &str = "image/png";

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

/// The starts of records, relative to the start of their visit, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordPlaces {
    /// The record of the page.
    pub(super) page: u64,
    /// The DOM of the page.
    pub(super) dom: Option<u64>,
    /// The responses to the requests of its scripts.
    pub(super) subrequests: Vec<u64>,
}

/// Writes the records of `visit`; returns their places.
///
/// # Errors
/// I/O errors of reading a spooled body.
pub(super) fn write_records(
    visit: &Visit,
    names: RecordNames<'_>,
    writer: &mut RecordWriter,
) -> io::Result<RecordPlaces> {
    writer.clear();
    let mut records = Records {
        names,
        issued: 0,
        writer,
    };
    for robots in &visit.robots {
        let digest = records.writer.digest().of(&robots.body);
        records.resource(robots, digest)?;
    }
    let mut places = RecordPlaces::default();
    let Some((page, hops)) = visit.exchanges.split_last() else {
        let metadata = records.metadata(visit, None, Described::Nothing)?;
        places.page = metadata.unwrap_or_default();
        return Ok(places);
    };
    for hop in hops {
        records.whole(hop)?;
    }
    places.page = records.writer.length();
    let described = records.page(visit, page)?;
    for subrequest in &visit.subrequests {
        places.subrequests.push(records.writer.length());
        records.whole(subrequest)?;
    }
    if let (Described::Page(of), Some(dom)) = (described, &visit.dom) {
        places.dom = Some(records.writer.length());
        records.conversion(page, Some(of), DOM, dom)?;
        if let Some(picture) = &visit.picture {
            records.picture(page, of, picture)?;
        }
    }
    let metadata = records.metadata(visit, Some(page), described)?;
    if let Described::Nothing = described {
        // Without a record and without metadata, the page is at the start of its visit.
        places.page = metadata.unwrap_or_default();
    }
    Ok(places)
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
        let (_, mut header) = self.about("resource", resource.url.written(), resource.at);
        came_from(&mut header, resource.address, resource.protocol);
        header.field("WARC-Payload-Digest", digest);
        header.optional_field(IDENTIFIED, identified_type(&resource.body));
        header.optional_field("WARC-Truncated", resource.truncated.map(Truncation::as_str));
        let content_type = resource.content_type.as_deref().unwrap_or(UNKNOWN);
        let body = resource.body.clone().into();
        self.writer.record(header, content_type, b"", &body)
    }

    /// Writes the record of a page, as far as it is kept; returns what its metadata describes.
    fn page(&mut self, visit: &Visit, page: &Exchange) -> io::Result<Described> {
        let algorithm = self.writer.digest();
        let digest = || match visit.payload {
            Some(digest) => Ok(digest),
            None => algorithm.of_body(&page.body),
        };
        Ok(match &visit.keeping {
            Keeping::Whole => Described::Page(self.response(page, digest()?)?),
            Keeping::Revisit { of } => {
                Described::Page(self.revisit(page, Some(digest()?), IDENTICAL_PAYLOAD, of)?)
            }
            Keeping::NotModified { of } => {
                Described::Page(self.revisit(page, visit.payload, NOT_MODIFIED, of)?)
            }
            Keeping::NotArchived => Described::Nothing,
            Keeping::TextOnly { text } => Described::Text(self.conversion(page, None, TEXT, text)?),
        })
    }

    /// Writes an exchange with its payload, and its request.
    fn whole(&mut self, exchange: &Exchange) -> io::Result<()> {
        let digest = self.writer.digest().of_body(&exchange.body)?;
        self.response(exchange, digest).map(drop)
    }

    /// Writes a page with its payload, and the request for it; returns the id of the `response`.
    fn response(&mut self, exchange: &Exchange, digest: PayloadDigest) -> io::Result<RecordId> {
        let start = self.writer.length();
        let (id, mut header) = self.captured("response", exchange);
        header.field("WARC-Payload-Digest", digest);
        header.optional_field(IDENTIFIED, identified_payload(exchange));
        header.optional_field("WARC-Truncated", exchange.truncated.map(Truncation::as_str));
        self.writer
            .record(header, RESPONSE, &response_head(exchange), &exchange.body)?;
        self.request(exchange, id)?;
        let (url, request) = (exchange.url.request(), &exchange.request_head);
        self.writer.requested_by(start, url.as_str(), request);
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
        header.field("WARC-Refers-To-Target-URI", of.url.written());
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

    /// Writes what was made from a page; returns the id of the record. It refers to the record `of`
    /// the page, if there is one.
    fn conversion(
        &mut self,
        page: &Exchange,
        of: Option<RecordId>,
        media: &str,
        text: &str,
    ) -> io::Result<RecordId> {
        let (id, mut header) = self.about("conversion", page.url.written(), page.started);
        header.optional_field("WARC-Refers-To", of);
        self.writer
            .record(header, media, text.as_bytes(), &Body::default())?;
        Ok(id)
    }

    /// Writes a picture of a page with the record `of`. Its URL is the one that Browsertrix gives
    /// to pictures, so replay tools find it.
    fn picture(&mut self, page: &Exchange, of: RecordId, png: &Bytes) -> io::Result<()> {
        let target = format_args!("{PICTURE_OF}{}", page.url.written());
        let (_, mut header) = self.about("resource", target, page.started);
        header.field("WARC-Concurrent-To", of);
        header.field("WARC-Payload-Digest", self.writer.digest().of(png));
        header.optional_field(IDENTIFIED, identified_type(png));
        let body = png.clone().into();
        self.writer.record(header, PICTURE, b"", &body)
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
        let (_, mut header) = self.about("metadata", url.written(), at);
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
        let (id, mut header) = self.about(kind, exchange.url.written(), exchange.started);
        came_from(&mut header, exchange.address, exchange.protocol);
        (id, header)
    }

    /// Returns the header of a record about a URL. URLs of pages are named as they were written:
    /// replay looks for the links of a page as the page wrote them.
    fn about(&mut self, kind: &str, target: impl Display, date: Timestamp) -> (RecordId, Header) {
        let (visit, number) = (self.names.visit.to_be_bytes(), self.issued.to_be_bytes());
        let id = self.names.session.name(&[&visit[..], &number].concat());
        self.issued += 1;
        let mut header = Header::new(kind, id, date);
        header.field("WARC-Target-URI", target);
        header.field("WARC-Warcinfo-ID", self.names.warcinfo);
        (id, header)
    }
}

/// Returns the media type that the payload's bytes identify, without its content codings; `None` if
/// they identify none, or cannot be decoded.
fn identified_payload(exchange: &Exchange) -> Option<&'static str> {
    let beginning = web::decode(&exchange.headers, &exchange.body, MAX_IDENTIFIED as u64);
    match beginning.error {
        None => identified_type(&beginning.bytes),
        Some(_undecoded) => None,
    }
}

/// Adds the server's address and the protocol.
fn came_from(header: &mut Header, address: Option<SocketAddr>, protocol: Protocol) {
    let address = address.map(|address| address.ip().to_canonical());
    header.optional_field("WARC-IP-Address", address);
    header.field("WARC-Protocol", protocol.as_str());
}
