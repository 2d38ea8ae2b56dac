//! The media type of a body by its bytes alone, whatever its header says.
//!
//! The patterns are those of the MIME Sniffing standard (sections 6.1 to 6.4 and 7.1,
//! <https://mimesniff.spec.whatwg.org/>), with the names that are registered now, and the roots of
//! XML documents. Plain text has no pattern, and two letters (`BM`) are too few to identify.
//!
//! Invariant: a type is returned only if a pattern of it is there, so `None` is common.

use super::media_type::{SNIFFED_BYTES, starts_as_page, text_of};
use super::xml_root::XmlRoot;

/// The first bytes of formats. Patterns of text and XML are elsewhere.
const STARTS: [(&[u8], &str); 23] = [
    (b"%PDF-", "application/pdf"),
    (b"%!PS-Adobe-", "application/postscript"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\0\0\x01\0", "image/vnd.microsoft.icon"),
    (b"\0\0\x02\0", "image/vnd.microsoft.icon"),
    (b"OggS\0", "application/ogg"),
    (b"ID3\x02", "audio/mpeg"),
    (b"ID3\x03", "audio/mpeg"),
    (b"ID3\x04", "audio/mpeg"),
    (b"MThd\0\0\0\x06", "audio/midi"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"OTTO", "font/otf"),
    (b"ttcf", "font/collection"),
    (b"\0\x01\0\0", "font/ttf"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"Rar!\x1a\x07\0", "application/vnd.rar"),
    (b"Rar!\x1a\x07\x01\0", "application/vnd.rar"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
];

/// The name of a format within a container, eight bytes after the name of the container (IFF), or
/// after the length of a box (ISO base media).
const CONTAINED: [(&[u8], &[u8], &str); 8] = [
    (b"RIFF", b"WEBPVP", "image/webp"),
    (b"RIFF", b"WAVE", "audio/vnd.wave"),
    (b"RIFF", b"AVI ", "video/vnd.avi"),
    (b"FORM", b"AIFF", "audio/aiff"),
    (b"ftyp", b"avif", "image/avif"),
    (b"ftyp", b"mp4", "video/mp4"),
    (b"ftyp", b"isom", "video/mp4"),
    (b"ftyp", b"M4V", "video/mp4"),
];

/// Maximum number of bytes that [`identified_type`] examines.
pub const MAX_IDENTIFIED: usize = SNIFFED_BYTES;

/// Returns the media type that the first bytes of a body identify; [`MAX_IDENTIFIED`] suffice.
#[must_use]
pub fn identified_type(body: &[u8]) -> Option<&'static str> {
    let found = STARTS.iter().find(|(start, _)| body.starts_with(start));
    let found = found.map(|(_, media)| *media);
    found.or_else(|| contained(body)).or_else(|| of_text(body))
}

fn contained(body: &[u8]) -> Option<&'static str> {
    let (first, second, third) = (body.get(..4)?, body.get(4..8)?, body.get(8..)?);
    let is_found = |(container, format, _): &&(&[u8], &[u8], _)| {
        let is_container = match *container {
            b"ftyp" => second == b"ftyp",
            name => first == name,
        };
        is_container && third.starts_with(format)
    };
    let found = CONTAINED.iter().find(is_found);
    found.map(|(_, _, media)| *media)
}

fn of_text(body: &[u8]) -> Option<&'static str> {
    let text = text_of(body);
    if starts_as_page(text) {
        return Some("text/html");
    }
    if !text.starts_with(b"<?xml") {
        return None;
    }
    Some(match XmlRoot::of(&body[..body.len().min(SNIFFED_BYTES)]) {
        Some(XmlRoot::Page) => "application/xhtml+xml",
        Some(XmlRoot::Drawing) => "image/svg+xml",
        Some(XmlRoot::Rss) => "application/rss+xml",
        Some(XmlRoot::Atom) => "application/atom+xml",
        None => "application/xml",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_identify_the_type_of_a_body() {
        for (body, media) in [
            (&b"%PDF-1.7\n"[..], Some("application/pdf")),
            (b"\x89PNG\r\n\x1a\n\0", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x09\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x09\0\0\0WAVEfmt ", Some("audio/vnd.wave")),
            (b"\0\0\0\x18ftypmp42", Some("video/mp4")),
            (b"\0\0\0\x1cftypavif", Some("image/avif")),
            (b"wOF2\0\x01\0\0", Some("font/woff2")),
            (b"\x1f\x8b\x08\0", Some("application/gzip")),
            (b"\n <!DOCTYPE html>", Some("text/html")),
            (b"\xef\xbb\xbf<html>", Some("text/html")),
            (b"<?xml version='1.0'?><a/>", Some("application/xml")),
            (b"<?xml version='1.0'?><rss>", Some("application/rss+xml")),
            (
                b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>",
                Some("application/atom+xml"),
            ),
            (
                b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'>",
                Some("application/xhtml+xml"),
            ),
            (
                b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'>",
                Some("image/svg+xml"),
            ),
        ] {
            assert_eq!(identified_type(body), media, "{body:?}");
        }
    }

    #[test]
    fn bytes_without_a_pattern_identify_nothing() {
        for body in [
            &b""[..],
            b"words",
            b"User-agent: *",
            b"BMW and Audi",
            b"ID3 is a tag",
            b"{\"a\": 1}",
            b"body { color: red }",
            b"<svg>",
            b"RIFF",
            b"\0\0\0\x18ftyp",
        ] {
            assert_eq!(identified_type(body), None, "{body:?}");
        }
    }

    #[test]
    fn the_first_bytes_suffice() {
        let page = format!("{}<html>", " ".repeat(MAX_IDENTIFIED - "<html>".len()));
        assert_eq!(identified_type(page.as_bytes()), Some("text/html"));
        assert_eq!(identified_type(format!("  {page}").as_bytes()), None);
    }
}
