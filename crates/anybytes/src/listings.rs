//! Sitemaps and feeds.

use web::{CanonicalForm, ListingKind, ListingLimits, read_listing};

/// A limit that a short input reaches.
const TIGHT: ListingLimits = ListingLimits { entries: 3 };

/// The first line as a `Content-Type`, the rest as a listing of the kind that it is, and of every
/// other kind.
pub fn listings(bytes: &[u8]) {
    let end = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(bytes.len());
    let (content_type, body) = bytes.split_at(end);
    let content_type = std::str::from_utf8(content_type).ok();
    let body = body.get(1..).unwrap_or_default();
    let kinds = [
        ListingKind::Sitemap,
        ListingKind::SitemapIndex,
        ListingKind::TextSitemap,
        ListingKind::Feed,
        ListingKind::JsonFeed,
    ];
    for kind in ListingKind::of(content_type, body).into_iter().chain(kinds) {
        for limits in [ListingLimits::default(), TIGHT] {
            keeps_its_word(kind, body, content_type, &limits);
        }
    }
}

fn keeps_its_word(
    kind: ListingKind,
    body: &[u8],
    content_type: Option<&str>,
    limits: &ListingLimits,
) {
    let form = CanonicalForm::default();
    let listing = read_listing(
        kind,
        body,
        content_type,
        &crate::base::page(),
        &form,
        limits,
    );
    assert!(listing.pages.len() + listing.further.len() <= limits.entries);
    for listed in listing.pages.iter().chain(&listing.further) {
        crate::url::is_canonical(&listed.url, &form);
        assert!(
            listed
                .lastmod
                .is_none_or(|lastmod| lastmod.first <= lastmod.last)
        );
    }
    let mut warnings = listing.warnings.clone();
    warnings.dedup();
    assert_eq!(warnings, listing.warnings, "each at most once");
}
