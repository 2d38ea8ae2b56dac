//! Style sheets, and other requisites that have requisites of their own.

use web::{LinkKind, LinkKinds, ReadLimits};

use crate::html::{check_document, read};

const KINDS: LinkKinds = LinkKinds::PAGES.with(LinkKind::Requisite);

/// Reads any bytes as a style sheet, a drawing, a manifest, and a style in a page.
pub fn css(bytes: &[u8]) {
    let wide = ReadLimits {
        kinds: KINDS,
        ..ReadLimits::default()
    };
    let tight = ReadLimits {
        links: 8,
        stream_effort: 64,
        ..wide.clone()
    };
    for limits in [wide, tight] {
        for content_type in ["text/css", "image/svg+xml", "application/manifest+json"] {
            let document = read(bytes, content_type, &limits);
            check_document(&document, &limits, &crate::base::page());
            assert!(document.text.is_empty(), "it is no page");
            for link in &document.links {
                assert!(
                    link.kind == LinkKind::Requisite && link.is_needed,
                    "{link:?} leads away"
                );
            }
        }
        let page = [b"<style>", bytes, b"</style><p style=\"", bytes, b"\">"].concat();
        let document = read(&page, "text/html; charset=utf-8", &limits);
        check_document(&document, &limits, &crate::base::page());
    }
}
