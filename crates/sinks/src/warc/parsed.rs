//! A record as it was read.

use crate::digest::PayloadDigest;

/// A record of an archive: its place, its fields, and what was kept of its block.
#[derive(Clone, Debug)]
pub struct Record {
    /// Where it begins in the file, in bytes; in what the file unpacks to where it is not
    /// `addressable`.
    pub offset: u64,
    /// How long it is there, in bytes.
    pub length: u64,
    /// How many of these are the line breaks behind its block, which no index counts; none where
    /// they are packed with it.
    pub breaks: u64,
    /// Whether it can be read by its offset alone, as every index wants it: in a packed file, it
    /// has a member of its own.
    pub addressable: bool,
    /// How long its block is, in bytes: `Content-Length`.
    pub block_length: u64,
    /// How long its payload is, in bytes, where the record contains one.
    pub payload_length: Option<u64>,
    /// The digest of its payload, where the record does not declare one: of its block, if it is a
    /// `metadata` record.
    pub(crate) undeclared_payload: Option<PayloadDigest>,
    /// Whether `WARC-Block-Digest` agrees.
    pub block_digest: DigestCheck,
    /// Whether `WARC-Payload-Digest` agrees.
    pub payload_digest: DigestCheck,
    /// The beginning of the block: as much as was to be kept.
    pub block: Vec<u8>,
    pub(super) fields: Fields,
}

/// What came of comparing a digest with what it is the digest of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestCheck {
    /// The record has no such field.
    Absent,
    /// It could not be compared: another algorithm, or (`revisit`) the payload stands elsewhere.
    Unchecked,
    /// They agree.
    Holds,
    /// They do not.
    False {
        /// The digest of what is there.
        found: PayloadDigest,
    },
}

impl Record {
    /// `WARC-Type`: "warcinfo", "response", "request", "revisit", "metadata", …
    #[must_use]
    pub fn kind(&self) -> &str {
        self.mandatory("WARC-Type")
    }

    /// `WARC-Record-ID`, with its angle brackets.
    #[must_use]
    pub fn id(&self) -> &str {
        self.mandatory("WARC-Record-ID")
    }

    /// `WARC-Date`, as it is written.
    #[must_use]
    pub fn date(&self) -> &str {
        self.mandatory("WARC-Date")
    }

    /// `WARC-Target-URI`, without the angle brackets that the grammar of WARC/1.0 has around it
    /// (section 4 there), and wget.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        let target = self.field("WARC-Target-URI")?;
        let inside = target
            .strip_prefix('<')
            .and_then(|target| target.strip_suffix('>'));
        Some(inside.unwrap_or(target))
    }

    /// `WARC-Payload-Digest`, where it is a SHA-1 or a SHA-256, whether it agrees or not.
    #[must_use]
    pub fn payload(&self) -> Option<PayloadDigest> {
        self.field("WARC-Payload-Digest")
            .and_then(PayloadDigest::parse)
    }

    /// `WARC-Truncated`: why the block is not whole.
    #[must_use]
    pub fn truncated(&self) -> Option<&str> {
        self.field("WARC-Truncated")
    }

    /// The value of any field of the record's header, the first where there are several.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)
    }

    /// Whether no digest is false.
    #[must_use]
    pub fn digests_hold(&self) -> bool {
        let is_false = |check| matches!(check, DigestCheck::False { .. });
        !is_false(self.block_digest) && !is_false(self.payload_digest)
    }

    /// The head of the HTTP message and the payload, where the whole block was kept.
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

/// Named fields in their order; names are compared without regard to case (section 4).
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let field = self
            .0
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        field.map(|(_, value)| value.as_str())
    }

    pub(super) fn push(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    /// Adds a continuation line to the last field; false where there is none.
    pub(super) fn extend_last(&mut self, more: &str) -> bool {
        let Some((_, value)) = self.0.last_mut() else {
            return false;
        };
        value.push(' ');
        value.push_str(more);
        true
    }
}
