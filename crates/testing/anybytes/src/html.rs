//! Documents, and the media types that servers give them.

use std::collections::HashSet;

use neardup::{HashKey, PageText, SignatureBuilder};
use web::{CanonicalForm, Document, LinkKind, LinkKinds, PageUrl, ReadLimits, ResponseMetadata};

/// Every place that carries a URL.
const EVERY_KIND: LinkKinds = LinkKinds::PAGES
    .with(LinkKind::Form)
    .with(LinkKind::Script)
    .with(LinkKind::Requisite);

/// Limits that a short input reaches.
const TIGHT: ReadLimits = ReadLimits {
    kinds: EVERY_KIND,
    links: 8,
    depth: 16,
    attributes: 8,
    nodes: 64,
    tree_effort: 256,
    stream_effort: 256,
    text: 512,
    title_chars: 16,
    anchor_chars: 8,
    link_context: true,
    context_chars: 12,
    markdown: true,
    fields: true,
    audit: true,
    rel_bytes: 16,
};

/// Reads any bytes as a page in UTF-8.
pub fn html(bytes: &[u8]) {
    let wide = ReadLimits {
        kinds: EVERY_KIND,
        link_context: true,
        markdown: true,
        fields: true,
        audit: true,
        ..ReadLimits::default()
    };
    for limits in [wide, TIGHT] {
        let document = read(bytes, "text/html; charset=utf-8", &limits);
        check_document(&document, &limits, &crate::base::page());
        let again = read(bytes, "text/html; charset=utf-8", &limits);
        assert_eq!(document, again, "reading is deterministic");
    }
}

/// Reads the first line as a `Content-Type`, the rest as the body.
pub fn charset(bytes: &[u8]) {
    let (content_type, body) = crate::base::split(bytes, b"\n");
    let content_type = String::from_utf8_lossy(content_type);
    let document = read(body, &content_type, &ReadLimits::default());
    check_document(&document, &ReadLimits::default(), &crate::base::page());
}

pub(crate) fn read(bytes: &[u8], content_type: &str, limits: &ReadLimits) -> Document {
    let url = crate::base::page();
    let metadata = ResponseMetadata {
        content_type: Some(content_type),
        agent: "crawler",
        ..ResponseMetadata::of(&url)
    };
    web::read(bytes, &metadata, &CanonicalForm::default(), limits)
}

/// Asserts the promises of [`Document`].
pub(crate) fn check_document(document: &Document, limits: &ReadLimits, page: &PageUrl) {
    assert!(document.links.len() <= 2 * limits.links);
    // Ends of lines are not the page's main text.
    assert!(document.full_text().len() <= limits.text + limits.text / 8);
    // A block that is begun at the limit is still ended.
    let markdown = document.markdown().unwrap_or_default();
    assert!(markdown.len() <= 8 * limits.text + (8 << 10));
    let mut seen = HashSet::new();
    for link in &document.links {
        crate::url::is_canonical(&link.url, &CanonicalForm::default());
        assert!(link.url != *page, "no link to itself");
        assert!(seen.insert(link.url.key()), "{} twice", link.url);
        assert!(limits.kinds.has(link.kind), "{link:?} is of another kind");
        assert!(link.anchor.chars().count() <= limits.anchor_chars);
        assert!(link.rel.len() <= limits.rel_bytes);
        if let Some(context) = &link.context {
            assert!(limits.link_context);
            assert!(context.around.chars().count() <= limits.context_chars);
            assert!(!context.around.contains(['\n', '\r', '\t']));
        }
    }
    if let Some(title) = &document.title {
        assert!(title.chars().count() <= limits.title_chars);
        assert!(
            !title.contains(['\n', '\r', '\t']),
            "white space is folded: {title:?}"
        );
    }
    let text = PageText {
        text: document.full_text(),
        main_content: Some(document.compared_text()),
        title: document.title.as_deref(),
        heading: document.heading.as_deref(),
    };
    let signature_builder = SignatureBuilder::new(neardup::Features::default(), HashKey::ZERO);
    let _signature = signature_builder.signature(0, Some(text));
}
