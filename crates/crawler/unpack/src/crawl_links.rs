//! The links that a crawl finds in a page: the oracle of what is rewritten.

use web::{CanonicalForm, Link, LinkKind, LinkKinds, PageUrl, ReadLimits, ResponseMetadata, read};

/// Returns the links that a crawl with page requisites finds in a page.
pub(crate) fn links_of_the_crawl(html: &str, url: &str) -> Vec<Link> {
    let form = CanonicalForm::default();
    let url = PageUrl::parse(url, &form).unwrap();
    let metadata = ResponseMetadata {
        content_type: Some("text/html; charset=utf-8"),
        ..ResponseMetadata::of(&url)
    };
    let limits = ReadLimits {
        kinds: LinkKinds::PAGES.with(LinkKind::Requisite),
        ..ReadLimits::default()
    };
    read(html.as_bytes(), &metadata, &form, &limits).links
}
