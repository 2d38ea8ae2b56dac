//! The document in a response.

use std::panic::{AssertUnwindSafe, catch_unwind};

use http::HeaderValue;
use web::{
    Decoded, Document, Exchange, ListingKind, ResponseMetadata, SNIFFED_LISTING_BYTES, is_gzip,
};

use crate::rules::ReadingRules;

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
    web::decode(&exchange.headers, &exchange.body, rules.max_decoded)
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
    web::read(&decoded.bytes, &metadata, &rules.canonical, &rules.limits)
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
