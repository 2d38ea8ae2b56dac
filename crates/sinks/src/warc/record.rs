//! One record as bytes: header, block, and the gzip member around both (section 4, annex D.2).
//!
//! Invariant: whatever stands in a URL, a note or a server's answer, a field takes exactly one line. All values
//! go through [`push_field`], which turns control characters into spaces.

use std::fmt::{self, Display, Write as _};

use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest, Sha1};
use web::Timestamp;

use super::identity::RecordId;
use crate::PayloadDigest;

/// Room that a press keeps for the next visit; what a rare large page needed beyond it is given back.
const KEPT_ROOM: usize = 256 << 10;

/// The content type of blocks that consist of fields (section 8).
pub(super) const FIELDS: &str = "application/warc-fields";

/// The header of a record, but for what depends on the block.
pub(super) struct Header(Vec<u8>);

impl Header {
    pub(super) fn new(kind: &str, id: RecordId, date: Timestamp) -> Self {
        let mut header = Self(Vec::with_capacity(1024));
        header.0.extend_from_slice(b"WARC/1.1\r\n");
        header.field("WARC-Type", kind);
        header.field("WARC-Record-ID", id);
        header.field("WARC-Date", date);
        header
    }

    pub(super) fn field(&mut self, name: &str, value: impl Display) {
        push_field(&mut self.0, name, value);
    }
}

/// Appends `name: value` and CRLF.
pub(super) fn push_field(line: &mut Vec<u8>, name: &str, value: impl Display) {
    debug_assert!(
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
        "field names are ours, and tokens: {name:?}"
    );
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b": ");
    write!(OneLine(line), "{value}").expect("a vector takes every byte");
    line.extend_from_slice(b"\r\n");
}

/// Writes text without its control characters, line breaks first among them.
struct OneLine<'a>(&'a mut Vec<u8>);

impl fmt::Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut pieces = text.split(char::is_control);
        self.0
            .extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
        for piece in pieces {
            self.0.push(b' ');
            self.0.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }
}

/// Turns records into gzip members, one behind the other; used again and again.
pub(super) struct Press {
    compressor: Compressor,
    plain: Vec<u8>,
    members: Vec<u8>,
}

impl Press {
    /// A press that compresses at `level`, brought into 1 to 12.
    pub(super) fn new(level: i32) -> Self {
        let level = CompressionLvl::new(level.clamp(1, 12)).expect("levels 1 to 12 exist");
        Self {
            compressor: Compressor::new(level),
            plain: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Appends a record. The block comes in two parts so that a body is copied once only.
    pub(super) fn record(&mut self, mut header: Header, content_type: &str, block: [&[u8]; 2]) {
        let digest = block
            .iter()
            .fold(Sha1::new(), |digest, part| digest.chain_update(part));
        header.field("WARC-Block-Digest", PayloadDigest::finish(digest));
        header.field("Content-Type", content_type);
        header.field("Content-Length", block[0].len() + block[1].len());

        self.plain.clear();
        for part in [&header.0, b"\r\n".as_slice(), block[0], block[1], b"\r\n\r\n"] {
            self.plain.extend_from_slice(part);
        }

        let start = self.members.len();
        let room = self.compressor.gzip_compress_bound(self.plain.len());
        self.members.resize(start + room, 0);
        let length = self
            .compressor
            .gzip_compress(&self.plain, &mut self.members[start..])
            .expect("the bound is enough for any input");
        self.members.truncate(start + length);
    }

    /// The members pressed since the last [`Press::clear`].
    pub(super) fn members(&self) -> &[u8] {
        &self.members
    }

    /// How long they are together: where the next one begins.
    pub(super) fn length(&self) -> u64 {
        self.members.len() as u64
    }

    /// Empties the press.
    pub(super) fn clear(&mut self) {
        for buffer in [&mut self.plain, &mut self.members] {
            buffer.clear();
            buffer.shrink_to(KEPT_ROOM);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_takes_one_line_whatever_its_value() {
        for (value, expected) in [
            ("plain", "name: plain\r\n"),
            ("", "name: \r\n"),
            ("a\r\nWARC-Type: response", "name: a  WARC-Type: response\r\n"),
            ("\r\n\r\nHTTP/1.1 200 OK", "name:     HTTP/1.1 200 OK\r\n"),
            ("nul\0 tab\t del\u{7f} nel\u{85}", "name: nul  tab  del  nel \r\n"),
            ("漢字 é", "name: 漢字 é\r\n"),
        ] {
            let mut line = Vec::new();
            push_field(&mut line, "name", value);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }

    #[test]
    fn any_level_makes_a_gzip_member() {
        for level in [i32::MIN, 0, 1, 12, 13, i32::MAX] {
            let mut press = Press::new(level);
            let header = Header::new("metadata", RecordId::ROOT, Timestamp::from_millis(0));
            press.record(header, FIELDS, [b"a: b\r\n", b""]);
            assert!(press.members().starts_with(&[0x1f, 0x8b]), "{level}");
            assert_eq!(press.length(), press.members().len() as u64);
        }
    }
}
