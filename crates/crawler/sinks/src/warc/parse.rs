//! Parses records from unpacked bytes (section 4).

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

use super::arc::{self, ArcHeader};
use super::deviations::{Deviation, Deviations};
use super::parsed::{DigestCheck, Fields, Record, in_utf8_or_latin1};
use super::spooled::{SpoolRules, Spooling};
use super::unpack::{Peek, VERSION, is_padding, is_version};
use crate::digest::{DigestAlgorithm, Hasher, PayloadDigest};

/// Maximum header of a record, in bytes: more than any URL needs, and little enough to recognise
/// damage.
const MAX_HEADER: u64 = 256 << 10;

/// A failure to parse a record.
#[derive(Debug)]
pub(super) enum ParseFailure {
    /// Reading or unpacking failed.
    Io(io::Error),
    /// The rest of a block cannot be spooled.
    Spool(io::Error),
    /// The unpacked bytes are not a record.
    Malformed(Cow<'static, str>),
    /// The unpacked bytes end within a record.
    Short(Cow<'static, str>),
}

impl From<io::Error> for ParseFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn malformed<T>(reason: impl Into<Cow<'static, str>>) -> Result<T, ParseFailure> {
    Err(ParseFailure::Malformed(reason.into()))
}

fn short<T>(reason: &'static str) -> Result<T, ParseFailure> {
    Err(ParseFailure::Short(reason.into()))
}

/// The reason of a block that is shorter than `Content-Length`.
pub(super) const SHORT_BLOCK: &str = "the block is shorter than Content-Length says";

/// The part of a block that a reader keeps.
#[derive(Clone, Copy)]
pub(super) struct Keep<'a> {
    /// Bytes in memory.
    pub(super) held: usize,
    /// The place for the rest, if that is kept too.
    pub(super) rest: Option<&'a SpoolRules>,
}

/// Reads the only record of `member`, to its end; the caller fills in offset and length.
pub(super) fn only_record(member: &mut impl Peek, keep: Keep<'_>) -> Result<Record, ParseFailure> {
    let record = next_record(member, keep)?;
    if !member.fill_buf()?.is_empty() {
        return malformed("more than the two line breaks behind the block is in its member");
    }
    Ok(record)
}

/// Reads a record and leaves what follows it; the caller fills in offset and length.
pub(super) fn next_record(member: &mut impl Peek, keep: Keep<'_>) -> Result<Record, ParseFailure> {
    let (fields, block_length) = header(member, None)?;
    let record = block(member, fields, block_length, keep)?;
    let mut ending = Vec::new();
    member.take(4).read_to_end(&mut ending)?;
    match ending.as_slice() {
        ending if ending == EMPTY_LINE => Ok(record),
        torn if EMPTY_LINE.starts_with(torn) => short(NO_ENDING),
        _ => malformed(NO_ENDING),
    }
}

const NO_ENDING: &str = "the block is not followed by two line breaks";

/// Reads the block of a record with these fields.
pub(super) fn block(
    member: &mut impl BufRead,
    fields: Fields,
    length: u64,
    keep: Keep<'_>,
) -> Result<Record, ParseFailure> {
    let mut block = Block::new(&fields, keep);
    let mut left = length;
    while left > 0 {
        let chunk = member.fill_buf()?;
        if chunk.is_empty() {
            return short(SHORT_BLOCK);
        }
        let length = usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()));
        block.take(&chunk[..length]).map_err(ParseFailure::Spool)?;
        member.consume(length);
        left -= length as u64;
    }
    Ok(block.finish(fields, length))
}

/// Reads a record up to the end of the HTTP head in it, or `keep` bytes of its block; the caller
/// fills in offset and length.
pub(super) fn head_only(member: &mut impl Peek, keep: usize) -> Result<Record, ParseFailure> {
    let (fields, block_length) = header(member, None)?;
    let mut head_end = HeadEnd::default();
    let mut block = Vec::new();
    let wanted = usize::try_from(block_length).map_or(keep, |length| length.min(keep));
    while block.len() < wanted && !head_end.is_seen() {
        let chunk = member.fill_buf()?;
        if chunk.is_empty() {
            return short(SHORT_BLOCK);
        }
        let length = chunk.len().min(wanted - block.len());
        let head = length - head_end.behind(&chunk[..length]).len();
        block.extend_from_slice(&chunk[..head]);
        member.consume(head);
        if head_end.is_interim() {
            head_end = HeadEnd::default();
        }
    }
    let unchecked = |name| match fields.get(name) {
        None => DigestCheck::Absent,
        Some(_) => DigestCheck::Unchecked,
    };
    Ok(Record {
        offset: 0,
        length: 0,
        breaks: 0,
        addressable: true,
        block_length,
        payload_length: None,
        undeclared_payload: None,
        block_digest: unchecked("WARC-Block-Digest"),
        payload_digest: unchecked("WARC-Payload-Digest"),
        block,
        rest: None,
        fields,
    })
}

/// Reads the version line and the named fields, through the empty line; returns the fields and the
/// length of the block. A deviation from the standard is an error, unless deviations are counted.
pub(super) fn header(
    member: &mut impl Peek,
    mut deviations: Option<&mut Deviations>,
) -> Result<(Fields, u64), ParseFailure> {
    if let Some(found) = arc_header(member)? {
        return Ok(found);
    }
    let mut member = member.take(MAX_HEADER);
    let mut line = Vec::new();
    member.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") && member.limit() > 0 && is_begun_version(&line) {
        return short(ENDLESS);
    }
    match (version_warning(&line), &mut deviations) {
        (Some(odd), Some(deviations)) => {
            let odd = odd.into_iter().flatten();
            odd.for_each(|odd| deviations.note(odd));
        }
        (Some([None, None]), None) => {}
        _ => return malformed("the record does not begin with a known WARC version"),
    }
    let mut fields = Fields::default();
    loop {
        line.clear();
        member.read_until(b'\n', &mut line)?;
        let Some(text) = line.strip_suffix(b"\n") else {
            return match member.limit() {
                0 => malformed(ENDLESS),
                _ => short(ENDLESS),
            };
        };
        let without = text.strip_suffix(b"\r");
        if let (None, Some(deviations)) = (without, &mut deviations) {
            deviations.note(Deviation::BareLineFeed);
        }
        let text = in_utf8_or_latin1(without.unwrap_or(text));
        if text.is_empty() {
            break;
        }
        if text.starts_with([' ', '\t']) && fields.extend_last(text.trim()) {
            if let Some(deviations) = &mut deviations {
                deviations.note(Deviation::FoldedField);
            }
            continue;
        }
        match (text.split_once(':'), &mut deviations) {
            (Some((name, value)), _) => fields.push(name.trim(), value.trim()),
            (None, Some(deviations)) => deviations.note(Deviation::NoField),
            (None, None) => return malformed("a header line has no colon"),
        }
    }
    let block_length = match fields.get("Content-Length").map(str::parse) {
        Some(Ok(length)) => length,
        _ => return malformed("no numeric Content-Length"),
    };
    for name in ["WARC-Type", "WARC-Record-ID", "WARC-Date"] {
        match (fields.get(name), &mut deviations) {
            (Some(value), _) if !value.is_empty() => {}
            (_, Some(deviations)) if name != "WARC-Type" => {
                deviations.note(Deviation::MissingField);
            }
            _ => return malformed(format!("no {name}")),
        }
    }
    Ok((fields, block_length))
}

/// Reads the header line of an ARC record, with the line breaks that some writers put before it;
/// `None` if there is none. The block's beginning decides on the type of the record.
fn arc_header(member: &mut impl Peek) -> Result<Option<(Fields, u64)>, ParseFailure> {
    if is_version(member.peek(VERSION.len() + 3)?) {
        return Ok(None);
    }
    let bytes = member.peek(arc::MAX_LINE)?;
    let breaks = bytes.iter().take_while(|byte| is_padding(byte)).count();
    let Some(line) = arc::header_line(&bytes[breaks..]) else {
        return Ok(None);
    };
    let (length, header) = (breaks + line.len(), ArcHeader::parse(line));
    let Some(header) = header else {
        return Ok(None);
    };
    member.consume(length);
    let Some(block_length) = header.length else {
        return malformed("no numeric Archive-length");
    };
    let fields = header.into_fields(member.peek(arc::GLANCE)?);
    Ok(Some((fields, block_length)))
}

const ENDLESS: &str = "the header does not end within the limit";

/// Returns true if `line` may be an incomplete version line.
fn is_begun_version(line: &[u8]) -> bool {
    let length = line.len().min(VERSION.len());
    !line.is_empty()
        && line[..length] == VERSION[..length]
        && (line.len() < 8 || is_version(line))
        && line.len() < 16
}

/// Returns the deviations of a version line; `None` if the line is not one.
fn version_warning(line: &[u8]) -> Option<[Option<Deviation>; 2]> {
    let text = line.strip_suffix(b"\n")?;
    let ending = (!text.ends_with(b"\r")).then_some(Deviation::BareLineFeed);
    if !is_version(text) {
        return None;
    }
    let version = match text[VERSION.len()..].trim_ascii() {
        b"1.0" | b"1.1" => None,
        [b'0', b'.', ..] => Some(Deviation::OldVersion),
        number if number.len() < 8 => Some(Deviation::NewVersion),
        _ => return None,
    };
    Some([version, ending])
}

/// The position of the payload in a block (section 6, under each type).
#[derive(Clone, Copy, PartialEq, Eq)]
enum PayloadAt {
    /// The block has no payload.
    Nowhere,
    /// The block is the payload.
    Start,
    /// The payload follows the HTTP head.
    HeadEnd,
}

/// A block being read, with its digests.
struct Block {
    payload_at: PayloadAt,
    head_end: HeadEnd,
    payload_length: u64,
    block_digest: Option<Hasher>,
    payload_digest: Option<Hasher>,
    /// The digest of all bytes after the first head, if interim responses precede the final one:
    /// some archivers declare it as the payload digest.
    behind_interim: Option<Hasher>,
    undeclared: Option<Hasher>,
    keep: usize,
    kept: Vec<u8>,
    spooling: Option<Spooling>,
}

/// Returns true if a block of this media type is an HTTP message; the second name is from
/// WARC/0.17.
fn is_http_message(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let names = ["application/http", "message/http"];
    names.iter().any(|http| essence.eq_ignore_ascii_case(http))
}

impl Block {
    fn new(fields: &Fields, keep: Keep<'_>) -> Self {
        let http = fields.get("Content-Type").is_some_and(is_http_message);
        let payload_at = match fields.get("WARC-Type") {
            Some("response" | "request") if http => PayloadAt::HeadEnd,
            Some("response" | "resource" | "conversion") => PayloadAt::Start,
            _ => PayloadAt::Nowhere,
        };
        let wanted = |name| {
            let declared = fields.get(name).and_then(PayloadDigest::parse);
            declared.map(|digest| digest.algorithm().hasher())
        };
        let has_payload = payload_at != PayloadAt::Nowhere;
        let is_undeclared = fields.get("WARC-Payload-Digest").is_none_or(str::is_empty)
            && (has_payload || fields.get("WARC-Type") == Some("metadata"));
        Self {
            payload_at,
            head_end: HeadEnd::default(),
            payload_length: 0,
            block_digest: wanted("WARC-Block-Digest"),
            payload_digest: wanted("WARC-Payload-Digest").filter(|_| has_payload),
            behind_interim: None,
            undeclared: is_undeclared.then(|| DigestAlgorithm::Sha1.hasher()),
            keep: keep.held,
            kept: Vec::new(),
            spooling: keep.rest.cloned().map(Spooling::new),
        }
    }

    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        if let Some(digest) = &mut self.block_digest {
            digest.update(chunk);
        }
        let room = self.keep - self.kept.len();
        let (held, rest) = chunk.split_at(room.min(chunk.len()));
        self.kept.extend_from_slice(held);
        if let Some(spooling) = self.spooling.as_mut().filter(|_| !rest.is_empty()) {
            spooling.append(rest)?;
        }

        let payload = match self.payload_at {
            PayloadAt::Nowhere => {
                if let Some(digest) = &mut self.undeclared {
                    digest.update(chunk);
                }
                return Ok(());
            }
            PayloadAt::Start => chunk,
            PayloadAt::HeadEnd => self.behind_heads(chunk),
        };
        self.payload_length += payload.len() as u64;
        let digests = [&mut self.payload_digest, &mut self.undeclared];
        for digest in digests.into_iter().flatten() {
            digest.update(payload);
        }
        Ok(())
    }

    /// Returns the part of `chunk` after the head of the final response.
    fn behind_heads<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        let mut rest = chunk;
        loop {
            let behind = self.head_end.behind(rest);
            let (head, _) = rest.split_at(rest.len() - behind.len());
            let is_over = !self.head_end.is_interim();
            if let Some(digest) = &mut self.behind_interim {
                digest.update(head);
                digest.update(if is_over { behind } else { b"" });
            }
            if is_over {
                return behind;
            }
            self.behind_interim = self.behind_interim.take().or(self.payload_digest.clone());
            self.head_end = HeadEnd::default();
            rest = behind;
        }
    }

    fn finish(self, fields: Fields, block_length: u64) -> Record {
        let checked = |name, found: Option<Hasher>, other: Option<Hasher>| {
            let declared = fields.get(name);
            let is_it = |found| declared.and_then(PayloadDigest::parse) == Some(found);
            match (declared, found.map(Hasher::finish)) {
                (None, _) => DigestCheck::Absent,
                (Some(_), None) => DigestCheck::Unchecked,
                (Some(_), Some(found)) if is_it(found) => DigestCheck::Holds,
                (Some(_), Some(_)) if other.is_some_and(|other| is_it(other.finish())) => {
                    DigestCheck::Holds
                }
                (Some(_), Some(found)) => DigestCheck::False { found },
            }
        };
        Record {
            offset: 0,
            length: 0,
            breaks: 0,
            addressable: true,
            block_digest: checked("WARC-Block-Digest", self.block_digest, None),
            payload_digest: checked(
                "WARC-Payload-Digest",
                self.payload_digest,
                self.behind_interim,
            ),
            payload_length: (self.payload_at != PayloadAt::Nowhere).then_some(self.payload_length),
            undeclared_payload: self.undeclared.map(Hasher::finish),
            block_length,
            block: self.kept,
            rest: self.spooling.and_then(Spooling::finish),
            fields,
        }
    }
}

/// The bytes after a block.
pub(super) const EMPTY_LINE: &[u8; 4] = b"\r\n\r\n";

/// Finds the empty line that ends the head of an HTTP message, for any division into pieces. Lines
/// end in CR LF or in LF alone (RFC 9112, section 2.2); the first line is always the status line.
#[derive(Default)]
struct HeadEnd {
    state: InHead,
    /// The beginning of the first line.
    first: Vec<u8>,
}

/// Bytes at the start of a status line that contain the status.
const STATUS_LINE: usize = 32;

/// The state of the search.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum InHead {
    /// Within a line that is not empty, or in the first line.
    #[default]
    Line,
    /// After the end of a line.
    LineEnd,
    /// After a CR that follows the end of a line.
    Return,
    /// After the empty line.
    Over,
}

impl HeadEnd {
    fn is_seen(&self) -> bool {
        self.state == InHead::Over
    }

    /// Returns true after the head of an interim response (RFC 9110, section 15.2), which another
    /// follows; 101 ends the exchange.
    fn is_interim(&self) -> bool {
        let line = self.first.split(|byte| *byte == b'\n').next();
        let mut words = line.unwrap_or_default().split(|byte| *byte == b' ');
        let protocol = words.next().unwrap_or_default();
        let status = words.find(|word| !word.is_empty()).unwrap_or_default();
        self.is_seen()
            && protocol.starts_with(b"HTTP/")
            && matches!(status.trim_ascii(), [b'1', b'0', b'0' | b'2'..=b'9'])
    }

    /// Returns the part of `chunk` after the head.
    fn behind<'a>(&mut self, chunk: &'a [u8]) -> &'a [u8] {
        if self.state != InHead::Over && self.first.len() < STATUS_LINE {
            let room = STATUS_LINE - self.first.len();
            self.first.extend(&chunk[..chunk.len().min(room)]);
        }
        for (place, &byte) in chunk.iter().enumerate() {
            self.state = match (self.state, byte) {
                (InHead::Over, _) => return &chunk[place..],
                (InHead::Line, b'\n') => InHead::LineEnd,
                (InHead::LineEnd | InHead::Return, b'\n') => InHead::Over,
                (InHead::LineEnd, b'\r') => InHead::Return,
                _ => InHead::Line,
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
            ("HTTP/1.1 200 OK\r\n\n\r\nbody", "\r\nbody"),
            ("HTTP/1.0 200 OK\na: b\n\nbody\n\nmore", "body\n\nmore"),
            ("HTTP/1.0 200 OK\na: b\n\r\nbody", "body"),
            ("\r\n\r\nbody", "body"),
            ("HTTP/1.0 200 OK\na: b\n", ""),
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
