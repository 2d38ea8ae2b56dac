//! One record out of unpacked bytes (section 4).

use std::io::{self, BufRead, Read};

use sha1::{Digest, Sha1};

use super::parsed::{DigestCheck, Fields, Record};
use crate::PayloadDigest;

/// Longest header of a record, in bytes: beyond any URL, and little enough to read damage as damage.
const MAX_HEADER: u64 = 256 << 10;

/// Why there is no record.
pub(super) enum Trouble {
    /// Reading or unpacking failed.
    Io(io::Error),
    /// What was unpacked is not a record.
    Malformed(String),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn malformed<T>(reason: &str) -> Result<T, Trouble> {
    Err(Trouble::Malformed(reason.to_owned()))
}

/// Reads the one record of `member`, to its end; offset and length are the caller's to fill in.
pub(super) fn only_record(member: &mut impl BufRead, keep: usize) -> Result<Record, Trouble> {
    let record = next_record(member, keep)?;
    if !member.fill_buf()?.is_empty() {
        return malformed("more than the two line breaks behind the block is in its gzip member");
    }
    Ok(record)
}

/// Reads a record and leaves what follows it; offset and length are the caller's to fill in.
pub(super) fn next_record(member: &mut impl BufRead, keep: usize) -> Result<Record, Trouble> {
    let fields = header(member)?;
    let block_length = match fields.get("Content-Length").map(str::parse) {
        Some(Ok(length)) => length,
        _ => return malformed("no Content-Length that is a number"),
    };
    for name in ["WARC-Type", "WARC-Record-ID", "WARC-Date"] {
        if fields.get(name).is_none() {
            return Err(Trouble::Malformed(format!("no {name}")));
        }
    }
    let mut block = Block::new(&fields, keep);
    let mut left = block_length;
    while left > 0 {
        let chunk = member.fill_buf()?;
        if chunk.is_empty() {
            return malformed("the block is shorter than Content-Length says");
        }
        let length = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
        block.take(&chunk[..length]);
        member.consume(length);
        left -= length as u64;
    }
    let mut ending = Vec::new();
    member.take(4).read_to_end(&mut ending)?;
    if ending != b"\r\n\r\n" {
        return malformed("the block is not followed by two line breaks");
    }
    Ok(block.finish(fields, block_length))
}

/// Version line and named fields, up to and with the empty line.
fn header(member: &mut impl BufRead) -> Result<Fields, Trouble> {
    let mut member = member.take(MAX_HEADER);
    let mut line = Vec::new();
    member.read_until(b'\n', &mut line)?;
    if !matches!(line.as_slice(), b"WARC/1.1\r\n" | b"WARC/1.0\r\n") {
        return malformed("the record does not begin with a WARC version that we know");
    }
    let mut fields = Fields::default();
    loop {
        line.clear();
        member.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n") else {
            return malformed("the header does not end, or not soon enough");
        };
        let text = String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text));
        if text.is_empty() {
            return Ok(fields);
        }
        if text.starts_with([' ', '\t']) && fields.extend_last(text.trim()) {
            continue;
        }
        match text.split_once(':') {
            Some((name, value)) => fields.push(name.trim_end(), value.trim()),
            None => return malformed("a header line has no colon"),
        }
    }
}

/// Where the payload is in a block (section 6, under each type).
#[derive(Clone, Copy, PartialEq, Eq)]
enum PayloadAt {
    /// There is none, or it stands elsewhere.
    Nowhere,
    /// The block is the payload.
    Start,
    /// Behind the head of the HTTP message.
    HeadEnd,
}

/// A block on its way through its digests.
struct Block {
    payload_at: PayloadAt,
    head_end: HeadEnd,
    payload_length: u64,
    block_digest: Option<Sha1>,
    payload_digest: Option<Sha1>,
    keep: usize,
    kept: Vec<u8>,
}

impl Block {
    fn new(fields: &Fields, keep: usize) -> Self {
        let http = fields
            .get("Content-Type")
            .is_some_and(|value| value.starts_with("application/http"));
        let payload_at = match fields.get("WARC-Type") {
            Some("response" | "request") if http => PayloadAt::HeadEnd,
            Some("response" | "resource" | "conversion") => PayloadAt::Start,
            _ => PayloadAt::Nowhere,
        };
        let wanted = |name| {
            fields
                .get(name)
                .is_some_and(|text| PayloadDigest::parse(text).is_some())
        };
        let has_payload = payload_at != PayloadAt::Nowhere;
        Self {
            payload_at,
            head_end: HeadEnd::default(),
            payload_length: 0,
            block_digest: wanted("WARC-Block-Digest").then(Sha1::new),
            payload_digest: (has_payload && wanted("WARC-Payload-Digest")).then(Sha1::new),
            keep,
            kept: Vec::new(),
        }
    }

    fn take(&mut self, chunk: &[u8]) {
        if let Some(digest) = &mut self.block_digest {
            digest.update(chunk);
        }
        let room = self.keep - self.kept.len();
        self.kept.extend_from_slice(&chunk[..room.min(chunk.len())]);

        let payload = match self.payload_at {
            PayloadAt::Nowhere => return,
            PayloadAt::Start => chunk,
            PayloadAt::HeadEnd => self.head_end.behind(chunk),
        };
        self.payload_length += payload.len() as u64;
        if let Some(digest) = &mut self.payload_digest {
            digest.update(payload);
        }
    }

    fn finish(self, fields: Fields, block_length: u64) -> Record {
        let checked = |name, found: Option<Sha1>| match (fields.get(name), found.map(PayloadDigest::finish)) {
            (None, _) => DigestCheck::Absent,
            (Some(_), None) => DigestCheck::Unchecked,
            (Some(text), Some(found)) if PayloadDigest::parse(text) == Some(found) => DigestCheck::Holds,
            (Some(_), Some(found)) => DigestCheck::False { found },
        };
        Record {
            offset: 0,
            length: 0,
            block_digest: checked("WARC-Block-Digest", self.block_digest),
            payload_digest: checked("WARC-Payload-Digest", self.payload_digest),
            payload_length: (self.payload_at != PayloadAt::Nowhere).then_some(self.payload_length),
            block_length,
            block: self.kept,
            fields,
        }
    }
}

/// Finds the empty line that ends the head of an HTTP message, in whatever pieces it comes.
#[derive(Default)]
struct HeadEnd {
    /// How many bytes of CR LF CR LF were just seen.
    seen: usize,
}

impl HeadEnd {
    /// The part of `chunk` that stands behind the head.
    fn behind<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        const EMPTY_LINE: &[u8; 4] = b"\r\n\r\n";
        for (place, &byte) in chunk.iter().enumerate() {
            if self.seen == EMPTY_LINE.len() {
                return &chunk[place..];
            }
            self.seen = if byte == EMPTY_LINE[self.seen] {
                self.seen + 1
            } else {
                usize::from(byte == b'\r')
            };
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_ends_at_its_empty_line_however_it_is_cut() {
        for (message, payload) in [
            (
                "HTTP/1.1 200 OK\r\na: b\r\n\r\nbody\r\n\r\nmore",
                "body\r\n\r\nmore",
            ),
            ("HTTP/1.1 200 OK\r\n\r\n", ""),
            ("HTTP/1.1 200 OK\r\r\n\r\r\n\r\nbody", "body"),
            ("HTTP/1.1 200 OK\r\n\n\r\nbody", ""),
            ("", ""),
        ] {
            for size in 1..=message.len().max(1) {
                let mut head_end = HeadEnd::default();
                let found: Vec<u8> = message
                    .as_bytes()
                    .chunks(size)
                    .flat_map(|chunk| head_end.behind(chunk).to_vec())
                    .collect();
                assert_eq!(
                    String::from_utf8(found).unwrap(),
                    payload,
                    "{message:?} by {size}"
                );
            }
        }
    }
}
