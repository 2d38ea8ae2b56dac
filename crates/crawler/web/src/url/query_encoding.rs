//! The query of a link in the encoding of its page.
//!
//! A site that does not use UTF-8 expects the letters of its queries in its own encoding: browsers
//! percent-encode them in this encoding (URL standard, "percent-encode after encoding"). Paths are
//! always UTF-8.

use std::borrow::Cow;

use encoding_rs::{EncoderResult, Encoding};

/// Returns a part of a query in this encoding, or in UTF-8 for UTF-16. A character that the
/// encoding lacks becomes a decimal character reference, percent-encoded.
pub(crate) fn encode<'t>(encoding: &'static Encoding, text: &'t str) -> Cow<'t, [u8]> {
    if text.is_ascii() {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut encoder = encoding.new_encoder();
    let (mut bytes, mut rest) = (Vec::new(), text);
    loop {
        bytes.reserve(2 * rest.len() + 16);
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return Cow::Owned(bytes),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(letter) => {
                let reference = format!("%26%23{}%3B", u32::from(letter));
                bytes.extend_from_slice(reference.as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_written_in_the_encoding_of_its_page() {
        for (label, text, bytes) in [
            ("windows-1251", "q=имя", &b"q=\xe8\xec\xff"[..]),
            ("gb2312", "q=洪1", b"q=\xba\xe91"),
            ("shift_jis", "検", b"\x8c\x9f"),
            ("iso-2022-jp", "q=検", b"q=\x1b$B8!\x1b(B"),
            ("utf-16", "é", b"\xc3\xa9"),
            ("iso-8859-1", "é☃b", b"\xe9%26%239731%3Bb"),
            ("euc-kr", "&a=1", b"&a=1"),
        ] {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            assert_eq!(*encode(encoding, text), *bytes, "{label} {text}");
        }
    }
}
