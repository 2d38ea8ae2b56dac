//! Media types: the kind of document that a body is.

use http::HeaderMap;
use http::header::CONTENT_TYPE;

use crate::http::xml_root::XmlRoot;
use crate::letter_case::starts_with_ignore_case;

/// Kind of a body, which decides how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Media {
    /// HTML or XHTML: text, links, directives.
    Html,
    /// Plain text: text only.
    Text,
    /// A PDF that was read: text and links ([`read_pdf`](crate::read_pdf)). Its bytes alone are
    /// [`Media::Other`].
    Pdf,
    /// Anything else: archived, not read.
    Other,
}

/// Maximum bytes to sniff in a body without a type (MIME Sniffing standard, section 5.2).
pub(super) const SNIFFED_BYTES: usize = 1445;

impl Media {
    /// Returns true for documents that are pages: they are compared by their text.
    #[must_use]
    pub const fn is_page(self) -> bool {
        matches!(self, Self::Html | Self::Pdf)
    }

    /// Returns the kind that the header implies. If the header is missing or does not name a type,
    /// the first bytes decide; for XML, the root element.
    #[must_use]
    pub fn of(content_type: Option<&str>, body: &[u8]) -> Self {
        let essence = content_type.map(essence).filter(|name| is_media_type(name));
        match essence.as_deref() {
            Some("text/html" | XHTML | MOBILE_XHTML) => Self::Html,
            Some("text/plain" | "text/markdown") => Self::Text,
            None | Some("*/*" | "unknown/unknown" | "application/unknown") => sniff(body),
            Some(essence) if is_xml(essence) => of_xml(body),
            Some(_) => Self::Other,
        }
    }
}

/// The first bytes of a PDF.
const PDF: &[u8] = b"%PDF-";
const XHTML: &str = "application/xhtml+xml";
const MOBILE_XHTML: &str = "application/vnd.wap.xhtml+xml";

/// Returns true if a page is read as XML, where any element may close itself.
pub(crate) fn is_xhtml(content_type: Option<&str>, body: &[u8]) -> bool {
    let essence = content_type.map(essence).filter(|name| is_media_type(name));
    match essence.as_deref() {
        Some(XHTML | MOBILE_XHTML) => true,
        Some("text/html") => false,
        Some(essence) if is_xml(essence) => of_xml(body) == Media::Html,
        _ => text_of(body).starts_with(b"<?xml") && Media::of(content_type, body) == Media::Html,
    }
}

/// Returns true for a PDF. The media type decides, or the first bytes if the media type says
/// nothing about the format.
#[must_use]
pub fn is_pdf(content_type: Option<&str>, body: &[u8]) -> bool {
    match essence(content_type.unwrap_or_default()).as_str() {
        "application/pdf" | "application/x-pdf" | "application/acrobat" => true,
        essence => !names_format(essence) && body.starts_with(PDF),
    }
}

/// Returns false for the essence of a media type that says nothing about the format of a body.
#[must_use]
pub fn names_format(essence: &str) -> bool {
    let is_vague = matches!(
        essence,
        "*/*"
            | "unknown/unknown"
            | "application/unknown"
            | "application/octet-stream"
            | "binary/octet-stream"
            | "application/download"
            | "application/force-download"
            | "application/x-download"
    );
    is_media_type(essence) && !is_vague
}

/// Returns the media type of a response: the last valid one in all `Content-Type` fields, which may
/// be lists (Fetch standard, "extract a MIME type"). A charset also applies to the same type after
/// it.
#[must_use]
pub fn content_type(headers: &HeaderMap) -> Option<String> {
    let mut last: Option<String> = None;
    for field in headers.get_all(CONTENT_TYPE) {
        let field = String::from_utf8_lossy(field.as_bytes());
        for value in values(&field) {
            let essence_of_value = essence(value);
            if !is_media_type(&essence_of_value) || essence_of_value == "*/*" {
                continue;
            }
            let earlier = last.take().filter(|last| essence(last) == essence_of_value);
            let charset = earlier
                .as_deref()
                .and_then(|last| parameter(last, "charset"));
            last = Some(match charset {
                Some(charset) if parameter(value, "charset").is_none() => {
                    format!("{value};charset={charset}")
                }
                _ => value.to_owned(),
            });
        }
    }
    last
}

/// Splits a field at its commas, except commas in quoted strings.
fn values(field: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let values = field.split(move |c| {
        let is_literal = std::mem::take(&mut is_escaped);
        match c {
            _ if is_literal => {}
            '"' => is_quoted = !is_quoted,
            '\\' => is_escaped = is_quoted,
            ',' => return !is_quoted,
            _ => {}
        }
        false
    });
    values.map(str::trim)
}

/// Returns true for a type and a subtype that are tokens (MIME Sniffing standard, section 4.4).
fn is_media_type(essence: &str) -> bool {
    let is_token = |part: &str| {
        let is_ours = |c: u8| c.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&c);
        !part.is_empty() && part.bytes().all(is_ours)
    };
    let parts = essence.split_once('/');
    parts.is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

/// Returns true for the types of XML (MIME Sniffing standard, section 4.6).
pub(crate) fn is_xml(essence: &str) -> bool {
    essence.ends_with("+xml") || matches!(essence, "application/xml" | "text/xml")
}

/// Returns the kind of an XML document: a page if its root is an XHTML root (HTML standard,
/// "loading XML documents").
fn of_xml(body: &[u8]) -> Media {
    match XmlRoot::of(body) {
        Some(XmlRoot::Page) => Media::Html,
        _ => Media::Other,
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

/// Returns the unquoted value of a media type's parameter.
pub(crate) fn parameter<'h>(content_type: &'h str, name: &str) -> Option<&'h str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (found, value) = parameter.split_once('=')?;
        found
            .trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches(['"', '\'']))
    })
}

/// Returns the beginning of a body without a byte order mark and white space.
pub(super) fn text_of(body: &[u8]) -> &[u8] {
    let start = &body[..body.len().min(SNIFFED_BYTES)];
    start
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(start)
        .trim_ascii_start()
}

/// Returns true for the beginning of an HTML page, by those rules of the MIME Sniffing standard,
/// section 7.1, that distinguish pages from other content.
pub(super) fn starts_as_page(text: &[u8]) -> bool {
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
    PAGES.iter().any(|page| {
        starts_with_ignore_case(text, page)
            && (page.ends_with(b"--")
                || matches!(
                    text.get(page.len()),
                    None | Some(b'>' | b'/' | b'\t'..=b' ')
                ))
    })
}

/// Returns the kind of a body without a type, by its first bytes.
fn sniff(body: &[u8]) -> Media {
    let start = &body[..body.len().min(SNIFFED_BYTES)];
    if start.starts_with(b"\xfe\xff") || start.starts_with(b"\xff\xfe") {
        return Media::Text;
    }
    let text = text_of(body);
    if starts_as_page(text) {
        return Media::Html;
    }
    let is_binary = |byte: &u8| matches!(byte, 0x00..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if text.starts_with(b"<?xml") {
        return of_xml(body);
    }
    if text.is_empty() || text.starts_with(PDF) || text.iter().any(is_binary) {
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
            ("application/rss+xml", Media::Other),
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

    #[test]
    fn a_header_without_a_type_does_not_decide() {
        // A page whose type was `html` was kept without its text and links.
        for field in [
            "html",
            "nonsense",
            "text/",
            "/html",
            "\"text/html\"",
            "text/html x=y",
            "{}/x",
        ] {
            assert_eq!(Media::of(Some(field), b"<html>"), Media::Html, "{field}");
            assert_eq!(Media::of(Some(field), b"%PDF-1.7"), Media::Other, "{field}");
        }
    }

    #[test]
    fn the_last_type_of_all_fields_counts() {
        for (fields, expected) in [
            (&[][..], None),
            (&["text/html, text/html"], Some("text/html")),
            (&["text/html, charset=utf-8"], Some("text/html")),
            (
                &["text/html;charset=gbk, text/html"],
                Some("text/html;charset=gbk"),
            ),
            (&["text/html;charset=gbk, text/plain"], Some("text/plain")),
            (&["text/plain", "text/html"], Some("text/html")),
            (
                &["text/html", "text/html;charset=gbk"],
                Some("text/html;charset=gbk"),
            ),
            (
                &["text/html;charset=gbk, x, */*"],
                Some("text/html;charset=gbk"),
            ),
            (
                &["text/html;x=\"a, text/plain\""],
                Some("text/html;x=\"a, text/plain\""),
            ),
            (
                &["text/html;x=\"\\\", a/b\""],
                Some("text/html;x=\"\\\", a/b\""),
            ),
            (&["html", "", "text/html charset=utf-8"], None),
        ] {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append(CONTENT_TYPE, field.parse().unwrap());
            }
            assert_eq!(content_type(&headers).as_deref(), expected, "{fields:?}");
        }
    }

    #[test]
    fn a_pdf_is_recognised_by_its_type_or_where_that_says_nothing_by_its_first_bytes() {
        for (content_type, body, expected) in [
            (Some("application/pdf"), &b""[..], true),
            (Some("Application/X-PDF; x=y"), b"", true),
            (Some("application/octet-stream"), b"%PDF-1.4", true),
            (Some("pdf"), b"%PDF-1.4", true),
            (None, b"%PDF-1.4", true),
            (None, b"%!PS-", false),
            (Some("text/html"), b"%PDF-1.4", false),
        ] {
            assert_eq!(is_pdf(content_type, body), expected, "{content_type:?}");
        }
    }

    #[test]
    fn xhtml_is_a_page_under_any_type_of_xml() {
        let page = b"<?xml version=\"1.0\"?><html xmlns=\"http://www.w3.org/1999/xhtml\"/>";
        for (content_type, body, media, is_xml) in [
            (Some("application/xml"), &page[..], Media::Html, true),
            (Some("text/xml; charset=utf-8"), page, Media::Html, true),
            (Some("application/x+xml"), page, Media::Html, true),
            (None, page, Media::Html, true),
            (Some("html"), page, Media::Html, true),
            (Some("application/xhtml+xml"), b"<html/>", Media::Html, true),
            (
                Some("application/vnd.wap.xhtml+xml"),
                b"",
                Media::Html,
                true,
            ),
            (Some("application/xml"), b"<html/>", Media::Other, false),
            (Some("text/html"), page, Media::Html, false),
            (Some("text/plain"), page, Media::Text, false),
        ] {
            assert_eq!(Media::of(content_type, body), media, "{content_type:?}");
            if media == Media::Html {
                let is_declared = content_type == Some("text/html");
                assert_eq!(is_xhtml(content_type, body), is_xml && !is_declared);
            }
        }
    }
}
