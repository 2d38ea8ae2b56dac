//! Strings of a PDF (ISO 32000-2, section 7.9.2): text in one of three encodings.

/// The characters of the bytes 0x80 to 0xA0 in PDFDocEncoding (ISO 32000-2, annex D.2).
const PDF_DOC: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™',
    'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, otherwise PDFDocEncoding.
pub(crate) fn text(bytes: &[u8]) -> String {
    if let Some(bytes) = bytes.strip_prefix(b"\xfe\xff") {
        let units = bytes.chunks_exact(2);
        let units: Vec<u16> = units
            .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
            .collect();
        return String::from_utf16_lossy(&units);
    }
    if let Some(bytes) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let decoded = bytes.iter().map(|&byte| match byte {
        0x80..=0xa0 => PDF_DOC[usize::from(byte - 0x80)],
        byte => char::from(byte),
    });
    decoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_decoded_by_its_byte_order_mark() {
        for (bytes, expected) in [
            (&b"plain"[..], "plain"),
            (b"caf\xe9 \x84 \x93x\xa0", "café — ﬁx€"),
            (b"\xfe\xff\x04\x1f\xd8\x3d\xde\x00", "П😀"),
            (b"\xfe\xff\x04\x1f\x04", "П"),
            (b"\xef\xbb\xbfna\xc3\xafve", "naïve"),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }
}
