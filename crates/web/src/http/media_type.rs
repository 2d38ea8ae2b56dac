//! Media types: the kind of document that a body is.

use crate::letter_case::starts_with_ignore_case;

/// The kind of a body, which decides how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    /// HTML or XHTML: text, links, directives.
    Html,
    /// Plain text: text only.
    Text,
    /// Anything else: archived, not read.
    Other,
}

/// Bytes of a body without a type that are sniffed (MIME Sniffing standard, section 5.2).
const SNIFFED_BYTES: usize = 1445;

impl Media {
    /// Returns the kind given by the header, or by the first bytes if the header is missing or says
    /// nothing.
    pub(crate) fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        match content_type.map(essence).as_deref() {
            Some("text/html" | "application/xhtml+xml") => Self::Html,
            Some("text/plain" | "text/markdown") => Self::Text,
            None | Some("" | "*/*" | "unknown/unknown" | "application/unknown") => sniff(body),
            Some(_) => Self::Other,
        }
    }
}

/// Returns the essence of a `Content-Type`: type and subtype without parameters, in lower case
/// (MIME Sniffing standard, section 4.1).
#[must_use]
pub fn essence(content_type: &str) -> String {
    content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Recognises pages by the MIME Sniffing standard, section 7.1, as far as it separates them from
/// other content.
fn sniff(body: &[u8]) -> Media {
    const PAGES: &[&[u8]] = &[
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<body",
        b"<title",
        b"<script",
        b"<style",
        b"<meta",
        b"<div",
        b"<h1",
        b"<table",
        b"<a",
        b"<p",
        b"<br",
        b"<b",
        b"<!--",
    ];
    let start = &body[..body.len().min(SNIFFED_BYTES)];
    if start.starts_with(b"\xfe\xff") || start.starts_with(b"\xff\xfe") {
        return Media::Text;
    }
    let text = start
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(start)
        .trim_ascii_start();
    let is_page = PAGES.iter().any(|page| {
        starts_with_ignore_case(text, page)
            && (page.ends_with(b"--")
                || matches!(
                    text.get(page.len()),
                    None | Some(b'>' | b'/' | b'\t'..=b' ')
                ))
    });
    if is_page {
        return Media::Html;
    }
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if text.is_empty()
        || text.starts_with(b"%PDF-")
        || text.starts_with(b"<?xml")
        || text.iter().any(is_binary)
    {
        return Media::Other;
    }
    Media::Text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_decides() {
        for (content_type, media) in [
            ("text/html", Media::Html),
            ("Text/HTML;charset=utf-8", Media::Html),
            (" application/xhtml+xml ; x=y", Media::Html),
            ("text/plain", Media::Text),
            ("application/pdf", Media::Other),
            ("application/xml", Media::Other),
            ("text/css", Media::Other),
            ("nonsense", Media::Other),
        ] {
            assert_eq!(
                Media::of(Some(content_type), b"<html>"),
                media,
                "{content_type}"
            );
        }
    }

    #[test]
    fn without_a_header_the_first_bytes_do() {
        for (body, media) in [
            (&b"<!DOCTYPE html><p>x"[..], Media::Html),
            (b"\xef\xbb\xbf\n  <HTML lang=en>", Media::Html),
            (b"<head>", Media::Html),
            (b"<!-- x --><body>", Media::Html),
            (b"<abbr>", Media::Text),
            (b"just words", Media::Text),
            (b"\xff\xfeh\0i\0", Media::Text),
            (b"<?xml version=\"1.0\"?><rss/>", Media::Other),
            (b"%PDF-1.7", Media::Other),
            (b"\x89PNG\r\n\x1a\n\0\0", Media::Other),
            (b"", Media::Other),
        ] {
            assert_eq!(
                Media::of(None, body),
                media,
                "{}",
                String::from_utf8_lossy(body)
            );
            assert_eq!(Media::of(Some(""), body), media);
        }
    }
}
