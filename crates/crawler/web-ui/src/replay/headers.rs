//! The header fields of captures, which keep a hostile page in its frame.

use axum::http::{HeaderName, header};

/// The header fields of all answers with a capture, and of refusals of one.
///
/// The page has no origin, runs no script, opens no window and sends no form (`sandbox`). It loads
/// captures, and data that it contains. It may be embedded, since a page without an origin is
/// foreign to every address; the key keeps other sites out.
pub(crate) const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; img-src 'self' data: blob:; style-src 'self' data: 'unsafe-inline'; \
         font-src 'self' data:; media-src 'self' data: blob:; frame-src 'self'; \
         object-src 'self'; base-uri 'none'; form-action 'none'; sandbox",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    // A name in a link is a request, too: to the resolver.
    (HeaderName::from_static("x-dns-prefetch-control"), "off"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "cross-origin",
    ),
    // Fonts are always requested with CORS.
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
];
