//! Sitemaps in plain text: one absolute URL per line (sitemap protocol, "text file").
//!
//! Such a file has no marker, so its content decides: most lines of its beginning must be bare
//! URLs. If robots.txt names the file, one such line suffices. Other lines are skipped: sites write
//! headings, comments and notes.

use crate::html::charset;
use crate::http::media_type::{Media, essence, is_xml};
use crate::letter_case::starts_with_ignore_case;
use crate::sitemap::decoded_text::DecodedText;
use crate::sitemap::gathered::Gathered;
use crate::sitemap::listing::{ListedUrl, ListingKind, ListingWarning, SNIFFED_LISTING_BYTES};
use crate::url::page_url::MAX_URL_BYTES;

/// Maximum length of a line: the longest URL with white space around it.
const LONGEST: usize = MAX_URL_BYTES + 1024;

/// Returns the kind of a body that is such a list.
pub(super) fn of(content_type: Option<&str>, body: &[u8]) -> Option<ListingKind> {
    if !may_list(content_type, body) {
        return None;
    }
    let (urls, all) = count(content_type, body);
    (urls * 2 > all).then_some(ListingKind::TextSitemap)
}

/// Returns the kind of a text that robots.txt names as a sitemap. Its media type does not matter.
pub(super) fn of_named(content_type: Option<&str>, body: &[u8]) -> Option<ListingKind> {
    let is_list = Media::of(None, body) == Media::Text && count(content_type, body).0 > 0;
    is_list.then_some(ListingKind::TextSitemap)
}

/// Returns true for a text with a type that servers use for unknown files.
fn may_list(content_type: Option<&str>, body: &[u8]) -> bool {
    let is_unknown = |essence: &str| {
        essence.starts_with("text/")
            || essence.ends_with("/octet-stream")
            || essence.ends_with("gzip")
            || is_xml(essence)
    };
    match Media::of(content_type, body) {
        Media::Text => true,
        Media::Html | Media::Pdf => false,
        Media::Other => {
            content_type.is_some_and(|media| is_unknown(&essence(media)))
                && Media::of(None, body) == Media::Text
        }
    }
}

/// Counts the lines with a bare URL at the beginning of a body, and all of its lines except
/// comments.
fn count(content_type: Option<&str>, body: &[u8]) -> (usize, usize) {
    let head = &body[..body.len().min(SNIFFED_LISTING_BYTES)];
    let text = charset::decode(head, content_type, None).text;
    let end = match head.len() < body.len() {
        // The last line is cut.
        true => text.rfind(['\n', '\r']).unwrap_or(0),
        false => text.len(),
    };
    let lines = lines(&text[..end]).filter(|line| !line.starts_with('#'));
    lines.fold((0, 0), |(urls, all), line| {
        (urls + usize::from(is_url(line)), all + 1)
    })
}

pub(super) fn read(text: &mut DecodedText<'_>, gathered: &mut Gathered<'_>) {
    loop {
        let line = match text.line(LONGEST) {
            Ok(Some(line)) => line,
            Ok(None) => return,
            // A truncated address is a different address.
            Err(_broken) => return gathered.note(ListingWarning::Broken),
        };
        for line in lines(&line) {
            if !is_url(line) {
                gathered.note(ListingWarning::NoUrl);
            } else if let Some(url) = gathered.resolve(None, line) {
                gathered.keep_page(ListedUrl { url, lastmod: None });
            }
        }
        if gathered.is_full {
            return;
        }
    }
}

/// Returns the lines that are not blank, without a byte order mark.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.trim_start_matches('\u{feff}');
    text.split(['\n', '\r'])
        .map(str::trim)
        .filter(|line| !line.is_empty())
}

fn is_url(line: &str) -> bool {
    let begins = |scheme: &str| starts_with_ignore_case(line, scheme);
    let is_absolute = begins("http://") || begins("https://");
    is_absolute && !line.contains(char::is_whitespace)
}
