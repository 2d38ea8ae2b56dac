//! The digest by which payloads are told apart: SHA-1, written in base 32 as web archives have it.
//!
//! SHA-1 is no longer safe against someone who makes two payloads on purpose, but it is what CDX indexes and
//! replay tools compare (WARC/1.1 section 5.9 gives it as the example), and a forged pair costs one page.

use std::fmt;

use data_encoding::{BASE32, HEXLOWER_PERMISSIVE};
use sha1::{Digest, Sha1};

/// The SHA-1 of a payload; shown as `sha1:` and 32 letters of base 32 (RFC 4648 section 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PayloadDigest([u8; 20]);

impl PayloadDigest {
    /// The digest of `payload`.
    #[must_use]
    pub fn of(payload: &[u8]) -> Self {
        Self(Sha1::digest(payload).into())
    }

    /// A digest that was computed before, as [`PayloadDigest::as_bytes`] gave it.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// Reads `sha1:` and the digest in base 32 or, as some archives have it, in base 16.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (algorithm, value) = text.split_once(':')?;
        if !algorithm.eq_ignore_ascii_case("sha1") {
            return None;
        }
        let bytes = match value.len() {
            32 => BASE32.decode(value.to_ascii_uppercase().as_bytes()),
            _ => HEXLOWER_PERMISSIVE.decode(value.as_bytes()),
        };
        Some(Self(bytes.ok()?.try_into().ok()?))
    }

    /// The twenty bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// What a digest that was fed piece by piece has come to.
    pub(crate) fn finish(hasher: Sha1) -> Self {
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", BASE32.encode_display(&self.0))
    }
}

impl fmt::Debug for PayloadDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_one_every_web_archive_knows() {
        let nothing = PayloadDigest::of(b"");
        assert_eq!(nothing.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    }

    #[test]
    fn a_digest_is_read_back_from_either_base_and_from_its_bytes() {
        let digest = PayloadDigest::of(b"abc");
        for text in [
            digest.to_string(),
            digest.to_string().to_lowercase(),
            "sha1:a9993e364706816aba3e25717850c26c9cd0d89d".to_owned(),
            "SHA1:A9993E364706816ABA3E25717850C26C9CD0D89D".to_owned(),
        ] {
            assert_eq!(PayloadDigest::parse(&text), Some(digest), "{text}");
        }
        assert_eq!(PayloadDigest::from_bytes(*digest.as_bytes()), digest);
    }

    #[test]
    fn what_is_no_sha_1_is_not_read_as_one() {
        for text in [
            "",
            "sha1",
            "sha1:",
            "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:3I42",
            "sha1:!!!!",
        ] {
            assert_eq!(PayloadDigest::parse(text), None, "{text}");
        }
    }
}
