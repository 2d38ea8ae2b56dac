//! Character encodings: from bytes to text.
//!
//! The most reliable source available decides the encoding: a byte order mark, the header, the page
//! itself (its first 1,024 bytes, HTML standard section 13.2.3.2), and otherwise a guess from the
//! bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use crate::html::scanner::{Scanner, Tag, Token};
use crate::http::media_type::parameter;

/// Bytes of a page that may declare its encoding.
const PRESCAN_BYTES: usize = 1024;

/// Maximum size of decoded text in bytes, if the body cannot be used as it is. One byte can become
/// three.
const MAX_DECODED_BYTES: usize = 8 << 20;

/// Bytes examined for a guess; more make it slower, not better.
pub(crate) const DETECT_BYTES: usize = 256 * 1024;

/// A decoded body.
pub(crate) struct Decoded<'b> {
    pub text: Cow<'b, str>,
    pub encoding: &'static Encoding,
    /// True if some bytes were invalid and became U+FFFD.
    pub repaired: bool,
}

/// Decodes a body. `tld` is the last label of its host, which improves a guess.
pub(crate) fn decode<'b>(
    body: &'b [u8],
    content_type: Option<&str>,
    tld: Option<&str>,
) -> Decoded<'b> {
    let (encoding, mark) = encoding_of(body, content_type, tld);
    let (text, repaired) = to_text(&body[mark..], encoding);
    Decoded {
        text,
        encoding,
        repaired,
    }
}

/// Returns the encoding of a body and the length of its byte order mark, which takes precedence.
pub(crate) fn encoding_of(
    body: &[u8],
    content_type: Option<&str>,
    tld: Option<&str>,
) -> (&'static Encoding, usize) {
    Encoding::for_bom(body).unwrap_or_else(|| {
        let encoding = content_type
            .and_then(from_header)
            .or_else(|| from_page(&body[..body.len().min(PRESCAN_BYTES)]))
            .unwrap_or_else(|| guess(body, tld));
        (encoding, 0)
    })
}

/// Decodes a style sheet (CSS Syntax Module Level 3, section 3.2) by its byte order mark, the
/// header, or a literal `@charset`, and otherwise as UTF-8: the encoding of the referring page is
/// unknown here.
pub(crate) fn decode_sheet<'b>(body: &'b [u8], content_type: Option<&str>) -> Cow<'b, str> {
    let (encoding, mark) = sheet_encoding(body, content_type);
    to_text(&body[mark..], encoding).0
}

/// Returns the encoding of a style sheet and the length of its byte order mark.
pub(crate) fn sheet_encoding(
    body: &[u8],
    content_type: Option<&str>,
) -> (&'static Encoding, usize) {
    let encoding = content_type
        .and_then(from_header)
        .or_else(|| from_sheet(&body[..body.len().min(PRESCAN_BYTES)]))
        .unwrap_or(UTF_8);
    Encoding::for_bom(body).unwrap_or((encoding, 0))
}

fn from_sheet(start: &[u8]) -> Option<&'static Encoding> {
    let label = start.strip_prefix(b"@charset \"")?;
    let end = label.iter().position(|&byte| byte == b'"')?;
    let is_closed = label.get(end + 1) == Some(&b';');
    declared(
        std::str::from_utf8(&label[..end])
            .ok()
            .filter(|_| is_closed)?,
    )
}

fn to_text<'b>(body: &'b [u8], encoding: &'static Encoding) -> (Cow<'b, str>, bool) {
    let is_text = encoding == UTF_8 || encoding.is_ascii_compatible() && body.is_ascii();
    if is_text && let Ok(text) = std::str::from_utf8(body) {
        return (Cow::Borrowed(text), false);
    }
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let most = decoder
        .max_utf8_buffer_length(body.len())
        .map_or(MAX_DECODED_BYTES, |most| most.min(MAX_DECODED_BYTES));
    let mut text = String::with_capacity(most);
    let (_full, _read, repaired) = decoder.decode_to_string(body, &mut text, true);
    (Cow::Owned(text), repaired)
}

fn for_label(label: &str) -> Option<&'static Encoding> {
    // An encoding that decodes to nothing was declared by mistake.
    Encoding::for_label(label.as_bytes()).filter(|&encoding| encoding != REPLACEMENT)
}

fn from_header(content_type: &str) -> Option<&'static Encoding> {
    for_label(parameter(content_type, "charset")?)
}

fn from_page(start: &[u8]) -> Option<&'static Encoding> {
    // Reads byte for byte, as every encoding that can be declared here contains ASCII.
    let text: String = start.iter().copied().map(char::from).collect();
    if let Some(declaration) = text.strip_prefix("<?xml") {
        let end = declaration.find('>').unwrap_or(declaration.len());
        let declaration = Tag {
            name: "xml",
            inside: &declaration[..end],
            attributes: 0,
            names: 0,
            is_whole: true,
            closes_itself: false,
        };
        if let Some(encoding) = declaration
            .value("encoding")
            .and_then(|label| declared(&label))
        {
            return Some(encoding);
        }
    }
    let mut scanner = Scanner::new(&text, 0);
    while let Some(token) = scanner.next() {
        if scanner.at() == text.len() && !text.ends_with('>') {
            // The window ends inside a tag, possibly inside a label.
            break;
        }
        if let Token::Start(tag) = token
            && tag.is(&["meta"])
            && let Some(encoding) = from_meta(&tag)
        {
            return Some(encoding);
        }
    }
    None
}

fn from_meta(tag: &Tag<'_>) -> Option<&'static Encoding> {
    if let Some(label) = tag.value("charset") {
        return declared(&label);
    }
    if !tag
        .value("http-equiv")?
        .eq_ignore_ascii_case("content-type")
    {
        return None;
    }
    let content = tag.value("content")?;
    let at = content.to_ascii_lowercase().find("charset")?;
    let value = content[at + "charset".len()..]
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let value = match value.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(['"', '\'']).next()?,
        None => value
            .split(|c: char| c == ';' || c.is_ascii_whitespace())
            .next()?,
    };
    declared(value)
}

/// Returns the encoding that an ASCII declaration refers to: it cannot be UTF-16.
fn declared(label: &str) -> Option<&'static Encoding> {
    let encoding = for_label(label)?;
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return Some(UTF_8);
    }
    if encoding == X_USER_DEFINED {
        return Some(WINDOWS_1252);
    }
    Some(encoding)
}

fn guess(body: &[u8], tld: Option<&str>) -> &'static Encoding {
    let sample = &body[..body.len().min(DETECT_BYTES)];
    // ISO-2022-JP is ASCII except for its escapes.
    if !sample.contains(&0x1b) && std::str::from_utf8(body).is_ok() {
        return UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == body.len());
    detector.guess(tld.map(str::as_bytes), Utf8Detection::Allow)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_decoded_by_its_declaration_and_otherwise_as_utf_8() {
        for (body, content_type, text) in [
            (&b"\xe4"[..], Some("text/css; charset=iso-8859-1"), "ä"),
            (
                b"@charset \"latin1\";\xe4",
                Some("text/css"),
                "@charset \"latin1\";ä",
            ),
            (
                b"@charset 'latin1';\xe4",
                None,
                "@charset 'latin1';\u{fffd}",
            ),
            (
                b"@charset \"utf-16\";\xc3\xa4",
                None,
                "@charset \"utf-16\";ä",
            ),
            (b"@charset \"latin1", None, "@charset \"latin1"),
            (
                b"\xef\xbb\xbf\xc3\xa4",
                Some("text/css; charset=latin1"),
                "ä",
            ),
            (b"\xff\xfea\0", None, "a"),
            (b"\xc3\xa4", None, "ä"),
        ] {
            assert_eq!(decode_sheet(body, content_type), text);
        }
    }
}
