//! Recognition of sitemaps and feeds by their first bytes.

use crate::letter_case::starts_with_ignore_case;
use crate::sitemap::decoded_text::utf_16;
use crate::sitemap::listing::{ListingKind, SNIFFED_LISTING_BYTES};
use crate::sitemap::{json_feed, text_sitemap, xml};

impl ListingKind {
    /// Returns the kind of a file that robots.txt names as a sitemap; `None` if it is not a
    /// listing.
    #[must_use]
    pub fn of_named(content_type: Option<&str>, body: &[u8]) -> Option<Self> {
        Self::of(content_type, body).or_else(|| text_sitemap::of_named(content_type, body))
    }

    /// Returns the kind of a body by its first bytes; `None` if it is not a listing. `content_type`
    /// matters for plain text only.
    #[must_use]
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Option<Self> {
        let head = &body[..body.len().min(SNIFFED_LISTING_BYTES)];
        if let Some(encoding) = utf_16(head) {
            let (text, _) = encoding.decode_with_bom_removal(head);
            return match first_char(&text) {
                Some('<') => xml::root(&text),
                _ => text_sitemap::of(content_type, body),
            };
        }
        let start = head
            .strip_prefix(b"\xef\xbb\xbf")
            .unwrap_or(head)
            .trim_ascii_start();
        match start.first() {
            Some(b'<') if is_page(start) => None,
            Some(b'<') => xml::root(&String::from_utf8_lossy(start)),
            Some(b'{') => json_feed::is_feed(start).then_some(Self::JsonFeed),
            Some(_) => text_sitemap::of(content_type, body),
            None => None,
        }
    }
}

fn first_char(text: &str) -> Option<char> {
    text.trim_start().chars().next()
}

/// Recognises the usual beginnings of a page before anything is parsed.
fn is_page(start: &[u8]) -> bool {
    let begins = |page: &str| starts_with_ignore_case(start, page);
    begins("<!doctype html") || begins("<html")
}
