//! One record as bytes: header, block, and what both are packed in (section 4, `packing`).
//!
//! Invariant: whatever stands in a URL, a note or a server's answer, a field takes exactly one line. All values
//! go through [`push_field`], which turns control characters, and what Unicode takes for the end of a line, into spaces.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use web::Timestamp;

use super::identity::RecordId;
use super::packing::{Compression, Packer};
use crate::DigestAlgorithm;
use crate::cdxj::{BLANK, Capture, GLANCE, Told};

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
        let mut pieces = text.split(ends_lines);
        self.0
            .extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
        for piece in pieces {
            self.0.push(b' ');
            self.0.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }
}

/// Whether some reader may take this character for the end of a line: Python's `splitlines` takes the last two so.
fn ends_lines(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Turns records into members, one behind the other; used again and again.
pub(super) struct Press {
    packer: Packer,
    digest: DigestAlgorithm,
    plain: Vec<u8>,
    members: Vec<u8>,
    captures: Vec<Capture>,
}

impl Press {
    pub(super) fn new(compression: &Compression, digest: DigestAlgorithm) -> Self {
        Self {
            packer: compression.packer(),
            digest,
            plain: Vec::new(),
            members: Vec::new(),
            captures: Vec::new(),
        }
    }

    /// Appends a record. The block comes in two parts so that a body is copied once only.
    pub(super) fn record(&mut self, mut header: Header, content_type: &str, block: [&[u8]; 2]) {
        let mut digest = self.digest.hasher();
        block.iter().for_each(|part| digest.update(part));
        header.field("WARC-Block-Digest", digest.finish());
        header.field("Content-Type", content_type);
        header.field("Content-Length", block[0].len() + block[1].len());

        self.plain.clear();
        for part in [&header.0, b"\r\n".as_slice(), block[0], block[1], b"\r\n\r\n"] {
            self.plain.extend_from_slice(part);
        }

        let start = self.members.len();
        self.packer.pack(&self.plain, &mut self.members);
        let length = self.members.len() - start;
        if let Some(told) = told(&header, content_type, block) {
            let blank = if matches!(self.packer, Packer::Plain) {
                BLANK
            } else {
                0
            };
            self.captures.push(told.at(start as u64, length as u64 - blank));
        }
    }

    /// How digests are computed that stand beside this one's.
    pub(super) fn digest(&self) -> DigestAlgorithm {
        self.digest
    }

    /// What an index tells of the records pressed since the last [`Press::clear`], the first of which begins at `start` in its
    /// file. They are given away once.
    pub(super) fn take_captures(&mut self, start: u64) -> Vec<Capture> {
        let mut captures = std::mem::take(&mut self.captures);
        for capture in &mut captures {
            capture.offset += start;
        }
        captures
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
        self.captures.clear();
    }
}

/// What an index tells of a record. It is read out of the header that was just written, and so is the same as what is read
/// out of the archive later.
fn told(header: &Header, content_type: &str, block: [&[u8]; 2]) -> Option<Told> {
    let header = std::str::from_utf8(&header.0).ok()?;
    let field = |name: &str| {
        let mut fields = header.lines().filter_map(|line| line.split_once(": "));
        fields.find(|(known, _)| *known == name).map(|(_, value)| value)
    };
    let is_head = block[1].is_empty() || block[0].len() >= GLANCE || block[0].ends_with(b"\r\n\r\n");
    let glance = if is_head {
        Cow::Borrowed(&block[0][..block[0].len().min(GLANCE)])
    } else {
        let more = block[1].len().min(GLANCE - block[0].len());
        Cow::Owned([block[0], &block[1][..more]].concat())
    };
    let payload = || {
        let head = if content_type.starts_with("application/http") {
            b"".as_slice()
        } else {
            block[0]
        };
        let mut digest = DigestAlgorithm::Sha1.hasher();
        digest.update(head);
        digest.update(block[1]);
        Some(digest.finish())
    };
    Told::of(field, &glance, payload)
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
            ("ls\u{2028}ps\u{2029}.", "name: ls ps .\r\n"),
            ("漢字 é", "name: 漢字 é\r\n"),
        ] {
            let mut line = Vec::new();
            push_field(&mut line, "name", value);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
