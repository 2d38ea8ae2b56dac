//! Names of the attributes that lazy loaders keep URLs in.

use crate::letter_case::starts_with_ignore_case;

/// Attributes of the lazy loaders in use: lazysizes, lozad, vanilla-lazyload, Lazy Load of jQuery,
/// a3 Lazy Load, WP Rocket, Jetpack, Google's pagespeed, Rocket Loader, Flickity.
pub(crate) const LAZY: &[&str] = &[
    "data-src",
    "data-srcset",
    "data-original",
    "data-original-src",
    "data-original-set",
    "data-full-src",
    "data-full-url",
    "data-lazy",
    "data-lazy-src",
    "data-lazy-srcset",
    "data-lazy-original",
    "data-lazyload",
    "data-bg",
    "data-bg-src",
    "data-bg-multi",
    "data-bg-hidpi",
    "data-background",
    "data-background-image",
    "data-background-image-set",
    "data-image",
    "data-image-src",
    "data-img",
    "data-img-src",
    "data-hi-res-src",
    "data-hires",
    "data-highres",
    "data-large-file",
    "data-large-src",
    "data-orig-file",
    "data-orig-src",
    "data-poster",
    "data-thumb",
    "data-echo",
    "data-defer-src",
    "data-delay-src",
    "data-cfsrc",
    "data-pagespeed-lazy-src",
    "data-flickity-lazyload",
    "data-retina",
    "data-src-retina",
    "data-zoom-image",
];

/// Returns the attribute of lazy loaders with this name.
pub(crate) fn lazy_name(name: &str) -> Option<&'static str> {
    if !starts_with_ignore_case(name, "data-") {
        return None;
    }
    LAZY.iter()
        .find(|lazy| lazy.eq_ignore_ascii_case(name))
        .copied()
}
