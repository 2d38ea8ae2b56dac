//! The document in a response.

use std::panic::{AssertUnwindSafe, catch_unwind};

use http::HeaderValue;
use web::{
    CanonicalForm, Decoded, Document, Exchange, ListingKind, PdfFailure, ReadLimits, ReadPdf,
    ResponseMetadata, SNIFFED_LISTING_BYTES, is_gzip,
};

use crate::rules::ReadingRules;

/// Maximum number of bytes of a decoded PDF: a part of one cannot be read.
const MAX_PDF: u64 = 64 << 20;

/// Returns the document of a response, read on this thread; `None` if reading it failed.
#[must_use]
pub fn document_here(rules: &ReadingRules, exchange: &Exchange) -> Option<Document> {
    catch_unwind(AssertUnwindSafe(|| {
        let decoded = decoded(rules, exchange);
        let listing = listing_kind(rules, exchange, &decoded, false);
        document(rules, exchange, &decoded, listing)
    }))
    .ok()
}

/// Returns the body of a response without its content codings, up to the limit of a document.
#[must_use]
pub fn decoded(rules: &ReadingRules, exchange: &Exchange) -> Decoded {
    let decoded = |most| web::decode(&exchange.headers, &exchange.body, most);
    let beginning = decoded(rules.max_decoded);
    match beginning.truncated && is_read_as_pdf(rules, exchange, &beginning.bytes) {
        true => decoded(MAX_PDF),
        false => beginning,
    }
}

/// Returns true for a PDF that is read for its text, which takes another process. `body` is the
/// body without its content coding, or the beginning of that.
#[must_use]
pub fn is_read_as_pdf(rules: &ReadingRules, exchange: &Exchange, body: &[u8]) -> bool {
    rules.pdf.is_some() && web::is_pdf(exchange.content_type().as_deref(), body)
}

/// Returns the document in a response, which may be a listing.
#[must_use]
pub fn document(
    rules: &ReadingRules,
    exchange: &Exchange,
    decoded: &Decoded,
    listing: Option<ListingKind>,
) -> Document {
    let values = |name| exchange.headers.get_all(name).iter();
    // Invalid bytes in a value leave the rest of it valid.
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let tags: Vec<_> = values("x-robots-tag").map(text).collect();
    let links: Vec<_> = values("link").map(web::url_field).collect();
    let url_in = |name| exchange.headers.get(name).map(web::url_field);
    let (content_location, refresh) = (url_in("content-location"), url_in("refresh"));
    let content_type = exchange.content_type();
    let is_markup = listing.is_some_and(ListingKind::is_markup);
    let metadata = ResponseMetadata {
        url: &exchange.url,
        // Some servers call a listing HTML, and it has no text to compare.
        content_type: match is_markup {
            true => Some("application/xml"),
            false => content_type.as_deref(),
        },
        x_robots_tag: &tags.iter().map(String::as_str).collect::<Vec<_>>(),
        link: &links.iter().map(AsRef::as_ref).collect::<Vec<_>>(),
        content_location: content_location.as_deref(),
        refresh: refresh.as_deref(),
        agent: &rules.agent,
        main: Some(&rules.main_selectors),
        fields: Some(&rules.fields),
        shared: rules.shared_lines.as_deref(),
    };
    let body = ReceivedBody {
        bytes: &decoded.bytes,
        is_whole: exchange.truncated.is_none() && !decoded.truncated && decoded.error.is_none(),
    };
    let pdf = rules.pdf.filter(|_| listing.is_none());
    read_body(body, pdf, &metadata, &rules.canonical, &rules.limits)
}

/// A body without its content codings.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedBody<'a> {
    /// Its bytes.
    pub bytes: &'a [u8],
    /// False if these are only a part of it.
    pub is_whole: bool,
}

/// Reads a body: a PDF by `pdf`, if PDFs are read, and anything else by [`web::read()`].
#[must_use]
pub fn read_body(
    body: ReceivedBody<'_>,
    pdf: Option<ReadPdf>,
    metadata: &ResponseMetadata<'_>,
    form: &CanonicalForm,
    limits: &ReadLimits,
) -> Document {
    let pdf = pdf.filter(|_| web::is_pdf(metadata.content_type, body.bytes));
    let Some(read_pdf) = pdf else {
        return web::read(body.bytes, metadata, form, limits);
    };
    let found = match body.is_whole {
        true => read_pdf(body.bytes),
        false => Err(PdfFailure::Partial),
    };
    web::read_pdf(found, metadata, form, limits)
}

/// Returns the kind of listing in a body, if listings of that kind are wanted. `decoded` is the
/// body without its content coding, or the beginning of that; `is_named` is true for a file that
/// robots.txt names as a sitemap.
#[must_use]
pub fn listing_kind(
    rules: &ReadingRules,
    exchange: &Exchange,
    decoded: &Decoded,
    is_named: bool,
) -> Option<ListingKind> {
    let wanted = &rules.listings;
    if is_gzip(&decoded.bytes) {
        let head = web::gunzip(&decoded.bytes, SNIFFED_LISTING_BYTES as u64);
        return wanted.kind_of(None, &head.bytes, is_named);
    }
    let content_type = exchange.content_type();
    wanted.kind_of(content_type.as_deref(), &decoded.bytes, is_named)
}
