//! Sitemaps and feeds.

use web::{CanonicalForm, ListingKind, ListingLimits, read_listing};

/// A limit that a short input reaches.
const TIGHT: ListingLimits = ListingLimits {
    entries: 3,
    requisites: 3,
};

/// Reads the first line as a `Content-Type`, the rest as a listing of its own kind and of every
/// other kind.
pub fn listings(bytes: &[u8]) {
    let (content_type, body) = crate::base::split(bytes, b"\n");
    let content_type = std::str::from_utf8(content_type).ok();
    let kinds = [
        ListingKind::Sitemap,
        ListingKind::SitemapIndex,
        ListingKind::TextSitemap,
        ListingKind::Feed,
        ListingKind::JsonFeed,
    ];
    for kind in ListingKind::of(content_type, body).into_iter().chain(kinds) {
        for limits in [ListingLimits::default(), TIGHT] {
            check_listing(kind, body, content_type, &limits);
        }
    }
}

fn check_listing(
    kind: ListingKind,
    body: &[u8],
    content_type: Option<&str>,
    limits: &ListingLimits,
) {
    let form = CanonicalForm::default();
    let page = crate::base::page();
    let listing = read_listing(kind, body, content_type, &page, &form, limits);
    assert!(listing.pages.len() + listing.further.len() <= limits.entries);
    for listed in listing.pages.iter().chain(&listing.further) {
        crate::url::is_canonical(&listed.url, &form);
        let lastmod = listed.lastmod.as_ref();
        assert!(lastmod.is_none_or(|lastmod| lastmod.first <= lastmod.last));
    }
    let mut warnings = listing.warnings.clone();
    warnings.dedup();
    assert_eq!(warnings, listing.warnings, "each at most once");
}
