//! What a crawl asks of the place where its pages go.

use std::net::SocketAddr;

use async_trait::async_trait;
use bytes::Bytes;
use web::{Exchange, PageUrl, Protocol, Timestamp, Truncation};

use crate::cdxj::capture::Capture;
use crate::digest::PayloadDigest;
use crate::fault::SinkFault;
use crate::warc::archive_end::ArchiveEnd;
use crate::warc::settled::Settled;

/// Keeps visits.
///
/// **Concurrency.** Every method may be called by many tasks at once. The records of one visit
/// stand together, never between those of another. Tickets are dealt 0, 1, 2, … without gaps among
/// the calls that succeed, in the order in which the visits stand in the archive: whoever settles
/// visits by ticket knows that everything up to the last settled end is there and is whole.
///
/// **Repetition.** A sink does not compare visits: what is written twice is kept twice, under two
/// tickets. What was written and never settled is set aside when the archive is opened again.
///
/// **Faults.** A failed `write` or `sync` is final: it is not retried, and every later call fails
/// too. A visit whose `write` failed has no ticket and is not in the archive.
///
/// **Cancellation.** A call must be awaited to its end. Dropping it does not take the visit back,
/// and its ticket is then missing from the row.
#[async_trait]
pub trait Sink: Send + Sync {
    /// Keeps a visit and says where. It is on the disk only after a later [`Sink::sync`].
    async fn write(&self, visit: Visit) -> Result<Archived, SinkFault>;

    /// When this returns, every visit whose `write` returned before is on the disk. Says up to
    /// where the sink is: a visit that ends behind that place may still be lost when the power
    /// goes.
    async fn sync(&self) -> Result<ArchiveEnd, SinkFault>;

    /// Hears up to where the settlements of its visits are durable; nothing where no visit is
    /// settled. Whoever settles visits calls it once the sink is open, before the first `write`,
    /// and after each checkpoint: a file is closed only when all its visits are settled. Where it
    /// is never called, files are closed when they are on the disk.
    async fn settled(&self, settled: Option<Settled>) -> Result<(), SinkFault>;

    /// Ends cleanly: everything is on the disk, and nothing can be written afterwards. Says where
    /// the end is. Closing twice is no fault.
    async fn close(&self) -> Result<ArchiveEnd, SinkFault>;
}

/// A field of a `metadata` record.
pub type MetadataField = (&'static str, String);

/// What one visit to a page came to.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The page, as it was leased.
    pub url: PageUrl,
    /// When the visit began.
    pub at: Timestamp,
    /// The robots.txt files that were asked for on the way, as far as there were any to read.
    pub robots: Vec<Resource>,
    /// The exchanges in order (robots.txt aside): redirects first, the page last. Empty where
    /// nothing was asked or nothing answered. The records of an exchange are dated
    /// [`Exchange::started`].
    pub exchanges: Vec<Exchange>,
    /// What becomes of the last exchange; those before it are always kept whole.
    pub keeping: Keeping,
    /// The digest of the last exchange's body, where it is known already.
    pub payload: Option<PayloadDigest>,
    /// The verdict, as fields of a `metadata` record; no such record where this is empty. The names
    /// must be tokens (letters, digits, hyphens); in the values, control characters and line
    /// separators become spaces.
    pub metadata: Vec<MetadataField>,
    /// What a search index is to find the page by; none where it is not to be found. Whoever
    /// indexes it takes it out.
    pub text: Option<Box<IndexText>>,
}

/// What a search index finds a page by, beside its address and date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexText {
    /// Its title.
    pub title: Option<String>,
    /// The primary subtag of its language, `en`.
    pub language: Option<String>,
    /// What it says, a block a line.
    pub text: String,
}

/// A file without the exchange that brought it.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Its address.
    pub url: PageUrl,
    /// What its server called it, where it said so.
    pub content_type: Option<String>,
    /// The file itself: content coding taken off, since nothing here could tell it.
    pub body: Bytes,
    /// Why it is not whole, where it is not.
    pub truncated: Option<Truncation>,
    /// Who gave it.
    pub address: Option<SocketAddr>,
    /// The version of HTTP that was spoken.
    pub protocol: Protocol,
    /// When it was asked for.
    pub at: Timestamp,
}

impl Resource {
    /// What an exchange brought; `body` is its payload without content coding.
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

/// What becomes of the page itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
    /// Kept with its payload.
    Whole,
    /// Kept without its payload, which is the same, byte for byte, as that of `of`.
    Revisit {
        /// Where the payload is.
        of: Original,
    },
    /// The answer to a conditional request that says that the page is still what `of` is (section
    /// 6.7.3 of WARC/1.1): kept as it came. [`Visit::payload`] is the digest of the payload of
    /// `of`, where it is known.
    NotModified {
        /// What was archived then.
        of: Original,
    },
    /// Not kept; only the metadata say that it was seen.
    LeftOut,
}

/// The page that has the payload of a [`Keeping::Revisit`] or [`Keeping::NotModified`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// The address of its `response` record: [`Exchange::url`] of the exchange that was kept whole.
    pub url: PageUrl,
    /// The date of its `response` record: [`Exchange::started`] of that exchange.
    pub at: Timestamp,
}

/// Where a visit was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Archived {
    /// The visit's place in the order of the archive, counted from 0 since it was opened.
    pub ticket: u64,
    /// The name of the file, without its directory: [`warc::locate`](crate::warc::locate) finds it
    /// on the disk.
    pub file: String,
    /// Where the visit's first record begins, in bytes.
    pub offset: u64,
    /// Where its last record ends, in bytes; equal to `offset` where the visit left no record.
    pub end: u64,
    /// Where the record begins that stands for the page: its `response` or `revisit` record, else
    /// the `metadata` record of a page that was left out, else `offset`.
    pub page_offset: u64,
    /// What an index tells of its records, in their order.
    pub captures: Vec<Capture>,
}
