//! The interface between a crawl and the archive.

use std::net::SocketAddr;

use async_trait::async_trait;
use bytes::Bytes;
use web::{Document, Exchange, Media, PageUrl, Protocol, Timestamp, Truncation};

use crate::cdxj::capture::Capture;
use crate::digest::PayloadDigest;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;
use crate::warc::commit_point::CommitPoint;

/// A destination of visits.
///
/// **Concurrency.** Every method may be called by many tasks at once. The records of a visit are
/// consecutive, never interleaved with another visit's records. Archive sequence numbers are 0, 1,
/// 2, … without gaps among the successful calls, in the order of the visits in the archive: a
/// caller that settles visits by archive sequence number knows that everything up to the commit
/// point is complete.
///
/// **Repetition.** A sink does not compare visits: a visit that is written twice is stored twice,
/// under two archive sequence numbers. Visits that were never settled are set aside when the
/// archive is opened again.
///
/// **Faults.** A failed `write` or `sync` is final: it is not retried, and every later call fails
/// too. A visit whose `write` failed has no archive sequence number and is not in the archive.
///
/// **Cancellation.** A call must be awaited to its end. Dropping it does not undo the visit, and
/// its archive sequence number is then missing from the sequence.
#[async_trait]
pub trait Sink: Send + Sync {
    /// Stores a visit and returns its location. It is durable only after a later [`Sink::sync`].
    ///
    /// # Errors
    /// [`SinkFault`]; the visit is then not in the archive, and every later call fails.
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault>;

    /// Makes every visit durable whose `write` returned before. Returns the end of the durable
    /// part: a visit after it may be lost in a power cut.
    ///
    /// # Errors
    /// [`SinkFault`]; every later call then fails.
    async fn sync(&self) -> Result<ArchiveEnd, SinkFault>;

    /// Informs the sink of the end of the visits with durable settlements; `None` if no visit is
    /// settled. A caller that settles visits calls this once after opening the sink, before the
    /// first `write`, and after each checkpoint: a file is closed only when all its visits are
    /// settled. If it is never called, files are closed when they are synced.
    ///
    /// # Errors
    /// [`SinkFault`] if the end cannot be noted or a file cannot be closed.
    async fn set_commit_point(&self, point: Option<CommitPoint>) -> Result<(), SinkFault>;

    /// Makes everything durable and ends writing. Returns the end of the archive. Closing twice is
    /// not an error.
    ///
    /// # Errors
    /// [`SinkFault`] if the archive cannot be synced.
    async fn close(&self) -> Result<ArchiveEnd, SinkFault>;
}

/// A field of a `metadata` record.
pub type MetadataField = (&'static str, String);

/// The field with the number of exchanges of a page's scripts that follow the page: readers need it
/// to tell them from redirects.
pub const RENDER_REQUESTS: &str = "render-requests";

/// The field with the URL of a visit that sent no request for it, because its host asks for https.
pub const QUEUED_URL: &str = "queued-url";

/// The outcome of a visit to a page.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The page, as it was leased.
    pub url: PageUrl,
    /// The start of the visit.
    pub at: Timestamp,
    /// The robots.txt files that were fetched on the way and could be read.
    pub robots: Vec<Resource>,
    /// The exchanges, without robots.txt: redirects first, the page last. Empty if nothing was
    /// requested or nothing answered. The records of an exchange are dated [`Exchange::started`].
    pub exchanges: Vec<Exchange>,
    /// The treatment of the last exchange; earlier exchanges are always kept whole.
    pub keeping: Keeping,
    /// The exchanges that the scripts of the page made, in the order of their responses; always
    /// kept whole.
    pub subrequests: Vec<Exchange>,
    /// The DOM of the page as HTML after its scripts ran. It is archived if the page is.
    pub dom: Option<Box<str>>,
    /// A picture of the DOM as PNG. It is archived if the DOM is.
    pub picture: Option<Bytes>,
    /// The digest of the last exchange's body, if it is known.
    pub payload: Option<PayloadDigest>,
    /// The verdict, as fields of a `metadata` record; no such record if this is empty. Names must
    /// be tokens (letters, digits, hyphens); control characters and line separators in values
    /// become spaces.
    pub metadata: Vec<MetadataField>,
    /// The text of the page for the search index; `None` if searches should not find the page. The
    /// indexing sink takes it.
    pub text: Option<Box<IndexText>>,
}

/// The searchable text of a page, in addition to its address and date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexText {
    /// Its title.
    pub title: Option<String>,
    /// The primary subtag of its language, `en`.
    pub language: Option<String>,
    /// Its text, one block per line.
    pub text: String,
}

impl IndexText {
    /// Returns the compared text of a page, so that a hit is a page about the query and not one
    /// with a link to such a page; `None` if the document is not text. Takes the document apart
    /// instead of copying it.
    #[must_use]
    pub fn of(mut document: Document, main_content: bool) -> Option<Box<Self>> {
        if document.media == Media::Other {
            return None;
        }
        let (title, language) = (document.title.take(), document.language.take());
        let text = match main_content {
            true => document.text,
            false => document.into_full_text(),
        };
        Some(Box::new(Self {
            title,
            language,
            text,
        }))
    }
}

/// A resource without its exchange.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its URL.
    pub url: PageUrl,
    /// Its `Content-Type`, if the server sent one.
    pub content_type: Option<String>,
    /// Its body, without content coding, which a `resource` record cannot express.
    pub body: Bytes,
    /// The reason why it is truncated, if it is.
    pub truncated: Option<Truncation>,
    /// The server's address.
    pub address: Option<SocketAddr>,
    /// The HTTP version.
    pub protocol: Protocol,
    /// The time of the request.
    pub at: Timestamp,
}

impl Resource {
    /// Returns the resource of an exchange; `body` is its payload without content coding.
    #[must_use]
    pub fn of(exchange: &Exchange, body: Bytes) -> Self {
        Self {
            url: exchange.url.clone(),
            content_type: exchange.header("content-type").map(str::to_owned),
            body,
            truncated: exchange.truncated,
            address: exchange.address,
            protocol: exchange.protocol,
            at: exchange.started,
        }
    }
}

/// The treatment of a page in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Kept with its payload.
    Whole,
    /// Kept without its payload, which is byte-identical to the payload of `of`.
    Revisit {
        /// The page with the payload.
        of: Original,
    },
    /// Kept as received: the response to a conditional request, which confirms `of` as still
    /// current (section 6.7.3 of WARC/1.1). [`Visit::payload`] is the digest of the payload of
    /// `of`, if it is known.
    NotModified {
        /// The archived page.
        of: Original,
    },
    /// Not kept; only the metadata record mentions it.
    NotArchived,
    /// Not kept, but its text is, as a `conversion` record (section 6.8 of WARC/1.1).
    TextOnly {
        /// The text that the verdict is based on.
        text: Box<str>,
    },
}

/// The page that has the payload of a [`Keeping::Revisit`] or [`Keeping::NotModified`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The address of its `response` record: [`Exchange::url`] of the exchange that was kept whole.
    pub url: PageUrl,
    /// The date of its `response` record: [`Exchange::started`] of that exchange.
    pub at: Timestamp,
}

/// The location of a visit in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The visit's number in the order of the archive, from 0 since the archive was opened.
    pub archive_sequence: u64,
    /// The name of the file, without its directory: [`warc::locate`](crate::warc::locate) finds it
    /// on the disk.
    pub file: String,
    /// The start of the visit's first record, in bytes.
    pub offset: u64,
    /// The end of its last record, in bytes; equal to `offset` if the visit left no record.
    pub end: u64,
    /// The start of the record of the page: its `response` or `revisit` record, else the record of
    /// its text or the `metadata` record of a page that was not archived, else `offset`.
    pub page_offset: u64,
    /// The start of the record of the DOM, if there is one.
    pub dom_offset: Option<u64>,
    /// The starts of the records of [`Visit::subrequests`], in their order.
    pub subrequest_offsets: Vec<u64>,
    /// The index entries of its records, in their order.
    pub captures: Vec<Capture>,
}

impl Archived {
    /// Returns the start of the record with the content of the page: its DOM, if it was rendered.
    #[must_use]
    pub fn content_offset(&self) -> u64 {
        self.dom_offset.unwrap_or(self.page_offset)
    }
}
