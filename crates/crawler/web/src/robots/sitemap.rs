//! The values of `Sitemap` lines: whole URLs, and common substitutes.
//!
//! The sitemap protocol asks for one whole URL per line. Sites also write paths, several URLs, and
//! their own host without a scheme.

use std::fmt::Write;

use crate::letter_case::starts_with_ignore_case;
use crate::url::canonical::CanonicalForm;
use crate::url::page_url::PageUrl;

/// Returns the references in a value. A space separates whole URLs only, because file names contain
/// spaces, too.
pub(super) fn references(value: &[u8]) -> Vec<String> {
    let value = text(value);
    let mut references: Vec<String> = Vec::new();
    for word in value.split_ascii_whitespace() {
        let word = word.trim_start_matches(OPENING);
        match references.last_mut() {
            Some(last) if !is_whole(word) => {
                last.push(' ');
                last.push_str(word);
            }
            _ => references.push(word.to_owned()),
        }
    }
    for reference in &mut references {
        let end = reference.trim_end_matches(CLOSING).trim_end().len();
        reference.truncate(end);
    }
    references.retain(|reference| !reference.is_empty());
    references
}

/// Quotation marks and brackets before and after a URL.
const OPENING: &[char] = &['<', '"', '\''];
const CLOSING: &[char] = &['>', '"', '\'', ',', ';'];

/// Returns the URL that a reference in the file at `robots` means.
pub(super) fn resolve(reference: &str, robots: &PageUrl, form: &CanonicalForm) -> Option<PageUrl> {
    if !is_whole(reference) {
        let host = reference.split(['/', ':']).next().unwrap_or_default();
        let our_host = robots.as_url().host_str().unwrap_or_default();
        if without_www(host).eq_ignore_ascii_case(without_www(our_host)) {
            return robots.join(&format!("//{reference}"), form).ok();
        }
    }
    robots.join(reference, form).ok()
}

fn is_whole(word: &str) -> bool {
    let begins = |scheme: &str| starts_with_ignore_case(word, scheme);
    begins("http://") || begins("https://")
}

fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

/// Returns a value as text; bytes that are not UTF-8 are percent-encoded.
fn text(value: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(value) {
        return text.to_owned();
    }
    let mut text = String::new();
    for &byte in value {
        match byte {
            0..=0x7f => text.push(char::from(byte)),
            _ => write!(text, "%{byte:02X}").expect("a string takes everything"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sites_write_instead_of_one_whole_url_is_read() {
        let form = CanonicalForm::keep_all();
        let robots = PageUrl::parse("https://www.a.test/robots.txt", &form).unwrap();
        for (value, expected) in [
            (&b"https://b.test/s.xml"[..], &["https://b.test/s.xml"][..]),
            (b"/s.xml", &["https://www.a.test/s.xml"]),
            (b"s.xml", &["https://www.a.test/s.xml"]),
            (b"//b.test/s.xml", &["https://b.test/s.xml"]),
            (b"/my map.xml", &["https://www.a.test/my%20map.xml"]),
            (b"http://b.test/a map.xml", &["http://b.test/a%20map.xml"]),
            (
                b"http://b.test/1 HTTP://b.test/2",
                &["http://b.test/1", "http://b.test/2"],
            ),
            (
                b"http://b.test/1, http://b.test/2",
                &["http://b.test/1", "http://b.test/2"],
            ),
            (b"<http://b.test/s.xml>", &["http://b.test/s.xml"]),
            (b"\"/s.xml\"", &["https://www.a.test/s.xml"]),
            (b"a.test/s.xml", &["https://a.test/s.xml"]),
            (b"/caf\xe9.xml", &["https://www.a.test/caf%E9.xml"]),
            (b"ftp://b.test/s.xml", &[]),
            (b"", &[]),
            (b" < > ", &[]),
        ] {
            let references = references(value);
            let urls: Vec<String> = references
                .iter()
                .filter_map(|reference| resolve(reference, &robots, &form))
                .map(|url| url.to_string())
                .collect();
            assert_eq!(urls, expected, "{}", String::from_utf8_lossy(value));
        }
    }
}
