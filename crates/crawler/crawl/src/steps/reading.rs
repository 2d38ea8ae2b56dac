//! Reading: from a response to a document and its signature.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fetch::MemoryShare;
use http::header::CONTENT_TYPE;
use journal::{Cut, DiscoveredUrl, Relevance, UnreadFormat};
use neardup::PageSignature;
use policy::Policy;
use reading::page_text;
use sinks::{DigestAlgorithm, PayloadDigest};
use web::{Body, Decoded, Document, Exchange, Interstitial, ListingKind, Media, Warning};

use crate::context::CrawlContext;
use crate::fault::Fault;
use crate::runtime::adaptive_signatures::AdaptiveSignatures;
use crate::runtime::focus::{Focus, JudgedPage};
use crate::steps::rendered_page::RenderedPage;
use crate::steps::{limits, listings};

/// The kind of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A page that the user named. It is compared like any other.
    Seed,
    /// A page, compared with others by its text.
    Page,
    /// A page that robots.txt names as a sitemap.
    Sitemap,
    /// A requisite of a page, compared byte by byte.
    Requisite,
}

impl Kind {
    /// Returns the kind of the response to a URL that was queued like this.
    pub(crate) fn of(found: &DiscoveredUrl) -> Self {
        match (found.requisite, found.depth, &found.via) {
            (0, 0, None) => Self::Seed,
            (0, ..) if listings::is_named(found) => Self::Sitemap,
            (0, ..) => Self::Page,
            _ => Self::Requisite,
        }
    }
}

/// A choice of the pages that are to be judged by their DOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AwaitedDoms {
    No,
    /// Only pages with next to no text without their scripts.
    OfShells,
    /// Only pages with scripts.
    OfScripts,
    /// All HTML pages.
    All,
}

/// The content of a response.
pub(crate) struct Reading {
    /// SHA-1 of the payload as received.
    pub(crate) payload: PayloadDigest,
    /// The name of the body without its content codings, which may be packed differently each time;
    /// `None` if the body has no coding, or was not received and decoded whole.
    pub(crate) content: Option<u128>,
    /// The page's signature.
    pub(crate) signature: PageSignature,
    /// The document; `None` if reading it failed.
    pub(crate) document: Option<Document>,
    /// The kind of listing, if the page is a sitemap or a feed.
    pub(crate) listing: Option<ListingKind>,
    /// The page as the topic judges it; `None` without a topic, and for anything but a page of
    /// text.
    pub(crate) judged: Option<JudgedPage>,
    /// True if the page as received has next to no text without its scripts.
    pub(crate) needs_scripts: bool,
    /// True for a page that is to be judged by its DOM, once its scripts ran.
    pub(crate) awaits_dom: bool,
    /// True if all of this except `payload` and `needs_scripts` was read from the DOM of the page,
    /// after its scripts ran.
    pub(crate) is_of_dom: bool,
    /// The result of running its scripts.
    pub(crate) rendered: RenderedPage,
    /// The limits that cut it.
    pub(crate) cuts: Vec<Cut>,
    /// The kind of a document whose text is not read.
    pub(crate) unread: Option<UnreadFormat>,
    /// The warnings of the content.
    pub(crate) warnings: Vec<Warning>,
    /// The interstitial page that came in place of the page.
    pub(crate) interstitial: Option<Interstitial>,
    /// The share of the memory budget that the document takes while it exists.
    _share: Option<MemoryShare>,
}

/// The largest plain body that is read on the reactor. Reading it takes half a millisecond; a
/// switch to another thread and back costs a tenth of that.
const SMALL_BODY: usize = 32 << 10;

/// Minimum size of a large body, decoded. Only decoding shows the size, so reading begins with a
/// share for this much, and restarts with a share for the maximum.
const LARGE_BODY: u64 = 1 << 20;

/// Bytes of memory that reading takes for each decoded byte, about: the tree, its text, and copies
/// of both.
const READING_FACTOR: u64 = 8;

/// Usual number of decoded bytes per received byte. A body that grows more is still read, within
/// [`LARGE_BODY`].
const USUAL_GROWTH: u64 = 12;

/// Reads a response: off the reactor, unless it is small, and within the memory budget.
///
/// # Errors
/// [`Fault::Spool`] if the body is on the disk and cannot be read back; [`Fault::Topic`] if the
/// words of a seed cannot be kept.
pub(crate) async fn read(
    context: &Arc<CrawlContext>,
    exchange: &Exchange,
    kind: Kind,
    doms: AwaitedDoms,
) -> Result<Reading, Fault> {
    read_by(context, exchange, Reader::new(context, kind, doms)).await
}

/// Reads a response whose scripts cannot be run, like [`read`].
///
/// # Errors
/// As for [`read`].
pub(crate) async fn read_as_received(
    context: &Arc<CrawlContext>,
    exchange: &Exchange,
    kind: Kind,
) -> Result<Reading, Fault> {
    read(context, exchange, kind, AwaitedDoms::No).await
}

async fn read_by(
    context: &Arc<CrawlContext>,
    exchange: &Exchange,
    reader: Reader<'_>,
) -> Result<Reading, Fault> {
    let rules = &context.policy.reading;
    let is_small = exchange.body.held().is_some_and(|body| {
        body.len() <= SMALL_BODY
            && !is_coded(exchange)
            && !web::is_gzip(body)
            && !reading::is_read_as_pdf(rules, exchange, body)
    });
    let reading = if is_small && !reader.may_grow_topic() {
        reader.try_read(exchange)
    } else {
        read_elsewhere(context, exchange, reader).await
    };
    let reading = reading
        .unwrap_or_else(|| reader.read_bytes_only(exchange))
        .map_err(Fault::Spool)?;
    if reader.may_grow_topic() {
        keep_grown_topic(context).await?;
    }
    Ok(reading)
}

/// Writes the topic if seeds that were read have become examples of it: before they are settled,
/// because a seed that is settled is not read again.
async fn keep_grown_topic(context: &Arc<CrawlContext>) -> Result<(), Fault> {
    match &context.focus {
        Some(focus) => focus.save_topic().await.map_err(Fault::Topic),
        None => Ok(()),
    }
}

fn is_coded(exchange: &Exchange) -> bool {
    exchange.header("content-encoding").is_some()
}

/// Reads a response on another thread; returns `None` if that panicked.
async fn read_elsewhere(
    context: &Arc<CrawlContext>,
    exchange: &Exchange,
    reader: Reader<'_>,
) -> Option<io::Result<Reading>> {
    let (kind, doms) = (reader.kind, reader.doms);
    let growth = if is_coded(exchange) { USUAL_GROWTH } else { 1 };
    let likely = exchange.body.len().saturating_mul(growth).min(LARGE_BODY);
    let share = context.memory.page(likely * READING_FACTOR).await;
    let (context_too, exchange_too) = (Arc::clone(context), exchange.clone());
    let unless_large =
        move || Reader::new(&context_too, kind, doms).read_unless_large(&exchange_too);
    if let Some(reading) = context.compute(unless_large).await?.transpose() {
        return Some(reading.map(|reading| reading.with(share)));
    }
    drop(share);
    let largest = context.policy.reading.max_decoded * READING_FACTOR;
    let share = context.memory.large_page(largest).await;
    let (context_too, exchange) = (Arc::clone(context), exchange.clone());
    let whole = move || Reader::new(&context_too, kind, doms).read(&exchange);
    let reading = context.compute(whole).await?;
    Some(reading.map(|reading| reading.with(share)))
}

impl Reading {
    /// Returns the relevance to the topic; `None` without a topic, and for anything but a page of
    /// text.
    pub(crate) fn relevance(&self) -> Option<Relevance> {
        self.judged.as_ref().map(|judged| judged.relevance)
    }

    /// Replaces the reading of a page by one of its DOM.
    pub(crate) fn replace_by_dom(&mut self, dom: Self) {
        *self = Self {
            payload: self.payload,
            content: None,
            needs_scripts: self.needs_scripts,
            is_of_dom: true,
            ..dom
        };
    }

    fn with(self, share: MemoryShare) -> Self {
        Self {
            _share: Some(share),
            ..self
        }
    }
}

/// The rules for reading a kind of response.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) signatures: &'a AdaptiveSignatures,
    /// The topic, if pages are judged by one.
    pub(crate) focus: Option<&'a Focus>,
    pub(crate) kind: Kind,
    /// The pages that are not judged as received, because their scripts will be run.
    pub(crate) doms: AwaitedDoms,
}

impl<'a> Reader<'a> {
    fn new(context: &'a CrawlContext, kind: Kind, doms: AwaitedDoms) -> Self {
        Self {
            policy: &context.policy,
            signatures: &context.adaptive_signatures,
            focus: context.focus.as_ref(),
            kind,
            doms,
        }
    }

    /// Returns true if the scripts of a page will be run. It is judged by its DOM, so that its text
    /// counts once.
    fn awaits_dom(self, document: &Document, is_listing: bool) -> bool {
        let is_page = matches!(self.kind, Kind::Seed | Kind::Page)
            && document.media == Media::Html
            && !is_listing;
        is_page
            && match self.doms {
                AwaitedDoms::No => false,
                AwaitedDoms::OfShells => document.needs_scripts,
                AwaitedDoms::OfScripts => document.has_scripts,
                AwaitedDoms::All => true,
            }
    }

    /// Returns true if the page may become an example of the topic, which is then rebuilt.
    fn may_grow_topic(self) -> bool {
        self.kind == Kind::Seed && self.focus.is_some_and(Focus::grows)
    }

    /// Reads a response from an archive, on this thread.
    pub(crate) fn read_archived(self, exchange: &Exchange) -> Reading {
        self.try_read(exchange)
            .unwrap_or_else(|| self.read_bytes_only(exchange))
            .expect("what comes from an archive is in memory")
    }

    /// Reads a response on this thread; returns `None` if that panicked: a document can be that
    /// hostile to a library, and the panic is the page's fault.
    fn try_read(self, exchange: &Exchange) -> Option<io::Result<Reading>> {
        catch_unwind(AssertUnwindSafe(|| self.read(exchange))).ok()
    }

    fn read(self, exchange: &Exchange) -> io::Result<Reading> {
        self.read_decoded(exchange, &reading::decoded(&self.policy.reading, exchange))
    }

    /// Reads a response unless its body is large. The beginning of a sitemap or feed is enough: its
    /// text is not compared, and its entries are read elsewhere.
    fn read_unless_large(self, exchange: &Exchange) -> io::Result<Option<Reading>> {
        let most = LARGE_BODY.min(self.policy.reading.max_decoded);
        let decoded = web::decode(&exchange.headers, &exchange.body, most);
        if decoded.truncated && self.listing(exchange, &decoded).is_none() {
            return Ok(None);
        }
        self.read_decoded(exchange, &decoded).map(Some)
    }

    fn read_decoded(self, exchange: &Exchange, decoded: &Decoded) -> io::Result<Reading> {
        let (payload, name) = digests(self.policy, &exchange.body)?;
        let listing = self.listing(exchange, decoded);
        let document = reading::document(&self.policy.reading, exchange, decoded, listing);
        let awaits_dom = self.awaits_dom(&document, listing.is_some());
        // Only pages are compared by text: similar texts say little about files of data.
        let is_compared = document.media.is_page() && self.kind != Kind::Requisite && !awaits_dom;
        let text = is_compared.then(|| page_text(&document, self.policy.reading.main_content));
        // Signature and topic are made from the same hashes of the words.
        let hashed = text.map(|text| self.signatures.hashed(text.text));
        let text = text.zip(hashed.as_ref());
        let by_topic = self.focus.zip(text);
        let is_listing = listing.is_some();
        Ok(Reading {
            payload,
            content: content_name(exchange, decoded),
            cuts: limits::cuts(exchange, decoded, &document, is_listing),
            unread: limits::unread_format(exchange, decoded, &document, is_listing),
            judged: by_topic.and_then(|(focus, (text, hashed))| match self.kind {
                Kind::Seed => focus.judge_seed(&text, hashed, &exchange.url),
                Kind::Page | Kind::Sitemap | Kind::Requisite => {
                    focus.judge(&text, hashed, &exchange.url)
                }
            }),
            signature: self.signatures.signature(name, text),
            needs_scripts: document.needs_scripts,
            awaits_dom,
            is_of_dom: false,
            rendered: RenderedPage::default(),
            interstitial: Interstitial::of(
                &exchange.url,
                &exchange.headers,
                &document,
                &decoded.bytes,
            ),
            document: Some(document),
            listing,
            warnings: warnings(exchange, decoded),
            _share: None,
        })
    }

    fn listing(self, exchange: &Exchange, decoded: &Decoded) -> Option<ListingKind> {
        let is_named = self.kind == Kind::Sitemap;
        reading::listing_kind(&self.policy.reading, exchange, decoded, is_named)
    }

    /// Returns the reading of a response whose document cannot be read.
    fn read_bytes_only(self, exchange: &Exchange) -> io::Result<Reading> {
        tracing::error!(
            url = %exchange.url,
            "reading this page panicked: it is compared only by its bytes"
        );
        let (payload, name) = digests(self.policy, &exchange.body)?;
        Ok(Reading {
            payload,
            content: None,
            signature: self.signatures.signature(name, None),
            document: None,
            interstitial: None,
            needs_scripts: false,
            awaits_dom: false,
            is_of_dom: false,
            rendered: RenderedPage::default(),
            listing: None,
            judged: None,
            cuts: limits::cut_of_body(exchange).into_iter().collect(),
            unread: None,
            warnings: Vec::new(),
            _share: None,
        })
    }
}

/// Returns the warnings in the content of a response.
fn warnings(exchange: &Exchange, decoded: &Decoded) -> Vec<Warning> {
    let coding = decoded.error.map(|error| {
        tracing::debug!(url = %exchange.url, %error, "content coding");
        Warning::ContentCoding
    });
    let mut fields = exchange.headers.get_all(CONTENT_TYPE).iter();
    let first = fields
        .next()
        .map(|field| field.to_str().unwrap_or_default());
    let content_type = exchange.content_type();
    let is_odd = fields.next().is_some() || first.map(str::trim) != content_type.as_deref();
    let media = is_odd.then_some(Warning::ContentType);
    coding.into_iter().chain(media).collect()
}

/// Returns the name of a body without its content codings; `None` unless it was read whole.
fn content_name(exchange: &Exchange, decoded: &Decoded) -> Option<u128> {
    let is_whole = exchange.truncated.is_none() && !decoded.truncated && decoded.error.is_none();
    (is_coded(exchange) && is_whole).then(|| PayloadDigest::of(&decoded.bytes).name())
}

/// Returns the payload's digest for the archive and its name in the index, computed once if both
/// are SHA-1.
fn digests(policy: &Policy, payload: &Body) -> io::Result<(PayloadDigest, u128)> {
    let sha1 = DigestAlgorithm::Sha1.of_body(payload)?;
    let name = sha1.name();
    let digest = match policy.digest {
        DigestAlgorithm::Sha1 => sha1,
        other @ DigestAlgorithm::Sha256 => other.of_body(payload)?,
    };
    Ok((digest, name))
}
