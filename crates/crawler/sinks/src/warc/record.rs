//! Serializes one record: header, block, and packing (section 4, `packing`).
//!
//! Invariant: a field takes exactly one line, regardless of the content of a URL, a metadata field
//! or a server's response. All values go through [`push_field`], which turns control characters and
//! Unicode line separators into spaces.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::io::{self, Read as _};
use std::path::Path;

use web::{Body, Timestamp};

use super::identity::RecordId;
use super::members::{KEPT_ROOM, Members};
use super::packing::{Compression, Packer};
use crate::cdxj::capture::{BLANK, Capture, GLANCE, UnplacedCapture};
use crate::cdxj::post::PostQuery;
use crate::digest::DigestAlgorithm;

/// Bodies longer than this are packed piece by piece and never held in memory as a whole.
const WHOLE: u64 = 1 << 20;

/// The two empty lines that end a record (section 4).
const RECORD_END: &[u8] = b"\r\n\r\n";

/// The content type of blocks of named fields (section 8).
pub(super) const FIELDS: &str = "application/warc-fields";

/// The header of a record, except the fields that depend on the block.
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

    /// Adds a field if it has a value.
    pub(super) fn optional_field(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.field(name, value);
        }
    }
}

/// Appends `name: value` and CRLF.
pub(super) fn push_field(line: &mut Vec<u8>, name: &str, value: impl Display) {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    debug_assert!(
        !name.is_empty() && name.bytes().all(is_token),
        "field names are ours, and tokens: {name:?}"
    );
    line.extend_from_slice(name.as_bytes());
    line.extend_from_slice(b": ");
    write!(OneLine(line), "{value}").expect("a vector takes every byte");
    line.extend_from_slice(b"\r\n");
}

/// Writes text with a space in place of each control character, line breaks above all.
struct OneLine<'a>(&'a mut Vec<u8>);

impl fmt::Write for OneLine<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for (place, piece) in text.split(ends_lines).enumerate() {
            if place > 0 {
                self.0.push(b' ');
            }
            self.0.extend_from_slice(piece.as_bytes());
        }
        Ok(())
    }
}

/// Returns true if a reader may take this character for the end of a line: Python's `splitlines`
/// does so for the last two.
fn ends_lines(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Serializes and packs records, one after the other; reused for the next visit.
pub(super) struct RecordWriter {
    packer: Packer,
    compression: Compression,
    digest: DigestAlgorithm,
    plain: Vec<u8>,
    members: Members,
    captures: Vec<Capture>,
}

impl RecordWriter {
    /// Returns a writer without records, which spools to the file system of `directory`.
    pub(super) fn new(
        compression: &Compression,
        digest: DigestAlgorithm,
        directory: &Path,
    ) -> Self {
        Self {
            packer: compression.packer(),
            compression: compression.clone(),
            digest,
            plain: Vec::new(),
            members: Members::new(directory),
            captures: Vec::new(),
        }
    }

    /// Appends a record with the block `head` and `body`.
    ///
    /// # Errors
    /// I/O errors of reading a spooled body; a part of the record may have been appended.
    pub(super) fn record(
        &mut self,
        mut header: Header,
        content_type: &str,
        head: &[u8],
        body: &Body,
    ) -> io::Result<()> {
        let mut digest = self.digest.hasher();
        digest.update(head);
        body.for_each_piece(|piece| digest.update(piece))?;
        header.field("WARC-Block-Digest", digest.finish());
        header.field("Content-Type", content_type);
        header.field("Content-Length", head.len() as u64 + body.len());

        let start = self.members.length();
        match body.held().filter(|body| body.len() as u64 <= WHOLE) {
            Some(body) => {
                self.plain.clear();
                for part in [&header.0, b"\r\n".as_slice(), head, body, RECORD_END] {
                    self.plain.extend_from_slice(part);
                }
                self.packer.pack(&self.plain, self.members.held());
            }
            None => {
                let before = [&header.0, b"\r\n".as_slice(), head].concat();
                let length = (before.len() + RECORD_END.len()) as u64 + body.len();
                let plain = before.chain(body.reader()).chain(RECORD_END);
                self.compression
                    .pack_stream(plain, length, &mut self.members)?;
            }
        }
        let length = self.members.length() - start;
        if let Some(capture) = capture_of(&header, content_type, head, body)? {
            let blank = match self.packer {
                Packer::Plain => BLANK,
                _ => 0,
            };
            self.captures.push(capture.at(start, length - blank));
        }
        Ok(())
    }

    /// Extends the key of the response that begins at `start` by its request for `url`, if that has
    /// a body.
    pub(super) fn requested_by(&mut self, start: u64, url: &str, request: &[u8]) {
        let is_response = |capture: &mut Capture| capture.offset == start;
        if let Some(post) = PostQuery::of(request)
            && let Some(capture) = self.captures.pop_if(is_response)
        {
            self.captures.extend(capture.of_post(url, &post));
        }
    }

    /// Returns the digest algorithm.
    pub(super) fn digest(&self) -> DigestAlgorithm {
        self.digest
    }

    /// Takes the index entries of the records written since the last [`RecordWriter::clear`];
    /// `start` is the offset of the first record in its file.
    pub(super) fn take_captures(&mut self, start: u64) -> Vec<Capture> {
        let mut captures = std::mem::take(&mut self.captures);
        for capture in &mut captures {
            capture.offset += start;
        }
        captures
    }

    /// Returns the members written since the last [`RecordWriter::clear`].
    pub(super) fn members(&self) -> &Members {
        &self.members
    }

    /// Returns the members mutably.
    pub(super) fn members_mut(&mut self) -> &mut Members {
        &mut self.members
    }

    /// Returns their total length: the offset of the next one.
    pub(super) fn length(&self) -> u64 {
        self.members.length()
    }

    /// Removes all records.
    pub(super) fn clear(&mut self) {
        self.plain.clear();
        self.plain.shrink_to(KEPT_ROOM);
        self.members.clear();
        self.captures.clear();
    }
}

/// Returns the index entry of a record. It is derived from the serialized header, and so equals the
/// entry derived from the archive later.
fn capture_of(
    header: &Header,
    content_type: &str,
    head: &[u8],
    body: &Body,
) -> io::Result<Option<UnplacedCapture>> {
    let Ok(header) = std::str::from_utf8(&header.0) else {
        return Ok(None);
    };
    let field = |name: &str| {
        let mut lines = header.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    };
    let is_head = body.is_empty() || head.len() >= GLANCE || head.ends_with(b"\r\n\r\n");
    let glance = if is_head {
        Cow::Borrowed(&head[..head.len().min(GLANCE)])
    } else {
        let more = body.beginning((GLANCE - head.len()) as u64)?;
        Cow::Owned([head, &more].concat())
    };
    let mut unreadable = None;
    let payload = || {
        let mut digest = DigestAlgorithm::Sha1.hasher();
        if !content_type.starts_with("application/http") {
            digest.update(head);
        }
        unreadable = body.for_each_piece(|piece| digest.update(piece)).err();
        Some(digest.finish())
    };
    let capture = UnplacedCapture::of(field, &glance, payload);
    unreadable.map_or(Ok(capture), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_takes_one_line_whatever_its_value() {
        for (value, expected) in [
            ("plain", "name: plain\r\n"),
            ("", "name: \r\n"),
            (
                "a\r\nWARC-Type: response",
                "name: a  WARC-Type: response\r\n",
            ),
            ("\r\n\r\nHTTP/1.1 200 OK", "name:     HTTP/1.1 200 OK\r\n"),
            (
                "nul\0 tab\t del\u{7f} nel\u{85}",
                "name: nul  tab  del  nel \r\n",
            ),
            ("ls\u{2028}ps\u{2029}.", "name: ls ps .\r\n"),
            ("漢字 é", "name: 漢字 é\r\n"),
        ] {
            let mut line = Vec::new();
            push_field(&mut line, "name", value);
            assert_eq!(String::from_utf8(line).unwrap(), expected);
        }
    }
}
