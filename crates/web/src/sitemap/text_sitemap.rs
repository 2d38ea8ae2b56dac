//! Sitemaps in plain text: an absolute URL a line (sitemap protocol, "text file").
//!
//! Nothing marks such a file, so its content decides: the first line and nine of ten of all lines
//! must be bare URLs.

use crate::html::charset;
use crate::http::media_type::Media;
use crate::letter_case::starts_with_ignore_case;
use crate::sitemap::decoded_text::DecodedText;
use crate::sitemap::gathered::Gathered;
use crate::sitemap::listing::{ListedUrl, ListingKind, ListingWarning};
use crate::url::page_url::MAX_URL_BYTES;

/// Maximum length of a line: the longest URL with white space around it.
const LONGEST: usize = MAX_URL_BYTES + 1024;

/// Returns the kind of a body that is such a list.
pub(super) fn of(content_type: Option<&str>, body: &[u8]) -> Option<ListingKind> {
    if Media::of(content_type, body) != Media::Text {
        return None;
    }
    let text = charset::decode(body, content_type, None).text;
    let mut lines = lines(&text).peekable();
    if !lines.peek().is_some_and(|first| is_url(first)) {
        return None;
    }
    let (mut urls, mut all) = (0_usize, 0_usize);
    for line in lines {
        all += 1;
        urls += usize::from(is_url(line));
    }
    (urls * 10 >= all * 9).then_some(ListingKind::TextSitemap)
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
