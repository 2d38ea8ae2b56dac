//! A parsed record.

use std::borrow::Cow;
use std::sync::Arc;

use web::Body;

use super::spooled::{BlockRest, joined};
use crate::digest::PayloadDigest;

/// A record of an archive: its position, its fields, and the kept part of its block.
#[derive(Clone, Debug)]
pub struct Record {
    /// Its start in bytes: in the file if it is `addressable`, otherwise in the unpacked stream.
    pub offset: u64,
    /// Its length there in bytes.
    pub length: u64,
    /// The line breaks after its block, in bytes, which no index counts; 0 if they are packed with
    /// it.
    pub breaks: u64,
    /// True if it can be read by its offset alone, as indexes require: in a packed file, it has a
    /// member of its own.
    pub addressable: bool,
    /// The length of its block in bytes: `Content-Length`.
    pub block_length: u64,
    /// The length of its payload in bytes, if it has one.
    pub payload_length: Option<u64>,
    /// The digest of its payload if the record does not declare one; for a `metadata` record, the
    /// digest of its block.
    pub(crate) undeclared_payload: Option<PayloadDigest>,
    /// The check of `WARC-Block-Digest`.
    pub block_digest: DigestCheck,
    /// The check of `WARC-Payload-Digest`.
    pub payload_digest: DigestCheck,
    /// The first bytes of the block, up to the number that the caller requested.
    pub block: Vec<u8>,
    /// The bytes after `block`, if the reader spools.
    pub(super) rest: Option<Arc<BlockRest>>,
    pub(super) fields: Fields,
}

/// The result of checking a declared digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestCheck {
    /// The record does not declare the digest.
    Absent,
    /// The digest could not be compared: another algorithm, or (`revisit`) the payload is in
    /// another record.
    Unchecked,
    /// The digest is correct.
    Holds,
    /// The digest is wrong.
    False {
        /// The computed digest.
        found: PayloadDigest,
    },
}

impl Record {
    /// Returns `WARC-Type`: "warcinfo", "response", "request", "revisit", "metadata", …
    #[must_use]
    pub fn kind(&self) -> &str {
        self.mandatory("WARC-Type")
    }

    /// Returns `WARC-Record-ID`, with its angle brackets.
    #[must_use]
    pub fn id(&self) -> &str {
        self.mandatory("WARC-Record-ID")
    }

    /// Returns `WARC-Date`, as written.
    #[must_use]
    pub fn date(&self) -> &str {
        self.mandatory("WARC-Date")
    }

    /// Returns `WARC-Target-URI`, without the angle brackets that the grammar of WARC/1.0 (section
    /// 4 there) and wget put around it.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        let target = self.field("WARC-Target-URI")?;
        Some(without_brackets(target))
    }

    /// Returns `WARC-Payload-Digest` if it is a SHA-1 or a SHA-256, correct or not.
    #[must_use]
    pub fn payload(&self) -> Option<PayloadDigest> {
        let digest = self.field("WARC-Payload-Digest");
        digest.and_then(PayloadDigest::parse)
    }

    /// Returns `WARC-Truncated`: the reason of a truncated block.
    #[must_use]
    pub fn truncated(&self) -> Option<&str> {
        self.field("WARC-Truncated")
    }

    /// Returns the value of a header field, the first if there are several.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)
    }

    /// Returns all values of a header field.
    pub fn field_values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.fields.0.iter();
        let named = named.filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str())
    }

    /// Returns true if no digest is wrong.
    #[must_use]
    pub fn digests_hold(&self) -> bool {
        let is_false = |check| matches!(check, DigestCheck::False { .. });
        !is_false(self.block_digest) && !is_false(self.payload_digest)
    }

    /// Returns true if the archiver cut the block: the server sent more than the record contains.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.truncated().is_some_and(|reason| !reason.is_empty())
    }

    /// Returns the digest of the payload, of all of it, as computed or else as declared.
    #[must_use]
    pub fn whole_payload(&self) -> Option<PayloadDigest> {
        match self.payload_digest {
            DigestCheck::False { found } => Some(found),
            DigestCheck::Holds => self.payload(),
            DigestCheck::Absent | DigestCheck::Unchecked => {
                self.undeclared_payload.or_else(|| self.payload())
            }
        }
    }

    /// Returns true if the whole block was kept, in memory or spooled.
    #[must_use]
    pub fn is_kept_whole(&self) -> bool {
        self.kept_length() == self.block_length
    }

    /// Returns the whole block, if it was kept, in memory or spooled.
    #[must_use]
    pub fn whole_block(&self) -> Option<Body> {
        self.is_kept_whole()
            .then(|| joined(&self.block, self.rest.as_ref()))
    }

    /// Returns the number of bytes of the block that were kept.
    pub(super) fn kept_length(&self) -> u64 {
        self.block.len() as u64 + self.rest.as_ref().map_or(0, |rest| rest.length())
    }

    /// Returns the HTTP head and the payload if the whole block was kept.
    #[must_use]
    pub fn head_and_payload(&self) -> Option<(&[u8], &[u8])> {
        if self.block.len() as u64 != self.block_length {
            return None;
        }
        let payload = usize::try_from(self.payload_length?).ok()?;
        Some(self.block.split_at(self.block.len() - payload))
    }

    fn mandatory(&self, name: &str) -> &str {
        self.fields.get(name).unwrap_or_default()
    }
}

/// Returns a line as UTF-8, or else as ISO 8859-1, as warcio does: no byte is lost, and two targets
/// that differ in such a byte stay different.
pub(crate) fn in_utf8_or_latin1(line: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(line) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(line.iter().map(|&byte| char::from(byte)).collect()),
    }
}

/// Returns a URL without the angle brackets around it, if it has them.
pub(crate) fn without_brackets(url: &str) -> &str {
    let inside = url.strip_prefix('<').and_then(|url| url.strip_suffix('>'));
    inside.unwrap_or(url)
}

/// Named fields in their order; names are case-insensitive (section 4).
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let field = fields.find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Appends a continuation line to the last field; returns false if there is none.
    pub(super) fn extend_last(&mut self, more: &str) -> bool {
        let Some((_, value)) = self.0.last_mut() else {
            return false;
        };
        value.push(' ');
        value.push_str(more);
        true
    }
}
